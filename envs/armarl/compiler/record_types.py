"""The records that states are, and how plain Python reads them when nothing is compiled.

Compiled code reads a field by its name and widens every integer to 64 bits. A scalar of a NumPy
structured array does neither. With `NUMBA_DISABLE_JIT=1` states are therefore records of a type
that does both, so that the rules run unchanged, and to the same bytes, under a debugger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armarl.compiler.decorators import PLAIN_PYTHON

Fields = Sequence[tuple[Any, ...]]


class PlainRecord(np.void):  # type: ignore[misc]  # as np.record is
    """One state: fields are attributes, integers are as wide as in compiled code."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _widened(self[name])
        except (ValueError, IndexError):
            raise AttributeError(f"a state has no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class PlainArray(np.ndarray[Any, Any]):
    """An array within a state, whose items are as wide as in compiled code."""

    def __getitem__(self, key: Any) -> Any:
        return _widened(super().__getitem__(key))


def _widened(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(PlainArray)
    if isinstance(value, np.integer) and not isinstance(value, np.uint64):
        return np.int64(value)
    return value


def record_type(fields: Fields) -> np.dtype[Any]:
    """The type of a game's states from the names, types and shapes of its fields.

    Raises:
        ValueError: there are gaps between the fields, or `rng` or `players` is missing.
    """
    layout = np.dtype(list(fields), align=True)
    if missing := {"rng", "players"} - set(layout.names or ()):
        raise ValueError(f"every state has the fields rng and players; missing: {sorted(missing)}")
    used = sum(layout[name].itemsize for name in layout.names or ())
    if used != layout.itemsize:
        raise ValueError(
            f"the fields fill {used} of {layout.itemsize} bytes: put the widest first, and fill up "
            "with spare bytes, since copies leave gaps to chance"
        )
    return np.dtype((PlainRecord, layout)) if PLAIN_PYTHON else layout
