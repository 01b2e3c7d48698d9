"""How a network reads the cells of a board, and scores the actions that act on them.

The same weights look at every cell and those around it, and score every action from what was made
of the cells that it acts on; so what is learnt in one place is known in all. The tables here say
what is read where; they follow from a game's observation and action tables alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game

Indices = NDArray[np.int64]
AROUND = 9  # a cell and the eight around it, row by row


class Places(NamedTuple):
    """Tables of a game whose board is a grid.

    Attributes:
        shape: rows and columns.
        seen: (features, cells), where each feature of a cell stands in an observation; the
            observation's size where it stands nowhere, which is read as 0.
        at: number of scores of each cell, for the actions that act on one.
        pairs: (2, pairs), the two cells of the actions that act between two.
        between: number of scores of each pair.
        scores: (actions,), where an action's score stands among those of the cells (cells, at), and
            after them of the pairs (pairs, between); their number for one that acts on no cell.
        nothing: the observation's size.
    """

    shape: tuple[int, int]
    seen: Indices
    at: int
    pairs: Indices
    between: int
    scores: Indices
    nothing: int

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1]


def places_of(game: Game) -> Places:
    """The tables of a game.

    Raises:
        ValueError: the game's board is no grid.
    """
    board = game.observation.board
    if board is None or len(board.shape) != 2:
        raise ValueError(f"the board of {game.name} is no grid, whose cells a network could read")
    features = game.observation.cell_index
    seen = np.where(features < 0, game.observation.size, features)
    rows, columns = board.shape
    return Places((rows, columns), seen, *_scores(game, board.cells), game.observation.size)


def around(places: Places) -> Indices:
    """Where what a layer sees of each cell stands, (cells, features * AROUND)."""
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
