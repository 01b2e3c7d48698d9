"""Charts of Armada, and positions on them, drawn as SVG in the style of an old sea chart."""

from __future__ import annotations

import random
from functools import lru_cache
from html import escape
from math import cos, pi, sin
from typing import Any

from armarl.games.armada.chart.geography import Chart, Raster
from armarl.games.armada.chart.outlines import SIZE, Outlines, Point

View = dict[str, Any]  # the result of `describe`

MARGIN = 64.0
INK = "#3b2a1a"
PAINT = {
    "green": "#4f9a4a",
    "raspberry": "#c23a6b",
    "blue": "#3a6fc4",
    "orange": "#e2852b",
    "tribes": "#7b4b2a",
}
SAND = "#efdcae"
WILD = "#d9c48b"  # unexplored central territories
GOLD = "#f2c230"


def draw_svg(chart: Chart, view: View | None = None) -> str:
    """Draw a chart as SVG, with the pieces of a position if a view is given.

    Args:
        chart: the chart to draw.
        view: result of `describe`, or None for the bare chart.

    Returns:
        The SVG document as text.

    Raises:
        ValueError: the chart has no map.

    Example:
        >>> from armarl.games.armada.chart.loading import load_chart
        >>> from armarl.games.armada.text.drawing import draw_svg
        >>> draw_svg(load_chart())[:4]
        '<svg'
    """
    if chart.raster is None:
        raise ValueError("this chart has no map to draw; load it from a chart file with a [map]")
    outlines = _outlines(chart, chart.raster)
    size = SIZE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN:g} {-MARGIN:g} {size:g} '
        f'{size:g}" font-family="Georgia, \'Times New Roman\', serif" text-anchor="middle">',
        _definitions(chart, outlines),
        f'<rect width="{SIZE:g}" height="{SIZE:g}" fill="url(#sea)"/>',
        _compass(outlines),
        _waters(chart, outlines),
        _land(chart, outlines, view),
        *(_territory(chart, outlines, number, view) for number in range(len(chart.territories))),
        *(_square(chart, outlines, number, view) for number in _squares(chart)),
        _frame(view),
        "</svg>",
    ]
    return "\n".join(parts)


@lru_cache(maxsize=4)
def _outlines(chart: Chart, raster: Raster) -> Outlines:
    """Return a chart's outlines, cached.

    The map is part of the cache key, because charts are equal whatever their map.
    """
    return Outlines(chart, raster)


def _squares(chart: Chart) -> range:
    return range(len(chart.territories), len(chart.places))


def _islands(chart: Chart) -> list[str]:
    return list(dict.fromkeys(t.island for t in chart.territories))


def _path(points: list[Point], closed: bool = True) -> str:
    """Return a smooth line with control points `points`, through the middles of its stretches."""
    if not closed:
        points = [points[0], *points, points[-1]]  # ends meet their control points
    around = points[1:] + points[:1]
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in zip(points, around, strict=True)]
    curves = list(zip(around, middles[1:] + middles[:1], strict=True))
    if not closed:
        curves = curves[:-2]
    start, end = middles[0], " Z" if closed else ""
    text = "".join(f" Q{c[0]:.1f} {c[1]:.1f} {m[0]:.1f} {m[1]:.1f}" for c, m in curves)
    return f"M{start[0]:.1f} {start[1]:.1f}{text}{end}"


