"""Armadora's rivals: what players against which others are measured need to know of the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The game's own members of the panel; those held out are never to be trained against.
PANEL = ("greedy:style=settler", "greedy:style=bold", "ismcts:300")
HELD_OUT = ("greedy:style=hoarder", "grave:300")

LAST_RESORTS = ("pass",)  # actions that give something up: a player who passes is out (ARM-14)

# What search does better otherwise than by its own defaults: the gold in its reward, and playouts
# in which nobody passes who has a Warrior to place.
SEARCH: Mapping[str, Mapping[str, Any]] = {"grave": {"margin_share": 0.8, "patient": True}}


def progress(states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each of `seats` has come, as all can see: its Warriors on the board, int64."""
    squares = np.ascontiguousarray(states["warriors"][np.arange(states.size), seats])
    bits = np.unpackbits(squares.view(np.uint8).reshape(states.size, squares.itemsize), axis=1)
    return np.asarray(bits.sum(axis=1), np.int64)
