"""The players' thoughts on the positions of a recorded game.

Thoughts are a player's action probabilities and expected returns (`players.protocol.Thoughts`).
Records contain no thoughts. A player's thoughts depend only on the information of a seat, so any
player can think about a recorded game at any time, even if it did not play the game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from armarl.matches.records import Record
from armarl.players.protocol import Player, Thinker, Thoughts, ask_thoughts, check_variant

MOST_ROWS = 5  # maximum number of actions in a table, not counting the action that was played
MOST_FALLS = 8  # maximum number of falls of a seat's expected return that are shown
_LEAST_FALL = 0.05  # minimum decrease of the expected return that counts as a fall
_AT_ONCE = 16  # number of positions between two calls of `progress`


def thoughts_of(
    record: Record, player: Player, progress: Callable[[int, int], None] | None = None
) -> list[Thoughts | None]:
    """Return a player's thoughts on a recorded game. `think_over` also takes a player's name."""
    check_variant(player, record.game)
    game, count = record.game, len(deciders(record))
    if not isinstance(player, Thinker):
        return [None] * count
    found: list[Thoughts | None] = []
    chance = game.new_chance(np.arange(count))
    for first in range(0, count, _AT_ONCE):
        places = np.arange(first, min(first + _AT_ONCE, count))
        thoughts = ask_thoughts(
            player, game, *game.questions(record.states[:count], places, chance)
        )
        for k in range(places.size):
            columns: Any = (None if f is None else f[k : k + 1] for f in thoughts)
            found.append(Thoughts(*columns))
        if progress is not None:
            progress(len(found), count)
    return found


def deciders(record: Record) -> tuple[int, ...]:
    """Return the seat of each action, or the seat to move (if any) of a single position."""
    if record.actions:
        return record.seats
    statuses, seats = record.game.statuses(record.states)
    return () if statuses[0] else (int(seats[0]),)


class Fall(NamedTuple):
    """A decision after which the expected return of the deciding seat was lower.

    Attributes:
        move: the number of the action, counted from 1.
        before: the seat's expected return before the action.
        after: the seat's expected return at its next decision, or its return at the end.
    """

    move: int
    before: float
    after: float


def expectations(
    record: Record, thoughts: Sequence[Thoughts | None]
) -> list[list[tuple[int, float]]]:
    """Return each seat's expected return at each of its decisions, and its return at the end.

    Args:
        record: the game.
        thoughts: the result of `thoughts_of`.

    Returns:
        For each seat a list of pairs: the number of actions played so far, and a return in [-1, 1].
        The list is empty if there are no thoughts on the seat's decisions.
    """
    found: list[list[tuple[int, float]]] = [[] for _ in range(record.game.players)]
    for number, (seat, thought) in enumerate(zip(deciders(record), thoughts, strict=True)):
        value = None if thought is None or thought.value is None else _number(thought.value, 0)
        if value is not None:
            found[seat].append((number, value))
    if record.ending == "end":
        for line, final in zip(found, record.returns, strict=True):
            line += [(len(record.actions), final)] if line else []
    return found


def falls(lines: Sequence[Sequence[tuple[int, float]]]) -> list[Fall]:
    """Return the largest falls of a seat's expected return, at most MOST_FALLS, largest first.

    A fall is measured from one decision of a seat to its next decision, so it includes the effects
    of chance and of the other seats' actions in between. Small decreases are not falls.

    Args:
        lines: the result of `expectations`, or a part of it.

    Example:
        >>> falls([[(0, 0.5), (2, -0.25), (4, 0.0)]])
        [Fall(move=1, before=0.5, after=-0.25)]
    """
    found = [
        Fall(number + 1, before, after)
        for line in lines
        for (number, before), (_, after) in pairwise(line)
        if before - after >= _LEAST_FALL
    ]
    return sorted(found, key=lambda fall: (fall.after - fall.before, fall.move))[:MOST_FALLS]


def as_json(thoughts: Thoughts, action: int | None, notation: Sequence[str]) -> dict[str, Any]:
    """Return thoughts as JSON types: the expected return, and a row for each of the best actions.

    A row is [notation, probability, visits, value]. A number that the player does not report is
    None. The action that was played, if any, always has a row.
    """
    columns = [
        None if column is None else column[0]
        for column in (thoughts.probabilities, thoughts.visits, thoughts.values)
    ]
    ranking = next((c for c in columns if c is not None), None)
    rows: list[list[Any]] = []
    if ranking is not None:
        order = np.argsort(-np.nan_to_num(ranking, nan=-np.inf), kind="stable")
        chosen = [int(a) for a in order[:MOST_ROWS] if _said(columns, a)]
        played = [] if action is None or action in chosen else [action]
        for number in [*chosen, *played]:
            rows.append([notation[number], *(_number(c, number) for c in columns)])
    value = None if thoughts.value is None else _number(thoughts.value, 0)
    return {"value": value, "rows": rows}


def _said(columns: Sequence[Any], action: int) -> bool:
    """Return whether the player reports a number other than 0 and NaN for an action."""
    return any(c is not None and c[action] and not np.isnan(c[action]) for c in columns)


def _number(column: Any, place: int) -> float | None:
    if column is None or np.isnan(column[place]):
        return None
    return round(float(column[place]), 3)
