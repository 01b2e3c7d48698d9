"""Environments that work after unpickling, even if their arrays were stored outside the pickle."""

from __future__ import annotations

from typing import Any

import numpy as np


class WritableArrays:
    """A base class that makes an object's own arrays writable when the object is unpickled.

    Ray, Dask and joblib store arrays outside the pickle (pickle protocol 5) and return them
    read-only, but environments write into their arrays.
    """

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        copies: dict[int, Any] = {}  # by the id of the array, because attributes may share one
        for name, value in attributes.items():
            if isinstance(value, np.ndarray) and not value.flags.writeable:
                self.__dict__[name] = copies.setdefault(id(value), value.copy())
