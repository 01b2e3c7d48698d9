"""Explanations of illegal actions in Armadora."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armarl.games.armadora.actions import (
    ELF,
    GOBLIN,
    MAGE,
    ORC,
    PALISADE,
    PASS,
    REINFORCEMENT,
    STOP,
)
from armarl.games.armadora.board import (
    BOARD_NAMES,
    LINE_EAST,
    LINE_NAMES,
    LINE_SOUTH,
    SITE_NAMES,
    SITE_SQUARES,
    SITES,
    START_BARRED_EAST,
    START_BARRED_SOUTH,
    START_FREE,
)
from armarl.games.armadora.state import (
    AFTER_POWER,
    CHARACTER_NAMES,
    ELF_CHARACTER,
    GOBLIN_CHARACTER,
    MAGE_CHARACTER,
    ORC_CHARACTER,
    OVER,
    SECOND_PALISADE,
    TURN,
    opposing_warriors,
    territory,
)

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def explain(game: Game, state: State, action: int) -> str:
    """Return the most specific reason why `action` is illegal in `state`."""
    player, stage = int(state["to_move"]), state["stage"]
    if stage == OVER:
        return "the game is over (ARM-15)"
    if action == STOP:
        return "there is no first palisade to stop after (ARM-13)"
    if action == PASS:
        if stage == SECOND_PALISADE:
            return "after a palisade only a second one or `stop` is possible (ARM-13)"
        return "passing is not allowed after a power (ARM-22)"
    is_palisade = PALISADE <= action < STOP
    if stage == SECOND_PALISADE and not is_palisade:
        return "after a palisade only a second one or `stop` is possible (ARM-13)"
    if is_palisade:
        return _palisade(state, action - PALISADE)
    if action < PALISADE:
        return _warrior(state, player, action)
    if action < MAGE:
        return _reinforcement(state, player, action - REINFORCEMENT)
    return _power(state, player, action)


def _palisade(state: State, line: int) -> str:
    if state["palisades_left"] == 0:
        return "no palisade is left (ARM-5)"
    if LINE_EAST[line] & state["east"] or LINE_SOUTH[line] & state["south"]:
        return f"there is already a palisade on {LINE_NAMES[line]} (ARM-12)"
    if (LINE_EAST[line] & START_BARRED_EAST[state["board"]]) or (
        LINE_SOUTH[line] & START_BARRED_SOUTH[state["board"]]
    ):
        return f"{LINE_NAMES[line]} is outside the {_board(state)} board (ARM-35)"
    return (
        f"a palisade on {LINE_NAMES[line]} would leave a territory of fewer than 4 squares (ARM-12)"
    )


def _warrior(state: State, player: int, value_and_site: int) -> str:
    value, site = value_and_site // SITES + 1, value_and_site % SITES
    if state["hand"][player, value - 1] == 0:
        return f"player {player} has no Warrior of value {value} left (ARM-7)"
    if not START_FREE[state["board"]] >> SITE_SQUARES[site] & 1:
        return f"{SITE_NAMES[site]} is outside the {_board(state)} board (ARM-35)"
    return f"a Warrior already lies on {SITE_NAMES[site]} (ARM-11)"


def _board(state: State) -> str:
    return BOARD_NAMES[state["board"]]


def _reinforcement(state: State, player: int, site: int) -> str:
    square = int(SITE_SQUARES[site])
    if state["reinforcements"][player] == 0:
        return f"player {player} has no reinforcement left (ARM-28)"
    if not int(state["warriors"][player]) >> square & 1:
        return f"player {player} has no Warrior on {SITE_NAMES[site]} (ARM-28)"
    if int(territory(state, np.int64(1 << square))) & int(state["free"]):
        return "its territory is not full (ARM-28)"
    return "its territory already has a reinforcement (ARM-28)"


def _power(state: State, player: int, action: int) -> str:
    if state["stage"] == AFTER_POWER:
        return "only one power per turn is allowed (ARM-22)"
    assert state["stage"] == TURN
    needed = _character_of(action)
    if state["character"][player] != needed:
        return f"player {player} is not the {CHARACTER_NAMES[needed - 1].capitalize()} (ARM-21)"
    if state["powers"][player] == 0:
        return f"player {player} has no power left (ARM-22)"
    if GOBLIN <= action < ORC:
        return _warrior(state, player, action - GOBLIN)
    if ORC <= action < ELF:
        return _palisade(state, action - ORC)
    first = MAGE if action < GOBLIN else ELF
    return _target(state, player, action - first, mage=action < GOBLIN)


def _character_of(power: int) -> int:
    """Return the character whose power an action uses."""
    if power < GOBLIN:
        return MAGE_CHARACTER
    if power < ORC:
        return GOBLIN_CHARACTER
    return ORC_CHARACTER if power < ELF else ELF_CHARACTER


def _target(state: State, player: int, site: int, mage: bool) -> str:
    square = int(SITE_SQUARES[site])
    rule = "ARM-23" if mage else "ARM-26"
    if not int(opposing_warriors(state, player)) >> square & 1:
        return f"there is no opposing Warrior on {SITE_NAMES[site]} ({rule})"
    if mage:
        return f"the value of the Warrior on {SITE_NAMES[site]} is already known (ARM-23)"
    around = int(territory(state, np.int64(1 << square)))
    if not around & int(state["warriors"][player]):
        return f"player {player} has no Warrior in that territory (ARM-26)"
    return "that territory is full (ARM-26)"
