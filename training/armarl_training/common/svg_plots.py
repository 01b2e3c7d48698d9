"""Small plots as SVG: what a run or a sweep has shown so far."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333", "#999999")
GRID = 4  # lines between the ends of an axis, at most

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """A rectangle of a picture, and the numbers at its ends.

    Attributes:
        left, top, width, height: where it lies, in pixels.
        x, y: the lowest and the highest number across and upwards.
        log: whether the numbers across are shown by their logarithms.
    """

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    log: bool = False

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies, in pixels."""
        along = [math.log(number) if self.log else number for number in (x, *self.x)]
        return (
            self.left + self.width * _part(along[0], along[1], along[2]),
            self.top + self.height * (1 - _part(y, *self.y)),
        )

    def frame(self, across: Sequence[float], unit: str = "", scale: float = 1.0) -> list[str]:
        """The grid with its numbers; those upwards are shown times `scale`, with their unit."""
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

    def line(self, points: Points, colour: str, dashed: bool = False) -> str:
        """A line through points."""
        marks = " ".join("{:.1f},{:.1f}".format(*self.place(*point)) for point in points)
        dashes = ' stroke-dasharray="3 3"' if dashed else ""
        return f'<polyline points="{marks}" fill="none" stroke="{colour}"{dashes}/>'

    def dots(self, points: Points, colour: str) -> list[str]:
        """A dot at each point."""
        places = [self.place(*point) for point in points]
        return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]


def _part(number: float, low: float, high: float) -> float:
    if high <= low:
        return 0.5
    return (number / 2 - low / 2) / (high / 2 - low / 2)  # halves: the difference may be too large


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, some four of them."""
    if high <= low:
        return [low]
    rough = high / GRID - low / GRID  # in this order nothing is too large
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = "#000") -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}'
        "</text>"
    )


def picture(width: float, height: float, parts: Sequence[str]) -> str:
    """The parts on white."""
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'font-family="sans-serif" font-size="12">'
    )
    white = f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([begin, white, *parts, "</svg>"]) + "\n"
