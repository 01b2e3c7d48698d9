"""Copies and pickles of environments: each copy is independent and can be played."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np


class WritableArrays:
    """A base class for objects that write into their own arrays, such as environments.

    Unpickling makes the arrays writable. Ray, Dask and joblib store arrays outside the pickle
    (pickle protocol 5) and return them read-only. `copy.copy` copies as `copy.deepcopy` does,
    because two environments that share some of their arrays would spoil each other's games.
    """

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        copies: dict[int, Any] = {}  # by the array's id: attributes may refer to the same array
        for name, value in attributes.items():
            if isinstance(value, np.ndarray) and not value.flags.writeable:
                self.__dict__[name] = copies.setdefault(id(value), value.copy())
