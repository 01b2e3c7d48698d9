"""Measurements of PettingZoo's AEC loop, with our environments and with connect_four_v3."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.frame import Measurement
from benchmarks.ours import PLAYED, title

PEER = "PettingZoo connect_four_v3"
FACES = ("env()", "raw_env()")
_STEPS = 200  # number of steps between two readings of the clock


def groups() -> Iterator[list[Measurement]]:
    """Yield a group for `env()` and one for `raw_env()`. Each begins with connect_four_v3."""
    for how in FACES:
        face = how.removesuffix("()")
        yield [
            Measurement("aec", PEER, how, "aec.connect_four", {"face": face}, package="pygame"),
            *(
                Measurement(
                    "aec", title(variant), how, "aec.ours", {"variant": variant, "face": face}
                )
                for variant in PLAYED
            ),
        ]


def ours(variant: tuple[str, dict[str, Any]], face: str) -> Callable[[], int]:
    """Return a chunk that runs an environment of this package and counts the steps."""
    game, options = variant
    module = importlib.import_module(f"armarl.{game}_v0")
    return _loop(getattr(module, face)(**options))


def connect_four(face: str) -> Callable[[], int]:
    """Return a chunk that runs connect_four_v3 and counts the steps. It needs pygame."""
    from pettingzoo.classic.connect_four import connect_four

    return _loop(getattr(connect_four, face)())


def _loop(env: Any) -> Callable[[], int]:
    """Return a chunk that plays random legal actions, and resets the environment after a game."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def chunk() -> int:
        left = _STEPS
        while left:
            observation, _reward, terminated, truncated, _info = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(rng.random() * legal.size)])
            left -= 1
        return _STEPS

    chunk()
    return chunk
