"""JSON from untrusted sources: one value for each key, finite numbers, bounded size and depth.

If a key appears twice, Python's parser keeps the last value. It also accepts NaN as a number. Other
programs may keep another value, or fail. Besides, a small file can contain JSON that grows when it
is printed: with indentation, a list nested 300 levels deep becomes hundreds of times larger.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEEPEST = 16  # maximum number of nested levels; our files have 5
MOST_VALUES = 1 << 17  # maximum number of values, lists and dictionaries; our files have hundreds
LONGEST_TEXT = 1 << 20  # maximum number of characters of one string; a chart may fill one string
LONGEST_KEY = 1 << 10  # maximum number of characters of one key


def read_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: the text is not JSON, a key appears twice, a number is not finite, or a limit
            of this module is exceeded.

    Example:
        >>> read_json('{"a": 1}')
        {'a': 1}
        >>> read_json('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        ...
        ValueError: the key 'a' appears twice
    """
    # A string may contain these characters too, so the limit here is higher.
    if sum(map(text.count, ",[{")) > MOST_VALUES + LONGEST_TEXT:
        raise ValueError(_too_many())
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError:
        raise ValueError(_too_deep()) from None
    check_bounds(value)
    return value


def check_bounds(value: Any) -> None:
    """Check that a JSON value is within the limits of this module.

    Raises:
        ValueError: the value exceeds a limit.
    """
    level, seen = [value], 0
    for _ in range(DEEPEST + 1):
        seen += len(level)
        if seen > MOST_VALUES:
            raise ValueError(_too_many())
        below: list[Any] = []
        for one in level:
            if isinstance(one, str) and len(one) > LONGEST_TEXT:
                raise ValueError(f"a string in it is longer than {LONGEST_TEXT:,} characters")
            if isinstance(one, dict):
                if any(len(str(key)) > LONGEST_KEY for key in one):
                    raise ValueError(f"a key in it is longer than {LONGEST_KEY:,} characters")
                below += one.values()
            elif isinstance(one, list | tuple):
                below += one
        level = below
        if not level:
            return
    raise ValueError(_too_deep())


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON. Unlike with ==, 0, 0.0 and false differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _too_many() -> str:
    return f"it contains more than {MOST_VALUES:,} values"


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} levels deep"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} appears twice")
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number; numbers must be finite")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"the number {digits[:60]} is too large; it must fit in a float64")
    return number
