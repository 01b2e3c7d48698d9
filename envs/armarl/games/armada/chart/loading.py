"""The chart of Armada: territories, sea squares and their borders, read from a file and checked.

A chart file is text in up to three parts; `#` begins a comment.

- `[map]`: the board as seen from above, one character per cell, all rows equally long. It is
  stretched over the square board; characters being about twice as tall as wide, 56 columns by
  28 rows look right in an editor, a cell being 1 by 2 cm. A letter or digit is land, the symbol of
  one territory. Any other character is sea: cells of the same mark that touch along an edge are
  one sea square, so that four or five marks are enough. Sea squares are named s1, s2, … in reading
  order of their first cells.
- `[territories]`: a line each, `symbol name lair island`, then `city` or `post Centre` (North, …)
  where there is one. The lair is a colour or `central`. The order here is that of ADA-13.
- `[borders]`: corrections. Places whose cells share an edge border on each other; `join s3 s9` adds
  a border, `part s3 s9` removes one.

The same may come as the mapping of `Chart.as_dict`, or as a JSON file of it, without a map.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from armarl.games.armada.chart.checks import Draft, check_name, check_sizes, shortened
from armarl.games.armada.chart.geography import (
    CENTRAL,
    CITIES,
    COLOURS,
    ISLANDS,
    POSTS,
    TERRITORIES_OF,
    Chart,
    ChartError,
    Territory,
)

__all__ = [
    "CENTRAL",
    "CITIES",
    "COLOURS",
    "ISLANDS",
    "POSTS",
    "TERRITORIES_OF",
    "Chart",
    "ChartError",
    "Territory",
    "load_chart",
]

MAX_BYTES = 2**20  # of a chart file
MAX_CELLS = 2**16  # of a map
STANDARD = Path(__file__).with_name("charts") / "standard.txt"

Lines = list[tuple[int, str]]  # numbered from 1 in the file


def load_chart(source: str | Path | Mapping[str, Any] | Chart | None = None) -> Chart:
    """Read and check a chart.

    Args:
        source: None for ours; the path of a chart file or of a `.json` file; the text of a chart
            file (a string of several lines); or a mapping as `Chart.as_dict` gives it.

    Raises:
        ChartError: it breaks ADA-1 to ADA-4 or cannot be read; says what is wrong and where.
        OSError: there is no such file.
    """
    if source is None:
        return _standard()
    if isinstance(source, Chart):
        return source
    if isinstance(source, Mapping):
        return _read_mapping(source).checked()
    if isinstance(source, str) and "\n" in source:
        return _read_text(source).checked()
    if not isinstance(source, str | Path):
        raise ChartError(f"a chart is a file, its text or a mapping, not {shortened(source)}")
    path = Path(source)
    text = _text_of(path)
    try:
        draft = _read_json(text) if path.suffix == ".json" else _read_text(text)
        return draft.checked()
    except ChartError as error:
        raise ChartError(f"{path}: {error}") from error


def content_only(source: Any) -> Any:
    """What a file says that its chart is, if that is a chart's content and opens no other file.

    Raises:
        ChartError: it is anything but None, a mapping or the text of a chart file.
    """
    if (
        source is None
        or isinstance(source, Mapping)
        or (isinstance(source, str) and "\n" in source)
    ):
        return source
    raise ChartError(f"a file holds the content of its chart, not {shortened(source)}")


def _text_of(path: Path) -> str:
    """The text of a chart file, which is a regular file and no longer than a chart can be.

    Raises:
        ChartError: it is none, or no text.
        OSError: there is no such file.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise type(error)(
            f"chart names the file {shortened(str(path))}: {error.strerror}; a chart is a chart "
            "file, its text or a mapping, or None for ours"
        ) from error
    except ValueError as error:  # a null character
        raise ChartError(f"there can be no file {shortened(str(path))}: {error}") from error
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
        raise ChartError(f"{path} is no file of at most {MAX_BYTES} bytes")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ChartError(f"{path} is no text file in UTF-8: {error}") from error


@cache
def _standard() -> Chart:
    return load_chart(STANDARD)


# --- a mapping -----------------------------------------------------------------------------------


def _read_json(text: str) -> Draft:
    try:
        return _read_mapping(json.loads(text))
    except (ValueError, RecursionError) as error:  # no JSON, thousands of digits or of brackets
        raise ChartError(f"this is no JSON that a chart may have: {error}") from error


def _read_mapping(source: Any) -> Draft:
    """Read the form of `Chart.as_dict`."""
    if not isinstance(source, Mapping):
        raise ChartError(f"a chart is a mapping, not {shortened(source)}")
    for key in ("territories", "sea", "borders"):
        if not isinstance(source.get(key), list | tuple):
            raise ChartError(
                f"a chart has the lists territories, sea and borders; {key} is not one"
            )
    check_sizes(*(len(source[key]) for key in ("territories", "sea", "borders")))
    draft = Draft()
    for i, entry in enumerate(source["territories"]):
        draft.territories.append((_territory_of(entry, f"territories[{i}]"), f"territories[{i}]"))
    for i, name in enumerate(source["sea"]):
        if not isinstance(name, str):
            raise ChartError(f"sea[{i}]: a sea square is a name, not {shortened(name)}")
        draft.sea.append((name, f"sea[{i}]"))
    for i, border in enumerate(source["borders"]):
        match border:
            case [str(a), str(b)]:
                draft.add_border(a, b, f"borders[{i}]")
            case _:
                raise ChartError(
                    f"borders[{i}]: a border is a pair of names, not {shortened(border)}"
                )
    return draft


