"""Type aliases for arguments of kernels, for readers and type checkers. Numba ignores them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = Any  # one record; each game has its own fields, see its `state.py`
States: TypeAlias = NDArray[np.void]  # (batch,) records
Mask: TypeAlias = NDArray[np.int8]  # (actions,), 1 for each legal action, else 0
Observation: TypeAlias = NDArray[np.float32]  # (observation size,)
Returns: TypeAlias = NDArray[np.float64]  # (players,)
Int: TypeAlias = Any  # an integer of NumPy or Python; 64 bits wide in compiled code
Real: TypeAlias = Any  # a real number of NumPy or Python; float64 in compiled code
Bits: TypeAlias = Any  # a set of small integers, stored as the bits of an int64
