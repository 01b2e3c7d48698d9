"""Smooth outlines of a chart's islands and squares, made from the cells of its map.

All lengths are in board units. The board is SIZE x SIZE, and 20 units are one centimetre of the
real board.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from math import hypot

from armarl.games.armada.chart.geography import Chart, Raster

SIZE = 1120.0
ROUNDS = 12  # rounds of smoothing
ROUGHNESS = 0.13  # roughness of coasts, as a fraction of each segment's length
FRAME = -1  # the area outside the map

Corner = tuple[int, int]  # column and row of a corner between cells
Point = tuple[float, float]
Edge = tuple[Corner, Corner]


class Outlines:
    """The smoothed borders of a chart with a map.

    All edges between places are smoothed together, so two neighbours keep a common border. Coasts
    are smoothed without the borders that meet them, so a border does not change a coast's shape.
    """

    def __init__(self, chart: Chart, raster: Raster) -> None:
        self._chart = chart
        self._raster = raster
        self._rows, self._columns = len(raster), len(raster[0])
        self._edges = self._directed_edges()
        self._points = self._smoothed()
        self._inside: dict[int, list[Edge]] = defaultdict(list)
        for edge, (place, _) in self._edges.items():
            self._inside[place].append(edge)
        self._middles: dict[int, Point] = {}

    # --- shapes to draw --------------------------------------------------------------------------

    def coasts(self, island: str) -> list[list[Point]]:
        """Return the closed coastlines of an island, ragged like real coasts."""
        members = {i for i, t in enumerate(self._chart.territories) if t.island == island}
        loops = self._loops(members)
        return [_ragged(self._points[corner] for corner in loop) for loop in loops]

    def area(self, place: int) -> list[list[Point]]:
        """Return the closed outlines of a place."""
        return [[self._points[c] for c in loop] for loop in self._loops({place})]

    def borders(self, sea: bool) -> list[list[Point]]:
        """Return the lines between sea squares (if `sea`), or the lines between territories."""
        is_sea = self._is_sea
        shown = {
            edge for edge, (a, b) in self._edges.items() if a != FRAME and b != FRAME and a < b
            and is_sea(a) == is_sea(b) == sea
        }  # fmt: skip
        return [[self._points[corner] for corner in line] for line in _lines(shown)]

    def middle(self, place: int) -> Point:
        """Return the point with the most room in a place, with a slight pull towards the centre."""
        if place not in self._middles:
            outline, spots = self._outline([place]), self._spots(place)
            centre = _towards((0.0, 0.0), spots, 1.0)
            pull = 0.1 if self._chart.is_sea(place) else 0.15
            self._middles[place] = max(
                spots, key=lambda spot: _distance(spot, outline) - pull * _distance(spot, [centre])
            )
        return self._middles[place]

    def lonely_points(self, place: int, chance: random.Random) -> list[Point]:
        """Return points scattered in a place, far from its outline, its middle and each other."""
        outline, taken = self._outline([place]), [self.middle(place)]
        spots = self._spots(place)
        chance.shuffle(spots)
        for spot in spots:
            if _distance(spot, outline) > 19 and _distance(spot, taken) > 44:
                taken.append(spot)
        return taken[1:]

    @cached_property
    def widest_water(self) -> Point:
        """The point that is farthest from all land and from the points where ships are drawn."""
        step = SIZE / 28
        places = range(len(self._chart.territories))
        land = self._outline(places)
        spots = [(i * step, j * step) for i in range(3, 26) for j in range(3, 26)]
        ships = [self.middle(place) for place in range(len(places), len(self._chart.places))]
        return max(spots, key=lambda spot: min(_distance(spot, land), _distance(spot, ships)))

    # --- construction ----------------------------------------------------------------------------

    def _is_sea(self, place: int) -> bool:
        return place == FRAME or self._chart.is_sea(place)

    def _cell(self, column: int, row: int) -> int:
        inside = 0 <= column < self._columns and 0 <= row < self._rows
        return self._raster[row][column] if inside else FRAME

    def _outline(self, places: Iterable[int]) -> list[Point]:
        """Return the points on the outlines of places, in no particular order."""
        return [self._points[start] for place in places for start, _ in self._inside[place]]

    def _spots(self, place: int) -> list[Point]:
        """Return a grid of points in a place, six per cell."""
        width, height = SIZE / self._columns, SIZE / self._rows
        return [
            ((x + dx) * width, (y + dy) * height)
            for y, row in enumerate(self._raster)
            for x, other in enumerate(row)
            if other == place
            for dx in (0.25, 0.75)
            for dy in (0.25, 0.5, 0.75)
        ]

    def _directed_edges(self) -> dict[Edge, tuple[int, int]]:
        """Return the cell edges that separate different places, in both directions.

        Each edge maps to the place on its right and the place on the other side.
        """
        edges: dict[Edge, tuple[int, int]] = {}
        for row in range(self._rows + 1):
            for column in range(self._columns + 1):
                here, left, above = (
                    self._cell(column, row),
                    self._cell(column - 1, row),
                    self._cell(column, row - 1),
                )
                corner, right, below = (column, row), (column + 1, row), (column, row + 1)
                if here != above and column < self._columns:
                    edges[corner, right], edges[right, corner] = (here, above), (above, here)
                if here != left and row < self._rows:
                    edges[below, corner], edges[corner, below] = (here, left), (left, here)
        return edges

    def _smoothed(self) -> dict[Corner, Point]:
        """Return the corners' positions after Taubin smoothing, which keeps the size of islands."""
        width, height = SIZE / self._columns, SIZE / self._rows
        coast: dict[Corner, set[Corner]] = defaultdict(set)
        beside: dict[Corner, set[Corner]] = defaultdict(set)
        fixed: set[Corner] = set()
        for (start, end), (a, b) in self._edges.items():
            beside[start].add(end)
            if FRAME in (a, b):
                fixed.add(start)
            elif self._is_sea(a) != self._is_sea(b):
                coast[start].add(end)
        guides = {corner: coast.get(corner, beside[corner]) for corner in beside}
        points = {(x, y): (x * width, y * height) for x, y in guides}
        for step in range(2 * ROUNDS):
            share = -0.34 if step % 2 else 0.33
            points = {
                corner: point if corner in fixed else _towards(
                    point, [points[other] for other in sorted(guides[corner])], share
                )
                for corner, point in points.items()
            }  # fmt: skip
        return points

    def _loops(self, places: set[int]) -> list[list[Corner]]:
        """Return the closed outlines of the area that these places form together.

        The outer outlines run clockwise, and the outlines of holes run counterclockwise.
        """
        onward: dict[Corner, list[Corner]] = defaultdict(list)
        for place in places:
            for start, end in self._inside[place]:
                if self._edges[start, end][1] not in places:
                    onward[start].append(end)
        loops = []
        for start in sorted(onward):
            loop, corner, before = [], start, start
            while ends := onward[corner]:
                loop.append(corner)
                # If two cells touch only at this corner, turn right, to stay with the same cell.
                right = corner[0] - (corner[1] - before[1]), corner[1] + (corner[0] - before[0])
                end = right if right in ends else ends[0]
                ends.remove(end)
                before, corner = corner, end
            if loop:
                loops.append(loop)
        return loops


