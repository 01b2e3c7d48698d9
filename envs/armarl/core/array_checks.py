"""What the doors of `Game` check: compiled loops trust whatever passes here.

They run without bounds checks, so an array must be of the right type, lie in one piece, be long
enough, and may be written if it will be; what chooses rows must be within them, and where rows are
written it must choose none twice, since threads share them. States must be of the same variant: of
two variants that have one type of record, one has actions or seats that the other has no room for.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import _HIGHEST, _LOWEST

LARGEST_BATCH = 1 << 31  # in games


def check_array(name: str, array: Any, dtype: Any, *, written: bool = False) -> None:
    """Check type, memory and, if it is `written`, leave to write.

    Raises:
        TypeError: it is no array of this type.
        ValueError: it does not lie in one piece, or may not be written.
    """
    plain = isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray)
    if not plain or array.dtype != dtype:
        found = array.dtype if plain else type(array).__name__
        raise TypeError(f"{name} must be an array of {_named(np.dtype(dtype))}, not {found}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} must lie in one piece of memory (np.ascontiguousarray)")
    if written and not array.flags.writeable:
        raise ValueError(f"{name} would be written, and may only be read; give a copy")


def check_apart(**arrays: Any) -> None:
    """Check that no two arrays, NumPy's or torch's, lie in the same memory: while loops write into
    one they would change what was checked of another.

    Raises:
        ValueError: two of them do.
    """
    for (one, first), (other, second) in combinations(arrays.items(), 2):
        if _share_memory(first, second):
            raise ValueError(
                f"{_said(one)} and {_said(other)} must not share memory; give a copy of one of them"
            )


def _said(name: str) -> str:
    """An argument's name as its caller reads it: `out_seats` is `out.seats`."""
    return name.replace("out_", "out.")


def _share_memory(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    (begin, end), (other_begin, other_end) = (
        (tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size())
        for tensor in (one, other)
    )
    return bool(begin < other_end and other_begin < end)


def takes(array: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    """Whether compiled loops may write into it as an array of this shape and type."""
    return (
        isinstance(array, np.ndarray)
        and (array.shape, array.dtype) == (shape, dtype)
        and array.flags.carray
    )


def _named(dtype: np.dtype[Any]) -> str:
    if dtype.names:
        return "the game's records (of an environment, what its concealed_state() gives)"
    return str(dtype)


def check_rows(name: str, rows: Any, count: int, *, written: bool = False) -> None:
    """Check numbers of rows, int64 (n,), all in 0 to `count` - 1; each once if they are written.

    Raises:
        TypeError: it is no array of int64.
        ValueError: it has another shape, or there are no such rows, or one stands there twice.
    """
    check_numbers(name, rows, None, 0, count - 1)
    if written and rows.size > 1:
        chosen = np.zeros(count, np.bool_)
        chosen[rows] = True
        if np.count_nonzero(chosen) != rows.size:
            raise ValueError(f"{name} must not have a number twice")


def check_numbers(
    name: str, numbers: Any, size: int | None, low: int = _LOWEST, high: int = _HIGHEST
) -> None:
    """Check int64 (size,), or of any size, all from `low` to `high`.

    Raises:
        TypeError: it is no array of int64.
        ValueError: it has another shape, or numbers out of range.
    """
    check_array(name, numbers, np.int64)
    check_size(name, numbers, size)
    if numbers.size and (low > _LOWEST or high < _HIGHEST):
        lowest, highest = numbers.min(), numbers.max()
        if lowest < low or highest > high:
            wrong = lowest if lowest < low else highest
            raise ValueError(f"{name} must be in {low} to {high}, not {wrong}")


def check_size(name: str, column: NDArray[Any], size: int | None) -> None:
    """Raise ValueError unless there is one item for each of `size` games, if that is a number."""
    if column.ndim != 1 or (size is not None and column.size != size):
        wanted = "(n,)" if size is None else f"({size},), one for each game"
        raise ValueError(f"{name} must have shape {wanted}, not {column.shape}")


def check_masks(masks: Any, actions: int) -> None:
    """Check masks: int8 (batch, actions) of 0 and 1.

    Raises:
        TypeError: it is no array of int8.
        ValueError: it has another shape or other numbers.
    """
    check_array("masks", masks, np.int8)
    if masks.ndim != 2 or masks.shape[1] != actions:
        raise ValueError(f"masks must have shape (batch, {actions}), not {masks.shape}")
    if masks.size and (masks.view(np.uint8) > 1).any():
        raise ValueError("masks must hold 0 and 1 alone")
