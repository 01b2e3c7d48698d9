"""Evaluation of an Armadora position for the player to move, from that player's information.

Each mine is evaluated separately. The lead of the player's side in points around the mine, relative
to the variance of this lead, gives the chance to take the gold. The sum over the mines is the value
of the position in gold. If palisades may still divide a territory, a Warrior counts less with each
step over open lines from the mine. Palisades therefore matter before they close a territory.
Warriors in hand count where squares are free, so that a 5 is not wasted where a 1 is enough.

In this module, `s` is a concealed state, and `t` is a copy of the state in which `value` holds
expected points (see `expect_points`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from armarl.compiler.bits import count
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, Real, State
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    ALL_EAST,
    ALL_SOUTH,
    COLUMNS,
    LINE_EAST,
    LINE_SOUTH,
    MINE_SQUARES,
    MINES,
    SMALLEST_TERRITORY,
    SQUARES,
)
from armarl.games.armadora.knowledge import unseen
from armarl.games.armadora.state import all_warriors, has_gold, side_count, territory

# The columns of JUDGEMENT. The numbers were tuned by matches between versions of the scripted
# player, with 200 to 400 games for each value tried.
(
    STEP,  # factor on a Warrior's weight for each step from the mine, in a large territory
    SIZE,  # increase of this factor for each square by which the territory is smaller
    FREE_VARIANCE,  # variance that a free square adds to a lead, in squared points
    PATIENCE,  # gold by which a palisade must be better than a Warrior
) = range(4)
# Two rows for each number of players (2, 3, 4): the base game, then the advanced rules.
JUDGEMENT = np.array(
    [
        [0.80, 0.02, 1.0, 0.0],
        [0.80, 0.02, 1.0, 0.0],
        [0.60, 0.03, 1.0, 0.8],
        [0.65, 0.02, 1.0, 0.4],
        [0.60, 0.02, 0.6, 0.3],
        [0.65, 0.02, 1.0, 0.3],
    ]
)
END_VARIANCE = 0.1  # in squared points; a tie is an even chance, a lead of one is nearly certain
RESERVE_VARIANCE = 10.0  # further variance of a free square, times (points in hand / free squares)
RESERVE_WEIGHT = 1.7  # above 1, because points in hand go to free squares with gold nearby
UNIT = 4  # expected points are stored as integers, in quarters of a point
DIGITS = 5  # number of binary digits of a Warrior's maximum: 6 points, which are 24 quarters
STEP_BITS = 6  # bits that store a number of steps; all bits are 1 if there is no path
NO_WAY = (1 << STEP_BITS) - 1


class Sides(NamedTuple):
    """The board as sets of squares: each side's points (see `_digits`), and hidden Warriors."""

    own: tuple[int, ...]
    rival: tuple[int, ...]  # points of the next side in play order
    other: tuple[int, ...]  # points of the third side, with three players
    hidden: int


class Reserves(NamedTuple):
    """The influence of the Warriors in hand on the leads around mines."""

    lead: float  # points in hand of the player's side minus those of the next side
    other_lead: float  # points in hand of the player's side minus those of the third side
    weight: float  # the weight of these two leads, per free square near a mine
    free_variance: float  # the variance of a lead in points, per free square nearby
    hidden_variance: float  # the variance of a lead in points, per hidden Warrior nearby


class Outlook(NamedTuple):
    """Totals around one mine, and the factor `step_weight`.

    A square `k` steps from the mine has the weight `step_weight**k`.
    """

    lead: float  # points of the player's side minus those of the next side
    other_lead: float  # points of the player's side minus those of the third side
    free: float  # free squares
    hidden: float  # Warriors of unknown value
    step_weight: float  # factor on a square's weight per step


@inlined
def row_of(s: State) -> Int:
    """Return the row of JUDGEMENT for the variant of a state."""
    return 2 * (np.int64(s.players) - 2) + np.int64(s.advanced)


# --- expectations of the player to move ----------------------------------------------------------


@kernel
def hidden_values(s: State, player: Int, known: Int) -> tuple[Any, Any]:
    """Return the mean and the variance of the values of a player's unknown Warriors."""
    n, total, squares = 0, 0, 0
    for v in range(VALUES):
        k = unseen(s, player, v, known)
        if player == s.to_move:
            k -= s.hand[player, v]
        n += k
        total += k * (v + 1)
        squares += k * (v + 1) * (v + 1)
    mean = total / max(n, 1)
    return mean, squares / max(n, 1) - mean * mean


