"""Armadora's rivals: what players against which others are measured need to know of the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.compiler.bits import count
from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State

# The game's own members of the panel; those held out are never to be trained against.
PANEL = ("greedy:style=settler", "greedy:style=bold", "ismcts:300")
HELD_OUT = ("greedy:style=hoarder", "grave:300")

LAST_RESORTS = ("pass",)  # actions that give something up: a player who passes is out (ARM-14)

# What search does better otherwise than by its own defaults: the gold in its reward, and playouts
# in which nobody passes who has a Warrior to place.
SEARCH: Mapping[str, Mapping[str, Any]] = {"grave": {"margin_share": 0.8, "patient": True}}


@kernel
def progress(s: State, seat: int) -> Int:
    """How far the seat has come: its Warriors on the board."""
    return count(s.warriors[seat])
