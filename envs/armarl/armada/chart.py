"""The chart of Armada: territories, sea squares and their borders, read from a file and checked.

A chart file is text in up to three parts. `#` begins a comment outside the map.

- `[map]`: the board as seen from above, one character per cell, all rows equally long. It is
  stretched over the square board; characters being about twice as tall as wide, 56 columns by
  28 rows look right in an editor, a cell being 1 by 2 cm. A letter or digit is land, the symbol of
  one territory. Any other character but `#` is sea: cells of the same mark that touch along an edge
  are one sea square, so that four or five marks are enough. Sea squares are named s1, s2, … in
  reading order of their first cells.
- `[territories]`: a line each, `symbol name lair island`, then `city` or `post Centre` (North, …)
  where there is one. The lair is a colour or `central`. The order here is that of ADA-13.
- `[borders]`: corrections. Places whose cells share an edge border on each other; `join s3 s9` adds
  a border, `part s3 s9` removes one.

The same may come as the mapping of `Chart.as_dict`, or as a JSON file of it, without a map.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

COLOURS = ("green", "raspberry", "blue", "orange")  # in play order, ADA-9
CENTRAL = "central"
POSTS = ("Centre", "North", "South", "East", "West")  # ADA-2

TERRITORIES_OF = {**dict.fromkeys(COLOURS, 7), CENTRAL: 24}  # ADA-1
ISLANDS = 3  # of every lair, and of the central group
CITIES = 3  # of every lair, ADA-2

STANDARD = Path(__file__).with_name("charts") / "standard.txt"

Raster = tuple[tuple[int, ...], ...]


class ChartError(ValueError):
    """A chart that breaks ADA-1 to ADA-4; the message says what is wrong and where."""


@dataclass(frozen=True)
class Territory:
    """A territory; `lair` is a colour or "central", `post` one of POSTS or None."""

    name: str
    lair: str
    island: str
    city: bool = False
    post: str | None = None


@dataclass(frozen=True)
class Chart:
    """A checked chart, made by `load_chart`. Charts are equal when they play the same.

    Attributes:
        territories: the 52 territories, lairs in play order, then the central group.
        sea: names of the sea squares.
        borders: each pair of contiguous places once (ADA-4), in order of their numbers.
        raster: place number per cell of the map, row by row; None for a chart without a map.
        text: the chart file's text; None likewise.
    """

    territories: tuple[Territory, ...]
    sea: tuple[str, ...]
    borders: tuple[tuple[str, str], ...]
    raster: Raster | None = field(default=None, compare=False, repr=False)
    text: str | None = field(default=None, compare=False, repr=False)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """All names; a place's number is its index here: territories, then sea squares."""
        return tuple(t.name for t in self.territories) + self.sea

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Place number of every name."""
        return {name: number for number, name in enumerate(self.places)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Per place the numbers of its contiguous places, ascending."""
        contiguous: list[set[int]] = [set() for _ in self.places]
        for a, b in self.borders:
            contiguous[self.numbers[a]].add(self.numbers[b])
            contiguous[self.numbers[b]].add(self.numbers[a])
        return tuple(tuple(sorted(places)) for places in contiguous)

    def is_sea(self, place: int) -> bool:
        """Whether a place number is a sea square's."""
        return place >= len(self.territories)

    def coast(self, place: int) -> tuple[int, ...]:
        """The contiguous squares of a territory, or the contiguous territories of a square."""
        sea = self.is_sea(place)
        return tuple(p for p in self.neighbours[place] if self.is_sea(p) != sea)

    def as_dict(self) -> dict[str, Any]:
        """The chart as plain JSON types; `load_chart` reads it back."""
        return {
            "territories": [asdict(territory) for territory in self.territories],
            "sea": list(self.sea),
            "borders": [list(border) for border in self.borders],
        }


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
        return _from_mapping(source).checked()
    if isinstance(source, str) and "\n" in source:
        return _from_text(source).checked()
    text = Path(source).read_text(encoding="utf-8")
    if Path(source).suffix != ".json":
        return _from_text(text).checked()
    try:
        return _from_mapping(json.loads(text)).checked()
    except json.JSONDecodeError as error:
        raise ChartError(f"{source} is no JSON: {error}") from error


