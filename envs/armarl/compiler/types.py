"""Type aliases for the arguments of kernels, for people and type checkers; Numba ignores them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# In kernels these stand in annotations, for people and type checkers; Numba takes no notice.
State: TypeAlias = Any  # one record; its fields are the game's own, see its `state.py`
States: TypeAlias = NDArray[np.void]  # (batch,) records
Mask: TypeAlias = NDArray[np.int8]  # (actions,), 1 for what is legal, else 0
Observation: TypeAlias = NDArray[np.float32]  # (observation size,)
Returns: TypeAlias = NDArray[np.float64]  # (players,)
Int: TypeAlias = Any  # an integer, NumPy's or Python's: 64 bits wide in compiled code
Real: TypeAlias = Any  # a number that need not be whole, likewise: a float64 in compiled code
Bits: TypeAlias = Any  # a set of small numbers as the bits of an int64