def _definitions(chart: Chart, outlines: Outlines) -> str:
    coasts = "".join(
        f'<path id="coast{i}" d="{" ".join(_path(loop) for loop in outlines.coasts(island))}"/>'
        f'<clipPath id="island{i}"><use href="#coast{i}"/></clipPath>'
        for i, island in enumerate(_islands(chart))
    )
    return (
        '<defs><radialGradient id="sea" r="0.75"><stop offset="0" stop-color="#5fa3ad"/>'
        '<stop offset="0.6" stop-color="#3b7d92"/><stop offset="1" stop-color="#235470"/>'
        f"</radialGradient>{coasts}</defs>"
    )


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
            f'<g transform="rotate({turn})"><path d="M0 {-long} L7 -9 L0 0 Z" fill="{INK}"/>'
            f'<path d="M0 {-long} L-7 -9 L0 0 Z" fill="#f6ead0"/></g>'
        )
    return (
        f'<clipPath id="board"><rect width="{SIZE:g}" height="{SIZE:g}"/></clipPath>'
        f'<g stroke="#f6ead0" stroke-opacity=".13" clip-path="url(#board)">{rays}</g>'
        f'<g transform="translate({x:.0f} {y:.0f})" opacity=".8"><circle r="30" fill="none" '
        f'stroke="#f6ead0" stroke-width="1.5"/><circle r="26" fill="none" stroke="#f6ead0" '
        f'stroke-width=".7"/>{points}<text y="-50" font-size="15" fill="#f6ead0">N</text></g>'
    )


def _waters(chart: Chart, outlines: Outlines) -> str:
    """Return the shallows along the coasts, and the lines between the sea squares."""
    uses = "".join(f'<use href="#coast{i}"/>' for i in range(len(_islands(chart))))
    shallows = "".join(
        f'<g fill="none" stroke="#cfeae3" stroke-width="{width}" stroke-opacity="{opacity}" '
        f'stroke-linejoin="round">{uses}</g>'
        for width, opacity in ((64, 0.07), (42, 0.10), (24, 0.15), (10, 0.35))
    )
    lines = " ".join(_path(line, closed=False) for line in outlines.borders(sea=True))
    return (
        f'<g clip-path="url(#board)">{shallows}<path d="{lines}" fill="none" stroke="#eaf6f2" '
        'stroke-opacity=".6" stroke-width="1.5" stroke-dasharray="1 6" stroke-linecap="round"/>'
        "</g>"
    )


def _land(chart: Chart, outlines: Outlines, view: View | None) -> str:
    """Return the islands, with every territory tinted in its owner's colour."""
    text = ""
    for i, island in enumerate(_islands(chart)):
        text += (
            f'<use href="#coast{i}" fill="{SAND}"/><g clip-path="url(#island{i})"><g opacity=".6">'
        )
        for number, t in enumerate(chart.territories):
            if t.island == island:
                d = " ".join(_path(loop) for loop in outlines.area(number))
                text += f'<path d="{d}" {_tint(t.name, t.lair, view)}/>'
        text += "</g></g>"
    lines = " ".join(_path(line, closed=False) for line in outlines.borders(sea=False))
    text += (
        f'<path d="{lines}" fill="none" stroke="{INK}" stroke-opacity=".65" stroke-width="1.5" '
        'stroke-dasharray="5 3"/>'
    )
    text += _relief(chart, outlines)
    for i in range(len(_islands(chart))):
        text += (
            f'<use href="#coast{i}" fill="none" stroke="{INK}" stroke-width="2.2" '
            'stroke-linejoin="round"/>'
        )
    return text


def _tint(name: str, lair: str, view: View | None) -> str:
    owner = lair if view is None else view["territories"][name]["owner"]
    paint = PAINT.get(owner, WILD)
    return f'fill="{paint}" stroke="{paint}" stroke-width="3"'


def _relief(chart: Chart, outlines: Outlines) -> str:
    """Return hills and palms, away from where pieces lie."""
    text = ""
    for number, t in enumerate(chart.territories):
        chance = random.Random(t.name)
        for x, y in outlines.lonely_points(number, chance):
            glyph = _HILL if chance.random() < 0.6 else _PALM
            text += f'<g transform="translate({x:.0f} {y:.0f})">{glyph}</g>'
    return (
        f'<g fill="none" stroke="{INK}" stroke-opacity=".5" stroke-width="1.2" '
        f'stroke-linecap="round">{text}</g>'
    )


