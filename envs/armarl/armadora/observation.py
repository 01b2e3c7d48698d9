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
    LINE_EAST,
    LINE_SOUTH,
    LINES,
    MINES,
    SITE_SQUARES,
    SITES,
    SQUARES,
)
from armarl.armadora.knowledge import known_squares
from armarl.armadora.scoring import player_points_in
from armarl.armadora.state import (
    OVER,
    PALISADES,
    STAGE_NAMES,
    WARRIORS,
    count,
    gold_in,
    lowest,
    territory,
)
from armarl.compiled import kernel
from armarl.tables import Block, ObservationTable

_CHARACTERS = 4
_STAGES = len(STAGE_NAMES)
_MOST_OF_VALUE = (11.0, 2.0, 1.0, 1.0, 1.0)  # Warriors of each value that a player can hold
_VALUE_SCALE = np.array(_MOST_OF_VALUE, np.float32)  # a kernel's index into a tuple could raise
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
    at = _board(s, out, 0)
    at = _pieces(s, seat, known, out, at)
    at = _turn(s, seat, out, at)
    at = _territories(s, seat, known, out, at)
    if s.advanced:
        _tokens(s, seat, out, at)


@kernel
def _bits(squares, out, at):
    """Write a set of squares as one number per site."""
    for site in range(SITES):
        out[at + site] = (squares >> SITE_SQUARES[site]) & 1
    return at + SITES


@kernel
def _board(s, out, at):
    """gold, palisades, open_lines, palisades_left."""
    for mine in range(MINES):
        out[at + mine] = s.gold[mine] / np.float32(7)
    at += MINES
    for line in range(LINES):
        stands = LINE_EAST[line] & s.east | LINE_SOUTH[line] & s.south
        barred = LINE_EAST[line] & s.barred_east | LINE_SOUTH[line] & s.barred_south
        out[at + line] = stands != 0
        out[at + LINES + line] = stands | barred == 0
    at += 2 * LINES
    out[at] = s.palisades_left / np.float32(PALISADES)
    return at + 1


@kernel
def _pieces(s, seat, known, out, at):
    """warriors, values, face_up, hand, unseen, hand_sizes."""
    for k in range(s.players):
        at = _bits(s.warriors[(seat + k) % s.players], out, at)
    for site in range(SITES):
        square = SITE_SQUARES[site]
        out[at + site] = s.value[square] / np.float32(VALUES) if (known >> square) & 1 else 0
    at = _bits(s.face_up, out, at + SITES)
    for v in range(VALUES):
        out[at + v] = s.hand[seat, v] / np.float32(_VALUE_SCALE[v])
    at += VALUES
    for k in range(s.players):
        at = _unseen(s, (seat + k) % s.players, seat, known, out, at)
    for k in range(s.players):
        out[at + k] = s.hand_size[(seat + k) % s.players] / np.float32(_MOST_WARRIORS)
    return at + s.players


@kernel
def _unseen(s, player, seat, known, out, at):
    """unseen, of one player: what he had at the start, less all that this seat is shown."""
    for v in range(VALUES):
        own = s.hand[player, v] if player == seat else 0
        out[at + v] = np.float32(WARRIORS[s.players, v]) - own
    held = s.warriors[player] & known
    while held:
        out[at + s.value[lowest(held)] - 1] -= 1
        held &= held - 1
    for v in range(VALUES):
        out[at + v] /= np.float32(_VALUE_SCALE[v])
    return at + VALUES


@kernel
def _turn(s, seat, out, at):
    """passed, to_move, stage."""
    for k in range(s.players):
        player = (seat + k) % s.players
        out[at + k] = s.passed[player]
        out[at + s.players + k] = player == s.to_move and s.stage != OVER
    at += 2 * s.players
    for stage in range(_STAGES):
        out[at + stage] = stage == s.stage
    return at + _STAGES


@kernel
def _territories(s, seat, known, out, at):
    """territory_size, territory_free, territory_gold, territory_points, territory_hidden."""
    blocks = 3 + 2 * s.players
    remaining = ALL_SQUARES
    while remaining:
        first = lowest(remaining)
        squares = territory(s, remaining & -remaining)
        remaining &= ~squares
        _territory(s, seat, squares, known, out, at + first)
        for square in range(first + 1, SQUARES):  # its other squares show the same numbers
            if (squares >> square) & 1:
                for block in range(blocks):
                    out[at + block * SQUARES + square] = out[at + block * SQUARES + first]
    return at + blocks * SQUARES


@kernel
def _territory(s, seat, squares, known, out, at):
    """The numbers of one territory, at its first square."""
    out[at] = count(squares) / np.float32(40)
    out[at + SQUARES] = count(squares & s.free) / np.float32(32)
    out[at + 2 * SQUARES] = gold_in(s, squares) / np.float32(40)
    at += 3 * SQUARES
    for k in range(s.players):
        player = (seat + k) % s.players
        shown = player_points_in(s, player, squares & known)
        hidden = count(s.warriors[player] & squares & ~known)
        out[at + k * SQUARES] = shown / np.float32(_POINTS_SCALE)
        out[at + (s.players + k) * SQUARES] = hidden / np.float32(_POINTS_SCALE)


@kernel
def _tokens(s, seat, out, at):
    """arrows, reinforced, character, powers, reinforcements, read."""
    for site in range(SITES):
        out[at + site] = s.arrows[SITE_SQUARES[site]] / np.float32(2)
    at += SITES
    for k in range(s.players):
        owner = (seat + k) % s.players + 1
        for site in range(SITES):
            out[at + site] = s.reinforced[SITE_SQUARES[site]] == owner
        at += SITES
    for k in range(s.players):
        own = s.character[(seat + k) % s.players]
        for character in range(_CHARACTERS):
            out[at + character] = own == character + 1
        at += _CHARACTERS
    for k in range(s.players):
        player = (seat + k) % s.players
        out[at + k] = s.powers[player] / np.float32(2)
        out[at + s.players + k] = s.reinforcements[player]
    at += 2 * s.players
    for k in range(s.players):
        at = _bits(s.read[(seat + k) % s.players], out, at)
