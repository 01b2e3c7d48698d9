"""Devices of a learner: games and networks in NumPy arrays on the CPU, or torch tensors on a GPU.

This module adds to `armarl.devices` the few operations that a learner needs besides its loops. The
code of a learner is therefore the same for all devices. A learner uses *arrays* of its device.
Networks take *tensors*, which are torch's views of the same memory. On a GPU, only `put`, `fetch`
and `where` wait for the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from armarl.devices import cuda_game
from armarl.devices.device import Cpu, Device, Shape
from armarl_training.config.training_config import ConfigError

if TYPE_CHECKING:
    from armarl.compiler.work_sharing import Body
    from armarl.core.game import Game
    from armarl.players.advice import Advice

Array = Any  # numpy.ndarray, or on a GPU torch.Tensor


class LearnerDevice(Device, Protocol):
    """The operations that a learner needs from the device of its arrays.

    Attributes:
        game: the game whose states are on the device.
        place: the torch device.
    """

    game: Game
    place: torch.device

    def tensor(self, array: Array) -> torch.Tensor:
        """Return an array as a torch tensor in the same memory."""
        ...

    def array(self, tensor: torch.Tensor) -> Array:
        """Return a tensor of this device as an array in the same memory."""
        ...

    def run_alone(self, body: Body, games: int, batch: Any) -> None:
        """Run a loop as `run` does, but on the calling thread only."""
        ...

    def as_float32(self, array: Array) -> Array:
        """Return an int32 array as float32, in the same memory and with the same bits."""
        ...

    def scratch_states(self, games: int) -> Array:
        """Return scratch records of the game, shape (`scratch_rows`,)."""
        ...

    def views(self, states: Array, seats: Array) -> tuple[Array, Array]:
        """Return observations and masks of one seat in each state, see `Game.views`."""
        ...

    def taken(self, states: Array, index: Any) -> Array:
        """Return copies of some states, or the states themselves if the index selects all."""
        ...

    def advised(self, advice: Advice, states: Array, seats: Array) -> Array:
        """Return the advisers' actions for the seat to move, `seats[i]`: int64 (n, advisers)."""
        ...

    # --- random numbers, from a generator on the host, so that checkpoints fit every device -------

    def random(self, rng: np.random.Generator, shape: Shape) -> Array:
        """Return random numbers, float64 in [0, 1)."""
        ...

    def shuffled(self, rng: np.random.Generator, rows: Array) -> Array:
        """Return row numbers in random order."""
        ...

    # --- operations that NumPy and torch name differently -----------------------------------------

    def where(self, flags: Array) -> Array:
        """Return the indices of the rows whose flag, bool (n,), is set. Waits for the device."""
        ...

    def needed(self, flags: Array) -> Any:
        """Return an index that selects the rows whose flag is set.

        On a GPU it selects all rows, because finding the rows would wait for the device.
        """
        ...

    def bits(self, masks: Array) -> Array:
        """Pack masks (n, actions) into uint8 (n, bytes), the first action in the highest bit."""
        ...

    def along(self, array: Array, index: Array, axis: int) -> Array:
        """Select entries as `numpy.take_along_axis` does."""
        ...

    def ascending(self, rows: Array) -> Array:
        """Return row numbers in ascending order."""
        ...

    def split(self, rows: Array, parts: int) -> Sequence[Array]:
        """Split an array into parts whose lengths differ by at most one row."""
        ...

    def joined(self, arrays: Sequence[Array], axis: int) -> Array:
        """Concatenate arrays."""
        ...

    def deviation(self, array: Array) -> Any:
        """Return the standard deviation of all numbers of an array."""
        ...


class OnCpu(Cpu):
    """The CPU; see `LearnerDevice`."""

    place = torch.device("cpu")

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.game, self.views = game, game.views

    def tensor(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array)

    def array(self, tensor: torch.Tensor) -> Array:
        return tensor.detach().numpy()

    def run_alone(self, body: Body, games: int, batch: Any) -> None:
        self.game.run(body, games, batch, least=max(games, 1))

    def as_float32(self, array: Array) -> Array:
        return array.view(np.float32)

    def scratch_states(self, games: int) -> Array:
        return np.full(self.scratch_rows(games), self.game.blank)

    def taken(self, states: Array, index: Any) -> Array:
        return self.game.taken(states, index)

    def advised(self, advice: Advice, states: Array, seats: Array) -> Array:
        return advice.actions(states, seats)

    def random(self, rng: np.random.Generator, shape: Shape) -> Array:
        return rng.random(shape)

    def shuffled(self, rng: np.random.Generator, rows: Array) -> Array:
        return rng.permutation(rows)

    def where(self, flags: Array) -> Array:
        return np.flatnonzero(flags)

    needed = where

    def bits(self, masks: Array) -> Array:
        return np.packbits(masks.view(np.bool_), axis=1)

    def along(self, array: Array, index: Array, axis: int) -> Array:
        return np.take_along_axis(array, index, axis)

    def ascending(self, rows: Array) -> Array:
        return np.sort(rows)

    def split(self, rows: Array, parts: int) -> Sequence[Array]:
        return np.array_split(rows, parts)

    def joined(self, arrays: Sequence[Array], axis: int) -> Array:
        return np.concatenate(arrays, axis)

    def deviation(self, array: Array) -> Any:
        return array.std()


