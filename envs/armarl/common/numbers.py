"""Checks of numbers that come from the user: integers, ranges, seeds."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def action_number(action: Any) -> int:
    """Convert an action from a caller to an int in the int64 range.

    A number beyond that range becomes the nearest int64, which is not a valid action id either.

    Raises:
        TypeError: `action` is not an integer (True and 1.0 do not count as integers).
    """
    if type(action) is int or type(action) is np.int64:  # fast path, takes a tenth of the time
        number = int(action)
    elif isinstance(action, bool | np.bool_):
        raise TypeError(f"an action must be an integer, not {action!r}")
    else:
        try:
            number = operator.index(action)
        except TypeError:
            shown = brief(repr(action), 60)
            raise TypeError(f"an action must be an integer, not {shown}") from None
    return min(max(number, _LOWEST), _HIGHEST)


def is_whole(number: Any) -> bool:
    """Return whether `number` is an integer. True and 1.0 do not count as integers."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def whole_number(name: str, number: Any, low: int, high: int) -> int:
    """Convert a number from the user to an int and check its range.

    Raises:
        TypeError: `number` is not an integer (True and 1.0 do not count as integers).
        ValueError: `number` is below `low` or above `high`.
    """
    if not is_whole(number):
        raise TypeError(f"{name} must be an integer, not {number!r}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be from {_range(low, high)}, not {number}")
    return int(number)


def _range(low: int, high: int) -> str:
    if (low, high) == (_LOWEST, _HIGHEST):
        return "-2**63 to 2**63 - 1"
    return f"{low} to {high}"


def seed_numbers(seeds: Any) -> NDArray[np.int64]:
    """Convert one seed or several from the user to an int64 array of shape (n,).

    Raises:
        TypeError: a seed is not an integer.
        ValueError: a seed does not fit in int64, or `seeds` has more than one axis.
    """
    found = np.array(seeds, order="C")  # a copy, as a plain np.ndarray
    if found.dtype == np.int64 and found.ndim == 1:
        return found
    if found.ndim > 1:
        raise ValueError(
            f"seeds must be one integer or an array of shape (n,), not of shape {found.shape}"
        )
    if found.size == 0:
        return np.empty(0, np.int64)
    numbers = [whole_number("a seed", seed, _LOWEST, _HIGHEST) for seed in np.atleast_1d(found)]
    return np.array(numbers, np.int64)


MOST_SEED = 2**63 - 1
