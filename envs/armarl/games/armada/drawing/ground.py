"""The fixed parts of Armada's picture: an old sea chart, drawn from the map of a `Chart`.

A `Ground` contains the chart's shapes in board units (see `outlines`). It is made once per chart.
"""

from __future__ import annotations

import random
from functools import cached_property
from math import cos, pi, sin

from armarl.core.pictures.lettering import write
from armarl.core.pictures.sheet import Box
from armarl.games.armada.chart.geography import Chart
from armarl.games.armada.chart.outlines import SIZE, Outlines, Point

LEFT, TOP = 34.0, 118.0  # the position of the map's top left corner on the page
FRAME = 30.0  # the width of the map's frame


class Ground:
    """The shapes of a chart.

    Attributes:
        chart: the chart.
        middles: for each place, the point around which its pieces are drawn.
        boxes: for each place, the bounding box of its outline.
    """

    def __init__(self, chart: Chart) -> None:
        """Compute the shapes.

        Raises:
            ValueError: the chart has no map.
        """
        if chart.raster is None:
            raise ValueError(
                "this chart has no map to draw; load it from a chart file with a [map]"
            )
        self.chart = chart
        self._outlines = Outlines(chart, chart.raster)
        places = range(len(chart.places))
        self.middles = [self._outlines.middle(place) for place in places]
        loops = [self._outlines.area(place) for place in places]
        self._areas = [" ".join(_path(loop) for loop in loop_list) for loop_list in loops]
        self.boxes = [_box([point for loop in loop_list for point in loop]) for loop_list in loops]
        self.islands = list(dict.fromkeys(t.island for t in chart.territories))

    def definitions(self) -> dict[str, str]:
        """Return SVG definitions by id: outlines of places, coasts and areas of islands, sea."""
        found = {
            f"area{place}": f'<path id="area{place}" d="{path}"/>'
            for place, path in enumerate(self._areas)
        }
        found |= {
            "board": f'<clipPath id="board"><rect width="{SIZE:g}" height="{SIZE:g}"/></clipPath>',
            "sea": (
                '<radialGradient id="sea" r="0.75"><stop offset="0" stop-color="var(--sea)"/>'
                '<stop offset="0.6" stop-color="var(--deep)"/>'
                '<stop offset="1" stop-color="var(--deepest)"/></radialGradient>'
            ),
        }
        for i, island in enumerate(self.islands):
            coast = " ".join(_path(loop) for loop in self._outlines.coasts(island))
            found[f"coast{i}"] = f'<path id="coast{i}" d="{coast}"/>'
            found[f"island{i}"] = f'<clipPath id="island{i}"><use href="#coast{i}"/></clipPath>'
        return found

    @cached_property
    def below(self) -> str:
        """The sea and the bare land, under the colours of the territories."""
        uses = "".join(f'<use href="#coast{i}"/>' for i in range(len(self.islands)))
        return (
            f'<rect width="{SIZE:g}" height="{SIZE:g}" fill="url(#sea)"/>'
            f'{_compass(self._outlines)}{self._waters(uses)}<g fill="var(--sand)">{uses}</g>'
        )

    @cached_property
    def above(self) -> str:
        """The borders, hills and coasts, over the colours of the territories."""
        lines = " ".join(_path(line, closed=False) for line in self._outlines.borders(sea=False))
        uses = "".join(f'<use href="#coast{i}"/>' for i in range(len(self.islands)))
        return (
            f'<path d="{lines}" fill="none" stroke="var(--line)" stroke-opacity=".7" '
            f'stroke-width="2" stroke-dasharray="7 4"/>{_relief(self.chart, self._outlines)}'
            f'<g fill="none" stroke="var(--line)" stroke-width="2.6" stroke-linejoin="round">'
            f"{uses}</g>"
        )

    def _waters(self, uses: str) -> str:
        """Return the shallows along the coasts, and the lines between the sea squares."""
        shallows = "".join(
            f'<g fill="none" stroke="var(--foam)" stroke-width="{width}" '
            f'stroke-opacity="{opacity}" stroke-linejoin="round">{uses}</g>'
            for width, opacity in ((56, 0.09), (32, 0.15), (12, 0.35))
        )
        lines = " ".join(_path(line, closed=False) for line in self._outlines.borders(sea=True))
        return (
            f'<g clip-path="url(#board)">{shallows}<path d="{lines}" fill="none" '
            'stroke="var(--foam)" stroke-opacity=".75" stroke-width="2.2" '
            'stroke-dasharray="1 7" stroke-linecap="round"/></g>'
        )


