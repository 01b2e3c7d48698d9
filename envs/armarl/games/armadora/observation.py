"""The observation of Armadora: its blocks, and the kernels that write them.

A seat sees itself first, then the others clockwise. Sites are the squares without a mine. Lines and
sites are in the order of the action table. Squares are in order row by row. Values of a territory
are repeated at each of its squares. `armarl.core.observation_blocks` joins the blocks into one flat
observation. The module `survey` (the input of learned position evaluators) uses some of the blocks
and some of the functions that write them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armarl.compiler.array_views import window
from armarl.compiler.bits import count, lowest
from armarl.compiler.decorators import part
from armarl.compiler.types import Bits, Observation, State
from armarl.core.observation_blocks import Blocks, Declared, Target
from armarl.core.observation_table import Board, ObservationTable
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    ALL_SQUARES,
    CENTRE,
    COLUMNS,
    LINE_EAST,
    LINE_SOUTH,
    LINE_SQUARES,
    LINES,
    MINE_SQUARES,
    MINES,
    ROWS,
    SITE_SQUARES,
    SITES,
    SQUARES,
)
from armarl.games.armadora.knowledge import known_squares
from armarl.games.armadora.scoring import points_of
from armarl.games.armadora.state import (
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

_CHARACTERS = 4
_STAGES = len(STAGE_NAMES)
_MOST_OF_VALUE = (11.0, 2.0, 1.0, 1.0, 1.0)  # maximum number of Warriors of each value in a hand
_MOST_WARRIORS = 16
_POINTS_SCALE = 5.0
_MOST_POINTS = 28  # points of all of a player's Warriors and its reinforcement

BOARD = Board(
    shape=(ROWS, COLUMNS),
    along={
        "squares": {"": np.arange(SQUARES)},
        "sites": {"": SITE_SQUARES},
        "mines": {"": MINE_SQUARES},
        "lines": {
            "_east": np.array([a if b == a + 1 else -1 for a, b in LINE_SQUARES]),
            "_south": np.array([a if b == a + COLUMNS else -1 for a, b in LINE_SQUARES]),
        },
    },
)


class View(NamedTuple):
    """Values that several functions use to write blocks."""

    seat: Any
    known: Any  # squares with Warriors whose value the seat knows
    values: Any  # the values of these Warriors, as digits
    points: Any  # the points of these Warriors, as digits (ARM-30)


def look(s: State, seat: int) -> View:
    """Return a seat's knowledge of the values on the board."""
    known = known_squares(s, seat)
    values = only_on(digits_of(s.value), known)
    return View(seat, known, values, only_on(points_of(s), known) if s.advanced else values)


blocks = Blocks(look)


def observation_table(players: int, advanced: bool) -> ObservationTable:
    """Return the observation table of a variant."""
    return blocks.table({"players": players, "advanced": advanced}, BOARD)


@part
def _bits(squares: Bits, out: Observation, first: int) -> None:
    """Write a set of squares as a 0 or 1 for each site."""
    block = window(out, first, SITES)
    for site in range(block.size):
        block[site] = (squares >> SITE_SQUARES[site]) & 1


@part
def _lines(east: Bits, south: Bits, out: Observation) -> None:
    """Write a set of lines as a 0 or 1 for each line."""
    for line in range(LINES):
        out[line] = (LINE_EAST[line] & east) | (LINE_SOUTH[line] & south) != 0


# --- the board -----------------------------------------------------------------------------------


@blocks.add(
    Declared("gold", (MINES,), 7, "gold on the mines d1 b2 f2 h2 a4 e4 c5 g5", 7.0, on="mines")
)
def _gold(s: State, view: View, gold: Target) -> None:
    for mine in range(MINES):
        gold.out[mine] = s.gold[mine] * gold.unit


@blocks.add(
    Declared(
        "palisades",
        (LINES,),
        1,
        "a palisade is on the line (in the order of `P` actions)",
        on="lines",
    )
)
def _palisades(s: State, view: View, palisades: Target) -> None:
    _lines(s.east, s.south, palisades.out)


@blocks.add(Declared("open_lines", (LINES,), 1, "ARM-12 allows a palisade on the line", on="lines"))
def _open_lines(s: State, view: View, lines: Target) -> None:
    _lines(~(s.east | s.barred_east), ~(s.south | s.barred_south), lines.out)


@blocks.add(
    Declared("palisades_left", (1,), PALISADES, "supply of palisades", scale=float(PALISADES))
)
def _palisades_left(s: State, view: View, left: Target) -> None:
    left.out[0] = s.palisades_left * left.unit


# --- the pieces ----------------------------------------------------------------------------------