@cache
def _standard() -> Chart:
    return _from_text(STANDARD.read_text(encoding="utf-8")).checked()


# --- checking ------------------------------------------------------------------------------------


@dataclass
class _Draft:
    """A chart as it was read, and where in the source each thing stands, for the messages."""

    territories: list[tuple[Territory, str]] = field(default_factory=list)
    sea: list[tuple[str, str]] = field(default_factory=list)
    borders: dict[tuple[str, str], str] = field(default_factory=dict)
    cells: list[list[str]] | None = None  # names, row by row
    text: str | None = None

    def checked(self) -> Chart:
        self._check_territories()
        self._check_names()
        for lair in (*COLOURS, CENTRAL):
            self._check_lair(lair)
        self._check_posts()
        self._check_borders()
        self._check_islands()
        order = (*COLOURS, CENTRAL)
        territories = sorted((t for t, _ in self.territories), key=lambda t: order.index(t.lair))
        chart = Chart(tuple(territories), tuple(name for name, _ in self.sea), ())
        number = chart.numbers.__getitem__
        borders = {tuple(sorted(border, key=number)) for border in self.borders}
        in_order = sorted(borders, key=lambda border: [number(name) for name in border])
        raster = self.cells and tuple(tuple(number(name) for name in row) for row in self.cells)
        return Chart(
            chart.territories,
            chart.sea,
            tuple((a, b) for a, b in in_order),
            raster or None,
            self.text,
        )

    def _check_territories(self) -> None:
        for t, where in self.territories:
            if t.lair not in TERRITORIES_OF:
                known = ", ".join(TERRITORIES_OF)
                raise ChartError(f"{where}: {t.name} is in lair {t.lair!r}; lairs are {known}")
            if t.city and t.lair == CENTRAL:
                raise ChartError(f"{where}: city {t.name} is outside the lairs (ADA-2)")
            if t.post is not None and t.lair != CENTRAL:
                raise ChartError(
                    f"{where}: post {t.post} stands on {t.name} of the {t.lair} lair, outside the "
                    "central group (ADA-2)"
                )
            if t.post is not None and t.post not in POSTS:
                raise ChartError(
                    f"{where}: {t.name} has the post {t.post!r}; posts are {', '.join(POSTS)}"
                )

    def _check_names(self) -> None:
        first: dict[str, str] = {}
        for name, where in [(t.name, where) for t, where in self.territories] + self.sea:
            if not name or len(name.split()) != 1 or name != name.strip():
                raise ChartError(f"{where}: the name {name!r} is not a single word")
            if name in first:
                raise ChartError(f"{where}: the name {name} is used twice, first at {first[name]}")
            first[name] = where
        if not self.sea:
            raise ChartError("there is no sea square (ADA-3)")

    def _check_lair(self, lair: str) -> None:
        there = [(t, where) for t, where in self.territories if t.lair == lair]
        group = f"the {lair} lair" if lair in COLOURS else "the central group"
        listed = ", ".join(t.name for t, _ in there) or "none"
        if len(there) != TERRITORIES_OF[lair]:
            raise ChartError(
                f"{group} has {len(there)} territories ({listed}); "
                f"it must have {TERRITORIES_OF[lair]} (ADA-1)"
            )
        islands = list(dict.fromkeys(t.island for t, _ in there))
        if len(islands) != ISLANDS:
            raise ChartError(
                f"{group} has {len(islands)} islands ({', '.join(islands)}); "
                f"it must have {ISLANDS} (ADA-1)"
            )
        for t, where in self.territories:
            if t.lair != lair and t.island in islands:
                raise ChartError(
                    f"{where}: {t.name} of {t.lair} lies on {t.island}, an island of {group}"
                )
        cities = [t.name for t, _ in there if t.city]
        if lair in COLOURS and len(cities) != CITIES:
            raise ChartError(
                f"{group} has {len(cities)} cities ({', '.join(cities) or 'none'}); "
                f"it must have {CITIES} (ADA-2)"
            )

    def _check_posts(self) -> None:
        places: dict[str, str] = {}
        for t, where in self.territories:
            if t.post in places:
                raise ChartError(
                    f"{where}: post {t.post} stands on {t.name} and on {places[t.post]}; "
                    "there is one of each (ADA-2)"
                )
            if t.post is not None:
                places[t.post] = t.name
        if missing := [post for post in POSTS if post not in places]:
            raise ChartError(f"no territory has the post {', '.join(missing)} (ADA-2)")

    def _check_borders(self) -> None:
        island = {t.name: t.island for t, _ in self.territories}
        known = set(island) | {name for name, _ in self.sea}
        for (a, b), where in self.borders.items():
            for name in (a, b):
                if name not in known:
                    raise ChartError(f"{where}: border {a} {b}: there is no place {name!r}")
            if a == b:
                raise ChartError(f"{where}: {a} has a border with itself")
            if a in island and b in island and island[a] != island[b]:
                raise ChartError(
                    f"{where}: a land border joins {a} on {island[a]} to {b} on {island[b]}; "
                    "no land border joins two islands (ADA-4)"
                )
        bordered = {name for border in self.borders for name in border}
        for name, where in [(t.name, where) for t, where in self.territories] + self.sea:
            if name not in bordered:
                raise ChartError(f"{where}: {name} has no border with any place")

    def _check_islands(self) -> None:
        members: dict[str, list[str]] = {}
        for t, _ in self.territories:
            members.setdefault(t.island, []).append(t.name)
        for island, names in members.items():
            reached = _reached(names[0], names, self.borders)
            if cut_off := [name for name in names if name not in reached]:
                raise ChartError(
                    f"island {island} is in pieces: no land way leads from {names[0]} to "
                    f"{', '.join(cut_off)} (ADA-1)"
                )


