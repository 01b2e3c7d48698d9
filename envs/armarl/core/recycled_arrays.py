"""Arrays with recycled memory, for large results that are soon dropped.

The operating system clears memory before a process gets it. For the observations of a large batch,
clearing takes as long as computing the observations. So when nothing refers to an array any more,
a `Recycler` keeps its memory for the next array of the same size. It never touches an array that is
still in use.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST_BYTES = 1 << 18  # keeping the memory of a smaller array would cost more than it saves
# The maximum number of spare arrays per size. One is enough for a loop that keeps a result while it
# computes the next result.
_MOST_SPARE = 1

Spare = list[NDArray[np.uint8]]


class _Lease:
    """The owner of an array's memory.

    It recycles the memory when the array and all its views are gone.
    """

    def __init__(self, memory: NDArray[np.uint8], spare: Spare, shape: Any, dtype: Any) -> None:
        self._memory, self._spare = memory, spare
        self.__array_interface__ = {**memory.__array_interface__, "shape": shape, "typestr": dtype}

    def __del__(self) -> None:
        if len(self._spare) < _MOST_SPARE:
            self._spare.append(self._memory)


class Recycler:
    """A source of arrays for an object that needs only a few shapes, such as a batch.

    A copy of a recycler begins without spare memory.

    Example:
        >>> import numpy as np
        >>> from armarl.core.recycled_arrays import Recycler
        >>> recycler = Recycler()
        >>> first = recycler.empty((512, 512), np.float32)
        >>> address = first.ctypes.data
        >>> second = recycler.empty((512, 512), np.float32)
        >>> second.ctypes.data == address  # `first` is in use
        False
        >>> del first
        >>> recycler.empty((512, 512), np.float32).ctypes.data == address
        True
    """

    def __init__(self) -> None:
        self._spare: dict[int, Spare] = {}  # unused memory, by size in bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return Recycler, ()

    def empty(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array with arbitrary contents, which the caller must write completely."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        if size < LEAST_BYTES:
            return np.empty(shape, dtype)
        spare = self._spare.setdefault(size, [])
        try:
            memory = spare.pop()
        except IndexError:
            memory = np.empty(size, np.uint8)
        return np.asarray(_Lease(memory, spare, shape, dtype.str))
