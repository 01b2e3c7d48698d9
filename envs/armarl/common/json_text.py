"""JSON from strangers, such as the metadata of a policy: bounded in size and depth.

A small file can hold JSON that grows when it is used. Indented, a list that is nested 300 deep
takes hundreds of times its size. So what is read here is bounded in every direction.
"""

from __future__ import annotations

import json
from typing import Any

DEEPEST = 16  # levels of nesting; ours have 5
MOST_VALUES = 1 << 17  # values, each list and each dictionary counted too; ours have some hundred
LONGEST_TEXT = 1 << 17  # characters of one text; the map of a chart has at most half as many
LONGEST_KEY = 1 << 10  # characters


def parse_json(text: str) -> Any:
    """Parse JSON and check that it is within the bounds above.

    Raises:
        ValueError: it is not JSON, or is beyond a bound.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    check_bounds(value)
    return value


def check_bounds(value: Any) -> None:
    """Check that a JSON value is within the bounds above.

    Raises:
        ValueError: it is beyond a bound.
    """
    level, seen = [value], 0
    for _ in range(DEEPEST + 1):
        seen += len(level)
        if seen > MOST_VALUES:
            raise ValueError(f"it holds more than {MOST_VALUES:,} values")
        below: list[Any] = []
        for one in level:
            if isinstance(one, str) and len(one) > LONGEST_TEXT:
                raise ValueError(f"a text in it is longer than {LONGEST_TEXT:,} characters")
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


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} levels deep"