@kernel
def expect_points(s: State, t: State, known: Int) -> None:
    """Write each Warrior's points (ARM-30) to `t.value`, in units of 1 / UNIT.

    If its value is unknown, a Warrior has the mean value of its player's unknown Warriors.
    """
    for player in range(s.players):
        mean, _ = hidden_values(s, player, known)
        for square in range(SQUARES):
            if (s.warriors[player] >> square) & 1:
                worth = float(s.value[square]) if (known >> square) & 1 else mean
                worth += (s.reinforced[square] > 0) - float(s.arrows[square])
                t.value[square] = int(max(worth, 0.0) * UNIT + 0.5)


@kernel
def points_in_hand(s: State, player: Int, known: Int) -> Real:
    """Return the points of Warriors that a player may still place; their mean if unknown."""
    if s.passed[player]:
        return 0.0
    if player != s.to_move:
        return hidden_values(s, player, known)[0] * s.hand_size[player]
    total = 0.0
    for v in range(VALUES):
        total += s.hand[player, v] * (v + 1)
    return total


@kernel
def _reserve(s: State, side: Int, known: Int) -> Real:
    """Return the sum of `points_in_hand` over a side's players."""
    total = 0.0
    for player in range(side, s.players, side_count(s)):
        total += points_in_hand(s, player, known)
    return total


@kernel
def reserves_of(s: State, side: Int, known: Int) -> Reserves:
    """Return the influence of the Warriors in hand, from the point of view of a side."""
    sides = side_count(s)
    own = _reserve(s, side, known)
    rival = _reserve(s, (side + 1) % sides, known)
    # With two sides, `other` is the side itself. This is kept, because the constants were tuned
    # with it.
    other = _reserve(s, (side + 2) % sides, known)
    per_free_square = 1.0 / max(count(s.free), 1)
    variance = 0.0
    for player in range(s.players):
        variance += hidden_values(s, player, known)[1] / s.players
    in_hand = own + (rival + other) / 2
    return Reserves(
        own - rival,
        own - other,
        RESERVE_WEIGHT * per_free_square,
        JUDGEMENT[row_of(s), FREE_VARIANCE] + RESERVE_VARIANCE * in_hand * per_free_square,
        variance,
    )


# --- the board as sets of squares ----------------------------------------------------------------


@kernel
def _digit(t: State, side: Int, digit: Int) -> Int:
    """Return the squares of the side's Warriors whose expected points have this binary digit."""
    squares = 0
    for player in range(side, t.players, side_count(t)):
        for square in range(SQUARES):
            standing = (t.warriors[player] >> square) & 1
            squares |= (standing & (np.int64(t.value[square]) >> digit)) << square
    return squares


@kernel
def _digits(t: State, side: Int) -> tuple[Any, Any, Any, Any, Any]:
    """Return a side's expected points: a set of squares for each of `DIGITS` binary digits."""
    return (
        _digit(t, side, 0),
        _digit(t, side, 1),
        _digit(t, side, 2),
        _digit(t, side, 3),
        _digit(t, side, 4),
    )


@kernel
def sides_of(t: State, side: Int, known: Int) -> Sides:
    """Return the points of a side and of the other sides as sets of squares, from `t.value`."""
    n = side_count(t)
    rival, other = _digits(t, (side + 1) % n), _digits(t, (side + 2) % n)
    return Sides(_digits(t, side), rival, other, all_warriors(t) & ~known)


@kernel
def _points_on(digits: Any, squares: Int) -> Real:
    """Return the expected points on a set of squares."""
    units = 0
    for digit in range(DIGITS):
        units += count(digits[digit] & squares) << digit
    return units / UNIT


@kernel
def grow(t: State, squares: Int) -> Int:
    """Return a set of squares together with its neighbours over open lines."""
    east, south = ALL_EAST & ~t.east, ALL_SOUTH & ~t.south
    grown = squares | ((squares & east) << 1) | ((squares >> 1) & east)
    return grown | ((squares & south) << COLUMNS) | ((squares >> COLUMNS) & south)


@kernel
def _step_weight(t: State, squares: Int) -> Real:
    """Return the factor on a Warrior's weight per step: 1 if no palisade can divide `squares`."""
    to_spare = count(squares) - 2 * SMALLEST_TERRITORY
    if t.palisades_left == 0 or to_spare < 0:
        return 1.0
    row = row_of(t)
    return max(JUDGEMENT[row, STEP], 1.0 - JUDGEMENT[row, SIZE] * (to_spare + 1))