class OnGpu(cuda_game.CudaGame):
    """A GPU, with torch and the kernels of `armarl.devices.cuda_game`; see `LearnerDevice`."""

    def __init__(self, game: Game, name: str) -> None:
        super().__init__(game, name)
        self.place = self._place
        self._generator = torch.Generator(self._place)
        powers = [128, 64, 32, 16, 8, 4, 2, 1]
        self._bits = torch.tensor(powers, dtype=torch.uint8, device=self._place)
        self.run_alone = self.run

    def tensor(self, array: Array) -> torch.Tensor:
        return array  # type: ignore[no-any-return]

    def array(self, tensor: torch.Tensor) -> Array:
        return tensor.detach()

    def as_float32(self, array: Array) -> Array:
        return array.view(torch.float32)

    def taken(self, states: Array, index: Any) -> Array:
        return states[index]

    def advised(self, advice: Advice, states: Array, seats: Array) -> Array:
        numbers = [player.style for player in advice.players]
        styles = self.put(np.array(numbers, np.int64)).expand(len(states), -1)
        return self.scripted(states, seats, styles, self.zeros(styles.shape, np.float64))

    def scripted(self, states: Array, seats: Array, styles: Array, draws: Array) -> Array:
        """Return the actions of scripted players of k styles in each state, int64 (n, k).

        Styles and draws have shape (n, k); see `scripted_actions`. All styles run in one kernel
        launch, because a single style has only one thread for each of a few thousand decisions, and
        would leave most of a GPU idle.
        """
        number, each = styles.shape
        seen = self.concealed(states, seats).repeat(each, 1)
        chosen = self.scripted_choices(seen, draws.t().reshape(-1), styles.t().reshape(-1))
        return chosen.view(each, number).t().contiguous()

    def random(self, rng: np.random.Generator, shape: Shape) -> Array:
        chance = self._seeded(rng)
        return torch.rand(tuple(shape), generator=chance, dtype=torch.float64, device=self._place)

    def shuffled(self, rng: np.random.Generator, rows: Array) -> Array:
        order = torch.randperm(len(rows), generator=self._seeded(rng), device=self._place)
        return rows[order]

    def _seeded(self, rng: np.random.Generator) -> torch.Generator:
        """Seed the device's generator from the host's, without waiting for the device."""
        return self._generator.manual_seed(int(rng.integers(1 << 63)))

    def where(self, flags: Array) -> Array:
        return flags.nonzero()[:, 0]

    def needed(self, flags: Array) -> Any:
        return slice(None)

    def bits(self, masks: Array) -> Array:
        padded = torch.nn.functional.pad(masks.view(torch.uint8), (0, -masks.shape[1] % 8))
        return (padded.view(len(masks), -1, 8) * self._bits).sum(2, dtype=torch.uint8)

    def along(self, array: Array, index: Array, axis: int) -> Array:
        return torch.take_along_dim(array, index, axis)

    def ascending(self, rows: Array) -> Array:
        return rows.sort().values

    def split(self, rows: Array, parts: int) -> Sequence[Array]:
        return torch.tensor_split(rows, parts)

    def joined(self, arrays: Sequence[Array], axis: int) -> Array:
        return torch.cat(list(arrays), axis)

    def deviation(self, array: Array) -> Any:
        return array.std(correction=0)


def learner_device(game: Game, name: str) -> LearnerDevice:
    """Return the device with this name, for a learner of a game.

    Raises:
        ConfigError: something that the device needs is missing. The message says what to install.
    """
    if name == "cpu":
        return OnCpu(game)
    try:
        return OnGpu(game, name)
    except RuntimeError as error:
        raise ConfigError(str(error)) from error
