"""Memory that is written over minibatch by minibatch.

New memory has to be cleared by the system first, which takes as long as a small network's products.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray


class Workspace:
    """Tensors by name, for one thread; what stands in one is kept until it is asked for again."""

    def __init__(self, place: torch.device) -> None:
        """On a device."""
        self._place = place
        self._tensors: dict[str, torch.Tensor] = {}

    def take(self, name: str, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor (rows, columns) in which anything may stand."""
        kept = self._tensors.get(name)
        fits = kept is not None and kept.dtype == dtype and kept.shape[1] == columns
        if kept is None or not fits or len(kept) < rows:
            kept = torch.empty(rows, columns, dtype=dtype, device=self._place)
            self._tensors[name] = kept
        return kept[:rows]


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """As torch lays them: rows of sixty-four numbers begin where lines of the cache do."""
    zeros: NDArray[np.float32] = torch.zeros(shape).numpy()
    return zeros


Floats = NDArray[np.float32]
