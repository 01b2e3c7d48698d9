"""Win probability of each side in an Armadora position, with all values known.

Depth-limited search uses this estimate on determinised states. The sides' points around each mine
give the expected shares of its gold. If palisades may still divide the territory, a Warrior counts
less with each step over open lines from the mine. Warriors in hand count where squares are free.
The sides' expected gold, relative to its remaining uncertainty, gives the chances to win.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from armarl.compiler.bits import count
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, Real, Returns, State
from armarl.games.armadora.board import MINE_SQUARES, MINES, SMALLEST_TERRITORY
from armarl.games.armadora.scoring import points_of
from armarl.games.armadora.scripted.judgement import grow, step_up
from armarl.games.armadora.state import only_on, side_count, side_of, sum_on, territory

# The columns of WEIGHTS.
(
    STEP,  # factor on a Warrior's weight for each step from the mine, in a large territory
    SIZE,  # increase of this factor for each square by which the territory is smaller
    END_VARIANCE,  # variance of a lead at the end, in squared points; makes a tie an even chance
    FREE_VARIANCE,  # variance that a free square adds, in squared points
    HAND_VARIANCE,  # further variance of a free square, times (points in hand / free squares)
    HAND_WEIGHT,  # weight of points in hand; 1 spreads them evenly over the free squares
    MOVE,  # value of being the side to move, in gold
    SCALE,  # log odds of winning for each standard deviation of the lead in gold
) = range(8)
# Fitted to the winners of games by maximum likelihood (see `docs/games/scripted-players.md`). Two
# rows for each number of sides (2, 3): the base game, then the advanced rules.
WEIGHTS = np.array(
    [
        [0.600, 0.0185, 0.108, 0.951, 3.95, 1.09, 0.126, 1.510],
        [0.446, 0.0261, 0.075, 0.077, 2.11, 1.15, 0.253, 0.961],
        [0.481, 0.0609, 0.085, 1.120, 0.00, 1.06, 0.281, 2.340],
        [0.493, 0.0692, 0.115, 1.000, 0.42, 1.18, 0.201, 1.750],
    ]
)
LEAST_VARIANCE = 0.05  # in squared gold; keeps the odds within the range of a float


@kernel
def evaluate(s: State, out: Returns) -> None:
    """Write the expected "win" return of every seat to `out`, float64 of shape (players,).

    The game must not be over, and the state must not be concealed. Partners get equal estimates.
    The estimates of the sides add up to 0.
    """
    sides = side_count(s)
    gold_0, gold_1, gold_2, variance = _expected_gold(s)
    mover = side_of(s, s.to_move)
    scale = WEIGHTS[_row_of(s), SCALE] / math.sqrt(LEAST_VARIANCE + variance)
    tempo = WEIGHTS[_row_of(s), MOVE]
    odds_0 = math.exp(scale * (gold_0 - gold_1 + tempo * (mover == 0)))
    odds_1 = math.exp(scale * tempo * (mover == 1))
    odds_2 = math.exp(scale * (gold_2 - gold_1 + tempo * (mover == 2))) if sides > 2 else 0.0
    total = odds_0 + odds_1 + odds_2
    for player in range(s.players):
        side = side_of(s, player)
        odds = odds_0 if side == 0 else (odds_1 if side == 1 else odds_2)
        out[player] = (sides * odds / total - 1.0) / (sides - 1.0)


@inlined
def _row_of(s: State) -> Int:
    """Return the row of WEIGHTS for the variant of a state."""
    return 2 * (side_count(s) - 2) + np.int64(s.advanced)


@kernel
def _squares_of(s: State, side: Int) -> Int:
    """Return the squares with a Warrior of a side."""
    squares = 0
    for player in range(s.players):
        if side_of(s, player) == side:
            squares |= s.warriors[player]
    return squares


@kernel
def _points_in_hand(s: State, side: Int) -> Int:
    """Return the points of the Warriors that a side may still place."""
    points: Int = 0
    for player in range(s.players):
        if side_of(s, player) == side and not s.passed[player]:
            for v in range(s.hand.shape[1]):
                points += np.int64(s.hand[player, v]) * (v + 1)
    return points


@kernel
def _step_weight(s: State, squares: Int) -> Real:
    """Return the factor on a Warrior's weight per step: 1 if no palisade can divide `squares`."""
    to_spare = count(squares) - 2 * SMALLEST_TERRITORY
    if s.palisades_left == 0 or to_spare < 0:
        return 1.0
    return max(WEIGHTS[_row_of(s), STEP], 1.0 - WEIGHTS[_row_of(s), SIZE] * (to_spare + 1))


