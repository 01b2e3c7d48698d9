"""The two tables that every game declares once: its actions and its observation.

Spaces, documentation, notation, decoders and tests are all made from them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Block:
    """A named part of the flat observation, holding `quantity / scale` as float32.

    Attributes:
        shape: the block's shape; the first axis of a per-seat block is the seat, oneself first,
            then the others in play order.
        maximum: the largest quantity (the smallest is 0).
        scale: what the quantity is divided by, a number or one per entry of the last axis.
        known: who may see it: "public", or "own" for what depends on this seat's knowledge.
        on: what its last axis runs along, if that lies on the board: a key of `Board.along`.
    """

    name: str
    shape: tuple[int, ...]
    maximum: float
    scale: float | tuple[float, ...]
    known: str
    meaning: str
    on: str | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class Board:
    """How blocks of an observation lie on the board.

    Attributes:
        shape: of the board's cells: (rows, columns) of a grid, (places,) of a graph.
        along: for each thing that blocks run along the features that it makes: what is added to
            the block's name, and the flat cell number of each entry, -1 where it has none.
        derived: further features, each an index into the block that it is read from, one per cell
            (-1: 0), by the feature's name and the block's.
        constants: features of the cells that never change, float32 (cells,), by name.
        edges: of a graph, int64 (2, edges): from which cell and to which.
        edge_kinds: the kind of each edge, int64 (edges,), a number of `kinds`.
    """

    shape: tuple[int, ...]
    along: Mapping[str, Mapping[str, NDArray[np.int64]]]
    derived: Mapping[tuple[str, str], NDArray[np.int64]] = field(default_factory=dict)
    constants: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    edges: NDArray[np.int64] | None = None
    edge_kinds: NDArray[np.int64] | None = None
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        tables = (*(t for along in self.along.values() for t in along.values()), self.edges)
        for table in (*tables, self.edge_kinds, *self.derived.values(), *self.constants.values()):
            if table is not None:
                table.flags.writeable = False  # all tables with this board share it

    @property
    def cells(self) -> int:
        return prod(self.shape)


class Grid(NamedTuple):
    """An observation as planes over a board of squares: `ObservationTable.grid`.

    Attributes:
        planes: float32 (..., planes, rows, columns); names: `ObservationTable.cell_features`.
        others: float32 (..., features), what lies on no square; `ObservationTable.other_features`.
    """

    planes: Any
    others: Any


class Graph(NamedTuple):
    """An observation as a graph of places: `ObservationTable.graph`.

    Attributes:
        nodes: float32 (..., places, features); names: `ObservationTable.cell_features`.
        others: float32 (..., features), what lies on no place; `ObservationTable.other_features`.
        constants: float32 (places, features), the same in all observations; `Board.constants`.
        edges: int64 (2, edges), every border in both directions: from which place and to which.
        edge_kinds: int64 (edges,), numbers of `Board.kinds`.
    """

    nodes: Any
    others: Any
    constants: NDArray[np.float32]
    edges: NDArray[np.int64]
    edge_kinds: NDArray[np.int64]


class ObservationTable:
    """The blocks of a game's flat observation, in order, and how they lie on its board."""

    def __init__(self, blocks: Sequence[Block], board: Board | None = None) -> None:
        self.blocks = tuple(blocks)
        self.board = board
        ends = np.cumsum([block.size for block in blocks])
        self.slices: Mapping[str, slice] = MappingProxyType(
            {
                block.name: slice(int(end) - block.size, int(end))
                for block, end in zip(blocks, ends, strict=True)
            }
        )
        self.size = int(ends[-1])

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lowest and highest observation, two float32 arrays of shape (size,)."""
        high = np.empty(self.size, np.float32)
        for block in self.blocks:
            limit = np.broadcast_to(block.maximum / np.asarray(block.scale), block.shape)
            high[self.slices[block.name]] = limit.reshape(-1)
        return np.zeros(self.size, np.float32), high

    def views(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The named blocks as reshaped views of `observation` (..., size), scaled as they are.

        Raises:
            ValueError: it is another game's, or table's, of another size.
            TypeError: no array.
        """
        self._check(observation)
        batch = observation.shape[:-1]
        return {
            block.name: observation[..., self.slices[block.name]].reshape(*batch, *block.shape)
            for block in self.blocks
        }

    def decode(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.int64]]:
        """The named blocks in real units: Warriors, points, gold; raises what `views` does."""
        return {
            name: np.rint(view * np.asarray(block.scale)).astype(np.int64)
            for block, (name, view) in zip(
                self.blocks, self.views(observation).items(), strict=True
            )
        }

    # --- on the board ----------------------------------------------------------------------------

    def grid(self, observation: Any) -> Grid:
        """Observations (..., size), NumPy's or torch's, as planes over the squares of the board.

        Raises:
            ValueError: this game's board is no grid, or the observations are of another size.
            TypeError: no array.
        """
        board = self._board(2, "a grid of squares")
        return Grid(*self._on_board(observation, self._cells[1].reshape(-1, *board.shape)))

    def graph(self, observation: Any) -> Graph:
        """Observations (..., size), NumPy's or torch's, as features of the places of a chart.

        Raises:
            ValueError: this game's board is no graph, or the observations are of another size.
            TypeError: no array.
        """
        board = self._board(1, "a graph of places")
        assert board.edges is not None
        assert board.edge_kinds is not None
        nodes, others = self._on_board(observation, self._cells[1].T)
        constants = np.stack(list(board.constants.values()), axis=1)
        return Graph(nodes, others, constants, board.edges.copy(), board.edge_kinds.copy())

    @property
    def cell_features(self) -> tuple[str, ...]:
        """The planes of `grid`, or the features of each place of `graph`.

        A name is the block's, with an index for each axis but the last: `warriors[1]` are those of
        the next seat. Lines are told by the square from which they are `_east` or `_south`.
        """
        return self._cells[0]

    @property
    def cell_index(self) -> NDArray[np.int64]:
        """Where in the observation each feature of a cell stands, (features, cells); -1: nowhere.

        For those who gather on a device of their own. What stands nowhere is 0. A copy.
        """
        return self._cells[1].copy()

    @cached_property
    def other_features(self) -> tuple[str, ...]:
        """The names of what lies on no cell, with an index for each axis: `hand[0]`."""
        return tuple(name for block in self._others for name in _names(block.name, block.shape))

    @property
    def other_index(self) -> NDArray[np.int64]:
        """Where in the observation each of `other_features` stands, (features,). A copy."""
        return self._others_at.copy()

    @cached_property
    def _others_at(self) -> NDArray[np.int64]:
        return np.concatenate([np.r_[self.slices[block.name]] for block in self._others])

    @property
    def _others(self) -> list[Block]:
        return [block for block in self.blocks if block.on is None]

    def _check(self, observation: Any) -> None:
        """Raise TypeError or ValueError unless observations are arrays (..., size)."""
        shape = getattr(observation, "shape", None)
        if shape is None:
            raise TypeError(
                f"an observation is an array of {self.size} numbers, not "
                f"{type(observation).__name__}; of PettingZoo's that is observation['observation']"
            )
        if not shape or shape[-1] != self.size:
            raise ValueError(
                f"an observation of this game at this table has {self.size} numbers, "
                f"not those of shape {tuple(shape)}"
            )

    def _board(self, axes: int, kind: str) -> Board:
        if self.board is None or len(self.board.shape) != axes:
            raise ValueError(f"the board of this game is not {kind}")
        return self.board

    @cached_property
    def _cells(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Names of the features of cells, and where each stands for each cell."""
        assert self.board is not None
        names: list[str] = []
        rows: list[NDArray[np.int64]] = []
        for block in self.blocks:
            if block.on is not None:
                entries = np.r_[self.slices[block.name]].reshape(-1, block.shape[-1])
                for ending, cells in self.board.along[block.on].items():
                    names += _names(block.name + ending, block.shape[:-1])
                    rows += [_scattered(row, cells, self.board.cells) for row in entries]
        for (name, source), entries in self.board.derived.items():
            names.append(name)
            rows.append(np.where(entries < 0, -1, self.slices[source].start + entries))
        return tuple(names), np.stack(rows)

    def _on_board(self, observation: Any, index: NDArray[np.int64]) -> tuple[Any, Any]:
        """The entries at `index`, and those that lie on no cell."""
        self._check(observation)
        on_board = observation[..., index]
        on_board[(..., *np.nonzero(index < 0))] = 0
        return on_board, observation[..., self._others_at]

    # --- what identifies and documents it --------------------------------------------------------

    @cached_property
    def hash(self) -> str:
        return _hash([[b.name, b.shape, b.maximum, b.scale, b.known] for b in self.blocks])

    def markdown(self) -> str:
        """The table as a Markdown page fragment."""
        rows = [
            "| from | block | shape | quantity | divided by | known | meaning |",
            "| --- " * 7 + "|",
        ]
        for block in self.blocks:
            start = self.slices[block.name].start
            shape = "×".join(map(str, block.shape))
            scale = block.scale if isinstance(block.scale, tuple) else (block.scale,)
            divided = ", ".join(f"{number:g}" for number in scale)
            rows.append(
                f"| {start} | `{block.name}` | {shape} | 0–{block.maximum:g} | {divided} "
                f"| {block.known} | {block.meaning} |"
            )
        return "\n".join(rows)


def _names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The name with every index of a shape; a single entry needs none."""
    if prod(shape) == 1:
        return [name]
    return [name + "".join(f"[{i}]" for i in index) for index in np.ndindex(shape)]


def _scattered(
    entries: NDArray[np.int64], cells: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """For each cell the entry that lies on it, or -1."""
    at = np.full(number, -1)
    at[cells[cells >= 0]] = entries[cells >= 0]
    return at


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
