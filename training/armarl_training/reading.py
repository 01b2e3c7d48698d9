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
from armarl_training.brief import round_off
from armarl_training.devices import Array
from armarl_training.quantities import Quantities

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Rows(NamedTuple):
    """Rows to be read."""

    quantities: NDArray[Any]  # (n, size)
    secrets: NDArray[Any]  # (n, secrets), which are read after them
    chosen: NDArray[np.int64]  # (k,) of these rows
    factors: NDArray[np.float32]  # (size + secrets,)
    numbers: NDArray[np.float32]  # (rows, size + secrets) written; of bfloat16, scratch
    bits: NDArray[np.uint32]  # the same memory
    halves: NDArray[np.uint16]  # (k, size + secrets) written with the bits of bfloat16


@part
def _scale(batch: Rows, i: int, out: NDArray[np.float32]) -> None:
    quantities, secrets = batch.quantities[batch.chosen[i]], batch.secrets[batch.chosen[i]]
    size = quantities.size
    for k in range(size):
        out[k] = np.float32(quantities[k]) * batch.factors[k]
    for k in range(secrets.size):
        out[size + k] = np.float32(secrets[k]) * batch.factors[size + k]


def read_exactly(batch: Rows, i: int, thread: int) -> None:
    """Row `i` in float32."""
    _scale(batch, i, batch.numbers[i])


def read_briefly(batch: Rows, i: int, thread: int) -> None:
    """Row `i` in bfloat16."""
    mine = own(thread)
    _scale(batch, i, batch.numbers[mine])
    round_off(batch.bits[mine], batch.halves[i])


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
        self._factors = kept.device.put((1 / kept.truth_scales).astype(np.float32))

    def seen(self, quantities: Array) -> torch.Tensor:
        """What seats see, (n, size)."""
        return self.truth(quantities, quantities[:, :0])

    def truth(self, quantities: Array, secrets: Array, chosen: Array | None = None) -> torch.Tensor:
        """The same, and what the others alone know after it: (k, size + secrets).

        Of the rows chosen, int64 (k,), or of all.
        """
        size = quantities.shape[1] + secrets.shape[1]
        if isinstance(quantities, np.ndarray):
            return self._read_by_loop(quantities, secrets, chosen, self._factors[:size])
        rows = slice(None) if chosen is None else chosen
        whole: torch.Tensor = torch.cat([quantities[rows], secrets[rows]], 1)
        return (whole * self._device.tensor(self._factors[:size])).to(self.dtype)

    def _read_by_loop(
        self,
        quantities: NDArray[Any],
        secrets: NDArray[Any],
        chosen: NDArray[np.int64] | None,
        factors: NDArray[np.float32],
    ) -> torch.Tensor:
        """The same with nothing between: neither rows of quantities nor, of bfloat16, floats."""
        if chosen is None:
            chosen = np.arange(len(quantities))
        exact = self.dtype == torch.float32
        rows = chosen.size if exact else self._device.scratch_rows(chosen.size)
        numbers = np.empty((rows, factors.size), np.float32)
        halves = np.empty((0 if exact else chosen.size, factors.size), np.uint16)
        kept = np.ascontiguousarray(quantities), np.ascontiguousarray(secrets)
        batch = Rows(*kept, chosen, factors, numbers, numbers.view(np.uint32), halves)
        body: Body = read_exactly if exact else read_briefly
        self._run(body, chosen.size, batch)
        if exact:
            return torch.from_numpy(numbers)
        return torch.from_numpy(halves).view(torch.bfloat16)