def _box(points: list[Point]) -> Box:
    """Return the bounding box of some points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def frame() -> str:
    """Return the frame of an old chart, with a scale of centimetres."""
    side = SIZE + 2 * FRAME
    text = (
        f'<path fill-rule="evenodd" fill="var(--paper)" d="M{-FRAME:g} {-FRAME:g}h{side:g}v{side:g}'
        f'h{-side:g}Z M0 0v{SIZE:g}h{SIZE:g}v{-SIZE:g}Z"/>'
    )
    scale = ""
    for k in range(0, 28, 2):
        start, unit = k * SIZE / 28, SIZE / 28
        across, down = f"h{unit:g}v11h{-unit:g}Z", f"h11v{unit:g}h-11Z"
        scale += f"M{start:g} -11{across}M{start + unit:g} {SIZE:g}{across}"
        scale += f"M-11 {start:g}{down}M{SIZE:g} {start + unit:g}{down}"
    text += f'<path d="{scale}" fill="var(--ink)"/>'
    for gap, width in ((0, 2), (11, 1.5), (18, 3)):
        side = SIZE + 2 * gap
        text += (
            f'<rect x="{-gap}" y="{-gap}" width="{side:g}" height="{side:g}" fill="none" '
            f'stroke="var(--ink)" stroke-width="{width}"/>'
        )
    return text


def _path(points: list[Point], closed: bool = True) -> str:
    """Return the SVG path of a smooth line with these control points, through their midpoints."""
    if not closed:
        points = [points[0], *points, points[-1]]  # so that the line reaches both ends
    around = points[1:] + points[:1]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(points, around, strict=True)]
    curves = list(zip(around, middles[1:] + middles[:1], strict=True))
    if not closed:
        curves = curves[:-2]
    start, end = middles[0], " Z" if closed else ""
    text = "".join(f" Q{c[0]:.1f} {c[1]:.1f} {m[0]:.1f} {m[1]:.1f}" for c, m in curves)
    return f"M{start[0]:.1f} {start[1]:.1f}{text}{end}"


def _compass(outlines: Outlines) -> str:
    """Return a compass rose on the widest water, with its rhumb lines over the sea."""
    x, y = outlines.widest_water
    rays = "".join(
        f'<path d="M{x:.0f} {y:.0f} l{1700 * sin(k * pi / 8):.0f} {1700 * cos(k * pi / 8):.0f}"/>'
        for k in range(16)
    )
    points = ""
    for k in (1, 3, 5, 7, 0, 2, 4, 6):
        long, turn = (46.0, 45 * k) if k % 2 == 0 else (28.0, 45 * k)
        points += (
            f'<g transform="rotate({turn})"><path d="M0 {-long} L7 -9 L0 0 Z" fill="#3b2a1a"/>'
            f'<path d="M0 {-long} L-7 -9 L0 0 Z" fill="#f6ead0"/></g>'
        )
    return (
        f'<g stroke="#f6ead0" stroke-opacity=".13" clip-path="url(#board)">{rays}</g>'
        f'<g transform="translate({x:.0f} {y:.0f})" opacity=".8"><circle r="30" fill="none" '
        f'stroke="#f6ead0" stroke-width="1.5"/><circle r="26" fill="none" stroke="#f6ead0" '
        f'stroke-width=".7"/>{points}{write("N", 0, -50, 18, "#f6ead0")}</g>'
    )


def _relief(chart: Chart, outlines: Outlines) -> str:
    """Return hills and palms, away from the pieces."""
    text = ""
    for number, t in enumerate(chart.territories):
        chance = random.Random(t.name)
        for x, y in outlines.lonely_points(number, chance):
            glyph = _HILL if chance.random() < 0.6 else _PALM
            text += f'<g transform="translate({x:.0f} {y:.0f})">{glyph}</g>'
    return (
        '<g fill="none" stroke="var(--line)" stroke-opacity=".42" stroke-width="1.4" '
        f'stroke-linecap="round">{text}</g>'
    )


_HILL = (
    '<path d="M-11 5 Q-5 -9 0 -9 Q4 -7 6 0 M2 5 Q6 -3 9 -3 Q12 -1 14 5 '
    'M0 -9 Q1 -3 -2 3 M4 -4 L3 1"/>'
)
_PALM = (
    '<path d="M0 8 Q1 0 -1 -5 M-1 -5 Q-6 -9 -9 -3 M-1 -5 Q-3 -11 -8 -10 M-1 -5 Q4 -10 8 -4 '
    'M-1 -5 Q2 -12 7 -10"/>'
)