@kernel
def _hands_of(s: State) -> tuple[Any, Any, Any, Any, Any]:
    """Return the points in hand of sides 0 to 2, and two factors for free squares near a mine.

    Each free square near a mine adds the first factor to the weight of the points in hand there,
    and the second to the variance of a lead there.
    """
    hand_0, hand_1, hand_2 = _points_in_hand(s, 0), _points_in_hand(s, 1), _points_in_hand(s, 2)
    per_free_square = 1.0 / max(count(s.free), 1)
    in_hand = (hand_0 + hand_1 + hand_2) * per_free_square
    variance = WEIGHTS[_row_of(s), FREE_VARIANCE] + WEIGHTS[_row_of(s), HAND_VARIANCE] * in_hand
    return hand_0, hand_1, hand_2, WEIGHTS[_row_of(s), HAND_WEIGHT] * per_free_square, variance


@kernel
def _points_around(
    s: State, points_0: Any, points_1: Any, points_2: Any, mine: Int
) -> tuple[Any, Any, Any, Any]:
    """Return the points of three sides and the free squares around a mine.

    A square `k` steps from the mine has the weight `step_weight**k`, see `_step_weight`.
    """
    ring = 1 << MINE_SQUARES[mine]
    squares = territory(s, ring)
    step_weight = _step_weight(s, squares)
    if step_weight == 1.0:
        ring = squares
    reached, weight = ring, 1.0
    near_0 = near_1 = near_2 = free = 0.0
    while ring:
        near_0 += weight * sum_on(points_0, ring)
        near_1 += weight * sum_on(points_1, ring)
        if side_count(s) > 2:
            near_2 += weight * sum_on(points_2, ring)
        free += weight * count(ring & s.free)
        grown = grow(s, reached)
        ring, reached = grown & ~reached, grown
        weight *= step_weight
    return near_0, near_1, near_2, free


@kernel
def _chances(
    s: State, near_0: Real, near_1: Real, near_2: Real, variance: Real
) -> tuple[Any, Any, Any]:
    """Return the chances of three sides to have the most points. A missing third side has 0.

    With three sides, a chance is the product of the chances against the two others, so the chances
    may add up to less than 1. The rest belongs to no side.
    """
    over_1 = step_up(near_0 - near_1, variance)
    if side_count(s) == 2:
        return over_1, 1.0 - over_1, 0.0
    over_2 = step_up(near_0 - near_2, variance)
    one_over_2 = step_up(near_1 - near_2, variance)
    return over_1 * over_2, (1.0 - over_1) * one_over_2, (1.0 - over_2) * (1.0 - one_over_2)


@kernel
def _expected_gold(s: State) -> tuple[Any, Any, Any, Any]:
    """Return the expected gold of three sides, and the variance of their gold."""
    points = points_of(s)
    points_0 = only_on(points, _squares_of(s, 0))
    points_1 = only_on(points, _squares_of(s, 1))
    points_2 = only_on(points, _squares_of(s, 2))
    hand_0, hand_1, hand_2, hand_weight, free_variance = _hands_of(s)
    end_variance = WEIGHTS[_row_of(s), END_VARIANCE]
    gold_0 = gold_1 = gold_2 = variance = 0.0
    for mine in range(MINES):
        gold = np.int64(s.gold[mine])
        if gold > 0:
            near_0, near_1, near_2, free = _points_around(s, points_0, points_1, points_2, mine)
            share = min(hand_weight * free, 1.0)
            p_0, p_1, p_2 = _chances(
                s,
                near_0 + share * hand_0,
                near_1 + share * hand_1,
                near_2 + share * hand_2,
                end_variance + free_variance * free,
            )
            gold_0 += gold * p_0
            gold_1 += gold * p_1
            gold_2 += gold * p_2
            variance += gold * gold * (1.0 - p_0 * p_0 - p_1 * p_1 - p_2 * p_2)
    return gold_0, gold_1, gold_2, variance
