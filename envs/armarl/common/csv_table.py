"""Tables as CSV, which people open in spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their wide forms
_PARTS = re.compile(r"[^;\t\r\n]+|[;\t\r\n]").findall  # a spreadsheet may split at these marks


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV that holds no formulas for a spreadsheet to compute.

    Text that begins like a formula gets an apostrophe before it, as is usual in spreadsheets. So
    does a part of a text after a mark at which some spreadsheets begin another cell. Such text may
    be the name of a player, of a file or of a folder.

    Example:
        >>> csv_text(["player", "Elo"], [["=1+1", -20]])
        "player,Elo\\n'=1+1,-20\\n"
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows(map(_cell, row) for row in rows)
    return table.getvalue()


def _first(text: str) -> str:
    """Return the first visible letter. A spreadsheet may drop the characters before it."""
    return next((one for one in text if one.isprintable() and not one.isspace()), "")


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return "".join(f"'{part}" if _first(part) in _FORMULA else part for part in _PARTS(value))
