"""Armadora's rivals: what players against which others are measured need to know of the game."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LAST_RESORTS = ("pass",)  # actions that give something up: a player who passes is out (ARM-14)


def progress(states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each of `seats` has come, as all can see: its Warriors on the board, int64."""
    squares = np.ascontiguousarray(states["warriors"][np.arange(states.size), seats])
    bits = np.unpackbits(squares.view(np.uint8).reshape(states.size, -1), axis=1)
    return np.asarray(bits.sum(axis=1), np.int64)
