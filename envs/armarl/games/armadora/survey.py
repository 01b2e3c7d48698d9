"""The survey of Armadora, the input of learned position evaluators: mines and hands.

The mines are the prizes of the game. A ring of a mine is the set of squares at one distance,
counted in steps over lines without a palisade. For each ring, the survey gives the pieces there,
and the number of lines that lead farther away. Palisades therefore matter before they close a
territory. The core of a mine is the set of squares that stay connected with the mine until the end
of the game. The survey contains only information that the observing seat may see. This seat comes
first, then the others clockwise, as in the observation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armarl.compiler.bits import count
from armarl.compiler.decorators import kernel, part
from armarl.compiler.types import Bits, Returns, State
from armarl.core.observation_blocks import Blocks, Declared, Target
from armarl.core.observation_table import ObservationTable
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import (
    ALL_EAST,
    ALL_SOUTH,
    COLUMNS,
    LINES,
    MINE_SQUARES,
    MINES,
    SITES,
    SQUARES,
)
from armarl.games.armadora.knowledge import known_squares, unseen
from armarl.games.armadora.observation import (
    CHARACTERS,
    STAGE,
    write_characters,
    write_hand,
    write_stage,
)
from armarl.games.armadora.scoring import points_of, share_of
from armarl.games.armadora.scripted.judgement import UNIT, grow
from armarl.games.armadora.state import (
    ALL_GOLD,
    OVER,
    PALISADES,
    connected,
    digits_of,
    equal_to,
    gold_digits,
    gold_in,
    only_on,
    seat_after,
    side_of,
    sum_on,
    territory,
)

RINGS = 7  # rings at 1, 2, ... steps from a mine; the last ring includes all farther squares
WAYS = 3  # number of rings for which the lines that lead farther away are counted
_MOST_WARRIORS = 16
_MOST_POINTS = 28


class View(NamedTuple):
    """Values that several functions use to write blocks."""

    seat: Any
    known: Any  # squares with Warriors whose value the seat knows
    points: Any  # the points of these Warriors, as digits (ARM-30)
    gold: Any  # gold on the mines, as digits
    stay_east: Any  # lines to the right of squares; they are open and will stay open
    stay_south: Any  # lines below squares; they are open and will stay open


@part
def _lasting(s: State) -> tuple[Bits, Bits]:
    """Return the open lines (`east` and `south`) that can no longer take a palisade (ARM-12)."""
    east, south = ALL_EAST & ~s.east, ALL_SOUTH & ~s.south
    if s.palisades_left > 0:
        east &= s.barred_east
        south &= s.barred_south
    return east, south


def look(s: State, seat: int) -> View:
    """Return the values that several blocks need: known points, gold, lines that stay open."""
    known = known_squares(s, seat)
    return View(seat, known, only_on(points_of(s), known), gold_digits(s), *_lasting(s))


blocks = Blocks(look)


def survey_table(players: int, advanced: bool) -> ObservationTable:
    """Return the survey table of a variant."""
    return blocks.table({"players": players, "advanced": advanced}, None)


# --- around the mines ----------------------------------------------------------------------------


@blocks.add(Declared("stakes", (MINES,), 7, "gold on the mine", 7.0, on="prizes"))
def _stakes(s: State, view: View, stakes: Target) -> None:
    for mine in range(MINES):
        stakes.out[mine] = s.gold[mine] * stakes.unit


@part
def _leading_out(squares: Bits, east: Bits, south: Bits) -> int:
    """Count the lines in the sets `east` and `south` that lead out of `squares`."""
    across, down = squares ^ (squares >> 1), squares ^ (squares >> COLUMNS)
    return count(across & east) + count(down & south)


@blocks.add(
    Declared("size", (MINES,), SQUARES, "size of the mine's territory", 40.0, on="prizes"),
    Declared("free", (MINES,), SITES, "free squares in this territory", 16.0, on="prizes"),
    Declared("gold", (MINES,), ALL_GOLD, "gold in this territory", 40.0, on="prizes"),
    Declared(
        "ring_free",
        (RINGS, MINES),
        SITES,
        "free squares 1, 2, … steps from the mine",
        4.0,
        on="prizes",
    ),
    Declared(
        "ring_points",
        ("players", RINGS, MINES),
        _MOST_POINTS,
        "points of Warriors of known value at this distance (ARM-30)",
        4.0,
        known="own",
        on="prizes",
    ),
    Declared(
        "ring_hidden",
        ("players", RINGS, MINES),
        _MOST_WARRIORS,
        "Warriors of unknown value at this distance",
        2.0,
        known="own",
        on="prizes",
    ),
    Declared(
        "ring_gold",
        (RINGS, MINES),
        ALL_GOLD,
        "gold of other mines at this distance",
        14.0,
        on="prizes",
    ),
    Declared(
        "ring_lines",
        (WAYS, MINES),
        LINES,
        "lines that lead farther away and may take a palisade",
        8.0,
        on="prizes",
    ),
    Declared(
        "ring_open",
        (WAYS, MINES),
        LINES,
        "lines that lead farther away and stay open (ARM-12)",
        4.0,
        on="prizes",
    ),
)
def _rings(
    s: State,
    view: View,
    size: Target,
    free: Target,
    gold: Target,
    ring_free: Target,
    ring_points: Target,
    ring_hidden: Target,
    ring_gold: Target,
    ring_lines: Target,
    ring_open: Target,
) -> None:
    ring_free.out[:] = 0
    ring_points.out[:] = 0
    ring_hidden.out[:] = 0
    ring_gold.out[:] = 0
    ring_lines.out[:] = 0
    ring_open.out[:] = 0
    east, south = ALL_EAST & ~(s.east | view.stay_east), ALL_SOUTH & ~(s.south | view.stay_south)
    for mine in range(MINES):
        reached, steps = 1 << MINE_SQUARES[mine], 0
        while True:
            grown = grow(s, reached)
            ring = grown & ~reached
            if ring == 0:
                break
            entry = min(steps, RINGS - 1) * MINES + mine
            ring_free.out[entry] += count(ring & s.free) * ring_free.unit
            ring_gold.out[entry] += sum_on(view.gold, ring) * ring_gold.unit
            for k in range(s.players):
                held, first = ring & s.warriors[seat_after(s, view.seat, k)], k * RINGS * MINES
                if held:
                    points, hidden = sum_on(view.points, held), count(held & ~view.known)
                    ring_points.out[first + entry] += points * ring_points.unit
                    ring_hidden.out[first + entry] += hidden * ring_hidden.unit
            if steps < WAYS:
                ring_lines.out[entry] = _leading_out(grown, east, south) * ring_lines.unit
                lasting = _leading_out(grown, view.stay_east, view.stay_south)
                ring_open.out[entry] = lasting * ring_open.unit
            reached, steps = grown, steps + 1
        size.out[mine] = count(reached) * size.unit
        free.out[mine] = count(reached & s.free) * free.unit
        gold.out[mine] = sum_on(view.gold, reached) * gold.unit


@blocks.add(
    Declared(
        "core_size",
        (MINES,),
        SQUARES,
        "size of the mine's core: squares that stay connected with it",
        16.0,
        on="prizes",
    ),
    Declared("core_free", (MINES,), SITES, "free squares in the core", 8.0, on="prizes"),
    Declared("core_gold", (MINES,), ALL_GOLD, "gold in the core", 14.0, on="prizes"),
    Declared(
        "core_points",
        ("players", MINES),
        _MOST_POINTS,
        "points of Warriors of known value in the core",
        4.0,
        known="own",
        on="prizes",
    ),
    Declared(
        "core_hidden",
        ("players", MINES),
        _MOST_WARRIORS,
        "Warriors of unknown value in the core",
        2.0,
        known="own",
        on="prizes",
    ),
)
def _cores(
    s: State, view: View, size: Target, free: Target, gold: Target, points: Target, hidden: Target
) -> None:
    for mine in range(MINES):
        core = connected(1 << MINE_SQUARES[mine], view.stay_east, view.stay_south)
        size.out[mine] = count(core) * size.unit
        free.out[mine] = count(core & s.free) * free.unit
        gold.out[mine] = sum_on(view.gold, core) * gold.unit
        for k in range(s.players):
            entry, held = k * MINES + mine, core & s.warriors[seat_after(s, view.seat, k)]
            points.out[entry] = sum_on(view.points, held) * points.unit
            hidden.out[entry] = count(held & ~view.known) * hidden.unit


@blocks.add(
    Declared(
        "hidden_reinforced",
        ("players", MINES),
        1,
        "a reinforcement in the territory, under a Warrior of unknown value of this seat",
        on="prizes",
        known="own",
        option="advanced",
    ),
    Declared(
        "hidden_arrows",
        ("players", MINES),
        2,
        "arrows in the territory, in Warriors of unknown value of this seat",
        2.0,
        on="prizes",
        known="own",
        option="advanced",
    ),
    Declared(
        "tie_breaker",
        ("players", MINES),
        1,
        "a reinforcement of this seat in the territory (ARM-29)",
        on="prizes",
        option="advanced",
    ),
)
def _tokens(
    s: State, view: View, reinforced: Target, hidden_arrows: Target, tie_breaker: Target
) -> None:
    owners, arrows = digits_of(s.reinforced), digits_of(s.arrows)
    tokens = owners[0] | owners[1] | owners[2]
    for mine in range(MINES):
        squares = territory(s, 1 << MINE_SQUARES[mine])
        for k in range(s.players):
            entry, player = k * MINES + mine, seat_after(s, view.seat, k)
            hidden = squares & s.warriors[player] & ~view.known
            reinforced.out[entry] = (hidden & tokens) != 0
            hidden_arrows.out[entry] = sum_on(arrows, hidden) * hidden_arrows.unit
            tie_breaker.out[entry] = (equal_to(owners, player + 1) & squares) != 0


# --- the hands and the turn ----------------------------------------------------------------------


@blocks.add(
    Declared("palisades_left", (1,), PALISADES, "supply of palisades", float(PALISADES)),
    Declared("free_squares", (1,), SITES, "free squares of the board", 32.0),
)
def _supplies(s: State, view: View, left: Target, free: Target) -> None:
    left.out[0] = s.palisades_left * left.unit
    free.out[0] = count(s.free) * free.unit


blocks.add(
    Declared(
        "hand",
        (VALUES,),
        11,
        "own Warriors left, by value 1–5",
        (4.0, 1.0, 1.0, 1.0, 1.0),
        known="own",
    )
)(write_hand)


@part
def _points_in_hand(s: State, view: View, player: int) -> float:
    """Return the points of the Warriors that a player may still place.

    For the observing seat the points are exact. For another player they are the mean value of the
    Warriors that the seat cannot see, times the size of the hand.
    """
    if s.passed[player]:
        return 0.0
    number, points = 0, 0
    for v in range(VALUES):
        own = player == view.seat
        left = int(s.hand[player, v]) if own else unseen(s, player, v, view.known)
        number += left
        points += left * (v + 1)
    return points / max(number, 1) * s.hand_size[player]


@blocks.add(
    Declared(
        "points_in_hand",
        ("players",),
        UNIT * _MOST_POINTS,
        "points that may still be placed, known or on average, in quarters",
        80.0,
        known="own",
    ),
    Declared("hand_sizes", ("players",), _MOST_WARRIORS, "Warriors left to a player", 16.0),
    Declared("passed", ("players",), 1, "has passed"),
    Declared("to_move", ("players",), 1, "is to move"),
)
def _players(
    s: State, view: View, points: Target, sizes: Target, passed: Target, to_move: Target
) -> None:
    for k in range(s.players):
        player = seat_after(s, view.seat, k)
        points.out[k] = int(_points_in_hand(s, view, player) * UNIT + 0.5) * points.unit
        sizes.out[k] = 0.0 if s.passed[player] else s.hand_size[player] * sizes.unit
        passed.out[k] = s.passed[player]
        to_move.out[k] = player == s.to_move and s.stage != OVER


blocks.add(STAGE)(write_stage)
blocks.add(*CHARACTERS)(write_characters)

survey = blocks.observe("armadora_survey")


# --- the final shares of the mines ---------------------------------------------------------------


@part
def _taken(s: State, points: Any, player: int, squares: Bits) -> float:
    """Return the fraction of a territory's gold that a player's side takes (ARM-16 to ARM-18)."""
    gold = gold_in(s, squares)
    return share_of(s, points, side_of(s, player), squares) / gold if gold else 0.0


@kernel
def divide(s: State, out: Returns) -> None:
    """Write the fraction of each mine's gold that each player's side took.

    `out` has the shape (players, MINES). The game must be over. A side takes the same fraction at
    every mine of a territory.
    """
    points = points_of(s)
    for mine in range(MINES):
        squares = territory(s, 1 << MINE_SQUARES[mine])
        for player in range(s.players):
            out[player, mine] = _taken(s, points, player, squares)
