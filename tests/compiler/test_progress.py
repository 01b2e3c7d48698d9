"""Messages on stderr while kernels are compiled."""

import os
import subprocess
import sys

import numba
import pytest

from armarl.compiler.progress import _count_uncompiled, say
from paths import ROOT

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

# Compile two of the package's kernels, one after the other.
COMPILE = """
import numba
from armarl.compiler.bits import count
from armarl.compiler.randomness import mix
from armarl.compiler.progress import say

mix(numba.uint64(1))
count(numba.uint64(1))
"""
LINE = (
    "ArmaRL is compiling kernels for their first use on this machine (10 to 30 seconds; "
    "`armarl compile` compiles all of them in advance) ..."
)


def start(code, folder, stderr):
    environment = {**os.environ, "ARMARL_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT / "envs")}
    return subprocess.run([sys.executable, "-c", code], env=environment, stderr=stderr, check=True)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "cache"
    made.mkdir(mode=0o700)
    return made


def test_a_process_says_only_once_that_it_compiles(folder):
    assert start(COMPILE, folder, subprocess.PIPE).stderr.decode() == LINE + "\n"
    assert start(COMPILE, folder, subprocess.PIPE).stderr.decode() == ""


def test_functions_of_a_user_are_not_announced(folder):
    code = "import armarl.compiler.decorators, numba\nnumba.njit(lambda x: x)(1)"
    assert start(code, folder, subprocess.PIPE).stderr.decode() == ""


def test_nothing_is_said_without_stderr(folder):
    code = "import sys\nsys.stderr = None\n" + COMPILE + "say('anything')"
    assert start(code, folder, subprocess.PIPE).stderr.decode() == ""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals")
def test_a_terminal_shows_progress(folder):
    """Each count overwrites the last one. The count is erased at the end and before messages."""
    ours, its = os.openpty()
    start(COMPILE + "say('done')", folder, its)
    os.close(its)
    shown = os.read(ours, 100_000).decode().replace("\r\n", "\n")
    os.close(ours)
    erase = "\r\x1b[K"
    counts = [f"{erase}ArmaRL: {done} of about {done + 1} kernels, " for done in range(2)]
    assert shown.startswith(f"{LINE}\n{counts[0]}")
    assert [shown.count(count) for count in counts] == [1, 1]
    assert shown.endswith(f": count{erase}done\n")


@numba.njit
def leaf(x):
    return x


@numba.njit(inline="always")
def within(x):
    return leaf(x)


@numba.njit
def root(x):
    return within(x) + leaf(x)


def test_kernels_are_counted_before_they_are_compiled():
    assert _count_uncompiled(root, set()) == 2  # `within` is not a separate kernel
    leaf(1)
    assert _count_uncompiled(root, set()) == 1


def test_messages_can_be_routed_and_silenced(folder, caplog):
    say("a\x1b[2Jb")
    assert [(record.name, record.message) for record in caplog.records] == [("armarl", "a?[2Jb")]
    silent = "import logging\nlogging.getLogger('armarl').setLevel('ERROR')\n" + COMPILE
    assert start(silent, folder, subprocess.PIPE).stderr.decode() == ""
