"""The board of Armadora: squares, mines, lines, and small sets of squares.

A set of squares is a bitboard: an int64 with one bit per square. The square in `row` and `column`
is bit `row * 8 + column`. A set of lines or palisades is two bitboards, `east` and `south`. A bit
of `east` is the line on the right side of the square, and a bit of `south` is the line below the
square. Small sets are connected sets of fewer than four squares, which palisades may not close off
(ARM-12).
"""

from __future__ import annotations

from itertools import product

import numpy as np

COLUMNS, ROWS = 8, 5
SQUARES = COLUMNS * ROWS  # ARM-1
SQUARE_NAMES = tuple(f"{column}{row}" for row, column in product("12345", "abcdefgh"))

MINE_NAMES = ("d1", "b2", "f2", "h2", "a4", "e4", "c5", "g5")  # ARM-2
MINES = len(MINE_NAMES)
MINE_SQUARES = np.array([SQUARE_NAMES.index(name) for name in MINE_NAMES])

SITE_NAMES = tuple(name for name in SQUARE_NAMES if name not in MINE_NAMES)
SITES = len(SITE_NAMES)  # squares that may hold a Warrior
SITE_SQUARES = np.array([SQUARE_NAMES.index(name) for name in SITE_NAMES])

ALL_SQUARES = (1 << SQUARES) - 1
CENTRE = 1 << SQUARE_NAMES.index("e3")
ALL_SITES = sum(1 << int(square) for square in SITE_SQUARES)
ALL_EAST = sum(1 << square for square in range(SQUARES) if square % COLUMNS < COLUMNS - 1)
ALL_SOUTH = sum(1 << square for square in range(SQUARES - COLUMNS))

# ARM-3: 35 lines between columns, then 32 between rows. A line is a pair of squares: the left or
# upper one, then the right or lower one.
LINE_SQUARES = tuple(
    [(square, square + 1) for square in range(SQUARES) if ALL_EAST >> square & 1]
    + [(square, square + COLUMNS) for square in range(SQUARES) if ALL_SOUTH >> square & 1]
)
LINES = len(LINE_SQUARES)
LINE_NAMES = tuple(f"{SQUARE_NAMES[a]}-{SQUARE_NAMES[b]}" for a, b in LINE_SQUARES)
LINE_EAST = np.array([1 << a if b == a + 1 else 0 for a, b in LINE_SQUARES])
LINE_SOUTH = np.array([1 << a if b == a + COLUMNS else 0 for a, b in LINE_SQUARES])

SMALLEST_TERRITORY = 4  # ARM-12


def _neighbours(square: int) -> list[int]:
    return [b if a == square else a for a, b in LINE_SQUARES if square in (a, b)]


def _small_sets() -> list[frozenset[int]]:
    """Return all connected sets of one square (40 sets), two squares (67) and three (166)."""
    size = {frozenset([square]) for square in range(SQUARES)}
    sets = set(size)
    for _ in range(SMALLEST_TERRITORY - 2):
        size = {old | {new} for old in size for square in old for new in _neighbours(square)} - sets
        sets |= size
    return sorted(sets, key=sorted)


def _small_set_tables() -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of bitboards, `east` and `south`, with a row for each line.

    A row has an entry for each small set next to the line: the set of all lines around this small
    set. Rows are padded with -1, which contains all lines.
    """
    east, south = [], []
    sets_at_line: list[list[int]] = [[] for _ in range(LINES)]
    for number, squares in enumerate(_small_sets()):
        around = [i for i, (a, b) in enumerate(LINE_SQUARES) if (a in squares) != (b in squares)]
        east.append(sum(int(LINE_EAST[line]) for line in around))
        south.append(sum(int(LINE_SOUTH[line]) for line in around))
        for line in around:
            sets_at_line[line].append(number)
    most = -(-max(map(len, sets_at_line)) // 8) * 8
    east_at_line, south_at_line = np.full((2, LINES, most), -1)
    for line, numbers in enumerate(sets_at_line):
        east_at_line[line, : len(numbers)] = np.array(east)[numbers]
        south_at_line[line, : len(numbers)] = np.array(south)[numbers]
    return east_at_line, south_at_line


SETS_EAST, SETS_SOUTH = _small_set_tables()

# ARM-35: the two boards. The mini board is a corner of the whole board, closed off by palisades.
BOARD_NAMES = ("whole", "mini")
WHOLE, MINI = range(2)
MINI_SQUARES = ("a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2")
MINI_PALISADE = "b1-c1"  # a palisade inside the corner from the start


def _words(lines: list[int]) -> tuple[int, int]:
    """Return the `east` and `south` bitboards of a set of lines."""
    return sum(int(LINE_EAST[line]) for line in lines), sum(int(LINE_SOUTH[line]) for line in lines)


def _with_ends_inside(number: int) -> list[int]:
    """Return the lines that have `number` (0, 1 or 2) of their squares in the mini board."""
    corner = {SQUARE_NAMES.index(name) for name in MINI_SQUARES}
    return [line for line in range(LINES) if len(corner.intersection(LINE_SQUARES[line])) == number]


_STANDING = [*_with_ends_inside(1), LINE_NAMES.index(MINI_PALISADE)]
_MINI_FREE = sum(1 << SQUARE_NAMES.index(name) for name in SITE_NAMES if name in MINI_SQUARES)
# The start position of each board: free squares, palisades, and lines that take no palisade.
START_FREE = np.array([ALL_SITES, _MINI_FREE])
START_EAST, START_SOUTH = np.array([(0, 0), _words(_STANDING)]).T.copy()
START_BARRED_EAST, START_BARRED_SOUTH = np.array([(0, 0), _words(_with_ends_inside(0))]).T.copy()