def _distance(point: Point, others: Iterable[Point]) -> float:
    """Return the distance to the nearest of some points."""
    return min(hypot(point[0] - x, point[1] - y) for x, y in others)


def _towards(point: Point, others: list[Point], share: float) -> Point:
    """Return `point` moved by `share` of the way to the mean of the others."""
    x = sum(p[0] for p in others) / len(others)
    y = sum(p[1] for p in others) / len(others)
    return point[0] + share * (x - point[0]), point[1] + share * (y - point[1])


def _lines(edges: Iterable[Edge]) -> list[list[Corner]]:
    """Join edges into lines. A line is closed, or leads from one junction or end to the next."""
    beside: dict[Corner, set[Corner]] = defaultdict(set)
    for a, b in edges:
        beside[a].add(b)
        beside[b].add(a)
    lines: list[list[Corner]] = []

    def follow(corner: Corner) -> None:
        line = [corner]
        while beside[line[-1]]:
            there = min(beside[line[-1]])
            beside[line[-1]].discard(there)
            beside[there].discard(line[-1])
            line.append(there)
            if there in ends:
                break
        lines.append(line)

    ends = {corner for corner, others in beside.items() if len(others) != 2}
    for corner in [*sorted(ends), *sorted(beside)]:
        while beside[corner]:
            follow(corner)
    return lines


def _ragged(loop: Iterable[Point]) -> list[Point]:
    """Divide each segment of a closed line at a randomly moved middle, twice.

    The start of a segment seeds its random numbers, so every drawing of a chart is the same.
    """
    points = list(loop)
    for level in range(2):
        broken = []
        for a, b in zip(points, points[1:] + points[:1], strict=True):
            chance = random.Random(f"{a[0]:.1f} {a[1]:.1f} {level}")
            sway = ROUGHNESS * chance.uniform(-1, 1)
            middle = (
                (a[0] + b[0]) / 2 - sway * (b[1] - a[1]),
                (a[1] + b[1]) / 2 + sway * (b[0] - a[0]),
            )
            broken += [a, middle]
        points = broken
    return points
