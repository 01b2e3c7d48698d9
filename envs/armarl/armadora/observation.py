"""What a seat of Armadora observes: the blocks and the compiled function that fills them.

`blocks` declares the observation and `observe` writes it, in the same order. A seat sees itself
first and then the others clockwise. Sites are the squares without a mine, lines and sites in the
order of the action table, squares row by row. Territories are given at each of their squares.
"""

from __future__ import annotations

import numpy as np

from armarl.armadora.actions import VALUES
from armarl.armadora.board import (
    ALL_SQUARES,
    CENTRE,
    LINE_EAST,
    LINE_SOUTH,
    LINES,
    MINES,
    SITE_SQUARES,
    SITES,
    SQUARES,
)
from armarl.armadora.knowledge import known_squares
from armarl.armadora.scoring import points_of
from armarl.armadora.state import (
    ALL_GOLD,
    OVER,
    PALISADES,
    STAGE_NAMES,
    WARRIORS,
    digits_of,
    equal_to,
    gold_digits,
    only_on,
    seat_after,
    sum_on,
    territory,
)
from armarl.bits import count
from armarl.compiled import inlined, kernel
from armarl.tables import Block, ObservationTable

_CHARACTERS = 4
_STAGES = len(STAGE_NAMES)
_MOST_OF_VALUE = (11.0, 2.0, 1.0, 1.0, 1.0)  # Warriors of each value that a player can hold
_PER_VALUE = 1 / np.array(_MOST_OF_VALUE)  # a kernel's index into a tuple could raise
_MOST_WARRIORS = 16
_POINTS_SCALE = 5.0
_MOST_POINTS = 28  # all Warriors of a player, and his reinforcement


def observation_table(players: int, advanced: bool) -> ObservationTable:
    """The blocks of a variant's observation."""
    n = players
    blocks = [
        Block("gold", (MINES,), 7, 7.0, "public", "gold on the mines d1 b2 f2 h2 a4 e4 c5 g5"),
        Block(
            "palisades",
            (LINES,),
            1,
            1.0,
            "public",
            "a palisade stands on the line (in the order of `P` actions)",
        ),
        Block("open_lines", (LINES,), 1, 1.0, "public", "ARM-12 allows a palisade on the line"),
        Block("palisades_left", (1,), PALISADES, float(PALISADES), "public", "supply of palisades"),
        Block(
            "warriors",
            (n, SITES),
            1,
            1.0,
            "public",
            "a Warrior of this seat on the site (in the order of `W1` actions)",
        ),
        Block("values", (SITES,), VALUES, float(VALUES), "own", "its value; 0: none, or not known"),
        Block("face_up", (SITES,), 1, 1.0, "public", "the Warrior lies face up"),
        Block("hand", (VALUES,), 11, _MOST_OF_VALUE, "own", "own Warriors left, by value 1–5"),
        Block(
            "unseen",
            (n, VALUES),
            11,
            _MOST_OF_VALUE,
            "own",
            "Warriors this seat is not shown, by value",
        ),
        Block("hand_sizes", (n,), _MOST_WARRIORS, 16.0, "public", "number of Warriors left"),
        Block("passed", (n,), 1, 1.0, "public", "has passed"),
        Block("to_move", (n,), 1, 1.0, "public", "is to move"),
        Block("stage", (_STAGES,), 1, 1.0, "public", "one-hot: " + ", ".join(STAGE_NAMES)),
        Block(
            "territory_size",
            (SQUARES,),
            SQUARES,
            40.0,
            "public",
            "size of the territory, at each of its squares a1 b1 … h5",
        ),
        Block("territory_free", (SQUARES,), SITES, 32.0, "public", "free squares in the territory"),
        Block("territory_gold", (SQUARES,), 40, 40.0, "public", "gold in the territory"),
        Block(
            "territory_points",
            (n, SQUARES),
            _MOST_POINTS,
            _POINTS_SCALE,
            "own",
            "points there by Warriors of known value (ARM-30)",
        ),
        Block(
            "territory_hidden",
            (n, SQUARES),
            _MOST_WARRIORS,
            _POINTS_SCALE,
            "own",
            "Warriors there of unknown value",
        ),
    ]
    if advanced:
        blocks += [
            Block("arrows", (SITES,), 2, 2.0, "public", "arrows in the Warrior"),
            Block("reinforced", (n, SITES), 1, 1.0, "public", "reinforcement of this seat there"),
            Block(
                "character", (n, _CHARACTERS), 1, 1.0, "public", "one-hot: Orc, Goblin, Elf, Mage"
            ),
            Block("powers", (n,), 2, 2.0, "public", "powers left"),
            Block("reinforcements", (n,), 1, 1.0, "public", "reinforcements left"),
            Block("read", (n, SITES), 1, 1.0, "public", "this seat's Mage has read the Warrior"),
        ]
    return ObservationTable(blocks)


@kernel
def observe(s, seat, out):
    """Write the observation of a seat into `out`, float32 of shape (size,)."""
    known = known_squares(s, seat)
    values = only_on(digits_of(s.value), known)
    points = only_on(points_of(s), known) if s.advanced else values
    at = _board(s, out, 0)
    at = _pieces(s, seat, values, out, at)
    at = _turn(s, seat, out, at)
    at = _territories(s, seat, known, points, out, at)
    if s.advanced:
        _tokens(s, seat, out, at)


# Scaled numbers are small integers times float64's nearest to 1 / scale: rounded to float32 this is
# what a division gives, which would take longer.
#
# LLVM makes vector instructions of loops over a slice of `out`, not of those with `out[at + i]`;
# and as many as SITES it would unroll, and then not, if it knew the number.


