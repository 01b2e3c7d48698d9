"""How networks are given what is kept of positions: as parts of its scales, in a precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.compiled import part
from armarl.loops import own
from armarl.shares import Body
from armarl_training.devices import Array
from armarl_training.quantities import Quantities

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Rows(NamedTuple):
    """Rows of quantities to be read."""

    quantities: NDArray[Any]  # (n, size)
    chosen: NDArray[np.int64]  # (k,) of these rows
    factors: NDArray[np.float32]  # (size,)
    numbers: NDArray[np.float32]  # (rows, size) written; of bfloat16, scratch
    bits: NDArray[np.uint32]  # the same memory
    halves: NDArray[np.uint16]  # (k, size) written with the bits of bfloat16


@part
def _scale(batch: Rows, i: int, out: NDArray[np.float32]) -> None:
    quantities = batch.quantities[batch.chosen[i]]
    for k in range(out.size):
        out[k] = np.float32(quantities[k]) * batch.factors[k]


def read_exactly(batch: Rows, i: int, thread: int) -> None:
    """Row `i` in float32."""
    _scale(batch, i, batch.numbers[i])


def read_briefly(batch: Rows, i: int, thread: int) -> None:
    """Row `i` in bfloat16: the first half of a float32, rounded to the nearest, to even at ties."""
    mine = own(thread)
    _scale(batch, i, batch.numbers[mine])
    bits, halves = batch.bits[mine], batch.halves[i]
    for k in range(halves.size):
        odd = np.uint32(np.uint32(bits[k] >> np.uint32(16)) & np.uint32(1))
        rounded = np.uint32(np.uint32(bits[k] + np.uint32(0x7FFF)) + odd)
        halves[k] = np.uint16(rounded >> np.uint32(16))


class Reading:
    """Reads rows of what is kept, chosen and converted in one pass; on a GPU in torch's words.

    Attributes:
        dtype: of what is read.
    """

    def __init__(
        self, kept: Quantities, precision: str, run: Callable[..., None] | None = None
    ) -> None:
        """With one of PRECISIONS; `run` is one of the device's, `run` itself if None."""
        self.dtype = PRECISIONS[precision]
        self._device = kept.device
        self._run = run or kept.device.run
        factors = (1 / kept.truth_scales).astype(np.float32)
        self._factors, self._secret_factors = (
            kept.device.put(some) for some in np.split(factors, [kept.scales.size])
        )

    def seen(self, quantities: Array, chosen: Array | None = None) -> torch.Tensor:
        """What seats see (k, size), of the rows chosen, int64 (k,), or of all."""
        return self._read(quantities, self._factors, chosen)

    def secrets(self, secrets: Array, chosen: Array | None = None) -> torch.Tensor:
        """What others alone know (k, secrets), likewise."""
        return self._read(secrets, self._secret_factors, chosen)

    def _read(self, quantities: Array, factors: Array, chosen: Array | None) -> torch.Tensor:
        if isinstance(quantities, np.ndarray):
            return self._read_by_loop(quantities, factors, chosen)
        rows = quantities if chosen is None else quantities[chosen]
        read: torch.Tensor = (rows * factors).to(self.dtype)
        return read

    def _read_by_loop(
        self,
        quantities: NDArray[Any],
        factors: NDArray[np.float32],
        chosen: NDArray[np.int64] | None,
    ) -> torch.Tensor:
        """The same with nothing between: neither rows of quantities nor, of bfloat16, floats."""
        if chosen is None:
            chosen = np.arange(len(quantities))
        exact = self.dtype == torch.float32
        rows = chosen.size if exact else self._device.scratch_rows(chosen.size)
        numbers = np.empty((rows, factors.size), np.float32)
        halves = np.empty((0 if exact else chosen.size, factors.size), np.uint16)
        kept = np.ascontiguousarray(quantities)
        batch = Rows(kept, chosen, factors, numbers, numbers.view(np.uint32), halves)
        body: Body = read_exactly if exact else read_briefly
        if factors.size:
            self._run(body, chosen.size, batch)
        if exact:
            return torch.from_numpy(numbers)
        return torch.from_numpy(halves).view(torch.bfloat16)
