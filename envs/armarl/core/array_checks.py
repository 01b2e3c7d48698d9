"""Argument checks at the entry points of `Game`.

Compiled loops run without bounds checks and trust every array that passes here. So an array must
have the right dtype, be C-contiguous, be long enough, and be writeable if a loop writes to it. Row
indices must be in range. Where rows are written, no index may occur twice, since several threads
write rows at the same time. States must belong to the same variant: two variants can share a record
type, but one may have actions or seats for which the other has no room.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import _HIGHEST, _LOWEST

LARGEST_BATCH = 1 << 31  # in games


def check_array(name: str, array: Any, dtype: Any, *, written: bool = False) -> None:
    """Check the dtype and memory layout of an array and, if it is `written`, that it is writeable.

    Raises:
        TypeError: `array` is not an array of this dtype.
        ValueError: it is not C-contiguous and aligned, or it is read-only but would be written.
    """
    plain = isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray)
    if not plain or array.dtype != dtype:
        found = array.dtype if plain else type(array).__name__
        raise TypeError(f"{name} must be an array of {_named(np.dtype(dtype))}, not {found}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} must be C-contiguous and aligned (see np.ascontiguousarray)")
    if written and not array.flags.writeable:
        raise ValueError(f"{name} is read-only, but this call writes to it; pass a copy")


def check_apart(**arrays: Any) -> None:
    """Check that no two arrays share memory. They may be NumPy arrays or torch tensors.

    A loop that writes to one array would otherwise change another one after its check.

    Raises:
        ValueError: two of the arrays share memory.
    """
    for (one, first), (other, second) in combinations(arrays.items(), 2):
        if _share_memory(first, second):
            raise ValueError(
                f"{_said(one)} and {_said(other)} must not share memory; pass a copy of one of them"
            )


def _said(name: str) -> str:
    """The argument name that the caller knows: `out_seats` stands for `out.seats`."""
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
    """Whether compiled loops may write to `array` as an array of this shape and dtype."""
    return (
        isinstance(array, np.ndarray)
        and (array.shape, array.dtype) == (shape, dtype)
        and array.flags.carray
    )


def _named(dtype: np.dtype[Any]) -> str:
    if dtype.names:
        return "the game's records (an environment returns them from concealed_state())"
    return str(dtype)


def check_rows(name: str, rows: Any, count: int, *, written: bool = False) -> None:
    """Check row indices: int64 (n,), each in 0 to `count` - 1, without duplicates if `written`.

    Raises:
        TypeError: `rows` is not an int64 array.
        ValueError: `rows` has another shape, an index is out of range, or one occurs twice.
    """
    check_numbers(name, rows, None, 0, count - 1)
    if written and rows.size > 1:
        chosen = np.zeros(count, np.bool_)
        chosen[rows] = True
        if np.count_nonzero(chosen) != rows.size:
            raise ValueError(f"{name} must not contain duplicates")


def check_numbers(
    name: str, numbers: Any, size: int | None, low: int = _LOWEST, high: int = _HIGHEST
) -> None:
    """Check an int64 array of shape (size,) with values in `low` to `high`.

    If `size` is None, the array may have any length.

    Raises:
        TypeError: `numbers` is not an int64 array.
        ValueError: it has another shape, or a value is out of range.
    """
    check_array(name, numbers, np.int64)
    check_size(name, numbers, size)
    if numbers.size and (low > _LOWEST or high < _HIGHEST):
        lowest, highest = numbers.min(), numbers.max()
        if lowest < low or highest > high:
            wrong = lowest if lowest < low else highest
            raise ValueError(f"{name} must be in {low} to {high}, not {wrong}")


def check_size(name: str, column: NDArray[Any], size: int | None) -> None:
    """Raise ValueError unless `column` has shape (size,), or shape (n,) if `size` is None."""
    if column.ndim != 1 or (size is not None and column.size != size):
        wanted = "(n,)" if size is None else f"({size},), one item per game"
        raise ValueError(f"{name} must have shape {wanted}, not {column.shape}")


def check_masks(masks: Any, actions: int) -> None:
    """Check action masks: int8 (batch, actions), each entry 0 or 1.

    Raises:
        TypeError: `masks` is not an int8 array.
        ValueError: it has another shape or other values.
    """
    check_array("masks", masks, np.int8)
    if masks.ndim != 2 or masks.shape[1] != actions:
        raise ValueError(f"masks must have shape (batch, {actions}), not {masks.shape}")
    if masks.size and (masks.view(np.uint8) > 1).any():
        raise ValueError("masks must contain only 0 and 1")
