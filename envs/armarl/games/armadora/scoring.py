"""Scoring of Armadora: points, gold, winners, returns (ARM-16 to ARM-20, ARM-29, ARM-30)."""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import count, lowest
from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, Returns, State
from armarl.games.armadora.board import MINE_SQUARES, MINES, SQUARES
from armarl.games.armadora.state import (
    ALL_GOLD,
    gold_in,
    has_gold,
    reinforced_squares,
    side_count,
    side_of,
    sum_on,
    territory,
)


@kernel
def points_of(s: State) -> tuple[Any, Any, Any]:
    """Return each Warrior's points, at most 6, as digits (ARM-30; see `digits_of`)."""
    ones, twos, fours = 0, 0, 0
    for square in range(SQUARES):
        worth = np.int64(s.value[square]) - s.arrows[square] + (s.reinforced[square] > 0)
        worth = max(worth, 0)
        if worth & 1:
            ones |= 1 << square
        if worth & 2:
            twos |= 1 << square
        if worth & 4:
            fours |= 1 << square
    return ones, twos, fours


@kernel
def points_in(s: State, points: Any, side: Int, squares: Int) -> Int:
    """Return the points of a side in a territory (ARM-16)."""
    total = 0
    for player in range(s.players):
        if side_of(s, player) == side:
            total += sum_on(points, s.warriors[player] & squares)
    return total


@kernel
def _tie_breaker(s: State, squares: Int) -> Int:
    """Return the side that put a reinforcement in this territory, or -1 (ARM-29)."""
    held = squares & reinforced_squares(s)
    return side_of(s, np.int64(s.reinforced[lowest(held)]) - 1) if held else -1


@kernel
def share_of(s: State, points: Any, side: Int, squares: Int) -> Int:
    """Return the gold that a side takes from a territory (ARM-16 to ARM-18, ARM-29)."""
    own = points_in(s, points, side, squares)
    if own == 0:
        return 0
    tied = 0
    breaker = _tie_breaker(s, squares)
    breaker_tied = False
    for other in range(side_count(s)):
        theirs = points_in(s, points, other, squares)
        if theirs > own:
            return 0
        if theirs == own:
            tied += 1
            breaker_tied = breaker_tied or other == breaker
    if tied > 1 and breaker_tied:
        return gold_in(s, squares) if side == breaker else 0
    return gold_in(s, squares) // tied


@kernel
def score(s: State) -> None:
    """Write each side's piles to `s.piles`, at the first mine of each territory (ARM-19)."""
    s.piles[:, :] = 0
    points = points_of(s)
    scored = 0
    for mine in range(MINES):
        if not has_gold(scored, mine):
            squares = territory(s, 1 << MINE_SQUARES[mine])
            scored |= squares
            for side in range(side_count(s)):
                s.piles[side, mine] = share_of(s, points, side, squares)


@kernel
def gold_of(s: State, side: Int) -> Int:
    """Return a side's total gold in a finished game (ARM-16)."""
    gold = 0
    for mine in range(MINES):
        gold += s.piles[side, mine]
    return gold


@kernel
def _rank_key(s: State, side: Int) -> Int:
    """Return a number that orders sides by gold, then by piles from largest to smallest (ARM-19).

    The number has nine parts of 6 bits: the total gold and the eight piles, each at most 40.
    """
    key, missing = gold_of(s, side), MINES
    for size in range(ALL_GOLD, 0, -1):
        for mine in range(MINES):
            if s.piles[side, mine] == size:
                key = (key << 6) | size
                missing -= 1
    return key << (6 * missing)


@kernel
def winners(s: State) -> Int:
    """Return the winning sides of a finished game, as bits of an integer (ARM-19, ARM-20)."""
    best, sides = -1, 0
    for side in range(side_count(s)):
        key = _rank_key(s, side)
        if key > best:
            best, sides = key, 0
        if key == best:
            sides |= 1 << side
    return sides


REWARD_NAMES = ("win", "gold")
GOLD_REWARD = REWARD_NAMES.index("gold")


@kernel
def returns(s: State, kind: Int, out: Returns) -> None:
    """Write each player's return of a finished game to `out`, float64 of shape (players,).

    With "win" every side stakes 1 / (sides - 1), and the winners share the stakes. A sole winner
    gets +1, and a loser -1 / (sides - 1), so -1 with two sides. A draw of all sides gives 0. With
    "gold" the return is a side's gold minus the mean gold of the other sides, divided by 40. The
    returns of the sides add up to 0.
    """
    sides = side_count(s)
    won = winners(s)
    total = 0
    for side in range(sides):
        total += gold_of(s, side)
    for player in range(s.players):
        side = side_of(s, player)
        if kind == GOLD_REWARD:
            own = gold_of(s, side)
            out[player] = (own - (total - own) / (sides - 1)) / ALL_GOLD
        else:
            out[player] = (sides / count(won) * ((won >> side) & 1) - 1) / (sides - 1)