def _reached(start: str, names: Iterable[str], borders: Iterable[tuple[str, str]]) -> set[str]:
    """The places among `names` that can be reached from `start` without leaving them."""
    allowed, reached, frontier = set(names), {start}, [start]
    links = [border for border in borders if allowed.issuperset(border)]
    while frontier:
        place = frontier.pop()
        beside = {name for border in links if place in border for name in border} - reached
        reached |= beside
        frontier.extend(beside)
    return reached


# --- reading -------------------------------------------------------------------------------------


def _from_mapping(source: Any) -> _Draft:
    """Read the form of `Chart.as_dict`."""
    if not isinstance(source, Mapping) or not {"territories", "sea", "borders"} <= set(source):
        raise ChartError("a chart as a mapping has the keys territories, sea and borders")
    draft = _Draft()
    for i, entry in enumerate(source["territories"]):
        where = f"territories[{i}]"
        try:
            territory = Territory(**entry)
        except TypeError as error:
            raise ChartError(
                f"{where}: a territory has name, lair, island, city and post, not {entry!r}"
            ) from error
        words = (territory.name, territory.lair, territory.island, territory.post or "")
        if not all(isinstance(word, str) for word in words) or territory.city not in (True, False):
            raise ChartError(f"{where}: names are strings and city is true or false, not {entry!r}")
        draft.territories.append((territory, where))
    for i, name in enumerate(source["sea"]):
        if not isinstance(name, str):
            raise ChartError(f"sea[{i}]: a name is a string, not {name!r}")
        draft.sea.append((name, f"sea[{i}]"))
    for i, border in enumerate(source["borders"]):
        if isinstance(border, str) or len(border) != 2:
            raise ChartError(f"borders[{i}]: a border is a pair of names, not {border!r}")
        draft.borders.setdefault((border[0], border[1]), f"borders[{i}]")
    return draft


def _from_text(text: str) -> _Draft:
    """Read a chart file."""
    parts = _parts(text)
    draft = _Draft(text=text)
    name_of: dict[str, str] = {}
    for number, line in parts["territories"]:
        symbol, territory = _territory(line, f"line {number}")
        if symbol in name_of:
            raise ChartError(
                f"line {number}: the symbol {symbol} of {territory.name} is taken by "
                f"{name_of[symbol]}"
            )
        name_of[symbol] = territory.name
        draft.territories.append((territory, f"line {number}"))
    draft.cells = _name_cells(parts["map"], name_of, draft)
    _derive_borders(parts["map"][0][0], draft)
    _correct_borders(parts["borders"], draft)
    return draft


