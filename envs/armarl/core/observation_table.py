"""The table of a game's observation: named blocks, and their layout on the board.

Every game declares this table and its action table once. Spaces, documentation, notation, decoders
and tests are all made from these two tables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.read_only import ReadOnly


@dataclass(frozen=True)
class Block:
    """A named part of the flat observation. It contains `quantity / scale` as float32.

    Attributes:
        name: the block's name in `ObservationTable.views` and `ObservationTable.decode`.
        shape: the block's shape. The first axis of a per-seat block is the seat: the observing seat
            first, then the others in play order.
        maximum: the largest quantity (the smallest is 0).
        scale: the divisor of the quantity, one number or one per entry of the last axis.
        known: "public", or "own" if the block depends on the private knowledge of the observing
            seat.
        meaning: the explanation for the documentation.
        on: a key of `Board.along` if the entries of the last axis are on the board, else None.

    Example:
        >>> from armarl.games.authoring import Block
        >>> Block("hand", (5,), 11, 11, "own", "Warriors in hand, by value").size
        5
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
        """The number of entries."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class Board:
    """The layout of observation blocks on the board.

    Attributes:
        shape: the shape of the board: (rows, columns) for a grid, (places,) for a graph.
        along: the cells to which the entries of blocks belong. For each value of `Block.on` and
            each suffix of feature names, `along[on][suffix]` contains the flat cell number of each
            entry, or -1 for an entry that belongs to no cell.
        derived: further features, whose values are entries of a block.
            `derived[feature name, block name]` contains for each cell the index of an entry of the
            block. Where the index is -1, the feature is 0.
        constants: features that are the same in all states, float32 (cells,), by name.
        edges: for a graph, int64 (2, edges): the start cell and the end cell of each edge.
        edge_kinds: the kind of each edge, int64 (edges,), an index into `kinds`.
        kinds: the names of the kinds of edges.
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
                table.flags.writeable = False  # shared by all observation tables with this board

    @property
    def cells(self) -> int:
        """The number of cells."""
        return prod(self.shape)


class Grid(NamedTuple):
    """An observation as planes over a board of squares, from `ObservationTable.grid`.

    Attributes:
        planes: float32 (..., planes, rows, columns); `ObservationTable.cell_features` names them.
        others: float32 (..., features), the entries that belong to no square;
            `ObservationTable.other_features` names them.
    """

    planes: Any
    others: Any


class Graph(NamedTuple):
    """An observation as a graph of places, from `ObservationTable.graph`.

    Attributes:
        nodes: float32 (..., places, features); `ObservationTable.cell_features` names the features.
        others: float32 (..., features), the entries that belong to no place;
            `ObservationTable.other_features` names them.
        constants: float32 (places, features), the same in all observations; `Board.constants`
            names the features.
        edges: int64 (2, edges), the start and the end of each edge. There is an edge in both
            directions for every border.
        edge_kinds: int64 (edges,), indices into `Board.kinds`.
    """

    nodes: Any
    others: Any
    constants: NDArray[np.float32]
    edges: NDArray[np.int64]
    edge_kinds: NDArray[np.int64]


