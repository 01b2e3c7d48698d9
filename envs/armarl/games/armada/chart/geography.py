"""What a chart of Armada is: territories, sea squares and borders (ADA-1 to ADA-4)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

COLOURS = ("green", "raspberry", "blue", "orange")  # in play order, ADA-9
CENTRAL = "central"
POSTS = ("Centre", "North", "South", "East", "West")  # ADA-2

TERRITORIES_OF = {**dict.fromkeys(COLOURS, 7), CENTRAL: 24}  # ADA-1
ISLANDS = 3  # of every lair, and of the central group
CITIES = 3  # of every lair, ADA-2

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
