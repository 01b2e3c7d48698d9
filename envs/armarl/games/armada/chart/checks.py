"""The unchecked draft of a chart, and the checks that turn it into a `Chart` (ADA-1 to ADA-5)."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from armarl.common.messages import brief
from armarl.games.armada.chart.geography import (
    CENTRAL,
    CITIES,
    COLOURS,
    ISLANDS,
    MOST_BORDERS,
    MOST_LAUNCHES,
    MOST_SQUARES,
    POSTS,
    TERRITORIES_OF,
    Chart,
    ChartError,
    Territory,
)

LAIRS = (*COLOURS, CENTRAL)
# Maximum numbers of items in a chart. `check_sizes` refuses only lists that are more than TIMES
# times as long, because borders may be listed twice, and later checks have better messages.
MOST = {
    "territories": sum(TERRITORIES_OF.values()),
    "sea squares": MOST_SQUARES,
    "borders": MOST_BORDERS,
}
TIMES = 20
MAX_NAME = 40  # maximum length of a name in characters
_MARKUP = frozenset('<>&"()')  # not allowed in names, because names are part of SVG pictures


def shortened(value: Any) -> str:
    """Return the repr of a value for a message, shortened to MAX_NAME characters."""
    try:
        text = reprlib.repr(value)
    except ValueError:  # integers with thousands of digits, before Python 3.13
        text = f"{type(value).__name__} with thousands of digits"
    return text if len(text) <= MAX_NAME else f"{text[:MAX_NAME]}..."


def check_name(name: str, where: str) -> None:
    """Check the name of a place.

    Raises:
        ChartError: the name is not a single printable word of at most MAX_NAME characters, or it
            contains `|`, the separator of game records, or a character that has a meaning in
            pictures.
    """
    if not name or len(name.split()) != 1 or name != name.strip():
        raise ChartError(f"{where}: the name {shortened(name)} must be a single word")
    if len(name) > MAX_NAME or not name.isprintable():
        form = f"at most {MAX_NAME} printable characters"
        raise ChartError(f"{where}: the name {shortened(name)} must be {form}")
    if "|" in name:
        raise ChartError(
            f"{where}: the name {shortened(name)} must not contain |, the separator of game records"
        )
    if _MARKUP.intersection(name):
        signs = " ".join(sorted(_MARKUP))
        raise ChartError(f"{where}: the name {shortened(name)} must not contain any of {signs}")


def check_most(name: str, number: int, most: int) -> None:
    """Raise ChartError if a chart has more than `most` items of a kind."""
    if number > most:
        raise ChartError(f"the chart has {number} {name}; at most {most} are allowed (ADA-5)")


def check_sizes(territories: int, sea: int, borders: int) -> None:
    """Refuse input that is much larger than any chart, before checking anything else.

    Raises:
        ChartError: there are more than TIMES as many territories, sea squares or borders as
            allowed.
    """
    for (name, most), number in zip(MOST.items(), (territories, sea, borders), strict=True):
        if number > TIMES * most:
            check_most(name, number, most)


@dataclass
class Draft:
    """A chart as it was read, before the checks, with the source location of each item."""

    territories: list[tuple[Territory, str]] = field(default_factory=list)
    sea: list[tuple[str, str]] = field(default_factory=list)
    borders: dict[tuple[str, str], str] = field(default_factory=dict)
    cells: list[list[str]] | None = None  # the name of the place at each cell of the map
    text: str | None = None  # the text of the chart file

    def add_border(self, a: str, b: str, where: str) -> None:
        """Add a border. Adding it again, in either direction, has no effect."""
        self.borders.setdefault((min(a, b), max(a, b)), where)

    def remove_border(self, a: str, b: str) -> bool:
        """Remove a border and return whether it existed."""
        return self.borders.pop((min(a, b), max(a, b)), None) is not None

    def checked(self) -> Chart:
        """Return the checked chart.

        Raises:
            ChartError: the chart breaks ADA-1 to ADA-5.
        """
        check_sizes(len(self.territories), len(self.sea), len(self.borders))
        self._check_names()
        self._check_territories()
        for lair in LAIRS:
            self._check_lair(lair)
        self._check_posts()
        self._check_borders()
        self._check_islands()
        territories = sorted((t for t, _ in self.territories), key=lambda t: LAIRS.index(t.lair))
        names = [t.name for t in territories] + [name for name, _ in self.sea]
        number = {name: i for i, name in enumerate(names)}
        pairs = sorted(sorted((number[a], number[b])) for a, b in self.borders)
        raster = None
        if self.cells:
            raster = tuple(tuple(number[name] for name in row) for row in self.cells)
        chart = Chart(
            tuple(territories),
            tuple(names[len(territories) :]),
            tuple((names[a], names[b]) for a, b in pairs),
            raster,
            self.text,
        )
        check_most("sea squares", len(chart.sea), MOST_SQUARES)
        check_most("borders", len(chart.borders), MOST_BORDERS)
        ways = sum(len(chart.coast(place)) for lair in chart.cities for place in lair)
        check_most("launches (a city and a sea square next to it)", ways, MOST_LAUNCHES)
        return chart

    def _check_territories(self) -> None:
        for t, where in self.territories:
            if len(t.island) > MAX_NAME or not t.island.isprintable():
                raise ChartError(
                    f"{where}: the island of {t.name} must have a printable name of at most "
                    f"{MAX_NAME} characters"
                )
            if t.lair not in TERRITORIES_OF:
                known = ", ".join(TERRITORIES_OF)
                lair = shortened(t.lair)
                raise ChartError(f"{where}: {t.name} is in lair {lair}; choose from {known}")
            if t.city and t.lair == CENTRAL:
                raise ChartError(f"{where}: city {t.name} must be in a lair (ADA-2)")
            if t.post is not None and t.post not in POSTS:
                raise ChartError(
                    f"{where}: {t.name} has the post {shortened(t.post)}; "
                    f"choose from {', '.join(POSTS)}"
                )
            if t.post is not None and t.lair != CENTRAL:
                raise ChartError(
                    f"{where}: post {t.post} is on {t.name} of the {t.lair} lair; posts must be in "
                    "the central group (ADA-2)"
                )

    def _check_names(self) -> None:
        first: dict[str, str] = {}
        for name, where in [(t.name, where) for t, where in self.territories] + self.sea:
            check_name(name, where)
            if name in first:
                raise ChartError(f"{where}: the name {name} is used twice, first at {first[name]}")
            first[name] = where
        if not self.sea:
            raise ChartError("the chart has no sea square (ADA-3)")

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
                    f"{where}: {t.name} of {t.lair} is on {t.island}, an island of {group}; "
                    "an island must not be shared (ADA-1)"
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
                    f"{where}: post {t.post} is on {t.name} and on {places[t.post]}; "
                    "each must be on exactly one territory (ADA-2)"
                )
            if t.post is not None:
                places[t.post] = t.name
        if missing := [post for post in POSTS if post not in places]:
            raise ChartError(f"no territory has these posts: {', '.join(missing)} (ADA-2)")

    def _check_borders(self) -> None:
        island = {t.name: t.island for t, _ in self.territories}
        known = set(island) | {name for name, _ in self.sea}
        for (a, b), where in self.borders.items():
            for name in (a, b):
                if name not in known:
                    border = f"{brief(a, MAX_NAME)} {brief(b, MAX_NAME)}"
                    wrong = shortened(name)
                    raise ChartError(f"{where}: border {border}: unknown place {wrong}")
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
                raise ChartError(f"{where}: {name} has no border")

    def _check_islands(self) -> None:
        members: dict[str, list[str]] = {}
        for t, _ in self.territories:
            members.setdefault(t.island, []).append(t.name)
        for island, names in members.items():
            reached = _reached(names[0], names, self.borders)
            if cut_off := [name for name in names if name not in reached]:
                raise ChartError(
                    f"island {island} is in pieces: no path over land leads from {names[0]} to "
                    f"{', '.join(cut_off)} (ADA-1)"
                )


def _reached(start: str, names: Iterable[str], borders: Iterable[tuple[str, str]]) -> set[str]:
    """Return the places that can be reached from `start` through places in `names` only."""
    allowed, reached, frontier = set(names), {start}, [start]
    links = [border for border in borders if allowed.issuperset(border)]
    while frontier:
        place = frontier.pop()
        beside = {name for border in links if place in border for name in border} - reached
        reached |= beside
        frontier.extend(beside)
    return reached
