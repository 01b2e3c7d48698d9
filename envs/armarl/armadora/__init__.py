"""Armadora (Christwart Conrad): walls, hidden Warriors, majorities, for 2 to 4 players."""

from __future__ import annotations

from functools import cache

import numpy as np

from armarl.armadora import knowledge, rules, scoring, state
from armarl.armadora.actions import ADVANCED_ACTIONS, BASE_ACTIONS
from armarl.armadora.describe import describe
from armarl.armadora.drawing import draw
from armarl.armadora.explain import explain
from armarl.armadora.greedy import greedy
from armarl.armadora.observation import observation_table, observe
from armarl.game import Game

VERSION = 0
VERBS = {
    "start": rules.start,
    "legal": rules.legal,
    "apply": rules.apply,
    "status": rules.status,
    "to_move": rules.to_move,
    "observe": observe,
    "returns": scoring.returns,
    "conceal": knowledge.conceal,
    "determinise": knowledge.determinise,
    "greedy": greedy,
}


def make(players: int = 2, advanced: bool = False, peek: bool = True) -> Game:
    """Armadora for `players` (2 to 4; four play in teams).

    Args:
        advanced: characters, powers and reinforcements (ARM-21 to ARM-30).
        peek: a player's own placed Warriors, and those his Mage has read, stay in his
            observation (ARM-33).

    Raises:
        ValueError: a value of the wrong kind or out of range.
    """
    if isinstance(players, bool) or players not in (2, 3, 4):
        raise ValueError(f"Armadora is for 2, 3 or 4 players, not {players!r}")
    for name, value in (("advanced", advanced), ("peek", peek)):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, not {value!r}")
    return _make(int(players), bool(advanced), bool(peek))


@cache
def _make(players: int, advanced: bool, peek: bool) -> Game:
    blank = np.zeros((), state.STATE)
    blank["players"], blank["advanced"], blank["peek"] = players, advanced, peek
    return Game(
        name="armadora",
        version=VERSION,
        players=players,
        options={"advanced": advanced, "peek": peek},
        sides=tuple(seat % (2 if players == 4 else players) for seat in range(players)),
        actions=ADVANCED_ACTIONS if advanced else BASE_ACTIONS,
        observation=observation_table(players, advanced),
        rewards=scoring.REWARD_NAMES,
        max_actions=_longest_game(players, advanced),
        blank=blank[()],
        _describe=describe,
        _draw=draw,
        _explain=explain,
    )


def _longest_game(players: int, advanced: bool) -> int:
    """Every palisade by itself and stopped after, every Warrior, every token, every pass."""
    tokens = int(state.POWERS.sum()) + players if advanced else 0
    warriors = players * int(state.WARRIORS[players].sum())
    return 2 * state.PALISADES + warriors + tokens + players