class ObservationTable:
    """The blocks of a game's flat observation, in order, and their layout on the board.

    Attributes:
        blocks: the blocks, in the order of the flat observation.
        board: the layout on the board, or None.
        slices: the slice of the flat observation for each block, by name.
        size: the number of entries of the flat observation.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> observations, masks = game.views(game.new_states(0), np.array([0]))
        >>> game.observation.decode(observations)["hand"]  # Warriors in hand, by value
        array([[11,  2,  1,  1,  1]])
        >>> game.observation.grid(observations).planes.shape
        (1, 16, 5, 8)
    """

    def __init__(self, blocks: Sequence[Block], board: Board | None = None) -> None:
        self.blocks = tuple(blocks)
        self.board = board
        ends = np.cumsum([block.size for block in blocks])
        self.slices: Mapping[str, slice] = ReadOnly(
            {
                block.name: slice(int(end) - block.size, int(end))
                for block, end in zip(blocks, ends, strict=True)
            }
        )
        self.size = int(ends[-1])

    def __deepcopy__(self, memo: dict[int, Any]) -> ObservationTable:
        return self  # a table never changes

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the lowest and the highest observation, two float32 arrays of shape (size,)."""
        high = np.empty(self.size, np.float32)
        for block in self.blocks:
            limit = np.broadcast_to(block.maximum / np.asarray(block.scale), block.shape)
            high[self.slices[block.name]] = limit.reshape(-1)
        return np.zeros(self.size, np.float32), high

    def views(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Return the blocks as reshaped array views of `observation` (..., size), by name.

        The entries are still divided by the scale.

        Raises:
            ValueError: the size is wrong, so the observation comes from another game or another
                number of players.
            TypeError: `observation` is not an array.
        """
        self._check(observation)
        batch = observation.shape[:-1]
        return {
            block.name: observation[..., self.slices[block.name]].reshape(*batch, *block.shape)
            for block in self.blocks
        }

    def decode(self, observation: NDArray[np.float32]) -> dict[str, NDArray[np.int64]]:
        """Return the blocks in real units (Warriors, points, gold), by name, as new int64 arrays.

        Args:
            observation: float32, shape (..., size).

        Raises:
            ValueError, TypeError: as in `views`.
        """
        return {
            name: np.rint(view * np.asarray(block.scale)).astype(np.int64)
            for block, (name, view) in zip(
                self.blocks, self.views(observation).items(), strict=True
            )
        }

    # --- on the board ----------------------------------------------------------------------------

    def grid(self, observation: Any) -> Grid:
        """Return copies of observations (..., size) as planes over the squares of the board.

        Args:
            observation: a NumPy array or a torch tensor.

        Raises:
            ValueError: the board of this game is not a grid, or the observations have another size.
            TypeError: `observation` is not an array.
        """
        board = self._board(2, "a grid of squares")
        return Grid(*self._on_board(observation, self._cells[1].reshape(-1, *board.shape)))

    def graph(self, observation: Any) -> Graph:
        """Return copies of observations (..., size) as a graph: features of places, and edges.

        Args:
            observation: a NumPy array or a torch tensor.

        Raises:
            ValueError: the board of this game is not a graph, or the observations have another
                size.
            TypeError: `observation` is not an array.
        """
        board = self._board(1, "a graph of places")
        assert board.edges is not None
        assert board.edge_kinds is not None
        nodes, others = self._on_board(observation, self._cells[1].T)
        constants = np.stack(list(board.constants.values()), axis=1)
        return Graph(nodes, others, constants, board.edges.copy(), board.edge_kinds.copy())

    @property
    def cell_features(self) -> tuple[str, ...]:
        """The names of the planes of `grid`, or of the features of each place of `graph`.

        A name is the block's name with an index for each axis except the last. For example, the
        feature `warriors[1]` contains the Warriors of the next seat. A line between two squares
        belongs to the square on its west side (suffix `_east`) or on its north side (suffix
        `_south`).

        Raises:
            ValueError: the game has no board.
        """
        return self._cells[0]

    @property
    def cell_index(self) -> NDArray[np.int64]:
        """The index in the flat observation of each feature of each cell, int64 (features, cells).

        An index of -1 means that the observation has no such entry; the feature is then 0. Use the
        indices to gather features on your own device. Returns a copy.

        Raises:
            ValueError: the game has no board.
        """
        return self._cells[1].copy()

    @cached_property
    def other_features(self) -> tuple[str, ...]:
        """The names of the entries that belong to no cell, with their indices: `hand[0]`."""
        return tuple(name for block in self._others for name in _names(block.name, block.shape))

    @property
    def other_index(self) -> NDArray[np.int64]:
        """The index in the flat observation of each of `other_features`, int64 (features,).

        Returns a copy.
        """
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
                f"an observation must be an array of {self.size} numbers, not "
                f"{type(observation).__name__}; with PettingZoo use observation['observation']"
            )
        if not shape or shape[-1] != self.size:
            raise ValueError(
                f"an observation of this game with these options must have {self.size} numbers in "
                f"the last axis, not shape {tuple(shape)}"
            )

    def _board(self, axes: int, kind: str) -> Board:
        if self.board is None or len(self.board.shape) != axes:
            raise ValueError(
                f"this method needs a board that is {kind}; this game has "
                f"{f'a board of shape {self.board.shape}' if self.board else 'no board'}"
            )
        return self.board

    @cached_property
    def _cells(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The pair of `cell_features` and `cell_index`."""
        if self.board is None:
            raise ValueError(
                "cell_features and cell_index need a board, but this game has none; other_features "
                "and other_index describe its whole observation"
            )
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
        """Return the entries at `index` (0 where it is -1), and those that belong to no cell."""
        self._check(observation)
        on_board = observation[..., index]
        on_board[(..., *np.nonzero(index < 0))] = 0
        return on_board, observation[..., self._others_at]

    # --- identity and documentation --------------------------------------------------------------

    @cached_property
    def hash(self) -> str:
        """A hash of all blocks without `meaning` and `on`, 16 hexadecimal digits.

        Saved policies and records contain it.
        A policy or record can be used only with a table that has the same hash.
        """
        return _hash([[b.name, b.shape, b.maximum, b.scale, b.known] for b in self.blocks])

    def markdown(self) -> str:
        """Return the table in Markdown."""
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
    """Return the names of a block's entries: `hand[0]`, `hand[1]`, or `hand` for a single entry."""
    if prod(shape) == 1:
        return [name]
    return [name + "".join(f"[{i}]" for i in index) for index in np.ndindex(shape)]


def _scattered(
    entries: NDArray[np.int64], cells: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """Return the entry that belongs to each cell, or -1 where there is none."""
    at = np.full(number, -1)
    at[cells[cells >= 0]] = entries[cells >= 0]
    return at


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
