"""Where a learner's games and networks are: NumPy's arrays on the CPU, torch's tensors on a GPU.

To `armarl.devices` come the few things that a learner does beside its loops. So what is learned is
written once, over *arrays*: what this device calls so, and networks are given *tensors*, the same
memory as torch has it. Nothing on a GPU waits for it but `fetch` and `where`.
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
    """What a learner asks of the place where its arrays are.

    Attributes:
        game: whose states are here.
        place: as torch has it.
    """

    game: Game
    place: torch.device

    def tensor(self, array: Array) -> torch.Tensor:
        """An array as torch has it, in the same memory."""
        ...

    def array(self, tensor: torch.Tensor) -> Array:
        """A tensor of this device as an array, in the same memory."""
        ...

    def run_alone(self, body: Body, games: int, batch: Any) -> None:
        """`run` on the thread that calls it, and on no other."""
        ...

    def as_float32(self, array: Array) -> Array:
        """The same memory, of int32, read as float32."""
        ...

    def scratch_states(self, games: int) -> Array:
        """Records to work on, (`scratch_rows`,)."""
        ...

    def views(self, states: Array, seats: Array) -> tuple[Array, Array]:
        """Observations and masks of one seat in each state; see `Game.views`."""
        ...

    def taken(self, states: Array, index: Any) -> Array:
        """Copies of some states, or the states themselves if the index is of all."""
        ...

    def advised(self, advice: Advice, states: Array, seats: Array) -> Array:
        """What advisers would do as `seats[i]`, to move in each state, int64 (n, advisers)."""
        ...

    # --- chance: the generator is the host's on every device, so a checkpoint fits all ------------

    def random(self, rng: np.random.Generator, shape: Shape) -> Array:
        """Random numbers, float64 in [0, 1)."""
        ...

    def shuffled(self, rng: np.random.Generator, rows: Array) -> Array:
        """Numbers in random order."""
        ...

    # --- what arrays of NumPy and torch call by different names -----------------------------------

    def where(self, flags: Array) -> Array:
        """The numbers of the rows whose flag, bool (n,), is set; waits."""
        ...

    def needed(self, flags: Array) -> Any:
        """An index of at least the rows whose flag is set: of all where it would wait to count."""
        ...

    def bits(self, masks: Array) -> Array:
        """Masks (n, actions) as bits, the first the highest: uint8 (n, bytes)."""
        ...

    def along(self, array: Array, index: Array, axis: int) -> Array:
        """`numpy.take_along_axis`."""
        ...

    def ascending(self, rows: Array) -> Array:
        """Numbers in ascending order."""
        ...

    def split(self, rows: Array, parts: int) -> Sequence[Array]:
        """So many parts that are as long as each other, but for one row."""
        ...

    def joined(self, arrays: Sequence[Array], axis: int) -> Array:
        """Arrays beside each other."""
        ...

    def deviation(self, array: Array) -> Any:
        """The standard deviation of all numbers of an array."""
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
    """A GPU, by torch and the kernels of `armarl.devices.cuda_game`; see `LearnerDevice`."""

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
        """What scripted players of k styles do in each state, int64 (n, k), by (n, k) of each.

        See `scripted_actions`. All of them at once: some thousand decisions, a thread each, leave
        most of a GPU idle.
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
        """The device's generator, which begins anew each time from the host's: nothing waits."""
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
    """The device of this name, for a learner of a game.

    Raises:
        ConfigError: what it needs is missing; the message says what to install.
    """
    if name == "cpu":
        return OnCpu(game)
    try:
        return OnGpu(game, name)
    except RuntimeError as error:
        raise ConfigError(str(error)) from error
