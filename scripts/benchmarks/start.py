"""Measurements of start-up times: the first use, which compiles kernels, and later uses.

The probes run new Python processes and measure wall-clock time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from benchmarks.frame import Measurement

FIRST_USE = "AEC environment, import to first step, first use"
LATER = "AEC environment, import to first step, later"
BATCH_FIRST_USE = "batch of 1024, import to first step, first use"
BATCH_LATER = "batch of 1024, import to first step, later"
_IMPORT = "import armarl"
_AEC = """
from armarl import {game}_v0
env = {game}_v0.env()
env.reset(seed=0)
env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
"""
_BATCH = """
from armarl import SelfPlayBatch
batch = SelfPlayBatch("{game}", 1024)
batch.step(batch.reset(seed=0).masks.argmax(axis=1))
"""
_PGX = """
import jax, pgx
env = pgx.make("connect_four")
state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 1024))
actions = state.legal_action_mask.argmax(axis=1)
jax.block_until_ready(jax.jit(jax.vmap(env.step))(state, actions))
"""


def groups() -> Iterator[list[Measurement]]:
    """Yield the start-up times of our games, with an empty and a full cache, and of Pgx."""
    from armarl.games.catalogue import OURS

    group = [_use("armarl", "import", _IMPORT, cold=False)]
    for entry in OURS:
        for how, code, cold in (
            (FIRST_USE, _AEC, True),
            (LATER, _AEC, False),
            (BATCH_FIRST_USE, _BATCH, True),
            (BATCH_LATER, _BATCH, False),
        ):
            group.append(_use(entry.title, how, code.format(game=entry.name), cold))
    how = "batch of 1024, import to first step, every time"
    group.append(_use("Pgx connect_four", how, _PGX, cold=False, package="pgx"))
    yield group


def _use(subject: str, how: str, code: str, cold: bool, package: str = "armarl") -> Measurement:
    return Measurement(
        "start",
        subject,
        how,
        "start.first_use",
        {"code": code, "cold": cold},
        unit="s",
        package=package,
        most=3,
    )


def first_use(code: str, cold: bool) -> Callable[[], float]:
    """Return a function that times `code`, with its imports, in a new Python process.

    With `cold`, each run has an empty cache folder. Otherwise an earlier run has filled the cache.
    """
    timed = f"import time\nbegin = time.perf_counter()\n{code}\nprint(time.perf_counter() - begin)"

    def run(cache: str) -> float:
        environment = {**os.environ, "ARMARL_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", timed],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout.splitlines()[-1])

    full = tempfile.TemporaryDirectory()

    def sample() -> float:
        if not cold:
            return run(full.name)
        with tempfile.TemporaryDirectory() as empty:
            return run(empty)

    if not cold:
        run(full.name)
    return sample
