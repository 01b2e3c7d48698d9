"""Sums of rows, several numbers at a time, compared with NumPy's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from armarl.compiler.decorators import PLAIN_PYTHON, kernel
from armarl_training.learners.ppo.incremental.simd_rows import MANY, SOME, add_rows, add_to_rows


@kernel
def _add_rows(total, table, chosen, factors, first, last, before, apart):
    add_rows(total, table, chosen, factors, first, last, before, apart)


@kernel
def _add_to_rows(row, table, chosen, factors, number):
    add_to_rows(row, table, chosen, factors, number)


UNITS = [1, 7, SOME, SOME + 3, MANY - 1, MANY, MANY + SOME + 1, 2 * MANY]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("number", [0, 1, 9])
@pytest.mark.parametrize("dtype", [np.uint16, np.int64])
def test_multiples_of_rows_are_added(units, number, dtype):
    rng = np.random.default_rng(units)
    apart, before, first = 5, 3, 2
    table = rng.normal(size=(11, apart + units)).astype(np.float32)
    chosen = (before + rng.integers(11, size=first + number + 1)).astype(dtype)
    factors = rng.normal(size=chosen.size).astype(np.float32)
    around = rng.normal(size=units + 2).astype(np.float32)
    total, last = around[1:-1].copy(), first + number
    wanted = total + factors[first:last] @ table[chosen[first:last] - before, apart:]
    written = around.copy()
    _add_rows(written[1:-1], table, chosen, factors, first, last, before, apart)
    np.testing.assert_allclose(written[1:-1], wanted, rtol=1e-5, atol=1e-5)
    assert written[0] == around[0]
    assert written[-1] == around[-1]


@pytest.mark.parametrize("units", UNITS)
def test_multiples_of_a_row_are_added_to_rows(units):
    rng = np.random.default_rng(units)
    table = rng.normal(size=(11, units)).astype(np.float32)
    row = rng.normal(size=units).astype(np.float32)
    chosen, factors = rng.permutation(11)[:9], rng.normal(size=9).astype(np.float32)
    wanted = table.copy()
    wanted[chosen[:7]] += factors[:7, None] * row
    _add_to_rows(row, table, chosen, factors, 7)
    np.testing.assert_allclose(table, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(PLAIN_PYTHON, reason="this process is the plain one already")
def test_plain_python_adds_as_well():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", __file__]
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
