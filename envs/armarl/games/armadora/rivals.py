"""Opponents and search settings for measuring players in Armadora."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.compiler.bits import count
from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State

# The opponents against which `armarl.arena.panel` evaluates a player, in addition to those of every
# game. The players in HELD_OUT are for evaluation only: never train against them.
PANEL = ("greedy:style=settler", "greedy:style=bold", "ismcts:300")
HELD_OUT = ("greedy:style=hoarder", "grave:300")

LAST_RESORTS = ("pass",)  # patient playouts avoid these: `pass` ends a player's game (ARM-14)

# Search settings that are better than the defaults. The reward includes the gold, and in playouts
# no player passes while it has another action.
SEARCH: Mapping[str, Mapping[str, Any]] = {"grave": {"margin_share": 0.8, "patient": True}}


@kernel
def progress(s: State, seat: int) -> Int:
    """Return the seat's progress: the number of its Warriors on the board."""
    return count(s.warriors[seat])
