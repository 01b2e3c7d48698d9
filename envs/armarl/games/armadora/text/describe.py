"""A state of Armadora as plain JSON types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    LINE_EAST,
    LINE_NAMES,
    LINE_SOUTH,
    LINES,
    MINE_NAMES,
    SQUARE_NAMES,
    SQUARES,
)
from armarl.games.armadora.scoring import winners
from armarl.games.armadora.state import CHARACTER_NAMES, OVER, STAGE_NAMES

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def squares_of(word: int) -> list[int]:
    """Return the numbers of the squares in a set of squares (a bitboard, see `board`)."""
    return [square for square in range(SQUARES) if int(word) >> square & 1]


def palisades_of(state: State) -> list[int]:
    """Return the numbers of the lines with a palisade."""
    return [
        line
        for line in range(LINES)
        if LINE_EAST[line] & state["east"] or LINE_SOUTH[line] & state["south"]
    ]


def describe(game: Game, state: State, seat: int | None) -> dict[str, Any]:
    """Describe a state with JSON types. With a seat, values that the seat may not see are None.

    After the end every seat sees everything (ARM-36).
    """
    states = np.full(1, state)
    if seat is not None:
        states = game.concealed(states, np.array([seat]))
    s = states[0]
    players = range(game.players)
    over = s["stage"] == OVER
    legal_known = not over and seat in (None, s["to_move"])
    shown = players if over or seat is None else (seat,)  # the players whose hands are shown
    return {
        "game": game.name,
        "version": game.version,
        "players": game.players,
        "options": dict(game.options),
        "gold": {name: int(gold) for name, gold in zip(MINE_NAMES, s["gold"], strict=True)},
        "palisades": [LINE_NAMES[line] for line in palisades_of(s)],
        "palisades_left": int(s["palisades_left"]),
        "warriors": {
            SQUARE_NAMES[square]: _warrior(s, player, square)
            for player in players
            for square in squares_of(s["warriors"][player])
        },
        "hands": [_hand(s, player) if player in shown else None for player in players],
        "hand_sizes": [int(s["hand_size"][player]) for player in players],
        "characters": [CHARACTER_NAMES[s["character"][player] - 1] for player in players]
        if s["advanced"]
        else None,
        "powers": [int(s["powers"][player]) for player in players],
        "reinforcements": [int(s["reinforcements"][player]) for player in players],
        "passed": [bool(s["passed"][player]) for player in players],
        "seen": [[SQUARE_NAMES[i] for i in squares_of(s["read"][player])] for player in players],
        "to_move": None if over else int(s["to_move"]),
        "stage": STAGE_NAMES[s["stage"]],
        "legal": game.actions.legal_texts(game.legal_masks(states)[0])
        if legal_known
        else ([] if over else None),
        "result": _result(game, s) if over else None,
    }


def _warrior(s: State, player: int, square: int) -> dict[str, Any]:
    return {
        "player": player,
        "value": int(s["value"][square]) or None,
        "face_up": bool(int(s["face_up"]) >> square & 1),
        "arrows": int(s["arrows"][square]),
        "reinforcement": int(s["reinforced"][square]) - 1 if s["reinforced"][square] else None,
    }


def _hand(s: State, player: int) -> dict[str, int]:
    return {str(v + 1): int(s["hand"][player, v]) for v in range(VALUES)}


def _result(game: Game, s: State) -> dict[str, Any]:
    sides = range(len(set(game.sides)))
    piles = [sorted((int(p) for p in s["piles"][side] if p), reverse=True) for side in sides]
    won = int(winners(s))
    return {
        "gold": [sum(side) for side in piles],
        "piles": piles,
        "winners": [side for side in sides if won >> side & 1],
    }
