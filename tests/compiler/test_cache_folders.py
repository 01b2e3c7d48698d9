"""Folders of kernels that are read but not written, such as those that root has prepared."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from armarl.compiler import cache_folders
from armarl.compiler.cache_folders import Folders, choose_folders
from armarl.compiler.progress import say_once
from paths import ROOT

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes and owners are POSIX"),
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled"),
]
SOMEONE, OTHER = 23456, 23457  # user ids that no user has

# Compile a kernel, or load it from disk, as a user. First import all modules, because the user may
# not be allowed to read them.
ONE = """
import os, sys
import numba
from armarl.compiler.cache_folders import choose_folders
from armarl.compiler.kernel_cache import keep
from armarl.compiler.randomness import mix

numba.njit(lambda x: x)(1)
user, os.environ["ARMARL_CACHE_DIR"] = int(sys.argv[1]), sys.argv[2]
os.umask(0o022)
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
folders = choose_folders()
kernels = [keep(numba.njit(mix.py_func), folders=folders)]
kernels[0](numba.uint64(1))
"""
TWO = (
    ONE
    + """
kernels.append(keep(numba.njit(lambda x: x + 1), folders=folders))
kernels[1](2)
"""
)
COUNT = "\nprint(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels))"


@pytest.fixture
def opened():
    """Return a folder that every user can enter. Other users cannot enter pytest's own folder."""
    folder = Path(tempfile.mkdtemp(prefix="armarl-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(code, folder, user=0, home=None):
    """Run code as a user, with `folder` in ARMARL_CACHE_DIR.

    The code prints the number of kernels that were loaded from disk.
    """
    home = home or folder.parent / "root"
    paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training"))
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": paths}
    environment["ARMARL_CACHE_DIR"] = str(home.parent / "imports")
    environment.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        [sys.executable, "-c", code + COUNT, str(user), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture
def home(opened):
    """Return the home folder of SOMEONE."""
    if os.getuid() != 0:
        pytest.skip("only root can act for other users")
    folder = opened / "home"
    folder.mkdir(mode=0o700)
    os.chown(folder, SOMEONE, SOMEONE)
    return folder


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")


def test_a_folder_prepared_by_root_is_used(opened, home):
    """Regression: other users could not read the folder, and compiled everything again."""
    prepared = opened / "prepared"
    run(ONE, prepared)
    entries = files(prepared)
    done = run(ONE, prepared, SOMEONE, home)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert files(home) == []
    # The missing kernel is written to the user's own folder, which others cannot open.
    done = run(TWO, prepared, SOMEONE, home)
    assert (done.stdout, done.stderr) == ("1\n", "")
    own = home / ".cache" / "armarl"
    assert len(files(own)) == len(files(home)) == 1
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert run(TWO, prepared, SOMEONE, home).stdout == "2\n"
    assert files(prepared) == entries


def test_a_process_without_its_own_folder_uses_a_prepared_one(opened, home):
    prepared = opened / "prepared"
    run(ONE, prepared)
    os.chown(home, 0, 0)
    done = run(ONE, prepared, SOMEONE, home)
    assert (done.stdout, done.stderr) == ("1\n", "")
    done = run(TWO, prepared, SOMEONE, home)
    assert done.stdout == "1\n"
    assert "each process compiles the rules" in done.stderr
    assert str(prepared) in done.stderr


def test_a_folder_of_another_user_is_not_read(opened, home):
    prepared = opened / "prepared"
    run(ONE, prepared)
    for path in (prepared, *prepared.rglob("*")):
        os.chown(path, OTHER, OTHER)
    done = run(ONE, prepared, SOMEONE, home)
    assert done.stdout == "0\n"
    assert f"ARMARL_CACHE_DIR is not used: {prepared} belongs to another user" in done.stderr
    assert run(ONE, prepared).stdout == "0\n"  # root does not read it either


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_an_entry_that_others_can_write_is_not_read(opened, home, mode):
    prepared = opened / "prepared"
    run(ONE, prepared)
    files(prepared)[0].chmod(mode)
    done = run(ONE, prepared, SOMEONE, home)
    assert done.stdout == "0\n"
    assert "others can write to it" in done.stderr
    assert len(files(home)) == 1


def test_an_entry_that_another_user_planted_is_not_read(opened, home):
    """The folder was open to all, another user wrote to it, and then it was closed to others."""
    prepared = opened / "prepared"
    run(ONE, prepared)
    os.chown(files(prepared)[0], OTHER, OTHER)
    for user, own in ((SOMEONE, home), (0, None)):
        done = run(ONE, prepared, user, own)
        assert done.stdout == "0\n"
        assert "it belongs to another user" in done.stderr


def test_one_s_own_folder_may_be_read_only(opened, home):
    prepared = home / "prepared"
    run(ONE, prepared, SOMEONE, home)
    (prepared / "kernels").chmod(0o555)
    done = run(TWO, prepared, SOMEONE, home)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert len(files(prepared)) == 1
    assert len(files(home / ".cache")) == 1


# --- the choice of folders -----------------------------------------------------------------------


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return the package's folder, the chosen one and the user's own, which do not exist yet."""
    say_once.cache_clear()
    package, chosen, own = (tmp_path.resolve() / name for name in ("package", "chosen", "own"))
    monkeypatch.setattr(cache_folders, "OF_PACKAGE", package / "kernels")
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(chosen))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.setattr(sys, "platform", "linux")
    return package / "kernels", chosen / "kernels", own / "armarl" / "kernels"


@pytest.fixture
def read_only(monkeypatch):
    """Return a function that makes a folder read-only, even for root, as a mount can do."""
    make = tempfile.TemporaryFile

    def fail_in(folder):
        def open_or_fail(dir):
            if dir == folder:
                raise OSError(30, "Read-only file system", str(dir))
            return make(dir=dir)

        folder.mkdir(parents=True)
        folder.chmod(0o755)
        monkeypatch.setattr(cache_folders.tempfile, "TemporaryFile", open_or_fail)

    return fail_in


def test_the_first_writable_folder_is_the_last_one_that_is_read(places, read_only, caplog):
    package, chosen, own = places
    assert choose_folders() == Folders((chosen,), chosen)
    package.mkdir(parents=True)
    package.chmod(0o755)
    assert choose_folders() == Folders((package, chosen), chosen)
    chosen.rmdir()
    read_only(chosen)
    folders = choose_folders()
    assert folders[:2] == ((package, chosen, own), own)
    assert "Read-only file system" in folders.faults[0]
    assert not caplog.records


def test_the_package_s_folder_is_checked_as_others_are(places, caplog):
    package, chosen, _ = places
    package.mkdir(parents=True)
    package.chmod(0o777)
    assert choose_folders() == Folders((chosen,), chosen)
    told = caplog.text
    assert "the kernels of this installation are not used" in told
    assert str(package) in told


def test_the_package_s_folder_can_be_chosen(places, monkeypatch):
    package, *_ = places
    monkeypatch.setenv("ARMARL_CACHE_DIR", str(package.parent))
    package.mkdir(parents=True)
    package.chmod(0o755)
    assert choose_folders() == Folders((package,), package)
