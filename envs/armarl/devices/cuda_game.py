"""Batches of games on a GPU, in torch tensors. Each GPU thread plays one game at a time.

`SelfPlayBatch(..., device="cuda")` uses this module. `CudaGame` also has the batched methods of
`Game`. The GPU kernels come from the same source as the CPU's loops; `cuda_kernels` compiles them.
This file converts tensors to the arrays that kernels read, and sets the memory layout of the
tensors.

Kernels start on torch's current stream without synchronisation. Types, shapes and the device of
arrays are checked, but their contents are trusted. This module needs torch built for CUDA, and
numba-cuda. With Numba's simulator (`NUMBA_ENABLE_CUDASIM=1`) tensors are torch CPU tensors, and no
GPU is needed.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.types import States
from armarl.compiler.work_sharing import Body
from armarl.core import batch_loops
from armarl.core.variant import Variant
from armarl.core.verbs import takes_fixed
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

if TYPE_CHECKING:
    from armarl.core.game import Game

Tensor = Any  # torch.Tensor; torch is imported only when a GPU is used

_INSTALL = (
    "install torch built for CUDA, and numba-cuda[cu12] or numba-cuda[cu13] to match the driver"
)


def fault() -> str | None:
    """Return the reason why games cannot run on a GPU, or None if they can.

    Example:
        >>> reason = fault()
        >>> reason is None or isinstance(reason, str)
        True
    """
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
            "an older NumPy or a newer numba-cuda"
        )
    torch = importlib.import_module("torch")
    if torch.version.cuda is None:
        return f"the installed torch {torch.__version__} is not built for CUDA: {_INSTALL}"
    if not torch.cuda.is_available():
        return "torch finds no GPU: check that there is one, and that its driver matches torch"
    if not importlib.import_module("numba.cuda").is_available():
        return f"torch finds a GPU, but Numba does not, or lacks a library: {_INSTALL}"
    return None


# --- batches as kernels see them -----------------------------------------------------------------


@cache
def _kinds(batch: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """Return the annotations of a batch's fields as text."""
    kinds = (batch.__annotations__[name] for name in batch._fields)  # type: ignore[attr-defined]
    return tuple(str(getattr(kind, "__forward_arg__", kind)) for kind in kinds)


# --- a game on a GPU -----------------------------------------------------------------------------


