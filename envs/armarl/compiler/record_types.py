"""The record type of states, also for plain Python without compilation.

Compiled code reads a field as an attribute and widens every integer to 64 bits. A scalar of a NumPy
structured array does neither. So with `NUMBA_DISABLE_JIT=1` states are records of a type that
behaves as in compiled code. The rules then run unchanged under a debugger, and the states have the
same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armarl.compiler.decorators import PLAIN_PYTHON

Fields = Sequence[tuple[Any, ...]]


class PlainRecord(np.void):  # type: ignore[misc]  # mypy also rejects np.record
    """A state whose fields are attributes, and whose integers are as wide as in compiled code."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _widened(self[name])
        except (ValueError, IndexError):
            raise AttributeError(f"a state has no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class PlainArray(np.ndarray[Any, Any]):
    """An array within a state. Its items are as wide as in compiled code."""

    def __getitem__(self, key: Any) -> Any:
        return _widened(super().__getitem__(key))


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(PlainArray)
    if isinstance(value, np.integer) and not isinstance(value, np.uint64):
        return np.int64(value)
    return value


def record_type(fields: Fields, needed: Sequence[str] = ("rng", "players")) -> np.dtype[Any]:
    """Return the dtype of a game's records from the names, types and shapes of its fields.

    Args:
        fields: the fields.
        needed: the names of fields that must exist. The default is for states. Other records need
            no particular fields.

    Raises:
        ValueError: there are gaps between the fields, or a field is missing.

    Example:
        >>> import numpy as np
        >>> from armarl.compiler.record_types import record_type
        >>> state = record_type([("rng", np.uint64), ("players", np.uint8), ("spare", np.uint8, 7)])
        >>> state.itemsize
        16
    """
    layout = np.dtype(list(fields), align=True)
    if missing := set(needed) - set(layout.names or ()):
        raise ValueError(
            f"a state needs the fields {' and '.join(needed)}; missing: {sorted(missing)}"
        )
    used = sum(layout[name].itemsize for name in layout.names or ())
    if used != layout.itemsize:
        raise ValueError(
            f"the fields fill {used} of {layout.itemsize} bytes: put the widest first and add "
            "spare bytes at the end, because copies leave the bytes in gaps undefined"
        )
    return np.dtype((PlainRecord, layout)) if PLAIN_PYTHON else layout
