"""Board layouts: how a network reads the cells of a board and scores the actions on them.

The same weights read every cell and its surroundings, and score every action from the features of
the cells on which the action acts. The network therefore learns about all cells at the same time.
On a grid, a cell's surroundings are the eight cells next to it, each with its own weights. A chart
is a graph whose cells are places. There, the surroundings are the neighbours of a place, and the
features of neighbours across the same kind of border are added up. The layout tables of this module
list the features of each cell and the score of each action. They are computed only from a game's
observation and action tables.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.core.observation_table import Board

Indices = NDArray[np.int64]
Floats = NDArray[np.float32]
AROUND = 9  # a cell of a grid and the eight cells around it, row by row


class Places(NamedTuple):
    """The layout tables of a game with a board.

    Attributes:
        shape: rows and columns of a grid, or the number of a chart's places.
        seen: index of each cell feature in an observation, shape (features, cells). The index of a
            missing feature is the observation's size, where the network reads a 0.
        constants: features that never change, float32, shape (constants, cells).
        spread: neighbour matrices of a chart, float32, shape (ways, cells, cells), 1 where the cell
            of the row reads the cell of the column. The first matrix is the identity. Each further
            matrix is for one kind of border. A grid has no neighbour matrices.
        at: number of scores per cell, for actions that act on one cell.
        pairs: the two cells of actions that act between two cells, shape (2, pairs).
        between: number of scores per pair.
        scores: index of each action's score, shape (actions,), in the flat scores of cells (cells,
            at) followed by the flat scores of pairs (pairs, between). For an action on no cell, the
            index is the total number of scores.
        nothing: the observation's size, the index of a missing feature.
    """

    shape: tuple[int, ...]
    seen: Indices
    constants: Floats
    spread: Floats
    at: int
    pairs: Indices
    between: int
    scores: Indices
    nothing: int

    @property
    def cells(self) -> int:
        return prod(self.shape)

    @property
    def is_grid(self) -> bool:
        return len(self.shape) == 2

    @property
    def first_inputs(self) -> int:
        """Number of inputs of the first layer for each cell."""
        ways = AROUND if self.is_grid else len(self.spread)
        return (len(self.seen) + len(self.constants)) * ways

    def second_inputs(self, channels: int) -> int:
        """Number of inputs of the second layer for each cell (on a chart, with neighbours)."""
        return channels if self.is_grid else channels * len(self.spread)


def places_of(game: Game) -> Places:
    """Return the layout tables of a game.

    Raises:
        ValueError: the game has no board.
    """
    board = game.observation.board
    if board is None:
        raise ValueError(f"{game.name} has no board with cells for a network to read")
    features = game.observation.cell_index
    seen = np.where(features < 0, game.observation.size, features)
    constants = np.array(list(board.constants.values()), np.float32).reshape(-1, board.cells)
    scores = _scores(game, board.cells)
    return Places(board.shape, seen, constants, _spread(board), *scores, game.observation.size)


def _spread(board: Board) -> Floats:
    """Return the neighbour matrices of a board, as in `Places.spread`."""
    if board.edges is None or board.edge_kinds is None:
        return np.zeros((0, board.cells, board.cells), np.float32)
    spread = np.zeros((1 + len(board.kinds), board.cells, board.cells), np.float32)
    spread[0] = np.eye(board.cells)
    origins, targets = board.edges
    spread[1 + board.edge_kinds, targets, origins] = 1
    return spread


class Looking:
    """Functions that gather the inputs of the first two layers for every cell, with NumPy."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def first(self, x: Floats) -> Floats:
        """Return first-layer inputs, (n, cells, `first_inputs`), from observations (n, size)."""
        wide = np.concatenate([x, np.zeros((len(x), 1), np.float32)], axis=1)
        if self._places.is_grid:
            return wide[:, self._around]
        cells, constants = wide[:, self._places.seen.T], self._places.constants.T
        constants = np.broadcast_to(constants, (len(x), *constants.shape))
        return spread_over(self._places, np.concatenate([cells, constants], axis=2))

    def second(self, cells: Floats) -> Floats:
        """Return second-layer inputs, (n, cells, `second_inputs`), from (n, cells, channels)."""
        if self._places.is_grid:
            return cells
        return spread_over(self._places, cells)

    @cached_property
    def _around(self) -> Indices:
        return around(self._places)


def spread_over(places: Places, cells: Floats) -> Floats:
    """Return each cell's features, then its neighbours' feature sums for each kind of border.

    The shape is (n, cells, ways * features).
    """
    return np.concatenate([way @ cells for way in places.spread], axis=2)


def around(places: Places) -> Indices:
    """Return the observation index of each first-layer input on a grid, (cells, `first_inputs`)."""
    rows, columns = places.shape
    planes = np.full((len(places.seen), rows + 2, columns + 2), places.nothing)
    planes[:, 1:-1, 1:-1] = places.seen.reshape(-1, rows, columns)
    taps = [planes[:, y : y + rows, x : x + columns] for y in range(3) for x in range(3)]
    return np.stack(taps, axis=1).reshape(-1, rows * columns).T.copy()


def _scores(game: Game, cells: int) -> tuple[int, Indices, int, Indices]:
    """Return the fields `at`, `pairs`, `between` and `scores` of `Places`."""
    at = between = 0
    pairs: dict[tuple[int, int], int] = {}
    on_cell: list[tuple[int, int, int]] = []  # action, cell, index of the score within the cell
    on_pair: list[tuple[int, int, int]] = []
    for family in game.actions.families:
        kinds = family.size // len(family.at) if family.at else 0
        paired = any(origin >= 0 for origin, _ in family.at)
        for number in range(kinds * len(family.at)):
            kind, ends = number // len(family.at), family.at[number % len(family.at)]
            action = game.actions.first[family.name] + number
            if paired:
                pair = pairs.setdefault(ends, len(pairs))
                on_pair.append((action, pair, between + kind))
            else:
                on_cell.append((action, ends[1], at + kind))
        if paired:
            between += kinds
        else:
            at += kinds
    scores = np.full(len(game.actions), cells * at + len(pairs) * between)
    for action, cell, kind in on_cell:
        scores[action] = cell * at + kind
    for action, pair, kind in on_pair:
        scores[action] = cells * at + pair * between + kind
    return at, np.array(list(pairs), np.int64).reshape(-1, 2).T.copy(), between, scores
