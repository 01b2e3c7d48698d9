"""Armada's rivals: what players against which others are measured need to know of the game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State

# The game's own members of the panel; those held out are never to be trained against. (Search takes
# too long here for a thousand games.)
PANEL = ("greedy:style=admiral", "greedy:style=balanced", "greedy:style=raider")
HELD_OUT = ("greedy:style=brawler",)

BEST_SEARCH = "rollout"  # of the methods: random play leads nowhere here

# What the others do better otherwise than by their own defaults: one or two turns of scripted play,
# and of some forty actions few are worth a try, so the scripted choice is left for a reason only.
_SCRIPTED: Mapping[str, Any] = {"scripted": 1.0, "depth": 20, "led": True}
SEARCH: Mapping[str, Mapping[str, Any]] = {
    "grave": _SCRIPTED,
    "flat": _SCRIPTED,
    "ismcts": {**_SCRIPTED, "exploration": 0.05, "urgency": 0.02},
}

LAST_RESORTS = ("end",)  # actions that give something up: the coups that are left (ADA-15)


@kernel
def progress(s: State, seat: int) -> Int:
    """How far the game has come, for every seat: rounds begun, 0 in the preliminary turn."""
    colours = 3 if s.players == 3 else 4  # that take turns (ADA-10 to ADA-12)
    return 0 if s.turn < 0 else 1 + s.turn // colours
