"""Opponents and search settings for measuring players in Armada."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State

# The panel: the fixed opponents for evaluation. Never train against the held-out ones. The panel
# has no search player, because search is too slow for a thousand games of Armada.
PANEL = ("greedy:style=admiral", "greedy:style=balanced", "greedy:style=raider")
HELD_OUT = ("greedy:style=brawler",)

# The best search method. Its playouts use the scripted player; random playouts are useless here.
BEST_SEARCH = "rollout"

# Settings that are better than the defaults for the other search methods. The scripted player plays
# playouts of one or two turns. Of about forty legal actions, only a few are worth trying, so the
# search tries the scripted player's choice first.
_SCRIPTED: Mapping[str, Any] = {"scripted": 1.0, "depth": 20, "led": True}
SEARCH: Mapping[str, Mapping[str, Any]] = {
    "grave": _SCRIPTED,
    "flat": _SCRIPTED,
    "ismcts": {**_SCRIPTED, "exploration": 0.05, "urgency": 0.02},
}

LAST_RESORTS = ("end",)  # patient playouts avoid these: `end` gives up coups (ADA-15)


@kernel
def progress(s: State, seat: int) -> Int:
    """Return the number of rounds that have begun (the same for all seats; 0 before the first)."""
    colours = 3 if s.players == 3 else 4  # number that take turns (ADA-10 to ADA-12)
    return 0 if s.turn < 0 else 1 + s.turn // colours
