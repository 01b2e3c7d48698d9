"""Drawings of Armadora as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armarl.common.messages import counted, relation
from armarl.games.armadora.board import COLUMNS, MINE_SQUARES, ROWS
from armarl.games.armadora.state import OVER
from armarl.games.armadora.text.describe import describe, squares_of

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

PLAYER_LETTERS = "ABCD"


def draw(game: Game, state: State, seat: int | None) -> str:
    """Return a text drawing: palisades, gold `(5)`, Warriors (`A3`, or `B?` for a hidden value).

    Marks after a Warrior are `'` for face up, `-` for an arrow and `+` for a reinforcement. After
    the end no value is unknown (ARM-36).
    """
    states = np.full(1, state)
    if seat is not None:
        states = game.concealed(states, np.array([seat]))
    s = states[0]
    lines = ["     " + "      ".join("abcdefgh")]
    for row in range(ROWS):
        lines += [_rule(s, row), _squares(game, s, row)]
    lines.append(_rule(s, ROWS))
    return "\n".join(lines + _captions(game, s, seat))


def _rule(s: State, row: int) -> str:
    """Return the line above a row of squares."""
    if row in (0, ROWS):
        return "  +" + "------+" * COLUMNS
    above = [int(s["south"]) >> ((row - 1) * COLUMNS + column) & 1 for column in range(COLUMNS)]
    return "  |" + "+".join("======" if wall else "      " for wall in above) + "|"


def _squares(game: Game, s: State, row: int) -> str:
    text = f"{row + 1} |"
    for column in range(COLUMNS):
        square = row * COLUMNS + column
        wall = int(s["east"]) >> square & 1
        edge = "|" if column == COLUMNS - 1 else "#" if wall else " "
        text += f"{_square(game, s, square):^6}" + edge
    return text


def _square(game: Game, s: State, square: int) -> str:
    if square in MINE_SQUARES:
        gold = s["gold"][list(MINE_SQUARES).index(square)]
        return f"({gold})" if gold else ""
    for player in range(game.players):
        if square in squares_of(s["warriors"][player]):
            value = s["value"][square] or "?"
            face_up = "'" if int(s["face_up"]) >> square & 1 else ""
            marks = "-" * int(s["arrows"][square]) + "+" * bool(s["reinforced"][square])
            return f"{PLAYER_LETTERS[player]}{value}{face_up}{marks}"
    return "." if int(s["free"]) >> square & 1 else ""


def _captions(game: Game, s: State, seat: int | None) -> list[str]:
    view = describe(game, s, seat)
    lines = [f"palisades left: {view['palisades_left']}"]
    for player in range(game.players):
        hand = view["hands"][player]
        if hand is None:
            text = counted(view["hand_sizes"][player], "Warrior")
        else:
            text = " ".join(f"{n}x{value}" for value, n in hand.items() if n) or "no Warriors"
        if view["characters"]:
            text += f", {view['characters'][player].capitalize()}"
            text += f", powers {view['powers'][player]}"
            text += f", reinforcements {view['reinforcements'][player]}"
        if view["passed"][player]:
            text += ", has passed"
        turn = ">" if view["to_move"] == player else " "
        you = "" if seat is None else relation(game.sides, seat, player)
        lines.append(f"{turn} {PLAYER_LETTERS[player]} = player {player}{you}: {text}")
    if s["stage"] == OVER:
        result = view["result"]
        gold = " : ".join(map(str, result["gold"]))
        won = " and ".join(_members(game, winner) for winner in result["winners"])
        lines.append(f"over: gold {gold}; won by {won}")
    return lines


def _members(game: Game, side: int) -> str:
    """Return the names of a side's players."""
    members = [str(seat) for seat in range(game.players) if game.sides[seat] == side]
    return f"player{'s' * (len(members) > 1)} {' and '.join(members)}"
