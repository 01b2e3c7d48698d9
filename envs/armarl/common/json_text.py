"""JSON from files of others: one value for each key, and no numbers that JSON lacks.

Python's reader keeps the last of several values of a key and takes NaN for a number. A reader of
another program may show another value, or fail.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def read_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: the text is not JSON, a key appears twice, or a number is not finite.
        RecursionError: it is nested too deeply.

    Example:
        >>> read_json('{"a": 1}')
        {'a': 1}
        >>> read_json('{"a": 1, "a": 2}')
        Traceback (most recent call last):
        ...
        ValueError: the key 'a' appears twice
    """
    return json.loads(
        text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite
    )


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values are written alike. Unlike ==, this tells 0 from 0.0 and false."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} appears twice")
        found[key] = value
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"{digits[:60]} is too large for a number")
    return number
