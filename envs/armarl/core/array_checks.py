"""Argument checks at the entry points of `Game`.

Compiled loops run without bounds checks and trust every array that passes these checks. So an array
must have the right dtype, be C-contiguous, be long enough, and be writeable if a loop writes to it.
Row indices must be in range. Where rows are written, no index may occur twice, because several
threads write rows at the same time.

An array may not be what it seems: a subclass can report another `shape`, and another thread can
write to an array, or change its shape, between the check and the use. So each check returns an
array that is safe to use. Arrays with one number per game (indices, actions, seats, seeds, draws)
are copied first and then checked. Batches of states are too large to copy at every call. So their
check returns a view as a plain `numpy.ndarray`, whose shape and dtype nobody else can change. The
contents still belong to the caller, so nothing may write to the states while a call uses them.
States must belong to the game's variant. Two variants can share a record type, but one may have
more actions or seats than the arrays of the other have room for.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import _HIGHEST, _LOWEST

LARGEST_BATCH = 1 << 31  # maximum number of games


def check_array(name: str, array: Any, dtype: Any, *, written: bool = False) -> NDArray[Any]:
    """Check the dtype and memory layout of an array and, if `written`, that it is writeable.

    Returns:
        A view of the array as a plain `numpy.ndarray`. Use it instead of the argument.

    Raises:
        TypeError: `array` is not an array of this dtype.
        ValueError: `array` is not C-contiguous and aligned, or it is read-only but would be
            written.
    """
    kind = type(array)
    plain = issubclass(kind, np.ndarray) and not issubclass(kind, np.ma.MaskedArray)
    found: NDArray[Any] | None = np.ndarray.view(array, np.ndarray) if plain else None
    if found is None or found.dtype != dtype:
        said: object = kind.__name__ if found is None else found.dtype
        if found is not None and found.dtype.names:
            said = "records"
        raise TypeError(f"{name} must be an array of {_named(np.dtype(dtype))}, not {said}")
    if not (found.flags.c_contiguous and found.flags.aligned):
        raise ValueError(f"{name} must be C-contiguous and aligned (see np.ascontiguousarray)")
    if written and not found.flags.writeable:
        raise ValueError(f"{name} is read-only, but this call writes to it; pass a copy")
    return found


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
    """Return the name that the caller uses for an argument: `out.seats` for `out_seats`."""
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
    """Return whether `array` has this shape and dtype, and compiled loops may write to it.

    Subclasses are refused, because their attributes may be wrong.
    """
    return (
        type(array) is np.ndarray
        and array.shape == shape
        and array.dtype == dtype
        and array.flags.carray
    )


def _named(dtype: np.dtype[Any]) -> str:
    if dtype.names:
        return "the game's records (an environment returns them from concealed_state())"
    return str(dtype)


def check_rows(name: str, rows: Any, count: int, *, written: bool = False) -> NDArray[np.int64]:
    """Check row indices: int64 (n,), each from 0 to `count` - 1, no duplicates if `written`.

    Returns:
        A copy. Use it instead of the indices.

    Raises:
        TypeError: `rows` is not an int64 array.
        ValueError: `rows` has another shape, an index is out of range or, if `written`, an index
            occurs twice.
    """
    found = check_numbers(name, rows, None, 0, count - 1)
    if written and found.size > 1:
        chosen = np.zeros(count, np.bool_)
        chosen[found] = True
        if np.count_nonzero(chosen) != found.size:
            raise ValueError(f"{name} must not contain duplicates")
    return found


def check_numbers(
    name: str, numbers: Any, size: int | None, low: int = _LOWEST, high: int = _HIGHEST
) -> NDArray[np.int64]:
    """Check an int64 array of shape (size,) with values from `low` to `high`.

    If `size` is None, the array may have any length.

    Returns:
        A copy. Use it instead of the array.

    Raises:
        TypeError: `numbers` is not an int64 array.
        ValueError: `numbers` has another shape, or a value is out of range.
    """
    found: NDArray[np.int64] = check_array(name, numbers, np.int64).copy()
    check_size(name, found, size)
    if found.size and (low > _LOWEST or high < _HIGHEST):
        lowest, highest = found.min(), found.max()
        if lowest < low or highest > high:
            wrong = lowest if lowest < low else highest
            raise ValueError(f"{name} must be from {low} to {high}, not {wrong}")
    return found


def check_size(name: str, column: NDArray[Any], size: int | None) -> None:
    """Raise ValueError unless `column` has shape (size,), or shape (n,) if `size` is None."""
    if column.ndim != 1 or (size is not None and column.size != size):
        wanted = "(n,)" if size is None else f"({size},), one item per game"
        raise ValueError(f"{name} must have shape {wanted}, not {column.shape}")


def check_masks(masks: Any, actions: int) -> NDArray[np.int8]:
    """Check action masks: int8 (batch, actions), each entry 0 or 1.

    Returns:
        A copy. Use it instead of the masks.

    Raises:
        TypeError: `masks` is not an int8 array.
        ValueError: `masks` has another shape or other values.
    """
    found: NDArray[np.int8] = check_array("masks", masks, np.int8).copy()
    if found.ndim != 2 or found.shape[1] != actions:
        raise ValueError(f"masks must have shape (batch, {actions}), not {found.shape}")
    if found.size and (found.view(np.uint8) > 1).any():
        raise ValueError("masks must contain only 0 and 1")
    return found
