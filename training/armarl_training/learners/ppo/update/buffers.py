"""Memory that is reused from minibatch to minibatch.

The operating system clears new memory, which takes as long as the matrix products of a small
network.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray


class Workspace:
    """Named tensors for one thread. A tensor's content is valid until its name is taken again."""

    def __init__(self, place: torch.device) -> None:
        """Create an empty workspace on a device."""
        self._place = place
        self._tensors: dict[str, torch.Tensor] = {}

    def take(self, name: str, rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
        """Return a tensor (rows, columns) with arbitrary content."""
        kept = self._tensors.get(name)
        fits = kept is not None and kept.dtype == dtype and kept.shape[1] == columns
        if kept is None or not fits or len(kept) < rows:
            kept = torch.empty(rows, columns, dtype=dtype, device=self._place)
            self._tensors[name] = kept
        return kept[:rows]


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros with torch's alignment.

    If a row has 64 floats, each row starts on a cache-line boundary.
    """
    zeros: NDArray[np.float32] = torch.zeros(shape).numpy()
    return zeros


Floats = NDArray[np.float32]
