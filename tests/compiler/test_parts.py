"""Kernels that only kernels call have no entry point and no machine code of their own."""

import os
import subprocess
import sys

import pytest

from armarl.compiler.decorators import kernel
from paths import ROOT

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

# Kernels of every kind that a game may have. `USES` contains the calls of a process.
KERNELS = """
from armarl.compiler.decorators import inlined, kernel, merged, part

@kernel
def recursive(n):
    if n < 2:
        return n
    return recursive(n - 1) + recursive(n - 2)

@kernel
def calls_recursive(n):
    return recursive(n) + recursive(n + 1)

@kernel
def prints(n):
    print(n)
    return n

@kernel
def calls_prints(n):
    return prints(n) + 1

@kernel
def raises(n):
    if n > 3:
        raise ValueError("too large")
    return n

@inlined
def calls_raises(n):
    return raises(n) + 1

def times(k):
    @kernel
    def product(x):
        return x * k
    return product

double, triple = times(2), times(3)

@part
def both(x):
    return double(x), triple(x)

@merged
def calls_both(x):
    return both(x)

@kernel
def calls_merged(x):
    return calls_both(x)

def message(function, n):
    try:
        function(n)
    except ValueError as error:
        return str(error)
"""
USES = {
    "recursive(10)": "55",
    "calls_recursive(10)": "144",
    "prints(7)": "7\n7",
    "calls_prints(7)": "7\n8",
    "message(raises, 9)": "too large",
    "message(calls_raises, 9)": "too large",
    "double(5)": "10",
    "calls_merged(5)": "(10, 15)",
}


def run(folder, uses):
    (folder / "kernels_of_all_kinds.py").write_text(KERNELS)
    code = "from kernels_of_all_kinds import *\n" + "\n".join(f"print({use})" for use in uses)
    paths = os.pathsep.join([str(ROOT / "envs"), str(folder)])
    environment = {**os.environ, "ARMARL_CACHE_DIR": str(folder), "PYTHONPATH": paths}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "cache"
    made.mkdir(mode=0o700)
    return made


@pytest.mark.parametrize("first", [list(USES), list(USES)[::-1]], ids=["inner", "outer"])
def test_kernels_of_all_kinds_work_from_the_cache(folder, first):
    """Kernels work in any order of their first uses. Later processes link parts from disk."""
    for uses in (first[:3], first, first[::-1]):
        assert run(folder, uses).stdout.splitlines() == "\n".join(map(USES.get, uses)).split("\n")
    assert run(folder, first).stderr == ""


def test_a_kernel_that_only_kernels_call_is_not_compiled_for_python():
    @kernel
    def inner(x):
        return x + 1

    @kernel
    def outer(x):
        return inner(x) + 1

    for form in (inner, inner.part, outer, outer.part):
        form._cache.disable()  # a kernel from the cache would compile none of its parts
    assert outer(1) == 3
    assert (len(inner.overloads), len(inner.part.overloads)) == (0, 1)
    assert (len(outer.overloads), len(outer.part.overloads)) == (1, 0)
    (result,) = inner.part.overloads.values()
    assert not result.library._codegen._engine.is_symbol_defined(result.fndesc.mangled_name)
    assert inner(1) == 2
    assert len(inner.overloads) == 1
