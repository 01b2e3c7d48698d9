"""Reading and checking of Armada's charts: territories, sea squares and borders.

A chart file is text in up to three parts. `#` begins a comment.

- `[map]`: the board seen from above, one character per cell, all rows equally long. The map is
  stretched over the square board. Characters are about twice as tall as wide, so 56 columns by
  28 rows look right in an editor; each cell is then 1 by 2 cm. A letter or digit is land and is the
  symbol of one territory. Any other character is sea. Cells with the same sea character that touch
  along an edge form one sea square, so four or five characters are enough. Sea squares are named
  s1, s2, … in reading order of their first cells.
- `[territories]`: one line per territory, `symbol name lair island`, followed by `city` or
  `post Centre` (North, …) if it has one. The lair is a colour or `central`. Bands are spread over a
  lair in the order of the lines (ADA-13).
- `[borders]`: corrections to the borders. Places whose cells share an edge have a border;
  `join s3 s9` adds a border and `part s3 s9` removes one.

A chart may also be a mapping as `Chart.as_dict` returns it, or a JSON file of that mapping. Such a
chart has no map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from armarl.common.files import read_text
from armarl.common.json_text import read_json
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

MAX_BYTES = 2**20  # maximum size of a chart file
MAX_CELLS = 2**16  # maximum number of cells of a map
STANDARD = Path(__file__).with_name("charts") / "standard.txt"
_FORMS = (
    "a chart must be the path of a chart file, its text, a mapping, the mapping as JSON text, or "
    "None for the standard chart"
)

Lines = list[tuple[int, str]]  # (line number in the file, from 1; text)


def load_chart(source: str | Path | Mapping[str, Any] | Chart | None = None) -> Chart:
    """Read and check a chart.

    Args:
        source: None for the standard chart, the path of a chart file or of a `.json` file, the text
            of a chart file (a string of several lines), a mapping as `Chart.as_dict` returns it,
            the same as JSON text, or a `Chart`. A `Chart` that was changed since it was loaded is
            read like a mapping, so it has no map.

    Raises:
        ChartError: the chart breaks ADA-1 to ADA-5 or cannot be read. The message says what is
            wrong and where.
        OSError: the file does not exist or cannot be read.

    Example:
        >>> from armarl.games.armada.chart.loading import load_chart
        >>> chart = load_chart()
        >>> len(chart.territories), len(chart.sea)
        (52, 48)
        >>> load_chart(chart.as_dict()) == chart
        True
    """
    if source is None:
        return _standard()
    if isinstance(source, Chart):
        if source.text is not None and (read := _read_text(source.text).checked()) == source:
            return read
        return _read_mapping(source.as_dict()).checked()
    if isinstance(source, Mapping):
        return _read_mapping(source).checked()
    if isinstance(source, str):
        if not source.strip():
            raise ChartError(f"the option chart is empty text; {_FORMS}")
        if source.lstrip().startswith("{"):
            return _read_json(source).checked()
        if "\n" in source:
            return _read_text(source).checked()
    if not isinstance(source, str | Path):
        raise ChartError(
            "a chart must be a path, the text of a chart file or a mapping, "
            f"not {shortened(source)}"
        )
    path = Path(source)
    text = _text_of(path)
    try:
        draft = _read_json(text) if path.suffix == ".json" else _read_text(text)
        return draft.checked()
    except ChartError as error:
        raise ChartError(f"{path}: {error}") from error


def _text_of(path: Path) -> str:
    """Read the text of a chart file.

    Raises:
        ChartError: the path is not a regular file or is too large, or the file is not UTF-8 text.
        OSError: the file does not exist or cannot be read.
    """
    try:
        return read_text(path, MAX_BYTES)
    except OSError as error:
        raise type(error)(
            f"cannot read the chart file {shortened(str(path))}: "
            f"{error.strerror or 'there is no such file'}; {_FORMS}"
        ) from error
    except UnicodeDecodeError as error:
        raise ChartError(f"{path} is not a UTF-8 text file: {error}") from error
    except ValueError as error:
        raise ChartError(f"{path} is not a regular file of at most {MAX_BYTES} bytes") from error


@cache
def _standard() -> Chart:
    return load_chart(STANDARD)


# --- a mapping -----------------------------------------------------------------------------------


def _read_json(text: str) -> Draft:
    try:
        return _read_mapping(read_json(text))
    except (ValueError, RecursionError) as error:  # not JSON, or thousands of digits or brackets
        raise ChartError(f"the chart is not valid JSON: {error}") from error


def _read_mapping(source: Any) -> Draft:
    """Read a mapping in the form of `Chart.as_dict`."""
    if not isinstance(source, Mapping):
        raise ChartError(f"a chart must be a mapping, not {shortened(source)}")
    for key in ("territories", "sea", "borders"):
        if not isinstance(source.get(key), list | tuple):
            raise ChartError(
                f"a chart must have the lists territories, sea and borders; {key} is not a list"
            )
    check_sizes(*(len(source[key]) for key in ("territories", "sea", "borders")))
    draft = Draft()
    for i, entry in enumerate(source["territories"]):
        draft.territories.append((_territory_of(entry, f"territories[{i}]"), f"territories[{i}]"))
    for i, name in enumerate(source["sea"]):
        if not isinstance(name, str):
            raise ChartError(f"sea[{i}]: a sea square must be a name, not {shortened(name)}")
        draft.sea.append((name, f"sea[{i}]"))
    for i, border in enumerate(source["borders"]):
        match border:
            case [str(a), str(b)]:
                draft.add_border(a, b, f"borders[{i}]")
            case _:
                raise ChartError(
                    f"borders[{i}]: a border must be a pair of names, not {shortened(border)}"
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
                f"{where}: a territory must have name, lair and island, and may have city and "
                f"post, not {shortened(entry)}"
            )
    if not isinstance(territory.city, bool):
        raise ChartError(f"{where}: city must be true or false, not {shortened(territory.city)}")
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
            taken = f"the symbol {symbol} of {territory.name} is already used by {name_of[symbol]}"
            raise ChartError(f"line {number}: {taken}")
        name_of[symbol] = territory.name
        draft.territories.append((territory, f"line {number}"))
    _read_map(parts["map"], name_of, draft)
    check_sizes(0, 0, len(parts["borders"]))
    for number, line in parts["borders"]:
        _correct_border(line, number, draft)
    return draft


def _parts(text: str) -> dict[str, Lines]:
    """Return the lines of each part of a chart file, without comments and empty lines."""
    parts: dict[str, Lines] = {"map": [], "territories": [], "borders": []}
    part = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line in ("[map]", "[territories]", "[borders]"):
            part = line[1:-1]
        elif line and part is None:
            raise ChartError(
                f"line {number}: {shortened(line)} must come after [map] or [territories]"
            )
        elif line:
            parts[str(part)].append((number, line))
    for name in ("map", "territories"):
        if not parts[name]:
            raise ChartError(f"the chart has no [{name}] part")
    return parts


def _territory_in(line: str, number: int) -> tuple[str, Territory]:
    """Return the symbol and territory of a line `symbol name lair island [city | post NAME]`."""
    match line.split():
        case [symbol, name, lair, island]:
            territory = Territory(name, lair, island)
        case [symbol, name, lair, island, "city"]:
            territory = Territory(name, lair, island, city=True)
        case [symbol, name, lair, island, "post", post]:
            territory = Territory(name, lair, island, post=post)
        case _:
            form = "`symbol name lair island`, optionally followed by `city` or `post NAME`"
            raise ChartError(f"line {number}: {shortened(line)} is not {form}")
    check_name(name, f"line {number}")
    if len(symbol) != 1 or not symbol.isalnum():
        what = f"the symbol of {name} must be one letter or digit, not {shortened(symbol)}"
        raise ChartError(f"line {number}: {what}")
    return symbol, territory


def _read_map(lines: Lines, name_of: dict[str, str], draft: Draft) -> None:
    """Name the cells of the map, and find its sea squares and borders."""
    rows = [row for _, row in lines]
    if sum(map(len, rows)) > MAX_CELLS:
        raise ChartError(f"the map may have at most {MAX_CELLS} cells, not {sum(map(len, rows))}")
    for number, row in lines:
        if len(row) != len(rows[0]):
            widths = f"this row of the map has {len(row)} cells, but the first has {len(rows[0])}"
            raise ChartError(f"line {number}: {widths}")
    cells = [[""] * len(rows[0]) for _ in rows]
    found: dict[str, str] = {}
    for y, x, mark in _cells(rows):
        if cells[y][x]:
            continue
        where = f"line {lines[y][0]}, column {x + 1}"
        if not mark.isalnum():
            name = f"s{len(draft.sea) + 1}"
            draft.sea.append((name, where))
        elif mark not in name_of:
            raise ChartError(f"{where}: no territory has the symbol {mark!r}")
        elif (name := name_of[mark]) in found:
            raise ChartError(
                f"{where}: {name} is in pieces; the first piece begins at {found[name]}"
            )
        found[name] = where
        _flood(rows, cells, y, x, name)
    check_sizes(len(draft.territories), len(draft.sea), 0)
    for territory, where in draft.territories:
        if territory.name not in found:
            raise ChartError(f"{where}: {territory.name} is not on the map")
    draft.cells = cells
    for y, x, _ in _cells(rows):
        for v, u in ((y, x + 1), (y + 1, x)):
            if v < len(cells) and u < len(cells[v]) and cells[v][u] != cells[y][x]:
                draft.add_border(cells[y][x], cells[v][u], f"line {lines[y][0]}, column {x + 1}")


def _cells(rows: list[str]) -> Iterator[tuple[int, int, str]]:
    """Return an iterator over (row, column, mark) of every cell, in reading order."""
    return ((y, x, mark) for y, row in enumerate(rows) for x, mark in enumerate(row))


def _flood(rows: list[str], cells: list[list[str]], y: int, x: int, name: str) -> None:
    """Name all cells connected to (y, x) that have the same mark."""
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
                raise ChartError(f"line {number}: {places} have no border to remove")
        case _:
            raise ChartError(f"line {number}: {shortened(line)} must be `join A B` or `part A B`")
