"""Small SVG plots of a run or a sweep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from armarl.common.messages import printable

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#999999")
GRID = 4  # maximum number of grid steps along an axis

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """The axes of a plot: a rectangle of the picture and its number ranges.

    Attributes:
        left, top, width, height: the rectangle, in pixels.
        x, y: the lowest and the highest number of each axis.
        log: whether the x axis is logarithmic.
    """

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    log: bool = False

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel coordinates of a point."""
        along = [math.log(number) if self.log else number for number in (x, *self.x)]
        return (
            self.left + self.width * _part(along[0], along[1], along[2]),
            self.top + self.height * (1 - _part(y, *self.y)),
        )

    def frame(self, across: Sequence[float], unit: str = "", scale: float = 1.0) -> list[str]:
        """Draw the grid and its labels.

        Args:
            across: numbers to label on the x axis.
            unit: unit of the labels of the y axis.
            scale: factor by which the labels of the y axis are multiplied.
        """
        parts = []
        for number in ticks(self.y[0] * scale, self.y[1] * scale):
            y = self.place(self.x[0], number / scale)[1]
            parts.append(
                f'<line x1="{self.left:.1f}" x2="{self.left + self.width:.1f}" y1="{y:.1f}" '
                f'y2="{y:.1f}" stroke="#ddd"/>'
                + text(self.left - 6, y + 4, f"{number:g}{unit}", anchor="end")
            )
        below = self.top + self.height + 18
        for number in across:
            shown = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
            parts.append(text(self.place(number, self.y[0])[0], below, shown, anchor="middle"))
        return parts

    def titles(self, x: str, y: str) -> list[str]:
        """Draw the titles of the axes: `x` below the labels, and `y` at the left, rotated."""
        middle, left = self.top + self.height / 2, self.left - 46
        below = self.top + self.height + 36
        upright = text(left, middle, y, anchor="middle")
        return [
            text(self.left + self.width / 2, below, x, anchor="middle"),
            f'<g transform="rotate(-90 {left:.1f} {middle:.1f})">{upright}</g>',
        ]

    def line(self, points: Points, colour: str, dashed: bool = False) -> str:
        """Draw a line through points."""
        marks = " ".join("{:.1f},{:.1f}".format(*self.place(*point)) for point in points)
        dashes = ' stroke-dasharray="3 3"' if dashed else ""
        return f'<polyline points="{marks}" fill="none" stroke="{colour}"{dashes}/>'

    def band(self, low: Points, high: Points, colour: str) -> str:
        """Fill the area between two lines."""
        places = [self.place(*point) for point in (*low, *reversed(high))]
        marks = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        return f'<polygon points="{marks}" fill="{colour}" fill-opacity="0.2"/>'

    def dots(self, points: Points, colour: str) -> list[str]:
        """Draw a dot at each point."""
        places = [self.place(*point) for point in points]
        return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]


def _part(number: float, low: float, high: float) -> float:
    if high <= low:
        return 0.5
    # Halve the numbers first, because their difference may overflow.
    return (number / 2 - low / 2) / (high / 2 - low / 2)


def ticks(low: float, high: float) -> list[float]:
    """Return about four round numbers from `low` to `high`."""
    if high <= low:
        return [low]
    rough = high / GRID - low / GRID  # divide first, because high - low may overflow
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = "#000") -> str:
    """Draw a line of text. Control characters are replaced, because XML does not allow them."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{escape(printable(words))}</text>"
    )


def picture(width: float, height: float, parts: Sequence[str]) -> str:
    """Return an SVG picture of some SVG elements on a white background."""
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'font-family="sans-serif" font-size="12">'
    )
    white = f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([begin, white, *parts, "</svg>"]) + "\n"
