"""The layout of a state of Armadora, and basic functions for squares and sides.

A state is one record of type `STATE` with all data of a game: the board, the hidden hands, the
options and the random number generator. The numbers `ARM-n` refer to the rules page. Sets of
squares are bitboards (see `board`). "Digits" are three sets of squares that together store a number
from 0 to 7 for each square (see `digits_of`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import count, eight_bytes
from armarl.compiler.decorators import inlined
from armarl.compiler.record_types import record_type
from armarl.compiler.types import Int, State
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.board import ALL_EAST, ALL_SOUTH, COLUMNS, MINE_SQUARES, MINES, SQUARES

MAX_PLAYERS = 4
PALISADES = 35  # ARM-5
PILES = np.array([3, 4, 4, 5, 5, 6, 6, 7], np.uint8)  # ARM-6
ALL_GOLD = 40
# For each board (ARM-35): the supply of palisades, the number of mines with gold, and, for each
# number of players, a player's Warriors of value 1 to 5 (ARM-7).
SUPPLY = np.array([PALISADES, 1], np.uint8)
GOLD_MINES = np.array([MINES, 2])
WARRIORS = np.array(
    [
        [[0] * 5, [0] * 5, [11, 2, 1, 1, 1], [7, 2, 1, 1, 0], [5, 1, 1, 1, 0]],
        [[0] * 5, [0] * 5, [1, 1, 0, 0, 0], [0] * 5, [0] * 5],
    ],
    np.uint8,
)

# The stages of a turn.
TURN, SECOND_PALISADE, AFTER_POWER, OVER = range(4)
STAGE_NAMES = ("turn", "second palisade", "after power", "over")

# ARM-21. In the base game every player has character 0.
ORC_CHARACTER, GOBLIN_CHARACTER, ELF_CHARACTER, MAGE_CHARACTER = range(1, 5)
CHARACTER_NAMES = ("orc", "goblin", "elf", "mage")
POWERS = np.array([0, 1, 1, 2, 2], np.uint8)

# The widest fields come first, so that the record has no gaps.
STATE = record_type(
    [
        ("rng", np.uint64),
        ("east", np.int64),  # palisades on the right side of a square
        ("south", np.int64),  # palisades below a square
        ("barred_east", np.int64),  # free lines on which ARM-12 forbids a palisade
        ("barred_south", np.int64),
        ("free", np.int64),  # squares without gold and without a Warrior
        ("face_up", np.int64),
        ("warriors", np.int64, MAX_PLAYERS),  # squares with a Warrior of each player
        ("read", np.int64, MAX_PLAYERS),  # squares that each player's Mage has looked at
        ("value", np.uint8, SQUARES),  # value of the Warrior; 0: no Warrior, or concealed
        ("arrows", np.uint8, SQUARES),
        ("reinforced", np.uint8, SQUARES),  # 1 + the player whose reinforcement is on the square
        ("gold", np.uint8, MINES),
        ("piles", np.uint8, (MAX_PLAYERS, MINES)),  # by side; all 0 before the end (ARM-19)
        ("hand", np.uint8, (MAX_PLAYERS, VALUES)),  # Warriors left, by value
        ("hand_size", np.uint8, MAX_PLAYERS),
        ("character", np.uint8, MAX_PLAYERS),
        ("powers", np.uint8, MAX_PLAYERS),
        ("reinforcements", np.uint8, MAX_PLAYERS),
        ("passed", np.uint8, MAX_PLAYERS),
        (
            "looking_at",
            np.uint8,
            MAX_PLAYERS,
        ),  # 1 + the square that the Mage has just read; 0 when the player acts again
        ("palisades_left", np.uint8),
        ("to_move", np.uint8),
        ("stage", np.uint8),
        ("players", np.uint8),
        ("advanced", np.uint8),
        ("peek", np.uint8),
        ("board", np.uint8),  # the index in BOARD_NAMES
        ("spare", np.uint8, 5),  # explicit padding: a copy leaves the bytes of a gap undefined
    ],
)


_EACH_BYTE, _SIDE_BY_SIDE = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)

# --- sets of squares -----------------------------------------------------------------------------


@inlined
def _lowest_of_each(word: Int) -> Int:
    """Return the lowest bit of each of the 8 bytes of `word` as 8 adjacent bits."""
    return np.int64(((word & _EACH_BYTE) * _SIDE_BY_SIDE) >> np.uint64(56))


@inlined
def digits_of(numbers: Any) -> tuple[Any, Any, Any]:
    """Return numbers below 8, one per square, as three sets of squares (digits).

    The three sets contain the squares whose number has the binary digit 1, 2 and 4. One operation
    on a set processes all squares at the same time.
    """
    ones, twos, fours = 0, 0, 0
    for row in range(0, SQUARES, 8):
        word = eight_bytes(numbers, row)
        ones |= _lowest_of_each(word) << row
        twos |= _lowest_of_each(word >> np.uint64(1)) << row
        fours |= _lowest_of_each(word >> np.uint64(2)) << row
    return ones, twos, fours


@inlined
def only_on(digits: Any, squares: Int) -> tuple[Any, Any, Any]:
    """Return `digits` with the number 0 on all squares outside a set of squares."""
    ones, twos, fours = digits
    return ones & squares, twos & squares, fours & squares


@inlined
def equal_to(digits: Any, number: Int) -> Int:
    """Return the set of squares whose number is `number`."""
    ones, twos, fours = digits
    squares = ones if number & 1 else ~ones
    squares &= twos if number & 2 else ~twos
    return squares & (fours if number & 4 else ~fours)


@inlined
def sum_on(digits: Any, squares: Int) -> Int:
    """Return the sum of the numbers on a set of squares."""
    ones, twos, fours = digits
    return count(ones & squares) + 2 * count(twos & squares) + 4 * count(fours & squares)


@inlined
def connected(squares: Int, east: Int, south: Int) -> Int:
    """Return all squares connected to `squares` through the lines in the sets `east`, `south`."""
    while True:
        grown = squares | ((squares & east) << 1) | ((squares >> 1) & east)
        grown |= ((grown & south) << COLUMNS) | ((grown >> COLUMNS) & south)
        if grown == squares:
            return squares
        squares = grown


@inlined
def territory(s: State, squares: Int) -> Int:
    """Return all squares connected to `squares` through lines without a palisade (ARM-4)."""
    return connected(squares, ALL_EAST & ~s.east, ALL_SOUTH & ~s.south)


@inlined
def gold_digits(s: State) -> tuple[Any, Any, Any]:
    """Return the gold on each mine, as digits (see `digits_of`)."""
    ones, twos, fours = 0, 0, 0
    for mine in range(MINES):
        gold = np.int64(s.gold[mine])
        ones |= (gold & 1) << MINE_SQUARES[mine]
        twos |= (gold >> 1 & 1) << MINE_SQUARES[mine]
        fours |= (gold >> 2) << MINE_SQUARES[mine]
    return ones, twos, fours


@inlined
def has_gold(squares: Int, mine: Int) -> Int:
    """Return whether a set of squares contains this mine."""
    return (squares >> MINE_SQUARES[mine]) & 1


@inlined
def gold_in(s: State, squares: Int) -> Int:
    """Return the gold on the mines of a set of squares."""
    gold = 0
    for mine in range(MINES):
        gold += has_gold(squares, mine) * s.gold[mine]
    return gold


@inlined
def all_warriors(s: State) -> Int:
    """Return the squares with a Warrior of any player."""
    return s.warriors[0] | s.warriors[1] | s.warriors[2] | s.warriors[3]


@inlined
def reinforced_squares(s: State) -> Int:
    """Return the squares with a reinforcement of any player (ARM-28)."""
    ones, twos, fours = digits_of(s.reinforced)
    return ones | twos | fours


# --- seats and sides -----------------------------------------------------------------------------


@inlined
def seat_after(s: State, seat: Int, steps: Int) -> Int:
    """Return the seat `steps` further in play order (ARM-8). `steps` is at most `players`.

    The function does not use `%`, because a division is slow.
    """
    later = seat + steps
    return later - s.players if later >= s.players else later


@inlined
def side_count(s: State) -> Int:
    """Return the number of sides: the players, or two teams with four players (ARM-9)."""
    return 2 if s.players == 4 else s.players


@inlined
def side_of(s: State, player: Int) -> Int:
    """Return a player's side (ARM-9). With four players, opposite seats are a team."""
    seat = np.int64(player)
    return seat % 2 if s.players == 4 else seat


@inlined
def opposing_warriors(s: State, player: Int) -> Int:
    """Return the squares with a Warrior that is neither the player's nor the partner's."""
    squares = 0
    for other in range(s.players):
        if side_of(s, other) != side_of(s, player):
            squares |= s.warriors[other]
    return squares