class CudaGame:
    """The batched methods of a `Game` on GPU tensors, and the `Device` of `SelfPlayBatch`.

    States are uint8 tensors of shape (batch, bytes of a record). Seats are int64 tensors of shape
    (batch,). `put` and `fetch` copy records to the GPU and back. Everything else has the same
    types, shapes and numbers as on the CPU. A method of `Game` raises TypeError if a tensor has
    another dtype or shape, is on another device, or is not contiguous. It does not check the
    contents.

    Attributes:
        game: the variant.
        name: the device's name in torch.

    Example:
        >>> import numpy as np
        >>> from armarl import CudaGame, make_game
        >>> from armarl.devices.cuda_game import fault
        >>> game, seeds = make_game("armadora"), np.arange(8)
        >>> if fault() is None:  # games can run on this machine's GPU
        ...     gpu = CudaGame(game)
        ...     states = gpu.fetch(gpu.new_states(gpu.put(seeds)))
        ... else:
        ...     states = game.new_states(seeds)
        >>> states.shape
        (8,)
    """

    def __init__(self, game: Game, name: str = "cuda") -> None:
        """Create the methods for a game on a device.

        Args:
            game: the variant.
            name: the device's name in torch. "cuda" is the current GPU.

        Raises:
            TypeError: `game` is not a `Game`.
            RuntimeError: a requirement is missing (the message says what to install), or torch has
                no such device.
        """
        if not isinstance(game, Variant):  # not `check_game`: `Game` is imported only for types
            raise TypeError(
                f'game must be a Game, such as make_game("armadora"), not {brief(repr(game), 60)}'
            )
        if missing := fault():
            raise RuntimeError(f"device={name!r}: {missing}")
        self._torch = importlib.import_module("torch")
        self.game, self.name = game, name
        asked = self._torch.device("cpu" if SIMULATED else name)
        self._place = self._torch.empty(0, device=asked).device  # includes the device's index
        self._record = game.blank.dtype
        # The record types of a batch's fields, by the annotation of the field.
        self._records = {"States": self._record, "Scratch": game.scratch}
        if game.fixed is not None:
            self._fixed = self.put(np.full(1, game.fixed))
        self._contiguous = self._torch.contiguous_format

    # --- arrays ----------------------------------------------------------------------------------

    def zeros(self, shape: Shape, dtype: Any) -> Tensor:
        """Return a new tensor of zeros. `dtype` is a NumPy dtype."""
        return self._torch.zeros(shape, dtype=self._type(dtype), device=self._place)

    written = zeros  # needs no `Recycler`, because torch reuses the memory of deleted tensors

    def interleaved(self, shape: Shape, dtype: Any) -> Tensor:
        """Return a new tensor of zeros, stored so that neighbours along axis 0 are adjacent."""
        there = self.zeros(tuple(reversed(shape)), dtype)
        return there.permute(*reversed(range(len(shape))))

    def put(self, array: NDArray[Any]) -> Tensor:
        """Copy a NumPy array to the device. Records become their bytes."""
        if array.dtype.names:
            array = array.view(np.uint8).reshape(*array.shape, array.itemsize)
        return self._torch.tensor(array, dtype=self._type(array.dtype), device=self._place)

    def fetch(self, array: Tensor) -> NDArray[Any]:
        """Wait until all work is done, and copy a tensor to a NumPy array.

        Bytes of records become records. A NumPy array is returned without changes.
        """
        if isinstance(array, np.ndarray):
            return array
        fetched: NDArray[Any] = array.detach().cpu().contiguous().numpy().copy()
        return self._as_records(fetched, self._record) if self._holds_records(array) else fetched

    def is_array(self, array: Tensor, shape: Shape, dtype: Any) -> bool:
        """Return whether `array` is a contiguous tensor on this device, of this shape and dtype.

        `dtype` is a NumPy dtype.
        """
        return (
            isinstance(array, self._torch.Tensor)
            and array.device == self._place
            and tuple(array.shape) == tuple(shape)
            and array.dtype == self._type(dtype)
            and array.is_contiguous()
        )

    def action_ids(self, actions: Tensor, size: int) -> Tensor:
        """Return actions as an int64 tensor of shape (size,), without a copy if possible.

        Raises:
            TypeError: `actions` is not an integer tensor on this device.
            ValueError: `actions` has another shape.
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
        """Return the torch dtype for a NumPy dtype."""
        return getattr(self._torch, np.dtype(dtype).name)

    def _holds_records(self, array: Tensor) -> bool:
        """Return whether a tensor contains records: uint8, where each row is the bytes of a record.

        No other array of the API has this form.
        """
        return bool(
            array.dtype == self._torch.uint8
            and array.ndim > 1
            and array.shape[-1] == self._record.itemsize
        )

    def _as_records(self, array: NDArray[np.uint8], record: Any) -> States:
        records: States = array.view(record)[..., 0]
        return records

    # --- kernels ---------------------------------------------------------------------------------

    def run(self, body: Body, games: int, batch: Any) -> None:
        """Run a body for each game of a batch, on torch's current stream.

        Args:
            body: a body (a function that does the work for one game) of `batch_loops`, or another
                function with the same parameters.
            games: number of games.
            batch: the body's batch, with tensors in place of arrays. Their types and shapes are
                trusted. Scratch tensors need `scratch_rows` rows.
        """
        if games == 0:
            return
        game = self.game
        kernel = kernel_of(game.name, game.verbs, game.fixed is not None, body)
        threads, batch, turned = threads_for(games), *self._staged(batch)
        seen = self._seen_by(body, batch)
        if SIMULATED:
            kernel[threads // BLOCK, BLOCK](games, seen)
        else:
            with self._torch.cuda.device(self._place):
                stream = self._torch.cuda.current_stream().cuda_stream
                launcher(kernel, threads // BLOCK, BLOCK, stream)(games, seen)
        for columns, rows in turned:
            self._turn_over(columns, rows)

    def step(self, games: int, batch: batch_loops.SelfPlay) -> None:
        """Play an action in each game and compute the resulting observations.

        This takes two kernels. A single kernel would need, for both parts, as many registers as the
        more demanding part, so fewer threads could run at the same time.
        """
        self.run(batch_loops.take_turn, games, batch.plays)
        self.run(batch_loops.view_mover, games, batch.sights)

    def _staged(self, batch: Any) -> tuple[Any, list[tuple[Tensor, Tensor]]]:
        """Replace each `WrittenRows` field by a tensor that is stored column by column.

        Neighbouring threads then write to neighbouring memory. If the rows were contiguous, every
        number would take a separate memory transaction. Also returns the pairs (new tensor, the
        caller's tensor) to copy after the kernel has run.
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
        """Copy a tensor from `_staged`, stored column by column, to the caller's tensor."""
        if SIMULATED:  # the kernel would take a second in the simulator
            rows.copy_(columns)
            return
        blocks = tuple(-(-length // TILE) for length in rows.shape)
        with self._torch.cuda.device(self._place):
            stream = self._torch.cuda.current_stream().cuda_stream
            launch = launcher(turning_kernel(), blocks, (TILE, TILE_ROWS), stream)
            flat = self._seen(columns.t().reshape(-1)), self._seen(rows.reshape(-1))
            launch(*flat, *rows.shape)

    def _seen_by(self, body: Body, batch: Any) -> Any:
        """Convert a batch to the argument of a body's kernel; see `Binding.body`."""
        seen, fixed = self._seen(batch), self.game.fixed
        if fixed is None or not takes_fixed(body):
            return seen
        return seen, self._seen(self._fixed, fixed.dtype)

    def _seen(self, value: Any, record: Any = None) -> Any:
        """Convert a batch, without copying, to the arrays and record arrays that kernels read.

        Not every byte array contains records. A batch's annotations say which fields contain them.
        """
        if isinstance(value, tuple):
            fields = zip(value, _kinds(type(value)), strict=True)
            return type(value)(
                *(self._seen(part, self._records.get(kind)) for part, kind in fields)
            )
        if not isinstance(value, self._torch.Tensor):
            return value
        if SIMULATED:
            array = value.numpy()
            return array if record is None else self._as_records(array, record)
        steps = None if value.is_contiguous() else value.stride()
        return array_at(value.data_ptr(), value.shape, steps, value.dtype, record)

    def scratch_rows(self, games: int) -> int:
        """Return the number of scratch rows that bodies need for a number of games."""
        return own_row(threads_for(games))

    def scratch_masks(self, games: int) -> Tensor:
        """Return scratch masks for bodies that need them, int8, one per thread."""
        return self.interleaved((self.scratch_rows(games), len(self.game.actions)), np.int8)

    def scratch_states(self, games: int) -> Tensor:
        """Return a state record per thread, as bytes with undefined contents."""
        shape = self.scratch_rows(games), self._record.itemsize
        return self._torch.empty(shape, dtype=self._torch.uint8, device=self._place)

    # --- batched methods of `Game` ---------------------------------------------------------------

    def new_states(self, seeds: Tensor) -> Tensor:
        """Return newly dealt games, one per seed. `seeds` is int64, shape (n,)."""
        self._check("seeds", seeds, (len(seeds),), np.int64)
        blank = self.put(np.full(1, self.game.blank))
        states = blank.expand(len(seeds), -1).contiguous()
        self.run(
            batch_loops.deal, len(seeds), batch_loops.Deals(states, self._all(len(seeds)), seeds)
        )
        return states

    def play(self, states: Tensor, actions: Tensor) -> None:
        """Play an action, int64 (batch,), in each state. Illegal actions have undefined effects."""
        self._check_states(states)
        self._check("actions", actions, (len(states),), np.int64)
        everything = self._all(len(states))
        self.run(batch_loops.apply, len(states), batch_loops.Actions(states, everything, actions))

    def legal_masks(self, states: Tensor) -> Tensor:
        """Return the masks of the seats to move, int8, shape (batch, actions)."""
        self._check_states(states)
        masks = self.zeros((len(states), len(self.game.actions)), np.int8)
        self.run(batch_loops.read_mask, len(states), batch_loops.Masks(states, masks))
        return masks

    def views(self, states: Tensor, seats: Tensor) -> tuple[Tensor, Tensor]:
        """Return the observation and the mask of the seat `seats[i]`, int64, in each state.

        Returns:
            Observations, float32 (batch, size), and masks, int8 (batch, actions).
        """
        self._check_seats(states, seats)
        observations = self.zeros((len(states), self.game.observation.size), np.float32)
        masks = self.zeros((len(states), len(self.game.actions)), np.int8)
        self.run(
            batch_loops.view, len(states), batch_loops.Views(states, seats, observations, masks)
        )
        return observations, masks

    def concealed(self, states: Tensor, seats: Tensor) -> Tensor:
        """Return copies of the states without the information that is hidden from `seats[i]`."""
        self._check_seats(states, seats)
        hidden = states.clone()
        self.run(batch_loops.conceal, len(states), batch_loops.Concealments(hidden, seats))
        return hidden

    def determinised(self, states: Tensor, seats: Tensor, seeds: Tensor) -> Tensor:
        """Return copies of the states with a new deal of the information hidden from `seats[i]`.

        `seeds[i]`, int64, determines the deal.
        """
        self._check_seats(states, seats)
        self._check("seeds", seeds, (len(states),), np.int64)
        dealt = states.clone()
        self.run(
            batch_loops.determinise, len(states), batch_loops.Determinisations(dealt, seats, seeds)
        )
        return dealt

    def statuses(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return the statuses (0 in play, 1 ended, 2 cut short) and the seats to move.

        Both are int64 (batch,).
        """
        self._check_states(states)
        statuses, seats = self.zeros((2, len(states)), np.int64)
        self.run(
            batch_loops.read_status, len(states), batch_loops.Statuses(states, statuses, seats)
        )
        return statuses, seats

    def progress(self, states: Tensor, seats: Tensor) -> Tensor:
        """Return how far `seats[i]` has progressed in each state, int64 (batch,); see `Game`."""
        self._check_seats(states, seats)
        progress = self.zeros((len(states),), np.int64)
        self.run(
            batch_loops.read_progress, len(states), batch_loops.Progresses(states, seats, progress)
        )
        return progress

    def playouts(self, states: Tensor, seeds: Tensor, reward: str = "win") -> tuple[Tensor, Tensor]:
        """Play games to their end at random, in place.

        Args:
            states: state records, uint8, shape (batch, bytes of a record); written.
            seeds: a seed for the random actions of each game, int64, shape (batch,).
            reward: one of `game.rewards`.

        Returns:
            Returns of all seats, float64 (batch, players), and numbers of actions played, int64
            (batch,).

        Raises:
            TypeError: a tensor is wrong, see the class.
            ValueError: the game has no such reward.
        """
        self._check_states(states)
        chance, size = self.new_chance(seeds), len(states)
        self._check("seeds", seeds, (size,), np.int64)
        returns, lengths = self.zeros((size, self.game.players), np.float64), self._all(size)
        kind, masks = self.game.reward_kind(reward), self.scratch_masks(size)
        batch = batch_loops.Playouts(states, chance, kind, masks, returns, lengths)
        self.run(batch_loops.play_out, size, batch)
        return returns, lengths

    def new_chance(self, seeds: Tensor) -> Tensor:
        """Return a random number stream, uint64 (n,), for each of `seeds`, int64 (n,)."""
        self._check("seeds", seeds, (len(seeds),), np.int64)
        chance = self.zeros((len(seeds),), np.uint64)
        batch = batch_loops.Streams(chance, self._all(len(seeds)), seeds)
        self.run(batch_loops.seed_stream, len(seeds), batch)
        return chance

    def random_actions(self, masks: Tensor, chance: Tensor, out: Tensor | None = None) -> Tensor:
        """Return a random legal action for each row of `masks`, or 0 where no action is legal.

        Args:
            masks: action masks, int8, shape (n, actions).
            chance: a random number stream for each row, from `new_chance`; advanced in place.
            out: a tensor to write to and return, int64, shape (n,). None: a new one.
        """
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
        """Return the scripted player's action for the seat to move, `seats[i]`, in each state.

        Args:
            states: state records, uint8, shape (batch, bytes of a record).
            seats: the seats to move, int64, shape (batch,).
            draws: random numbers in [0, 1) that choose among equally good actions, float64, shape
                (batch,). Where a draw is -inf, no choice is made and the action is 0.
            styles: numbers of playing styles (`armarl.players.simple_players.style_number`), int64,
                shape (batch,), or one number for all states.

        Returns:
            Actions, int64, shape (batch,).
        """
        self._check("draws", draws, (len(states),), np.float64)
        if not isinstance(styles, self._torch.Tensor):
            styles = self._torch.full_like(draws, styles, dtype=self._torch.int64)
        self._check("styles", styles, (len(states),), np.int64)
        return self.scripted_choices(self.concealed(states, seats), draws, styles)

    def scripted_choices(self, seen: Tensor, draws: Tensor, styles: Tensor) -> Tensor:
        """Return `scripted_actions` for states that are already concealed.

        Args:
            seen: concealed states, uint8, shape (batch, bytes of a record).
            draws, styles: as for `scripted_actions`, both tensors.
        """
        # Keep the sum of draw and style below the next style's number, even after rounding.
        following = (styles + 1).to(draws.dtype)
        below = self._torch.nextafter(following, self._torch.zeros_like(following))
        styled, size = self._torch.minimum(draws + styles, below), len(seen)
        actions, shape = self.zeros((size,), np.int64), (self.scratch_rows(size), 1)
        its_bytes = (*shape, self.game.scratch.itemsize)
        spare = self._torch.empty(its_bytes, dtype=self._torch.uint8, device=self._place)
        batch = batch_loops.Choices(seen, styled, self.scratch_masks(size), spare, actions)
        self.run(batch_loops.choose_greedily, size, batch)
        return actions

    def _all(self, size: int) -> Tensor:
        """Return the indices of all games of a batch."""
        return self._torch.arange(size, device=self._place)

    def _check_states(self, states: Tensor) -> None:
        self._check("states", states, (len(states), self._record.itemsize), np.uint8)

    def _check_seats(self, states: Tensor, seats: Tensor) -> None:
        self._check_states(states)
        self._check("seats", seats, (len(states),), np.int64)

    def _check(self, name: str, array: Tensor, shape: Shape, dtype: Any) -> None:
        """Raise TypeError unless `is_array` accepts `array`."""
        if not self.is_array(array, shape, dtype):
            raise TypeError(
                f"{name} must be a contiguous torch tensor of {np.dtype(dtype)}, of shape {shape}, "
                f"on {self._place}, not {_kind(array)}"
            )


def _kind(array: Any) -> str:
    """Return the dtype, shape and device of a tensor, or the type name of another object."""
    if type(array).__name__ not in ("Tensor", "Parameter"):
        return type(array).__name__
    return f"{array.dtype} of shape {tuple(array.shape)} on {array.device}"