def _territory_of(entry: Any, where: str) -> Territory:
    match entry:
        case {"name": str(), "lair": str(), "island": str()} if not (
            set(entry) - {"name", "lair", "island", "city", "post"}
        ):
            territory = Territory(**entry)
        case _:
            raise ChartError(
                f"{where}: a territory has name, lair and island, not {shortened(entry)}"
            )
    if not isinstance(territory.city, bool):
        raise ChartError(f"{where}: city is true or false, not {shortened(territory.city)}")
    return territory


# --- a chart file --------------------------------------------------------------------------------


def _read_text(text: str) -> Draft:
    """Read a chart file."""
    parts = _parts(text)
    draft = Draft(text=text)
    name_of: dict[str, str] = {}
    check_sizes(len(parts["territories"]), 0, 0)
    for number, line in parts["territories"]:
        symbol, territory = _territory_in(line, number)
        if symbol in name_of:
            taken = f"the symbol {symbol} of {territory.name} is taken by {name_of[symbol]}"
            raise ChartError(f"line {number}: {taken}")
        name_of[symbol] = territory.name
        draft.territories.append((territory, f"line {number}"))
    _read_map(parts["map"], name_of, draft)
    check_sizes(len(draft.territories), len(draft.sea), len(parts["borders"]))
    for number, line in parts["borders"]:
        _correct_border(line, number, draft)
    return draft


def _parts(text: str) -> dict[str, Lines]:
    """The lines of the file's parts, without comments and empty lines."""
    parts: dict[str, Lines] = {"map": [], "territories": [], "borders": []}
    part = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line in ("[map]", "[territories]", "[borders]"):
            part = line[1:-1]
        elif line and part is None:
            raise ChartError(
                f"line {number}: {shortened(line)} stands before [map] or [territories]"
            )
        elif line:
            parts[str(part)].append((number, line))
    for name in ("map", "territories"):
        if not parts[name]:
            raise ChartError(f"the chart has no [{name}]")
    return parts


def _territory_in(line: str, number: int) -> tuple[str, Territory]:
    """The symbol and the territory of a line `symbol name lair island [city | post NAME]`."""
    match line.split():
        case [symbol, name, lair, island]:
            territory = Territory(name, lair, island)
        case [symbol, name, lair, island, "city"]:
            territory = Territory(name, lair, island, city=True)
        case [symbol, name, lair, island, "post", post]:
            territory = Territory(name, lair, island, post=post)
        case _:
            form = "`symbol name lair island`, with `city` or `post NAME`"
            raise ChartError(f"line {number}: {shortened(line)} is not {form}")
    check_name(name, f"line {number}")
    if len(symbol) != 1 or not symbol.isalnum():
        what = f"the symbol of {name} must be one letter or digit, not {shortened(symbol)}"
        raise ChartError(f"line {number}: {what}")
    return symbol, territory


def _read_map(lines: Lines, name_of: dict[str, str], draft: Draft) -> None:
    """Name the map's cells, and find sea squares and borders."""
    rows = [row for _, row in lines]
    if sum(map(len, rows)) > MAX_CELLS:
        raise ChartError(f"the map has more than {MAX_CELLS} cells")
    for number, row in lines:
        if len(row) != len(rows[0]):
            widths = f"this row of the map has {len(row)} cells, the first has {len(rows[0])}"
            raise ChartError(f"line {number}: {widths}")
    cells = [[""] * len(rows[0]) for _ in rows]
    found: dict[str, str] = {}
    for y, x, mark in _cells(rows):
        if cells[y][x]:
            continue
        where = f"line {lines[y][0]}, column {x + 1}"
        if not mark.isalnum():
            name = f"s{len(draft.sea) + 1}"
            check_sizes(len(draft.territories), len(draft.sea) + 1, 0)
            draft.sea.append((name, where))
        elif mark not in name_of:
            raise ChartError(f"{where}: no territory has the symbol {mark!r}")
        elif (name := name_of[mark]) in found:
            raise ChartError(f"{where}: {name} is in pieces; another begins at {found[name]}")
        found[name] = where
        _flood(rows, cells, y, x, name)
    for territory, where in draft.territories:
        if territory.name not in found:
            raise ChartError(f"{where}: {territory.name} is nowhere on the map")
    draft.cells = cells
    for y, x, _ in _cells(rows):
        for v, u in ((y, x + 1), (y + 1, x)):
            if v < len(cells) and u < len(cells[v]) and cells[v][u] != cells[y][x]:
                draft.add_border(cells[y][x], cells[v][u], f"line {lines[y][0]}, column {x + 1}")


def _cells(rows: list[str]) -> Iterator[tuple[int, int, str]]:
    """Row, column and mark of every cell, in reading order."""
    return ((y, x, mark) for y, row in enumerate(rows) for x, mark in enumerate(row))


def _flood(rows: list[str], cells: list[list[str]], y: int, x: int, name: str) -> None:
    """Name the cells that hang together with (y, x) and bear its mark."""
    mark, frontier = rows[y][x], [(y, x)]
    while frontier:
        y, x = frontier.pop()
        if 0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == mark and not cells[y][x]:
            cells[y][x] = name
            frontier += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]


def _correct_border(line: str, number: int, draft: Draft) -> None:
    match line.split():
        case ["join", a, b]:
            draft.add_border(a, b, f"line {number}")
        case ["part", a, b]:
            if not draft.remove_border(a, b):
                places = f"{shortened(a)} and {shortened(b)}"
                raise ChartError(f"line {number}: {places} have no border to part")
        case _:
            raise ChartError(
                f"line {number}: {shortened(line)} is neither `join A B` nor `part A B`"
            )
