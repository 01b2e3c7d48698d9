"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

# The first characters of formulas. The last four are the full-width forms of the first four.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_PARTS = re.compile(r"[^;\t\r\n]+|[;\t\r\n]").findall  # a spreadsheet may split text at ; \t \r \n


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV without formulas that a spreadsheet would compute.

    Text that begins like a formula gets an apostrophe before it, as is usual in spreadsheets. Some
    spreadsheets start a new cell after a semicolon, a tab or a line break. If the text after one of
    these characters begins like a formula, it gets an apostrophe too. Names of players, files and
    folders may contain formulas.

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
    """Return the first visible character of a text, or an empty string if there is none.

    A spreadsheet may drop the invisible characters before it.
    """
    return next((one for one in text if one.isprintable() and not one.isspace()), "")


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    with suppress(ValueError):
        float(value)
        return value
    return "".join(f"'{part}" if _first(part) in _FORMULA else part for part in _PARTS(value))