@blocks.add(
    Declared(
        "warriors",
        ("players", SITES),
        1,
        "a Warrior of this seat on the site (in the order of `W1` actions)",
        on="sites",
    )
)
def _warriors(s: State, view: View, warriors: Target) -> None:
    for k in range(s.players):
        _bits(s.warriors[seat_after(s, view.seat, k)], warriors.out, k * SITES)


@blocks.add(
    Declared(
        "values",
        (SITES,),
        VALUES,
        "value of the Warrior on the site; 0: none, or not known",
        scale=float(VALUES),
        known="own",
        on="sites",
    )
)
def _values(s: State, view: View, values: Target) -> None:
    ones, twos, fours = view.values
    for site in range(values.out.size):
        square = SITE_SQUARES[site]
        number = (ones >> square & 1) + 2 * (twos >> square & 1) + 4 * (fours >> square & 1)
        values.out[site] = number * values.unit


@blocks.add(Declared("face_up", (SITES,), 1, "the Warrior on the site is face up", on="sites"))
def _face_up(s: State, view: View, face_up: Target) -> None:
    _bits(s.face_up, face_up.out, 0)


@blocks.add(
    Declared("hand", (VALUES,), 11, "own Warriors left, by value 1–5", _MOST_OF_VALUE, known="own")
)
def write_hand(s: State, view: Any, hand: Target) -> None:
    """Write the seat's hand."""
    for v in range(VALUES):
        hand.out[v] = s.hand[view.seat, v] * hand.unit[v]


@blocks.add(
    Declared(
        "unseen",
        ("players", VALUES),
        11,
        "Warriors of this seat that are hidden from the observer, by value",
        scale=_MOST_OF_VALUE,
        known="own",
    )
)
def _unseen(s: State, view: View, unseen: Target) -> None:
    """Write how many of each player's Warriors have a value hidden from the observing seat."""
    for k in range(s.players):
        player = seat_after(s, view.seat, k)
        for v in range(VALUES):
            own = s.hand[player, v] if k == 0 else 0
            shown = count(equal_to(view.values, v + 1) & s.warriors[player])
            number = WARRIORS[s.board, s.players, v] - own - shown
            unseen.out[k * VALUES + v] = number * unseen.unit[v]


@blocks.add(
    Declared("hand_sizes", ("players",), _MOST_WARRIORS, "number of Warriors left", scale=16.0)
)
def _hand_sizes(s: State, view: View, sizes: Target) -> None:
    for k in range(s.players):
        sizes.out[k] = s.hand_size[seat_after(s, view.seat, k)] * sizes.unit


# --- the turn ------------------------------------------------------------------------------------


@blocks.add(Declared("passed", ("players",), 1, "has passed"))
def _passed(s: State, view: View, passed: Target) -> None:
    for k in range(s.players):
        passed.out[k] = s.passed[seat_after(s, view.seat, k)]


@blocks.add(Declared("to_move", ("players",), 1, "is to move"))
def _to_move(s: State, view: View, to_move: Target) -> None:
    for k in range(s.players):
        to_move.out[k] = seat_after(s, view.seat, k) == s.to_move and s.stage != OVER


STAGE = Declared("stage", (_STAGES,), 1, "one-hot: " + ", ".join(STAGE_NAMES))


@blocks.add(STAGE)
def write_stage(s: State, view: Any, stage: Target) -> None:
    """Write the stage, one-hot."""
    for i in range(_STAGES):
        stage.out[i] = i == s.stage


# --- the territories -----------------------------------------------------------------------------


@blocks.add(
    Declared(
        "territory_size",
        (SQUARES,),
        SQUARES,
        "size of the territory, at each of its squares a1 b1 … h5",
        scale=40.0,
        on="squares",
    ),
    Declared(
        "territory_free", (SQUARES,), SITES, "free squares in the territory", 32.0, on="squares"
    ),
    Declared("territory_gold", (SQUARES,), ALL_GOLD, "gold in the territory", 40.0, on="squares"),
    Declared(
        "territory_points",
        ("players", SQUARES),
        _MOST_POINTS,
        "points of Warriors of known value in the territory (ARM-30)",
        scale=_POINTS_SCALE,
        known="own",
        on="squares",
    ),
    Declared(
        "territory_hidden",
        ("players", SQUARES),
        _MOST_WARRIORS,
        "Warriors of unknown value in the territory",
        scale=_POINTS_SCALE,
        known="own",
        on="squares",
    ),
)
def _territories(
    s: State, view: View, size: Target, free: Target, gold: Target, points: Target, hidden: Target
) -> None:
    gold_there = gold_digits(s)
    squares = territory(s, CENTRE)  # the flood fill needs the fewest steps from the middle
    _territory(s, view, squares, CENTRE, gold_there, size, free, gold, points, hidden)
    # Fill all squares as if there were only this territory. The loop corrects the other squares.
    _everywhere(s, CENTRE, size, free, gold, points, hidden)
    remaining = ALL_SQUARES & ~squares
    while remaining:
        squares = territory(s, remaining & -remaining)
        remaining &= ~squares
        first = squares & -squares
        _territory(s, view, squares, first, gold_there, size, free, gold, points, hidden)
        _at_each(s, squares & ~first, first, size, free, gold, points, hidden)


