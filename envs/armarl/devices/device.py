"""Where the games of a batch lie: who makes its arrays, and who plays it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.work_sharing import Body
from armarl.core import array_checks, batch_loops, threads
from armarl.core.batch_loops import SelfPlay, own
from armarl.core.game import Game

Shape = tuple[int, ...]


class Device(Protocol):
    """What a batch of a game asks of the place where its arrays are.

    Those are NumPy's on the CPU, and torch's elsewhere (`armarl.cuda`), which know no records:
    there states are uint8 with one more axis, the bytes of a record.

    Attributes:
        name: as torch names it: "cpu", "cuda", "cuda:1".
    """

    name: str

    def run(self, body: Body, games: int, batch: Any) -> None:
        """Run a body for each of so many games of a batch of arrays that are here."""
        ...

    def step(self, games: int, batch: SelfPlay) -> None:
        """Play an action in each of so many games, and show what it left."""
        ...

    def zeros(self, shape: Shape, dtype: Any) -> Any:
        """A new array, of a type that NumPy names."""
        ...

    def interleaved(self, shape: Shape, dtype: Any) -> Any:
        """A new array whose rows are read and written by loops, a row by a thread, and by no one
        else: on a GPU one column after the other, so that neighbouring threads meet in memory.
        """
        ...

    def put(self, array: NDArray[Any]) -> Any:
        """A copy of an array of NumPy's."""
        ...

    def fetch(self, array: Any) -> NDArray[Any]:
        """An array of this device as one of NumPy's; waits until it is worked out."""
        ...

    def is_array(self, array: Any, shape: Shape, dtype: Any) -> bool:
        """Whether it is an array of this device, shape and type that loops may write into."""
        ...

    def scratch_rows(self, games: int) -> int:
        """The rows of scratch that bodies need which run over so many games: `loops.own`."""
        ...

    def action_ids(self, actions: Any, size: int) -> Any:
        """Actions as int64 of shape (size,).

        Raises:
            TypeError: they are no integers, or lie elsewhere.
            ValueError: they have another shape.
        """
        ...


class Cpu:
    """The CPU, on which `Game.run` has threads range over the games."""

    name = "cpu"

    def __init__(self, game: Game) -> None:
        self.run = game.run

    def step(self, games: int, batch: SelfPlay) -> None:
        self.run(batch_loops.step, games, batch)

    def zeros(self, shape: Shape, dtype: Any) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    interleaved = zeros

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy()

    def fetch(self, array: NDArray[Any]) -> NDArray[Any]:
        return array

    def is_array(self, array: Any, shape: Shape, dtype: Any) -> bool:
        return array_checks.takes(array, shape, dtype)

    def scratch_rows(self, games: int) -> int:
        return own(threads.most_threads_for(games))

    def action_ids(self, actions: Any, size: int) -> NDArray[np.int64]:
        return action_ids(actions, size)


def action_ids(actions: NDArray[np.integer[Any]], size: int) -> NDArray[np.int64]:
    """Actions as int64 of shape (size,), a copy: no loop that reads them writes into them too."""
    ids = np.asarray(actions)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"actions must be integers, not {ids.dtype}")
    if ids.shape != (size,):
        raise ValueError(f"actions must have shape ({size},), not {ids.shape}")
    return ids.astype(np.int64, order="C")  # loops are compiled for plain arrays