def _territory(chart: Chart, outlines: Outlines, number: int, view: View | None) -> str:
    """Return name, city or post, and pieces of a territory, around its middle."""
    t = chart.territories[number]
    x, y = outlines.middle(number)
    place = view["territories"][t.name] if view else {}
    icons, tokens = [], []
    if t.city:
        icons.append(_CITY)
    if t.post:
        icons.append(_POST)
    if place.get("ship"):
        icons.append(_hull("#a9825a", ""))
    if place and place["owner"] and place["owner"] != t.lair:
        icons.append(_FLAG.format(PAINT[place["owner"]]))
    if place.get("bands"):
        tokens.append(_token(PAINT[place["colour"]], place["bands"]))
    if place.get("tribes"):
        tokens.append(_token(PAINT["tribes"], place["tribes"]))
    if place.get("gold"):
        tokens.append(_coin(place["gold"]))
    rows = [(row, height) for row, height in ((icons, 23), (tokens, 23)) if row]
    top = y - (sum(height for _, height in rows) + 12) / 2
    text = ""
    for row, height in rows:
        text += _row(row, x, top + height / 2)
        top += height
    label = t.post or t.name
    style = 'font-size="13" font-weight="bold"' if t.post else 'font-size="11" font-style="italic"'
    text += f'<text x="{x:.0f}" y="{top + 10:.0f}" {style} fill="{INK}">{escape(label)}</text>'
    return f"<g><title>{escape(t.name)}, {escape(t.island)}</title>{text}</g>"


def _square(chart: Chart, outlines: Outlines, number: int, view: View | None) -> str:
    name = chart.places[number]
    x, y = outlines.middle(number)
    ship = (view or {}).get("ships", {}).get(name)
    text = (
        f'<text x="{x:.0f}" y="{y + (30 if ship else 4):.0f}" font-size="10" font-style="italic" '
        f'fill="#eaf6f2" fill-opacity=".8">{escape(name)}</text>'
    )
    if ship:
        paint = PAINT.get(ship["colour"], "#b9b2a2")
        pieces = [_hull(paint, str(ship["bands"] or ""))]
        if ship["gold"]:
            pieces.append(_coin(ship["gold"]))
        text += f'<g transform="translate({x:.1f} {y:.1f}) scale(1.45)">{_row(pieces, 0, 0)}</g>'
    return f"<g><title>{escape(name)}</title>{text}</g>"


def _row(pieces: list[str], x: float, y: float) -> str:
    """Return pieces side by side, centred on a point."""
    left = x - 12.0 * (len(pieces) - 1)
    return "".join(
        f'<g transform="translate({left + 24 * i:.1f} {y:.1f})">{piece}</g>'
        for i, piece in enumerate(pieces)
    )


_HILL = (
    '<path d="M-11 5 Q-5 -9 0 -9 Q4 -7 6 0 M2 5 Q6 -3 9 -3 Q12 -1 14 5 '
    'M0 -9 Q1 -3 -2 3 M4 -4 L3 1"/>'
)
_PALM = (
    '<path d="M0 8 Q1 0 -1 -5 M-1 -5 Q-6 -9 -9 -3 M-1 -5 Q-3 -11 -8 -10 M-1 -5 Q4 -10 8 -4 '
    'M-1 -5 Q2 -12 7 -10"/>'
)
_CITY = (
    f'<g stroke="{INK}" stroke-width="1" fill="#fff7e2">'
    '<path d="M-11 9 V-1 L-6.5 -6 L-2 -1 V9 Z"/>'
    '<path d="M3 9 V-2 L7 -6 L11 -2 V9 Z"/><path d="M-4 9 V-8 H-4 L0.5 -13 L5 -8 V9 Z"/>'
    f'<path d="M-1 9 V4 H2 V9 Z" fill="{INK}"/></g>'
)
_POST = (
    f'<g stroke="{INK}" stroke-width="1.2"><path d="M0 -12 L11 0 L0 11 L-11 0 Z" fill="#fff7e2"/>'
    f'<path d="M0 -7 L6.5 0 L0 6.5 L-6.5 0 Z" fill="{GOLD}"/></g>'
)
_FLAG = (
    f'<path d="M-6 11 V-12" stroke="{INK}" stroke-width="1.6"/>'
    f'<path d="M-6 -12 C0 -15 3 -8 9 -11 V-2 C3 1 0 -6 -6 -3 Z" fill="{{}}" stroke="{INK}" '
    'stroke-width=".8"/>'
)