def _parts(text: str) -> dict[str, list[tuple[int, str]]]:
    """The lines of the file's parts, numbered, without comments."""
    parts: dict[str, list[tuple[int, str]]] = {"map": [], "territories": [], "borders": []}
    part = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if line.startswith("[") and line.endswith("]") and line[1:-1] in parts:
            part = line[1:-1]
        elif line and part is None:
            raise ChartError(f"line {number}: {line!r} stands before the first [part]")
        elif line:
            parts[str(part)].append((number, line))
    for name in ("map", "territories"):
        if not parts[name]:
            raise ChartError(f"the chart has no [{name}]")
    return parts


def _territory(line: str, where: str) -> tuple[str, Territory]:
    """The symbol and the territory of a line `symbol name lair island [city | post NAME]`."""
    match line.split():
        case [symbol, name, lair, island]:
            territory = Territory(name, lair, island)
        case [symbol, name, lair, island, "city"]:
            territory = Territory(name, lair, island, city=True)
        case [symbol, name, lair, island, "post", post]:
            territory = Territory(name, lair, island, post=post)
        case _:
            raise ChartError(
                f"{where}: {line!r} is not `symbol name lair island`, with `city` or `post NAME`"
            )
    if len(symbol) != 1 or not symbol.isalnum():
        raise ChartError(f"{where}: the symbol of {name} must be a letter or digit, not {symbol!r}")
    return symbol, territory


def _name_cells(
    rows: list[tuple[int, str]], name_of: dict[str, str], draft: _Draft
) -> list[list[str]]:
    """The names of the map's cells; the sea squares found on the way go to the draft."""
    width = len(rows[0][1])
    names = [["" for _ in range(width)] for _ in rows]
    for y, (number, row) in enumerate(rows):
        if len(row) != width:
            raise ChartError(
                f"line {number}: this row of the map has {len(row)} cells, the first has {width}"
            )
        for x, symbol in enumerate(row):
            if names[y][x]:
                continue
            if symbol.isalnum():
                if symbol not in name_of:
                    raise ChartError(f"line {number}, column {x + 1}: no territory is {symbol!r}")
                names[y][x] = name_of[symbol]
            else:
                name = f"s{len(draft.sea) + 1}"
                draft.sea.append((name, f"line {number}, column {x + 1}"))
                _flood([row for _, row in rows], names, y, x, name)
    found = Counter(name for row in names for name in row)
    for territory, where in draft.territories:
        if not found[territory.name]:
            raise ChartError(f"{where}: {territory.name} is nowhere on the map")
    return names


def _flood(rows: list[str], names: list[list[str]], y: int, x: int, name: str) -> None:
    """Name the cells that hang together with (y, x) and bear its mark."""
    mark, frontier = rows[y][x], [(y, x)]
    while frontier:
        y, x = frontier.pop()
        if 0 <= y < len(rows) and 0 <= x < len(rows[y]) and rows[y][x] == mark and not names[y][x]:
            names[y][x] = name
            frontier += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]


def _derive_borders(first_line: int, draft: _Draft) -> None:
    """Every two places whose cells share an edge have a border."""
    cells = draft.cells or []
    for y, row in enumerate(cells):
        for x, name in enumerate(row):
            right = row[x + 1 : x + 2]
            below = cells[y + 1][x : x + 1] if y + 1 < len(cells) else []
            for other in right + below:
                if other != name:
                    pair = (min(name, other), max(name, other))
                    draft.borders.setdefault(pair, f"line {first_line + y}, column {x + 1}")


def _correct_borders(lines: list[tuple[int, str]], draft: _Draft) -> None:
    """Add and remove the borders that the file says."""
    for number, line in lines:
        match line.split():
            case ["join", a, b]:
                draft.borders.setdefault((min(a, b), max(a, b)), f"line {number}")
            case ["part", a, b]:
                if draft.borders.pop((min(a, b), max(a, b)), None) is None:
                    raise ChartError(f"line {number}: {a} and {b} have no border to part")
            case _:
                raise ChartError(f"line {number}: {line!r} is neither `join A B` nor `part A B`")
