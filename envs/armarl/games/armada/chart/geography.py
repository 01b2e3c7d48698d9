"""The chart of Armada as data: territories, sea squares and borders (ADA-1 to ADA-5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

COLOURS = ("green", "raspberry", "blue", "orange")  # in play order, ADA-9
CENTRAL = "central"
POSTS = ("Centre", "North", "South", "East", "West")  # ADA-2

TERRITORIES_OF = {**dict.fromkeys(COLOURS, 7), CENTRAL: 24}  # ADA-1
ISLANDS = 3  # in every lair and in the central group
CITIES = 3  # in every lair, ADA-2
# Limits of a chart (ADA-5). They follow from the size of a state.
MOST_SQUARES = 64  # so that a set of squares fits in a 64-bit integer
MOST_BORDERS = 380
MOST_LAUNCHES = 127  # so that a signed byte can count the launches

Raster = tuple[tuple[int, ...], ...]


class ChartError(ValueError):
    """Raised for a chart that breaks ADA-1 to ADA-5 or cannot be read.

    The message says what is wrong and where.
    """


@dataclass(frozen=True)
class Territory:
    """A territory of the chart.

    Attributes:
        name: the name of the territory.
        lair: a colour or "central".
        island: the name of its island.
        city: whether it has a city.
        post: the name of its trading post, one of POSTS, or None.

    Example:
        >>> from armarl.games.armada.chart.loading import load_chart
        >>> load_chart().territories[3]
        Territory(name='G4', lair='green', island='Fern', city=True, post=None)
    """

    name: str
    lair: str
    island: str
    city: bool = False
    post: str | None = None


@dataclass(frozen=True)
class Chart:
    """A chart. `load_chart` makes charts and checks them.

    Two charts are equal if their territories, sea squares and borders are equal. The map and the
    text are not compared.

    Attributes:
        territories: the 52 territories: lairs in play order, then the central group.
        sea: names of the sea squares.
        borders: each pair of contiguous places once (ADA-4), in the order of their place numbers.
        raster: place number of each cell of the map, row by row. None for a chart without a map.
        text: text of the chart file. None for a chart read from a mapping.

    Example:
        >>> from armarl.games.armada.chart.loading import load_chart
        >>> chart = load_chart()
        >>> [chart.places[place] for place in chart.neighbours[chart.numbers["G1"]]]
        ['G2', 'G3', 'G4', 's1']
        >>> sorted(chart.as_dict())
        ['borders', 'sea', 'territories']
    """

    territories: tuple[Territory, ...]
    sea: tuple[str, ...]
    borders: tuple[tuple[str, str], ...]
    raster: Raster | None = field(default=None, compare=False, repr=False)
    text: str | None = field(default=None, compare=False, repr=False)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Names of all places, territories first. A place's number is its index here."""
        return tuple(t.name for t in self.territories) + self.sea

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of a place, by its name."""
        return {name: number for number, name in enumerate(self.places)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the contiguous places of each place, ascending."""
        contiguous: list[set[int]] = [set() for _ in self.places]
        for a, b in self.borders:
            contiguous[self.numbers[a]].add(self.numbers[b])
            contiguous[self.numbers[b]].add(self.numbers[a])
        return tuple(tuple(sorted(places)) for places in contiguous)

    @cached_property
    def cities(self) -> tuple[tuple[int, ...], ...]:
        """Place numbers of the cities of each lair, the lairs in play order."""
        return tuple(
            tuple(place for place, t in enumerate(self.territories) if t.city and t.lair == colour)
            for colour in COLOURS
        )

    @cached_property
    def farthest(self) -> tuple[int, ...]:
        """ADA-12: for each lair, in play order, the lair that is farthest from it.

        The distance between two lairs is the sum of the lengths of the shortest paths from each
        city of one to each city of the other. If several lairs are farthest, the next but one in
        play order is chosen if it is one of them, else the next one.
        """
        ways = {city: self.ways_from(city) for lair in self.cities for city in lair}

        def apart(lair: int, other: int) -> int:
            return sum(ways[city][at] for city in self.cities[lair] for at in self.cities[other])

        lairs = range(len(COLOURS))
        others = [[(lair + k) % len(lairs) for k in (2, 1, 3)] for lair in lairs]
        return tuple(max(others[lair], key=partial(apart, lair)) for lair in lairs)

    def ways_from(self, start: int) -> list[int]:
        """Count the borders crossed on the shortest path to each place, over land and sea.

        The distance of an unreachable place is the number of places.
        """
        far = len(self.places)
        ways, frontier = [far] * far, [start]
        ways[start] = 0
        for place in frontier:  # the list grows during the loop
            for near in self.neighbours[place]:
                if ways[near] == far:
                    ways[near] = ways[place] + 1
                    frontier.append(near)
        return ways

    def is_sea(self, place: int) -> bool:
        """Return whether a place number is that of a sea square."""
        return place >= len(self.territories)

    def coast(self, place: int) -> tuple[int, ...]:
        """Return the sea squares next to a territory, or the territories next to a sea square."""
        sea = self.is_sea(place)
        return tuple(p for p in self.neighbours[place] if self.is_sea(p) != sea)

    def as_dict(self) -> dict[str, Any]:
        """Return the chart as plain JSON types. `load_chart` reads it back."""
        return {
            "territories": [asdict(territory) for territory in self.territories],
            "sea": list(self.sea),
            "borders": [list(border) for border in self.borders],
        }