@inlined
def _bits(squares, out, at):
    """Write a set of squares as one number per site."""
    block = out[at : at + SITES]
    for site in range(block.size):
        block[site] = (squares >> SITE_SQUARES[site]) & 1
    return at + SITES


@inlined
def _numbers(digits, factor, out, at):
    """Write numbers on squares (see `digits_of`), times `factor`, one per site."""
    ones, twos, fours = digits
    block = out[at : at + SITES]
    for site in range(block.size):
        square = SITE_SQUARES[site]
        number = (ones >> square & 1) + 2 * (twos >> square & 1) + 4 * (fours >> square & 1)
        block[site] = number * factor
    return at + SITES


@inlined
def _lines(east, south, out, at):
    """Write a set of lines as one number per line."""
    block = out[at : at + LINES]
    for line in range(LINES):
        block[line] = (LINE_EAST[line] & east) | (LINE_SOUTH[line] & south) != 0
    return at + LINES


@inlined
def _board(s, out, at):
    """gold, palisades, open_lines, palisades_left."""
    for mine in range(MINES):
        out[at + mine] = s.gold[mine] * (1 / 7)
    at = _lines(s.east, s.south, out, at + MINES)
    at = _lines(~(s.east | s.barred_east), ~(s.south | s.barred_south), out, at)
    out[at] = s.palisades_left * (1 / PALISADES)
    return at + 1


@inlined
def _pieces(s, seat, values, out, at):
    """warriors, values, face_up, hand, unseen, hand_sizes."""
    for k in range(s.players):
        at = _bits(s.warriors[seat_after(s, seat, k)], out, at)
    at = _numbers(values, 1 / VALUES, out, at)
    at = _bits(s.face_up, out, at)
    for v in range(VALUES):
        out[at + v] = s.hand[seat, v] * _PER_VALUE[v]
    at += VALUES
    for k in range(s.players):
        at = _unseen(s, seat_after(s, seat, k), seat, values, out, at)
    for k in range(s.players):
        out[at + k] = s.hand_size[seat_after(s, seat, k)] * (1 / _MOST_WARRIORS)
    return at + s.players


@inlined
def _unseen(s, player, seat, values, out, at):
    """unseen, of one player: what he had at the start, less all that this seat is shown."""
    for v in range(VALUES):
        own = s.hand[player, v] if player == seat else 0
        shown = count(equal_to(values, v + 1) & s.warriors[player])
        out[at + v] = (WARRIORS[s.board, s.players, v] - own - shown) * _PER_VALUE[v]
    return at + VALUES


@inlined
def _turn(s, seat, out, at):
    """passed, to_move, stage."""
    for k in range(s.players):
        player = seat_after(s, seat, k)
        out[at + k] = s.passed[player]
        out[at + s.players + k] = player == s.to_move and s.stage != OVER
    at += 2 * s.players
    for stage in range(_STAGES):
        out[at + stage] = stage == s.stage
    return at + _STAGES


@inlined
def _territories(s, seat, known, points, out, at):
    """territory_size, territory_free, territory_gold, territory_points, territory_hidden."""
    gold = gold_digits(s)
    squares = territory(s, CENTRE)  # from the middle it takes fewest steps
    _territory(s, seat, squares, ALL_SQUARES, known, gold, points, out, at)
    remaining = ALL_SQUARES & ~squares
    while remaining:
        squares = territory(s, remaining & -remaining)
        remaining &= ~squares
        _territory(s, seat, squares, squares, known, gold, points, out, at)
    return at + (3 + 2 * s.players) * SQUARES


@inlined
def _territory(s, seat, squares, where, known, gold, points, out, at):
    """The numbers of the territory `squares`, at each square of `where`."""
    at = _at_each(where, count(squares) * (1 / SQUARES), out, at)
    at = _at_each(where, count(squares & s.free) * (1 / SITES), out, at)
    at = _at_each(where, sum_on(gold, squares) * (1 / ALL_GOLD), out, at)
    for k in range(s.players):
        held = s.warriors[seat_after(s, seat, k)] & squares
        shown, hidden = sum_on(points, held), count(held & ~known)
        _at_each(where, hidden * (1 / _POINTS_SCALE), out, at + s.players * SQUARES)
        at = _at_each(where, shown * (1 / _POINTS_SCALE), out, at)


@inlined
def _at_each(squares, number, out, at):
    """Write a number at each square of a set."""
    block = out[at : at + SQUARES]
    if squares == ALL_SQUARES:
        block[:] = number
        return at + SQUARES
    for square in range(SQUARES):
        if (squares >> square) & 1:
            block[square] = number
    return at + SQUARES


@inlined
def _tokens(s, seat, out, at):
    """arrows, reinforced, character, powers, reinforcements, read."""
    block = out[at : at + SITES]
    for site in range(block.size):
        block[site] = s.arrows[SITE_SQUARES[site]] * 0.5
    at += SITES
    owners = digits_of(s.reinforced)
    for k in range(s.players):
        at = _bits(equal_to(owners, seat_after(s, seat, k) + 1), out, at)
    for k in range(s.players):
        own = s.character[seat_after(s, seat, k)]
        for character in range(_CHARACTERS):
            out[at + character] = own == character + 1
        at += _CHARACTERS
    for k in range(s.players):
        player = seat_after(s, seat, k)
        out[at + k] = s.powers[player] * 0.5
        out[at + s.players + k] = s.reinforcements[player]
    at += 2 * s.players
    for k in range(s.players):
        at = _bits(s.read[seat_after(s, seat, k)], out, at)
