"""Conversion of stored integer features to network inputs: scaled floats, float32 or bfloat16."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.compiler.decorators import part
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.networks.bfloat16 import bits_of, write

if TYPE_CHECKING:
    from armarl.compiler.work_sharing import Body
    from armarl_training.networks.integer_observations import IntegerObservations
    from armarl_training.networks.learner_devices import Array

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class ReadRows(NamedTuple):
    """Rows to convert to network inputs."""

    features: NDArray[Any]  # (n, size)
    secrets: NDArray[Any]  # (n, secrets), appended to the features
    chosen: NDArray[np.int64]  # (k,) indices of the rows to read
    factors: NDArray[np.float32]  # (size + secrets,)
    # float32, or int16 with the bits of bfloat16, (k, size + secrets) written
    numbers: NDArray[Any]


def read_float32(batch: ReadRows, i: int, thread: int) -> None:
    """Convert row `i` to float32."""
    _read(batch, i, False)


def read_bfloat16(batch: ReadRows, i: int, thread: int) -> None:
    """Convert row `i` to bfloat16."""
    _read(batch, i, True)


@part
def _read(batch: ReadRows, i: int, is_bfloat16: bool) -> None:
    row, numbers, factors = batch.chosen[i], batch.numbers[i], batch.factors
    size = batch.features.shape[1]
    _scale(batch.features[row], factors[:size], numbers[:size], is_bfloat16)
    _scale(batch.secrets[row], factors[size:], numbers[size:], is_bfloat16)


@part
def _scale(
    features: NDArray[Any], factors: NDArray[np.float32], numbers: NDArray[Any], is_bfloat16: bool
) -> None:
    for k in range(features.size):
        write(np.float32(features[k]) * factors[k], numbers, k, is_bfloat16)


class InputReader:
    """A reader that selects and converts stored rows in one pass. On a GPU, torch does the work.

    Attributes:
        dtype: the torch type of the inputs.
        factors: float32 (size + secrets,), factors that turn features into inputs.
    """

    def __init__(
        self, kept: IntegerObservations, precision: str, run: Callable[..., None] | None = None
    ) -> None:
        """Prepare for one of PRECISIONS.

        `run` is one of the device's run functions. None: the device's `run`.
        """
        self.dtype = PRECISIONS[precision]
        self._device = kept.device
        self._run = run or kept.device.run
        self.factors = kept.device.put((1 / kept.privileged_scales).astype(np.float32))

    def seen(self, features: Array) -> torch.Tensor:
        """Return the network inputs for features that seats see, (n, size)."""
        return self.privileged(features, features[:, :0])

    def privileged(
        self,
        features: Array,
        secrets: Array,
        chosen: Array | None = None,
        workspace: Workspace | None = None,
    ) -> torch.Tensor:
        """Return the inputs that seats see, then those that only other seats know.

        The shape is (k, size + secrets). `chosen`, int64 (k,), selects rows. None selects all rows.
        With a workspace, the result is stored there and stays valid until the next call.
        """
        size = features.shape[1] + secrets.shape[1]
        if isinstance(features, np.ndarray):
            return self._read_by_loop(features, secrets, chosen, size, workspace)
        rows = slice(None) if chosen is None else chosen
        whole: torch.Tensor = torch.cat([features[rows], secrets[rows]], 1)
        return (whole * self._device.tensor(self.factors[:size])).to(self.dtype)

    def _read_by_loop(
        self,
        features: NDArray[Any],
        secrets: NDArray[Any],
        chosen: NDArray[np.int64] | None,
        size: int,
        workspace: Workspace | None,
    ) -> torch.Tensor:
        """Return the inputs as `privileged` does, in one compiled loop without temporary copies."""
        if chosen is None:
            chosen = np.arange(len(features))
        place = workspace or Workspace(self._device.place)
        read = place.take("read", chosen.size, size, self.dtype)
        batch = ReadRows(
            features=np.ascontiguousarray(features),
            secrets=np.ascontiguousarray(secrets),
            chosen=chosen,
            factors=self.factors[:size],
            numbers=bits_of(self._device, read),
        )
        body: Body = read_float32 if self.dtype == torch.float32 else read_bfloat16
        self._run(body, chosen.size, batch)
        return read
