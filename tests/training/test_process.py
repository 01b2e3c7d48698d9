"""Settings of a training process."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, numpy as np
from armarl_training.common.process import settle
if {settled}:
    settle(1)
def used():
    np.empty({size}, np.uint8).fill(1)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
used()
before = faults()
for _ in range(10):
    used()
print(faults() - before)
"""
SIZE = 48 << 20  # more than glibc ever keeps without our setting


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this is about glibc's malloc")
def test_freed_memory_is_kept_for_reuse() -> None:
    def faults(settled: bool) -> int:
        code = FAULTS.format(settled=settled, size=SIZE)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    assert faults(settled=False) > 10 * faults(settled=True)


def test_the_number_of_threads_and_flushing_of_denormals_are_set() -> None:
    code = (
        "import torch; from armarl_training.common.process import settle; settle(3); "
        "print(torch.get_num_threads(), float(torch.tensor([1e-39]) * 0.5))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3 0.0\n", done.stderr
