"""The cache of compiled kernels runs no foreign code, and replaces damaged entries.

`tests/compiler/test_cache_folders.py` tests folders that others have prepared.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from armarl.compiler import cache_folders, kernel_cache
from armarl.compiler.cache_folders import Folders, choose_folders, fault_of
from armarl.compiler.fingerprints import fingerprint
from armarl.compiler.kernel_cache import keep
from armarl.compiler.progress import say_once

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes and owners are POSIX")


@numba.njit
def _one() -> int:
    return 1


TABLE = np.arange(3)
VERBS = (_one,)


def _two(x: int) -> int:
    """Call two functions and read a table, for the fingerprint."""
    return x + VERBS[0]() + TABLE[2]


@pytest.fixture(autouse=True)
def nothing_said() -> None:
    """Forget the messages of earlier tests, so that each may appear again."""
    say_once.cache_clear()


def _give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `fault_of` see another user as the owner of a path."""
    if os.getuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        mine = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Return a folder that other users cannot write to, for every umask."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def homeless(private: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Allow only the folder for temporary files as place of the cache, and return this folder."""
    for name in ("ARMARL_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", os.devnull)
    monkeypatch.setattr("tempfile.tempdir", str(private))
    return private


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_refused(private: Path, mode: int) -> None:
    assert fault_of(private) is None
    private.chmod(mode)
    assert "others can write" in str(fault_of(private))
    below = private / "kernels"  # a subfolder is also refused, unless the sticky bit protects names
    assert (fault_of(below) is None) == (mode == 0o1777)