def _token(paint: str, count: int) -> str:
    return (
        f'<rect x="-10.5" y="-10.5" width="21" height="21" rx="3.5" fill="{paint}" '
        f'stroke="#fff7e2" stroke-width="1.4"/>{_number(count)}'
    )


def _coin(count: int) -> str:
    return (
        f'<circle r="10.5" fill="{GOLD}" stroke="#8a6412" stroke-width="1.4"/>'
        f'<circle r="8" fill="none" stroke="#8a6412" stroke-width=".6"/>{_number(count, "#4a3405")}'
    )


def _hull(paint: str, label: str) -> str:
    """Return a ship with two masts, with the size of its crew on the sail."""
    return (
        f'<g stroke="{INK}" stroke-width=".9" stroke-linejoin="round">'
        f'<path d="M-13 5 H13 L9 12 H-9 Z" fill="#8a5a33"/>'
        '<path d="M-4 5 V-13 M6 5 V-10" fill="none"/>'
        f'<path d="M-10 -11 Q-4 -13 2 -11 Q4 -4 1 3 H-10 Q-7 -4 -10 -11 Z" fill="{paint}"/>'
        f'<path d="M3.5 -8 Q8 -9 11 -8 Q13 -3 11 3 H4 Q6 -3 3.5 -8 Z" fill="{paint}"/></g>'
        f'<text x="-3.5" y="0" font-size="10" font-weight="bold" fill="#fff">{label}</text>'
    )


def _number(count: int, fill: str = "#fff") -> str:
    return f'<text y="4.6" font-size="13" font-weight="bold" fill="{fill}">{count}</text>'


def _frame(view: View | None) -> str:
    """Return the frame of an old chart: a scale of centimetres, title and turn."""
    text = (
        f'<path fill-rule="evenodd" fill="#f3e6c4" d="M{-MARGIN:g} {-MARGIN:g} H{SIZE + MARGIN:g} '
        f'V{SIZE + MARGIN:g} H{-MARGIN:g} Z M0 0 V{SIZE:g} H{SIZE:g} V0 Z"/>'
    )
    for k in range(0, 28, 2):
        start = k * SIZE / 28
        for x, y, w, h in (
            (start, -9, SIZE / 28, 9),
            (start + SIZE / 28, SIZE, SIZE / 28, 9),
            (-9, start, 9, SIZE / 28),
            (SIZE, start + SIZE / 28, 9, SIZE / 28),
        ):
            text += f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{INK}"/>'
    for gap, width in ((0, 1.5), (9, 1), (13, 2.5)):
        side = SIZE + 2 * gap
        text += (
            f'<rect x="{-gap}" y="{-gap}" width="{side:g}" height="{side:g}" fill="none" '
            f'stroke="{INK}" stroke-width="{width}"/>'
        )
    middle = SIZE / 2
    text += (
        f'<text x="{middle:g}" y="-26" font-size="30" letter-spacing="14" fill="{INK}">'
        "ARMADA</text>"
    )
    if view:
        text += (
            f'<text x="{middle:g}" y="{SIZE + 44:g}" font-size="20" fill="{INK}">'
            f"{escape(_caption(view))}</text>"
        )
    return text


def _caption(view: View) -> str:
    claims = " and ".join(view["claims"])
    return turn_line(view) + (f" · victory claimed by {claims}" if claims else "")


def turn_line(view: dict[str, Any]) -> str:
    """Return one line about the current turn or raid and its coups, or about the result."""
    if view["result"] is not None:
        winners = " and ".join(f"player {winner}" for winner in view["result"]["winners"])
        return f"over: {winners} wins" if winners else "over: cut short, nobody has won"
    turn = view["turn"]
    what = "raid" if turn["raid"] else "turn"
    if turn["stage"] == "preliminary":
        return f"{turn['colour']} (player {turn['player']}) sets out"
    return f"{turn['colour']}'s {what} (player {turn['player']}): {turn['coups']} coups"
