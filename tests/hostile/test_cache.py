"""The cache of compiled kernels: foreign code is not run, and damaged entries are replaced."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from armarl.compiler import kernel_cache
from armarl.compiler.kernel_cache import KernelCache, choose_folder, fault_of, fingerprint

posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes and owners are POSIX")


@numba.njit
def _one() -> int:
    return 1


TABLE = np.arange(3)
VERBS = (_one,)


def _two(x: int) -> int:
    """Two functions and a table."""
    return x + VERBS[0]() + TABLE[2]


def _give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a path belong to another user, as far as `fault_of` can see."""
    if os.getuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        mine = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A folder that other users cannot write to, for every umask."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def homeless(private: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave only the folder for temporary files, and return it."""
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
    below = private / "kernels"  # a subfolder too, unless the sticky bit protects names
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
def test_links_are_followed_and_must_be_ours(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, shared = private / "link", tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    link.symlink_to(shared)
    assert f"others can write to {shared.resolve()}" in str(fault_of(link / "kernels"))
    (private / "circle").symlink_to(private / "circle")
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(private / "circle"))
    assert choose_folder() != private / "circle" / "kernels"


@posix
def test_a_planted_folder_for_temporary_files_is_not_used(
    homeless: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = homeless / f"armarl-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert choose_folder() is None
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "each process compiles the rules" in told
    assert str(planted) in told
    planted.rmdir()
    chosen = choose_folder()
    assert chosen == homeless.resolve() / planted.name / "kernels"
    assert (chosen.stat().st_mode & 0o777, chosen.parent.stat().st_mode & 0o777) == (0o700, 0o700)


@pytest.mark.parametrize("chosen", ["", "kernels", "./kernels", "~/kernels"])
@pytest.mark.parametrize("name", ["ARMARL_CACHE_DIR", "XDG_CACHE_HOME"])
def test_what_is_not_an_absolute_path_is_not_used(
    chosen: str, name: str, homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(homeless)
    monkeypatch.setenv(name, chosen)
    before = set(homeless.iterdir())
    folder = choose_folder()
    assert folder is not None
    assert folder.parent.parent == homeless.resolve()  # in the folder for temporary files
    assert {path.name for path in set(homeless.iterdir()) - before} == {folder.parent.name}


def test_a_folder_that_was_chosen_and_is_no_good_is_named(
    homeless: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = homeless / "file"
    file.touch()
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(file))
    assert choose_folder() is not None
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(file) in told


def test_without_a_home_and_a_name(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(cls: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    assert choose_folder() is not None


# --- entries -------------------------------------------------------------------------------------


def _compiled(folder: Path) -> Any:
    """`_two`, compiled or loaded from the folder."""
    dispatcher = numba.njit(_two)
    dispatcher._cache = KernelCache(dispatcher, folder)
    assert dispatcher(4) == 7
    return dispatcher


def _came_from_folder(dispatcher: Any) -> bool:
    return sum(dispatcher.stats.cache_hits.values()) == 1


class _Spy:
    """Creates a file when it is unpickled."""

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
def test_damaged_entries_are_compiled_anew(
    damage: str, private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel_cache._say_once.cache_clear()
    assert not _came_from_folder(_compiled(private))
    assert _came_from_folder(_compiled(private))
    (entry,) = private.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGES[damage](whole))
    assert not _came_from_folder(_compiled(private))
    assert capsys.readouterr().err.count("\n") == 1
    assert _came_from_folder(_compiled(private))
    assert list(private.iterdir()) == [entry]


def test_what_was_not_written_whole_is_not_unpickled(private: Path, tmp_path: Path) -> None:
    _compiled(private)
    (entry,) = private.iterdir()
    entry.write_bytes(bytes(32) + pickle.dumps(_Spy(tmp_path / "was here")))
    _compiled(private)
    assert not (tmp_path / "was here").exists()


def test_a_full_disk(private: Path) -> None:
    """With a file size limit of 100 bytes the kernel runs, one line reports it, no file remains."""
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
    assert list((private / "kernels").iterdir()) == []


def test_a_folder_that_is_gone(private: Path) -> None:
    folder = private / "gone"
    assert not _came_from_folder(_compiled(folder))


def test_closures_of_two_processes_are_not_taken_for_each_other(private: Path) -> None:
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
    names = {path.name.rpartition("-")[0] for path in (private / "kernels").iterdir()}
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


def test_a_fingerprint_sees_callees_constants_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_fingerprint_does_not_see_comments(tmp_path: Path) -> None:
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