@posix
def test_a_folder_of_another_user_is_refused(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = private / "inner"
    inner.mkdir(mode=0o700)
    _give_away(private, monkeypatch)
    assert "belongs to another user" in str(fault_of(inner))


@posix
def test_links_are_followed_and_must_belong_to_the_user(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, shared = private / "link", tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    link.symlink_to(shared)
    assert f"others can write to {shared.resolve()}" in str(fault_of(link / "kernels"))
    (private / "circle").symlink_to(private / "circle")
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(private / "circle"))
    assert choose_folders().write != private / "circle" / "kernels"


@posix
def test_a_planted_folder_for_temporary_files_is_not_used(
    homeless: Path, caplog: pytest.LogCaptureFixture
) -> None:
    planted = homeless / f"armarl-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    folders = choose_folders()
    assert (folders.read, folders.write) == ((), None)
    _compiled(folders)
    told = caplog.text
    assert told.count("\n") == 1
    assert "each process compiles the rules" in told
    assert str(planted) in told
    planted.rmdir()
    chosen = choose_folders().write
    assert chosen == homeless.resolve() / planted.name / "kernels"
    assert (chosen.stat().st_mode & 0o777, chosen.parent.stat().st_mode & 0o777) == (0o700, 0o700)


@pytest.mark.parametrize("chosen", ["", "kernels", "./kernels", "~/kernels"])
@pytest.mark.parametrize("name", ["ARMARL_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_variable_that_is_not_an_absolute_path_is_ignored(
    chosen: str, name: str, homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(homeless)
    monkeypatch.setenv(name, chosen)
    before = set(homeless.iterdir())
    folder = choose_folders().write
    assert folder is not None
    assert folder.parent.parent == homeless.resolve()  # inside the folder for temporary files
    assert {path.name for path in set(homeless.iterdir()) - before} == {folder.parent.name}


def test_an_unusable_folder_of_the_user_is_named(
    homeless: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = homeless / "file"
    file.touch()
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(file))
    assert choose_folders().write is not None
    told = caplog.text
    assert told.count("\n") == 1
    assert str(file) in told


def test_a_process_without_home_and_user_name_finds_a_folder(
    homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(cls: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    assert choose_folders().write is not None


# --- entries -------------------------------------------------------------------------------------


def _compiled(folders: Path | Folders) -> Any:
    """Return `_two`, compiled or loaded from the folder."""
    if isinstance(folders, Path):
        folders = Folders((folders,), folders)
    dispatcher = keep(numba.njit(_two), folders=folders)
    assert dispatcher(4) == 7
    return dispatcher


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!.]*"))  # without the locks


def _came_from_folder(dispatcher: Any) -> bool:
    return sum(dispatcher.stats.cache_hits.values()) == 1


class _Spy:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "a checksum alone": lambda content: content[:32],
    "cut": lambda content: content[:-100],
    "longer": lambda content: content + b"\0",
    "a bit": lambda content: content[:900] + bytes([content[900] ^ 1]) + content[901:],
    "no pickle": lambda content: b"\xff" * len(content),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entries_are_compiled_again(
    damage: str, private: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not _came_from_folder(_compiled(private))
    assert _came_from_folder(_compiled(private))
    (entry,) = _entries(private)
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGES[damage](whole))
    assert not _came_from_folder(_compiled(private))
    assert len(caplog.records) == 1
    assert _came_from_folder(_compiled(private))
    assert _entries(private) == [entry]


def test_an_incomplete_entry_is_not_unpickled(private: Path, tmp_path: Path) -> None:
    _compiled(private)
    (entry,) = _entries(private)
    entry.write_bytes(bytes(32) + pickle.dumps(_Spy(tmp_path / "was here")))
    _compiled(private)
    assert not (tmp_path / "was here").exists()


def _plant(path: Path, spy: Path) -> None:
    """Write a complete entry that creates the file `spy` when it is loaded."""
    payload = pickle.dumps(_Spy(spy))
    path.write_bytes(hashlib.sha256(payload).digest() + payload)


def _of_another_user(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() == 0:
        os.chown(entry, 12345, 12345)
    else:
        planted = entry.stat().st_ino
        monkeypatch.setattr(cache_folders, "_is_foreign", lambda found: found.st_ino == planted)


def _writable_by_all(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry.chmod(0o666)


def _writable_by_its_group(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry.chmod(0o660)


def _link(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = entry.parent.parent / "elsewhere"
    entry.rename(target)
    entry.symlink_to(target)


def _broken_link(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry.unlink()
    entry.symlink_to(entry.parent.parent / "nowhere")


def _pipe(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry.unlink()
    os.mkfifo(entry, 0o600)


PLANTED = [_of_another_user, _writable_by_all, _writable_by_its_group, _link, _broken_link, _pipe]


@posix
@pytest.mark.parametrize("planted", PLANTED)
def test_planted_entries_are_not_run(
    planted: Callable[[Path, pytest.MonkeyPatch], None],
    private: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The kernels are compiled again, and their entries are replaced.

    Regression: all planted entries were run, and a pipe blocked.
    """
    _compiled(private)
    (entry,) = _entries(private)
    _plant(entry, tmp_path / "was here")
    with monkeypatch.context() as changed:
        planted(entry, changed)
        assert not _came_from_folder(_compiled(private))
    assert not (tmp_path / "was here").exists()
    told = caplog.text
    assert told.count("\n") == 1
    assert "a cache entry is not used" in told
    assert str(entry) in told
    assert _entries(private) == [entry]
    assert stat.S_ISREG(entry.lstat().st_mode)
    assert _came_from_folder(_compiled(private))


@posix
def test_a_folder_in_place_of_an_entry_is_reported(
    private: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _compiled(private)
    (entry,) = _entries(private)
    entry.unlink()
    entry.mkdir()
    assert not _came_from_folder(_compiled(private))
    assert "it is not a file" in caplog.text
    assert _entries(private) == [entry]


@posix
def test_an_entry_that_is_replaced_after_its_check_is_not_used(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process reads the same file that it checked."""
    _compiled(private)
    (entry,) = _entries(private)
    check = cache_folders._fault_of_file

    def check_and_replace(found: os.stat_result) -> str | None:
        fault = check(found)
        entry.unlink()
        _plant(entry, tmp_path / "was here")
        entry.chmod(0o666)
        return fault

    monkeypatch.setattr(cache_folders, "_fault_of_file", check_and_replace)
    assert _came_from_folder(_compiled(private))
    assert not (tmp_path / "was here").exists()


@posix
def test_the_advised_command_removes_planted_entries(private: Path, tmp_path: Path) -> None:
    """Changing a folder's permissions does not clean it, so the message says to remove it first."""
    folder = private / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / "planted").touch()
    told = str(fault_of(folder))
    assert told.index(f"remove {folder}") < told.index(f"chmod go-w {folder}")
    private.chmod(0o777)  # the folder may have been filled by others before
    assert f"remove {folder}" in str(fault_of(folder))
    private.chmod(0o700)
    assert "remove" not in str(fault_of(tmp_path / "private" / "none"))


@posix
def test_locks_of_others_do_not_block(private: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (private / ".locks").symlink_to(tmp_path / "elsewhere")
    assert not _came_from_folder(_compiled(private))
    assert _came_from_folder(_compiled(private))


@posix
def test_nobody_else_can_hold_a_lock(private: Path) -> None:
    """Regression: a user who can read a file can lock it, so every process waited for minutes."""
    private.chmod(0o755)  # a folder for several users, as `ARMARL_CACHE_DIR` may name
    (private / ".locks").touch(0o644)  # from an earlier version
    for _ in range(2):
        _compiled(private)
        assert stat.S_IMODE((private / ".locks").stat().st_mode) == 0o600
        kernel_cache._lock_file.cache_clear()
        (private / ".locks").unlink()
        for entry in _entries(private):
            entry.unlink()


def test_a_full_disk_does_not_stop_a_kernel(private: Path) -> None:
    """With a limit of 100 bytes per file, the kernel runs. One line reports the failed writing.

    No file remains.
    """
    script = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        from armarl.compiler.decorators import kernel
        from armarl.compiler.randomness import mix
        from numba import uint64
        print(kernel(mix.py_func)(uint64(1)), kernel(mix.py_func)(uint64(1)))
        """
    done = _run(script, ARMARL_CACHE_DIR=str(private))
    assert len(done.stdout.split()) == 2
    assert done.stderr.count("cannot be cached") == 1
    assert _entries(private / "kernels") == []


def test_a_removed_folder_is_not_an_error(private: Path) -> None:
    folder = private / "gone"
    assert not _came_from_folder(_compiled(folder))


def test_closures_of_two_processes_are_told_apart(private: Path) -> None:
    (private / "products.py").write_text(
        textwrap.dedent(
            """
            from armarl.compiler.decorators import inlined, kernel

            def times(number):
                @inlined
                def product(x):
                    return x * number
                return product

            double, triple = times(2), times(3)

            @kernel
            def both(x):
                return double(x), triple(x)
            """
        )
    )
    folders = {"ARMARL_CACHE_DIR": str(private), "PYTHONPATH": str(private)}
    said = [
        _run(f"import products; print(products.{name}(5))", **folders).stdout.strip()
        for name in ("double", "triple", "both")
    ]
    assert said == ["10", "15", "(10, 15)"]
    names = {path.name.rpartition("-")[0] for path in _entries(private / "kernels")}
    assert names == {"products.times._locals_.product", "products.both"}


def _run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )


# --- names of entries ----------------------------------------------------------------------------


def test_a_fingerprint_includes_callees_constants_and_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def of() -> str:
        return fingerprint(numba.njit(_two))

    first = of()
    assert of() == first
    with monkeypatch.context() as changed:
        changed.setitem(globals(), "TABLE", np.arange(1, 4))
        assert of() != first
    with monkeypatch.context() as changed:
        changed.setitem(globals(), "VERBS", (numba.njit(lambda: 2),))
        assert of() != first
    with monkeypatch.context() as changed:
        changed.setattr(numba.config, "BOUNDSCHECK", 1)
        assert of() != first
    assert fingerprint(numba.njit(nogil=True)(_two)) != first


def test_a_fingerprint_does_not_include_comments(tmp_path: Path) -> None:
    plain = "import numba\n@numba.njit\ndef f(x):\n    '''Doc.'''\n    return x + 1\n"
    prints = []
    for text in (plain, plain.replace("Doc", "# Other"), "\n\n" + plain, plain.replace("1", "2")):
        module: dict[str, Any] = {"__name__": "some"}
        exec(compile(text, "some.py", "exec"), module)
        prints.append(fingerprint(module["f"]))
    assert prints[0] == prints[1] == prints[2] != prints[3]


def test_a_global_of_an_unknown_kind_has_no_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "VERBS", {1: _one})
    with pytest.raises(TypeError, match="cannot be hashed"):
        fingerprint(numba.njit(_two))


@posix
@pytest.mark.parametrize("way", ["chain", "dots", "foreign"])
def test_every_link_and_folder_of_a_path_is_checked(private: Path, way: str) -> None:
    (private / "real").mkdir()
    (private / "shared").mkdir()
    (private / "shared" / "second").symlink_to(private / "real")
    first = private / "first"
    first.symlink_to("shared/../real" if way == "dots" else "shared/second")
    assert fault_of(first / "kernels") is None
    if way == "foreign":
        if os.getuid():
            pytest.skip("only root can give a link away")
        os.lchown(private / "shared" / "second", 12345, 12345)
        assert "second belongs to another user" in str(fault_of(first / "kernels"))
    else:
        (private / "shared").chmod(0o777)
        assert "others can write to" in str(fault_of(first / "kernels"))