@part
def _territory(
    s: State,
    view: View,
    squares: Bits,
    where: Bits,
    gold_there: Any,
    size: Target,
    free: Target,
    gold: Target,
    points: Target,
    hidden: Target,
) -> None:
    """Write the values of the territory `squares` at a single square, the only one in `where`."""
    square = lowest(where)
    size.out[square] = count(squares) * size.unit
    free.out[square] = count(squares & s.free) * free.unit
    gold.out[square] = sum_on(gold_there, squares) * gold.unit
    for k in range(s.players):
        held = s.warriors[seat_after(s, view.seat, k)] & squares
        hidden.out[k * SQUARES + square] = count(held & ~view.known) * hidden.unit
        points.out[k * SQUARES + square] = sum_on(view.points, held) * points.unit


@part
def _everywhere(
    s: State,
    where: Bits,
    size: Target,
    free: Target,
    gold: Target,
    points: Target,
    hidden: Target,
) -> None:
    """Copy the values at a single square, the only one in `where`, to all squares."""
    square = lowest(where)
    _fill(size.out, 0, square)
    _fill(free.out, 0, square)
    _fill(gold.out, 0, square)
    for k in range(s.players):
        _fill(points.out, k * SQUARES, square)
        _fill(hidden.out, k * SQUARES, square)


@part
def _fill(out: Observation, first: int, square: int) -> None:
    """Copy the number at a square of a block to all squares. The block begins at `out[first]`."""
    block = window(out, first, SQUARES)
    number = block[square]
    for i in range(block.size):
        block[i] = number


@part
def _at_each(
    s: State,
    squares: Bits,
    where: Bits,
    size: Target,
    free: Target,
    gold: Target,
    points: Target,
    hidden: Target,
) -> None:
    """Copy the values at a single square, the only one in `where`, to a set of squares.

    One loop writes all blocks. With a loop for each block, the CPU would mispredict the end of each
    loop.
    """
    source = lowest(where)
    while squares:
        square = lowest(squares)
        size.out[square] = size.out[source]
        free.out[square] = free.out[source]
        gold.out[square] = gold.out[source]
        for k in range(s.players):
            points.out[k * SQUARES + square] = points.out[k * SQUARES + source]
            hidden.out[k * SQUARES + square] = hidden.out[k * SQUARES + source]
        squares &= squares - 1


# --- the advanced rules --------------------------------------------------------------------------


@blocks.add(
    Declared(
        "arrows",
        (SITES,),
        2,
        "arrows in the Warrior on the site",
        2.0,
        on="sites",
        option="advanced",
    )
)
def _arrows(s: State, view: View, arrows: Target) -> None:
    for site in range(arrows.out.size):
        arrows.out[site] = s.arrows[SITE_SQUARES[site]] * arrows.unit


@blocks.add(
    Declared(
        "reinforced",
        ("players", SITES),
        1,
        "a reinforcement of this seat on the site",
        on="sites",
        option="advanced",
    )
)
def _reinforced(s: State, view: View, reinforced: Target) -> None:
    owners = digits_of(s.reinforced)
    for k in range(s.players):
        squares = equal_to(owners, seat_after(s, view.seat, k) + 1)
        _bits(squares, reinforced.out, k * SITES)


CHARACTERS = (
    Declared(
        "character",
        ("players", _CHARACTERS),
        1,
        "one-hot: Orc, Goblin, Elf, Mage",
        option="advanced",
    ),
    Declared("powers", ("players",), 2, "powers left", scale=2.0, option="advanced"),
    Declared("reinforcements", ("players",), 1, "reinforcements left", option="advanced"),
)


@blocks.add(*CHARACTERS)
def write_characters(
    s: State, view: Any, character: Target, powers: Target, reinforcements: Target
) -> None:
    """Write each player's character, and the powers and reinforcements left."""
    for k in range(s.players):
        player = seat_after(s, view.seat, k)
        for i in range(_CHARACTERS):
            character.out[k * _CHARACTERS + i] = s.character[player] == i + 1
        powers.out[k] = s.powers[player] * powers.unit
        reinforcements.out[k] = s.reinforcements[player]


@blocks.add(
    Declared(
        "read",
        ("players", SITES),
        1,
        "this seat's Mage has read the Warrior on the site",
        on="sites",
        option="advanced",
    )
)
def _read(s: State, view: View, read: Target) -> None:
    for k in range(s.players):
        _bits(s.read[seat_after(s, view.seat, k)], read.out, k * SITES)


observe = blocks.observe("armadora_observe")