@kernel
def steps_to_mines(t: State, square: Int) -> Int:
    """Return the steps from a square to all mines, `STEP_BITS` bits each, in one integer."""
    steps, distance = (1 << STEP_BITS * MINES) - 1, 0
    ring = reached = 1 << square
    while ring:
        for mine in range(MINES):
            if has_gold(ring, mine):
                steps ^= (NO_WAY ^ distance) << STEP_BITS * mine
        grown = grow(t, reached)
        ring, reached = grown & ~reached, grown
        distance += 1
    return steps


# --- the value of positions ----------------------------------------------------------------------


@kernel
def _outlook(t: State, sides: Sides, mine: Int) -> Outlook:
    """Return the totals around a mine, added up ring by ring.

    A ring is the set of all squares at one distance from the mine.
    """
    ring = 1 << MINE_SQUARES[mine]
    squares = territory(t, ring)
    step_weight = _step_weight(t, squares)
    if step_weight == 1.0:
        ring = squares
    reached, weight = ring, 1.0
    lead = other_lead = free = hidden = 0.0
    while ring:
        own = _points_on(sides.own, ring)
        lead += weight * (own - _points_on(sides.rival, ring))
        if side_count(t) > 2:
            other_lead += weight * (own - _points_on(sides.other, ring))
        free += weight * count(ring & t.free)
        hidden += weight * count(ring & sides.hidden)
        grown = grow(t, reached)
        ring, reached = grown & ~reached, grown
        weight *= step_weight
    return Outlook(lead, other_lead, free, hidden, step_weight)


@kernel
def outlooks_of(t: State, sides: Sides) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
    """Return the outlooks of all mines."""
    return (
        _outlook(t, sides, 0),
        _outlook(t, sides, 1),
        _outlook(t, sides, 2),
        _outlook(t, sides, 3),
        _outlook(t, sides, 4),
        _outlook(t, sides, 5),
        _outlook(t, sides, 6),
        _outlook(t, sides, 7),
    )


@kernel
def step_up(lead: Real, variance: Real) -> Real:
    """Return the chance that a lead lasts: 1/2 for 0, near 1 for many standard deviations."""
    return 0.5 + 0.5 * lead / math.sqrt(lead * lead + variance)


@kernel
def _chance(
    t: State,
    view: Outlook,
    reserves: Reserves,
    gain: Real,
    other_gain: Real,
    filled: Real,
    spent: Real,
) -> Real:
    """Return the chance to take a mine's gold.

    Args:
        t: the state.
        view: the totals around the mine.
        reserves: the influence of the hands.
        gain: increase of the lead over the next side.
        other_gain: increase of the lead over the third side.
        filled: number of free squares that the action fills.
        spent: points that the action takes from the hand.
    """
    free = max(view.free - filled, 0.0)
    variance = END_VARIANCE + reserves.free_variance * free + reserves.hidden_variance * view.hidden
    weight = min(reserves.weight * free, 1.0)
    p = step_up(view.lead + gain + weight * (reserves.lead - spent), variance)
    if side_count(t) > 2:
        lead = view.other_lead + other_gain + weight * (reserves.other_lead - spent)
        p *= step_up(lead, variance)
    return p


@kernel
def worth_with_less(t: State, views: Any, reserves: Reserves, spent: Real) -> Real:
    """Return the expected gold if the hand loses some points and nothing else changes."""
    gold = 0.0
    for mine in range(MINES):
        gold += t.gold[mine] * _chance(t, views[mine], reserves, 0.0, 0.0, 0.0, spent)
    return gold


@kernel
def worth_with_palisade(t: State, sides: Sides, reserves: Reserves, line: Int) -> Real:
    """Return the expected gold with a palisade on a line."""
    east, south = t.east, t.south
    t.east |= LINE_EAST[line]
    t.south |= LINE_SOUTH[line]
    gold = 0.0
    for mine in range(MINES):
        view = _outlook(t, sides, mine)
        gold += t.gold[mine] * _chance(t, view, reserves, 0.0, 0.0, 0.0, 0.0)
    t.east, t.south = east, south
    return gold


@kernel
def worth_with_points(
    t: State,
    views: Any,
    reserves: Reserves,
    steps: Int,
    gain: Real,
    other_gain: Real,
    filled: Real,
    spent: Real,
) -> Real:
    """Return the expected gold after the leads grow by points on one square.

    `steps` has the distances of the square from the mines (see `steps_to_mines`).
    """
    gold = 0.0
    for mine in range(MINES):
        view, distance = views[mine], (steps >> STEP_BITS * mine) & NO_WAY
        weight = 0.0 if distance == NO_WAY else view.step_weight**distance
        gold += t.gold[mine] * _chance(
            t, view, reserves, weight * gain, weight * other_gain, weight * filled, spent
        )
    return gold
