"""If several processes or threads need a kernel, only one of them compiles it."""

import os
import subprocess
import sys
import threading

import numba
import pytest
from numba.core import event

from armarl.compiler import kernel_cache
from armarl.compiler.cache_folders import Folders
from armarl.compiler.kernel_cache import keep
from paths import ROOT

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

# Kernels, of which `outer` calls `inner`. Compiling a kernel prints its name and is slow.
KERNELS = """
import sys, time
import numba
from numba.core import event
from armarl.compiler import kernel_cache
from armarl.compiler.decorators import kernel

class Slow(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__name__, flush=True)
        time.sleep(float(sys.argv[1]))
    def on_end(self, event):
        pass

event.register("numba:compile", Slow())

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) + 1

@kernel
def wrong(x):
    return x + "text"
"""
WAITING = "another process is compiling the same kernels"


def start(folder, use="outer(1)", seconds=0):
    """Start a process that uses a kernel, and needs some seconds to compile it."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training"))
    return subprocess.Popen(
        [sys.executable, "-c", KERNELS + use, str(seconds)],
        env={**os.environ, "ARMARL_CACHE_DIR": str(folder), "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "cache"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def holder(folder):
    """Start a process that compiles `outer` for longer than any test lasts."""
    with start(folder, seconds=1000) as process:
        assert process.stdout.readline() == "outer\n"
        yield process
        process.kill()


def test_processes_that_start_together_compile_each_kernel_once(folder):
    """Regression: each process compiled all kernels."""
    told = [process.communicate() for process in [start(folder, seconds=1) for _ in range(3)]]
    assert sorted("".join(out for out, _ in told).split()) == ["inner", "outer"]


def test_a_process_that_waits_says_so_once(folder):
    first = start(folder, seconds=2)
    assert first.stdout.readline() == "outer\n"
    compiled, told = start(folder).communicate()
    assert (compiled, told.count(WAITING), told.count("\n")) == ("", 1, 1)
    assert first.communicate()[0] == "inner\n"


def test_a_process_does_not_wait_for_other_kernels(folder, holder):
    compiled, told = start(folder, "inner(1)").communicate()
    assert compiled == "inner\n"
    assert WAITING not in told


def test_a_lock_ends_with_its_process(folder, holder):
    holder.kill()
    holder.wait()
    compiled, told = start(folder).communicate()
    assert compiled == "outer\ninner\n"
    assert WAITING not in told


def test_a_process_does_not_wait_for_ever_for_one_that_hangs(folder, holder):
    compiled, told = start(folder, "kernel_cache._patience = 0.2; outer(1)").communicate()
    assert compiled == "outer\ninner\n"
    assert WAITING in told


def test_a_lock_ends_if_the_kernel_cannot_be_compiled(folder):
    fail = "\ntry: wrong(1)\nexcept numba.TypingError: print('failed', flush=True)\n"
    with start(folder, fail + "time.sleep(1000)") as first:
        assert [first.stdout.readline() for _ in range(2)] == ["wrong\n", "failed\n"]
        compiled, told = start(folder, fail).communicate()
        first.kill()
    assert compiled == "wrong\nfailed\n"
    assert WAITING not in told


def test_kernels_are_compiled_even_if_locks_are_impossible(folder, monkeypatch):
    def fail(descriptor, place):
        raise OSError("no locks available")

    monkeypatch.setattr(kernel_cache, "_try_to_lock", fail)
    for hits in (0, 1):
        dispatcher = keep(numba.njit(lambda x: x + 3), folders=Folders((folder,), folder))
        assert dispatcher(1) == 4
        assert sum(dispatcher.stats.cache_hits.values()) == hits


def test_threads_compile_a_kernel_once(folder):
    compiled = []

    class Count(event.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"])

        def on_end(self, event):
            pass

    dispatcher = keep(numba.njit(lambda x: x + 4), folders=Folders((folder,), folder))
    ready, results = threading.Barrier(4), []

    def use():
        ready.wait()
        results.append(dispatcher(1))

    with event.install_listener("numba:compile", Count()):
        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [5, 5, 5, 5]
    assert compiled == [dispatcher]
