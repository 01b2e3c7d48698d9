"""The territories in a view, with the points that the view shows and the leading side.

A view is a description of a position as one seat sees it (see `describe`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from armarl.games.armadora.board import LINE_NAMES, LINE_SQUARES, SQUARE_NAMES, SQUARES


class Territory(NamedTuple):
    """A territory (ARM-4).

    Attributes:
        squares: the names of its squares, in reading order.
        points: the points of each side that the view shows. A hidden Warrior counts as 1 point.
        open: for each side, whether it has hidden Warriors, which may be worth more.
        leader: the side with the most of these points, or None for a tie or no points. A
            reinforcement decides a tie (ARM-29).
    """

    squares: tuple[str, ...]
    points: tuple[int, ...]
    open: tuple[bool, ...]
    leader: int | None

    @property
    def best(self) -> tuple[int, ...]:
        """The sides with the most points. Empty if no side has points."""
        most = max(self.points)
        return tuple(side for side, mine in enumerate(self.points) if mine and mine == most)

    @property
    def by_reinforcement(self) -> bool:
        """Whether the leader is tied in points and leads by a reinforcement (ARM-29)."""
        return self.leader is not None and len(self.best) > 1


def won_by_piles(result: dict[str, Any]) -> bool:
    """Return whether larger piles decided between sides with the same gold (ARM-19)."""
    return bool(result["gold"].count(max(result["gold"])) > len(result["winners"]))


def territories(view: dict[str, Any], sides: Sequence[int]) -> list[Territory]:
    """Return the territories in a view, in the order of their first squares."""
    walls = set(view["palisades"])
    joined = [
        squares for name, squares in zip(LINE_NAMES, LINE_SQUARES, strict=True) if name not in walls
    ]
    first = list(range(SQUARES))  # for each square, in the end, the first square of its territory
    for _ in range(SQUARES):
        before = list(first)
        for a, b in joined:
            first[a] = first[b] = min(first[a], first[b])
        if first == before:
            break
    return [
        _territory(view, sides, [SQUARE_NAMES[s] for s in range(SQUARES) if first[s] == start])
        for start in sorted(set(first))
    ]


def points_of(warrior: dict[str, Any]) -> int:
    """Return the points of a Warrior (ARM-30), or the minimum points of a hidden Warrior."""
    more = 0 if warrior["reinforcement"] is None else 1
    return max(0, (warrior["value"] or 1) - int(warrior["arrows"]) + more)


def _territory(view: dict[str, Any], sides: Sequence[int], squares: list[str]) -> Territory:
    points, hidden = [0] * len(set(sides)), [False] * len(set(sides))
    helped = set()  # sides with a reinforcement here (ARM-29)
    for name in squares:
        if warrior := view["warriors"].get(name):
            side = sides[warrior["player"]]
            points[side] += points_of(warrior)
            hidden[side] |= warrior["value"] is None
            if warrior["reinforcement"] is not None:
                helped.add(sides[warrior["reinforcement"]])
    land = Territory(tuple(squares), tuple(points), tuple(hidden), None)
    first = helped.intersection(land.best) if len(land.best) > 1 else set(land.best)
    return land._replace(leader=first.pop() if len(first) == 1 else None)
