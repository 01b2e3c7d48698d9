"""Batches of games on a GPU: arrays of torch, and the same bodies, one game to a GPU thread.

`SelfPlayBatch(..., device="cuda")` lies and plays here; `CudaGame` has the batched methods of
`Game` beside it. What is of this file alone is how tensors are shown to the kernels
(`cuda_kernels`), and in which order their numbers lie.

A kernel is started on torch's current stream and nobody waits for it, nor looks at what arrays
hold: types, shapes and the device are checked, contents are trusted. Needs torch built for CUDA and
numba-cuda. Under Numba's simulator (`NUMBA_ENABLE_CUDASIM=1`) tensors are torch's on the CPU, and
nothing needs a GPU.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.compiler.work_sharing import Body
from armarl.core import batch_loops
from armarl.core.game import Game
from armarl.devices.cuda_kernels import (
    BLOCK,
    SIMULATED,
    TILE,
    TILE_ROWS,
    array_at,
    kernel_of,
    launcher,
    own_row,
    threads_for,
    turning_kernel,
)
from armarl.devices.device import Shape

Tensor = Any  # torch.Tensor; torch is imported only by those who have a GPU

_INSTALL = (
    "install torch built for CUDA, and numba-cuda[cu12] or numba-cuda[cu13] as suits the driver"
)


def fault() -> str | None:
    """What is missing for games on a GPU, or None if nothing is."""
    for package, module in (("numba-cuda", "numba_cuda"), ("torch", "torch")):
        if find_spec(module) is None:
            return f"{package} is not installed: {_INSTALL}"
    if SIMULATED:
        return None
    try:
        importlib.import_module("numba.cuda.np.arrayobj")
    except (AttributeError, ImportError) as error:
        numba_cuda = importlib.import_module("numba_cuda").__version__
        return (
            f"numba-cuda {numba_cuda} does not run with NumPy {np.__version__} ({error}): install "
            "an earlier NumPy, or a later numba-cuda"
        )
    torch = importlib.import_module("torch")
    if torch.version.cuda is None:
        return f"the installed torch {torch.__version__} is not built for CUDA: {_INSTALL}"
    if not torch.cuda.is_available():
        return "torch finds no GPU: is there one, and a driver that suits torch?"
    if not importlib.import_module("numba.cuda").is_available():
        return f"Numba finds no GPU where torch does, or not all it needs: {_INSTALL}"
    return None


# --- batches as kernels see them -----------------------------------------------------------------


@cache
def _kinds(batch: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """How the fields of a batch are annotated, in words."""
    kinds = (batch.__annotations__[name] for name in batch._fields)  # type: ignore[attr-defined]
    return tuple(str(getattr(kind, "__forward_arg__", kind)) for kind in kinds)


# --- a game on a GPU -----------------------------------------------------------------------------


class CudaGame:
    """The batched methods of a `Game`, on tensors of a GPU; a `Device` for `SelfPlayBatch`.

    States are tensors uint8 (batch, bytes of a record), `put` and `fetch` take records there and
    back. Everything else has the types and shapes that it has on the CPU, and the same numbers.

    Attributes:
        game: the variant.
        name: the device, as torch names it.
    """

    def __init__(self, game: Game, name: str = "cuda") -> None:
        """For a game, on a device that torch names so; "cuda" is the current one.

        Raises:
            RuntimeError: what it needs is missing; the message says what to install.
        """
        if missing := fault():
            raise RuntimeError(f"device={name!r}: {missing}")
        self._torch = importlib.import_module("torch")
        self.game, self.name = game, name
        asked = self._torch.device("cpu" if SIMULATED else name)
        self._place = self._torch.empty(0, device=asked).device  # with its number
        self._record = game.blank.dtype
        self._contiguous = self._torch.contiguous_format

    # --- arrays ----------------------------------------------------------------------------------

    def zeros(self, shape: Shape, dtype: Any) -> Tensor:
        """A new tensor, of a type that NumPy names."""
        return self._torch.zeros(shape, dtype=self._type(dtype), device=self._place)

    def interleaved(self, shape: Shape, dtype: Any) -> Tensor:
        """A new tensor, the first axis of which goes from one number in memory to the next."""
        there = self.zeros(tuple(reversed(shape)), dtype)
        return there.permute(*reversed(range(len(shape))))

    def put(self, array: NDArray[Any]) -> Tensor:
        """A copy of an array of NumPy's; of records, their bytes."""
        if array.dtype.names:
            array = array.view(np.uint8).reshape(*array.shape, self._record.itemsize)
        return self._torch.tensor(array, dtype=self._type(array.dtype), device=self._place)

    def fetch(self, array: Tensor) -> NDArray[Any]:
        """A tensor as an array of NumPy's, of records where it has their bytes; waits for it.

        What is NumPy's already is given back.
        """
        if isinstance(array, np.ndarray):
            return array
        fetched: NDArray[Any] = array.detach().cpu().contiguous().numpy().copy()
        return self._as_records(fetched) if self._holds_records(array) else fetched

    def is_array(self, array: Tensor, shape: Shape, dtype: Any) -> bool:
        """Whether it is a tensor of this device, shape and type, in one piece."""
        return (
            isinstance(array, self._torch.Tensor)
            and array.device == self._place
            and tuple(array.shape) == tuple(shape)
            and array.dtype == self._type(dtype)
            and array.is_contiguous()
        )

    def action_ids(self, actions: Tensor, size: int) -> Tensor:
        """Actions as int64 of shape (size,), the same tensor if it is that.

        Raises:
            TypeError: it is no tensor of integers of this device.
            ValueError: it has another shape.
        """
        if not isinstance(actions, self._torch.Tensor) or actions.device != self._place:
            raise TypeError(
                f"actions must be a torch tensor on {self._place}, not {_kind(actions)}"
            )
        if actions.is_floating_point() or actions.dtype == self._torch.bool:
            raise TypeError(f"actions must be integers, not {actions.dtype}")
        if tuple(actions.shape) != (size,):
            raise ValueError(f"actions must have shape ({size},), not {tuple(actions.shape)}")
        return actions.to(self._torch.int64).contiguous()

    def _type(self, dtype: Any) -> Any:
        """Torch's name of one of NumPy's types."""
        return getattr(self._torch, np.dtype(dtype).name)

    def _holds_records(self, array: Tensor) -> bool:
        """Whether its last axis is as long as a record, of bytes: no array of the face is but those
        of records.
        """
        return bool(
            array.dtype == self._torch.uint8
            and array.ndim > 1
            and array.shape[-1] == self._record.itemsize
        )

    def _as_records(self, array: NDArray[np.uint8]) -> States:
        records: States = array.view(self._record)[..., 0]
        return records

    # --- kernels ---------------------------------------------------------------------------------

    def run(self, body: Body, games: int, batch: Any) -> None:
        """Run a body for each of so many games of a batch, on torch's current stream.

        Args:
            body: one of `batch_loops`, or any function that is written as they are.
            batch: what the body takes, with tensors in the place of arrays; they are trusted to be
                as it says. Scratch has the rows of `scratch_masks`.
        """
        if games == 0:
            return
        kernel = kernel_of(self.game.name, self.game.verbs, cast("Callable[..., None]", body))
        threads, batch, turned = threads_for(games), *self._staged(batch)
        if SIMULATED:
            kernel[threads // BLOCK, BLOCK](games, self._seen(batch))
        else:
            with self._torch.cuda.device(self._place):
                stream = self._torch.cuda.current_stream().cuda_stream
                launcher(kernel, threads // BLOCK, BLOCK, stream)(games, self._seen(batch))
        for columns, rows in turned:
            self._turn_over(columns, rows)

    def step(self, games: int, batch: batch_loops.SelfPlay) -> None:
        """Play an action in each game, and show what it left: in two kernels, since one would take
        the registers of the greedier for both, and so have fewer threads under way.
        """
        self.run(batch_loops.take_turn, games, batch.plays)
        self.run(batch_loops.view_mover, games, batch.sights)

    def _staged(self, batch: Any) -> tuple[Any, list[tuple[Tensor, Tensor]]]:
        """A batch with columns in the place of `WrittenRows`, and what is to be copied to which.

        Threads that write into one column each at a time meet in memory; into a row each, they
        would take a transaction for every number.
        """
        turned, fields = [], []
        for kind, value in zip(_kinds(type(batch)), batch, strict=True):  # type: ignore[arg-type]
            if kind == "WrittenRows":
                columns = self._torch.empty_like(value.t(), memory_format=self._contiguous).t()
                turned.append((columns, value))
                value = columns
            fields.append(value)
        return type(batch)(*fields), turned

    def _turn_over(self, columns: Tensor, rows: Tensor) -> None:
        """Copy what was staged to where it was asked for."""
        if SIMULATED:  # which would take a second for what a GPU does in a microsecond
            rows.copy_(columns)
            return
        blocks = tuple(-(-length // TILE) for length in rows.shape)
        with self._torch.cuda.device(self._place):
            stream = self._torch.cuda.current_stream().cuda_stream
            launch = launcher(turning_kernel(), blocks, (TILE, TILE_ROWS), stream)
            flat = self._seen(columns.t().reshape(-1), False), self._seen(rows.reshape(-1), False)
            launch(*flat, *rows.shape)

    def _seen(self, value: Any, states: bool | None = None) -> Any:
        """A batch as kernels see it, without a copy: arrays, and arrays of records.

        Bytes side by side may also be something else than a record, so of a batch its fields say
        which of them are `states`.
        """
        if isinstance(value, tuple):
            fields = zip(value, _kinds(type(value)), strict=True)
            return type(value)(*(self._seen(part, kind == "States") for part, kind in fields))
        if not isinstance(value, self._torch.Tensor):
            return value
        if states is None:
            states = self._holds_records(value)
        if SIMULATED:
            array = value.numpy()
            return self._as_records(array) if states else array
        steps = None if value.is_contiguous() else value.stride()
        record = self._record if states else None
        return array_at(value.data_ptr(), value.shape, steps, value.dtype, record)

    def scratch_rows(self, games: int) -> int:
        """The rows of scratch that bodies need which run over so many games."""
        return own_row(threads_for(games))

    def scratch_masks(self, games: int) -> Tensor:
        """A mask for each thread on a batch, for bodies that need one to themselves."""
        return self.interleaved((self.scratch_rows(games), len(self.game.actions)), np.int8)

    def scratch_states(self, games: int) -> Tensor:
        """Likewise records, of which nothing is said."""
        shape = self.scratch_rows(games), self._record.itemsize
        return self._torch.empty(shape, dtype=self._torch.uint8, device=self._place)

    # --- what `Game` does with batches -----------------------------------------------------------

    def new_states(self, seeds: Tensor) -> Tensor:
        """Freshly dealt games, one for each of the seeds, int64 (n,)."""
        self._check("seeds", seeds, (len(seeds),), np.int64)
        blank = self.put(np.full(1, self.game.blank))
        states = blank.expand(len(seeds), -1).contiguous()
        self.run(
            batch_loops.deal, len(seeds), batch_loops.Deals(states, self._all(len(seeds)), seeds)
        )
        return states

    def play(self, states: Tensor, actions: Tensor) -> None:
        """Play an action, int64 (batch,), in each state; of what is illegal anything may come."""
        self._check_states(states)
        self._check("actions", actions, (len(states),), np.int64)
        everything = self._all(len(states))
        self.run(batch_loops.apply, len(states), batch_loops.Actions(states, everything, actions))

    def legal_masks(self, states: Tensor) -> Tensor:
        """Masks of the seats to move, int8 (batch, actions)."""
        self._check_states(states)
        masks = self.zeros((len(states), len(self.game.actions)), np.int8)
        self.run(batch_loops.read_mask, len(states), batch_loops.Masks(states, masks))
        return masks

    def views(self, states: Tensor, seats: Tensor) -> tuple[Tensor, Tensor]:
        """Observations (batch, size) and masks (batch, actions) of one seat in each state."""
        self._check_seats(states, seats)
        observations = self.zeros((len(states), self.game.observation.size), np.float32)
        masks = self.zeros((len(states), len(self.game.actions)), np.int8)
        self.run(
            batch_loops.view, len(states), batch_loops.Views(states, seats, observations, masks)
        )
        return observations, masks

    def concealed(self, states: Tensor, seats: Tensor) -> Tensor:
        """Copies of the states without anything that `seats[i]` is not shown."""
        self._check_seats(states, seats)
        hidden = states.clone()
        self.run(batch_loops.conceal, len(states), batch_loops.Concealments(hidden, seats))
        return hidden

    def determinised(self, states: Tensor, seats: Tensor, seeds: Tensor) -> Tensor:
        """Copies of the states, what `seats[i]` is not shown being dealt anew from `seeds[i]`."""
        self._check_seats(states, seats)
        self._check("seeds", seeds, (len(states),), np.int64)
        dealt = states.clone()
        self.run(
            batch_loops.determinise, len(states), batch_loops.Determinisations(dealt, seats, seeds)
        )
        return dealt

    def statuses(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Per state 0 while it goes on, 1 at its end, 2 when cut short; and the seat to move."""
        self._check_states(states)
        statuses, seats = self.zeros((2, len(states)), np.int64)
        self.run(
            batch_loops.read_status, len(states), batch_loops.Statuses(states, statuses, seats)
        )
        return statuses, seats

    def progress(self, states: Tensor, seats: Tensor) -> Tensor:
        """How far each of `seats` has come, int64 (batch,)."""
        self._check_seats(states, seats)
        progress = self.zeros((len(states),), np.int64)
        self.run(
            batch_loops.read_progress, len(states), batch_loops.Progresses(states, seats, progress)
        )
        return progress

    def playouts(self, states: Tensor, seeds: Tensor, reward: str = "win") -> tuple[Tensor, Tensor]:
        """Play games to their end at random, in place: returns (batch, players), actions played."""
        self._check_states(states)
        chance, size = self.new_chance(seeds), len(states)
        self._check("seeds", seeds, (size,), np.int64)
        returns, lengths = self.zeros((size, self.game.players), np.float64), self._all(size)
        kind, masks = self.game.reward_kind(reward), self.scratch_masks(size)
        batch = batch_loops.Playouts(states, chance, kind, masks, returns, lengths)
        self.run(batch_loops.play_out, size, batch)
        return returns, lengths

    def new_chance(self, seeds: Tensor) -> Tensor:
        """A stream of random numbers for each of the seeds, int64 (n,); uint64 (n,)."""
        self._check("seeds", seeds, (len(seeds),), np.int64)
        chance = self.zeros((len(seeds),), np.uint64)
        batch = batch_loops.Streams(chance, self._all(len(seeds)), seeds)
        self.run(batch_loops.seed_stream, len(seeds), batch)
        return chance

    def random_actions(self, masks: Tensor, chance: Tensor, out: Tensor | None = None) -> Tensor:
        """A random legal action of each row of `masks`, by its stream; 0 where none is legal."""
        size = len(masks)
        self._check("masks", masks, (size, len(self.game.actions)), np.int8)
        self._check("chance", chance, (size,), np.uint64)
        actions = self.zeros((size,), np.int64) if out is None else out
        self._check("out", actions, (size,), np.int64)
        self.run(batch_loops.pick_action, size, batch_loops.Picks(masks, chance, actions))
        return actions

    def scripted_actions(
        self, states: Tensor, seats: Tensor, draws: Tensor, styles: Tensor | int = 0
    ) -> Tensor:
        """What the scripted player does as `seats[i]`, to move in each state, int64 (batch,).

        Args:
            draws: float64 (batch,) in [0, 1), by which equally good actions are chosen from; -inf
                where nobody is asked: the action is 0.
            styles: numbers of his styles, as `players.style_number` has them: int64 (batch,), or
                one for all.
        """
        self._check("draws", draws, (len(states),), np.float64)
        if not isinstance(styles, self._torch.Tensor):
            styles = self._torch.full_like(draws, styles, dtype=self._torch.int64)
        self._check("styles", styles, (len(states),), np.int64)
        return self.scripted_choices(self.concealed(states, seats), draws, styles)

    def scripted_choices(self, seen: Tensor, draws: Tensor, styles: Tensor) -> Tensor:
        """`scripted_actions` in states that are concealed already."""
        # Below the next style's number, to which the sum might be rounded.
        following = (styles + 1).to(draws.dtype)
        below = self._torch.nextafter(following, self._torch.zeros_like(following))
        styled, size = self._torch.minimum(draws + styles, below), len(seen)
        actions, spare = self.zeros((size,), np.int64), self.scratch_states(size).unsqueeze(1)
        batch = batch_loops.Choices(seen, styled, self.scratch_masks(size), spare, actions)
        self.run(batch_loops.choose_greedily, size, batch)
        return actions

    def _all(self, size: int) -> Tensor:
        """The numbers of all games of a batch."""
        return self._torch.arange(size, device=self._place)

    def _check_states(self, states: Tensor) -> None:
        self._check("states", states, (len(states), self._record.itemsize), np.uint8)

    def _check_seats(self, states: Tensor, seats: Tensor) -> None:
        self._check_states(states)
        self._check("seats", seats, (len(states),), np.int64)

    def _check(self, name: str, array: Tensor, shape: Shape, dtype: Any) -> None:
        """Raise TypeError unless it is a tensor of this device, shape and type."""
        if not self.is_array(array, shape, dtype):
            raise TypeError(
                f"{name} must be a contiguous torch tensor of {np.dtype(dtype)}, of shape {shape}, "
                f"on {self._place}, not {_kind(array)}"
            )


def _kind(array: Any) -> str:
    """What somebody gave in the place of a tensor."""
    if type(array).__name__ not in ("Tensor", "Parameter"):
        return type(array).__name__
    return f"{array.dtype} of shape {tuple(array.shape)} on {array.device}"
