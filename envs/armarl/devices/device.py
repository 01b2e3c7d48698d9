"""Devices. A device stores the arrays of a batch of games and runs loops over the games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.work_sharing import Body
from armarl.core import array_checks, batch_loops, threads
from armarl.core.batch_loops import SelfPlay, own
from armarl.core.recycled_arrays import Recycler

if TYPE_CHECKING:
    from armarl.core.game import Game

Shape = tuple[int, ...]


class Device(Protocol):
    """The operations that a batch of games needs from the device that stores its arrays.

    The CPU uses NumPy arrays. A GPU uses torch tensors (`armarl.devices.cuda_game`). Torch has no
    record types, so states on a GPU are uint8 with one more axis, the bytes of a record.

    Attributes:
        name: the torch name of the device: "cpu", "cuda", "cuda:1".
    """

    name: str

    def run(self, body: Body, games: int, batch: Any) -> None:
        """Run a body (see `batch_loops`) for each game of a batch with arrays on this device."""
        ...

    def step(self, games: int, batch: SelfPlay) -> None:
        """Play one action in each game, and write the next observations and masks."""
        ...

    def zeros(self, shape: Shape, dtype: Any) -> Any:
        """Return a new array of zeros; `dtype` is a NumPy dtype."""
        ...

    def written(self, shape: Shape, dtype: Any) -> Any:
        """Return a new array with arbitrary contents, which a loop must write completely."""
        ...

    def interleaved(self, shape: Shape, dtype: Any) -> Any:
        """Return a new array of zeros for loops in which each game or thread uses its own row.

        On a GPU the array is stored by columns, so that neighbouring threads access neighbouring
        memory.
        """
        ...

    def put(self, array: NDArray[Any]) -> Any:
        """Return a copy of a NumPy array on this device."""
        ...

    def fetch(self, array: Any) -> NDArray[Any]:
        """Wait for all work on an array of this device, then return it as a NumPy array."""
        ...

    def is_array(self, array: Any, shape: Shape, dtype: Any) -> bool:
        """Return whether `array` is on this device, of this shape and dtype, and writeable."""
        ...

    def scratch_rows(self, games: int) -> int:
        """Return the number of scratch rows for a loop over `games` games (`batch_loops.own`)."""
        ...

    def action_ids(self, actions: Any, size: int) -> Any:
        """Return actions as int64 of shape (size,).

        Raises:
            TypeError: the actions are not integers, or they are on another device.
            ValueError: the actions have another shape.
        """
        ...


class Cpu:
    """The CPU. `Game.run` spreads the games over threads."""

    name = "cpu"

    def __init__(self, game: Game) -> None:
        self.run = game.run
        self.written = Recycler().empty

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
    """Return a copy of the actions as int64 of shape (size,).

    Because of the copy, a loop cannot write to the actions that it reads, and no other thread can
    change them after the check.
    """
    ids = np.array(actions, order="C")  # loops are compiled for C-contiguous arrays
    if ids.dtype.kind not in "iu":
        raise TypeError(f"actions must be integers, not {ids.dtype}")
    if ids.shape != (size,):
        raise ValueError(f"actions must have shape ({size},), not {ids.shape}")
    return ids.astype(np.int64, copy=False)
