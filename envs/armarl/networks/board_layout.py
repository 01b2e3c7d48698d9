"""How a network reads the cells of a board, and scores the actions that act on them.

The same weights look at every cell and those around it, and score every action from what was made
of the cells that it acts on; so what is learnt in one place is known in all. Around a cell of a
grid are the eight next to it, each with weights of its own; around a place of a chart are its
neighbours, which are added up by the kind of border between. The tables here say what is read
where; they follow from a game's observation and action tables alone.
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
AROUND = 9  # a cell of a grid and the eight around it, row by row


class Places(NamedTuple):
    """Tables of a game with a board.

    Attributes:
        shape: rows and columns of a grid, or the number of a chart's places.
        seen: (features, cells), where each feature of a cell stands in an observation; the
            observation's size where it stands nowhere, which is read as 0.
        constants: float32 (constants, cells), features that never change.
        spread: float32 (ways, cells, cells), 1 where a cell of a chart is told of another: first of
            itself, then of its neighbours, kind of border by kind; of a grid there is none.
        at: number of scores of each cell, for the actions that act on one.
        pairs: (2, pairs), the two cells of the actions that act between two.
        between: number of scores of each pair.
        scores: (actions,), where an action's score stands among those of the cells (cells, at), and
            after them of the pairs (pairs, between); their number for one that acts on no cell.
        nothing: the observation's size.
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
        """Of the first layer, for each cell."""
        ways = AROUND if self.is_grid else len(self.spread)
        return (len(self.seen) + len(self.constants)) * ways

    def second_inputs(self, channels: int) -> int:
        """Of the second layer: on a chart it looks around once more."""
        return channels if self.is_grid else channels * len(self.spread)


def places_of(game: Game) -> Places:
    """The tables of a game.

    Raises:
        ValueError: the game has no board.
    """
    board = game.observation.board
    if board is None:
        raise ValueError(f"{game.name} has no board, whose cells a network could read")
    features = game.observation.cell_index
    seen = np.where(features < 0, game.observation.size, features)
    constants = np.array(list(board.constants.values()), np.float32).reshape(-1, board.cells)
    scores = _scores(game, board.cells)
    return Places(board.shape, seen, constants, _spread(board), *scores, game.observation.size)


def _spread(board: Board) -> Floats:
    """Which cells are told of which; see `Places.spread`."""
    if board.edges is None or board.edge_kinds is None:
        return np.zeros((0, board.cells, board.cells), np.float32)
    spread = np.zeros((1 + len(board.kinds), board.cells, board.cells), np.float32)
    spread[0] = np.eye(board.cells)
    origins, targets = board.edges
    spread[1 + board.edge_kinds, targets, origins] = 1
    return spread


class Looking:
    """What the layers of a network see of every cell, in NumPy."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def first(self, x: Floats) -> Floats:
        """Of observations (n, size): (n, cells, `first_inputs`)."""
        wide = np.concatenate([x, np.zeros((len(x), 1), np.float32)], axis=1)
        if self._places.is_grid:
            return wide[:, self._around]
        cells, constants = wide[:, self._places.seen.T], self._places.constants.T
        constants = np.broadcast_to(constants, (len(x), *constants.shape))
        return spread_over(self._places, np.concatenate([cells, constants], axis=2))

    def second(self, cells: Floats) -> Floats:
        """Of what was made of them (n, cells, channels): (n, cells, `second_inputs`)."""
        if self._places.is_grid:
            return cells
        return spread_over(self._places, cells)

    @cached_property
    def _around(self) -> Indices:
        return around(self._places)


def spread_over(places: Places, cells: Floats) -> Floats:
    """Every cell of a chart, and after it sums of its neighbours: (n, cells, ways * features)."""
    return np.concatenate([way @ cells for way in places.spread], axis=2)


def around(places: Places) -> Indices:
    """Where what the first layer sees of each cell of a grid stands, (cells, `first_inputs`)."""
    rows, columns = places.shape
    planes = np.full((len(places.seen), rows + 2, columns + 2), places.nothing)
    planes[:, 1:-1, 1:-1] = places.seen.reshape(-1, rows, columns)
    taps = [planes[:, y : y + rows, x : x + columns] for y in range(3) for x in range(3)]
    return np.stack(taps, axis=1).reshape(-1, rows * columns).T.copy()


def _scores(game: Game, cells: int) -> tuple[int, Indices, int, Indices]:
    """The number of scores of a cell, the pairs, the number of theirs, and the actions' scores."""
    at = between = 0
    pairs: dict[tuple[int, int], int] = {}
    on_cell: list[tuple[int, int, int]] = []  # action, cell, which of its scores
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
