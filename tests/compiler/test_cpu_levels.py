"""Kernels that are compiled for a level of processors run on all processors of the level."""

import os
import subprocess
import sys

import pytest

from armarl.compiler import cpu_levels, kernel_cache
from armarl.compiler.cpu_levels import LEVELS, compile_for, usable_levels
from paths import ROOT

ONE = """
import os, sys
from pathlib import Path
from armarl.compiler.cpu_levels import compile_for

if len(sys.argv) > 2:
    compile_for(sys.argv[2])
import numba
from armarl.compiler.cache_folders import Folders
from armarl.compiler.kernel_cache import keep
from armarl.compiler.randomness import mix

folder = Path(sys.argv[1])
kernel = keep(numba.njit(mix.py_func), folders=Folders((folder,), folder))
print(kernel(numba.uint64(1)), sum(kernel.stats.cache_hits.values()))
"""

compiled = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
leveled = pytest.mark.skipif(not usable_levels(), reason="this processor has no level")


def _run(*arguments):
    command = [sys.executable, "-c", ONE, *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "envs")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stderr
    assert "damaged" not in done.stderr
    return done.stdout.split()


@compiled
@leveled
def test_a_kernel_of_a_level_is_used_on_this_machine(tmp_path):
    tmp_path.chmod(0o700)
    level = usable_levels()[-1]
    value, hits = _run(tmp_path, level)
    assert hits == "0"
    assert _run(tmp_path) == [value, "1"]
    assert len([path for path in tmp_path.iterdir() if path.name != ".locks"]) == 1


@compiled
@leveled
def test_this_machine_s_own_kernel_is_preferred(tmp_path):
    tmp_path.chmod(0o700)
    value, _ = _run(tmp_path)
    own = set(tmp_path.iterdir())
    # A process that compiles for a level does not use the code for this machine.
    assert _run(tmp_path, usable_levels()[0]) == [value, "0"]
    (of_level,) = set(tmp_path.iterdir()) - own
    of_level.write_bytes(b"damaged")  # a message would report this if it were read
    assert _run(tmp_path) == [value, "1"]


@compiled
@pytest.mark.skipif(len(usable_levels()) < 2, reason="this processor has fewer than two levels")
def test_each_level_has_its_own_kernels(tmp_path):
    """A disk image for a lower level must not depend on kernels that exist for a higher one."""
    tmp_path.chmod(0o700)
    value, _ = _run(tmp_path, usable_levels()[0])
    assert _run(tmp_path, usable_levels()[-1]) == [value, "0"]
    assert len([path for path in tmp_path.iterdir() if path.name != ".locks"]) == 2


@leveled
def test_levels_above_this_processor_are_not_used(monkeypatch):
    monkeypatch.setattr(cpu_levels.llvm, "get_host_cpu_features", lambda: {"sse3": True})
    assert usable_levels() == ()
    features = dict.fromkeys(LEVELS["x86-64-v3"], True) | {"avx512f": False}
    monkeypatch.setattr(cpu_levels.llvm, "get_host_cpu_features", lambda: features)
    assert usable_levels() == ("x86-64-v3", "x86-64-v2")
    with pytest.raises(ValueError, match=r"cannot compile for 'x86-64-v4'.*x86-64-v3, x86-64-v2"):
        compile_for("x86-64-v4")


def test_a_processor_that_llvm_does_not_know_has_no_level(monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(cpu_levels.llvm, "get_host_cpu_features", unknown)
    assert usable_levels() == ()


@leveled
def test_a_level_is_chosen_before_numba_is_imported():
    assert kernel_cache  # this import also imports Numba
    with pytest.raises(RuntimeError, match="Numba is already imported"):
        compile_for(usable_levels()[0])
