"""Armada as a picture of text, for a terminal; as SVG by `draw_svg`."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from armarl.games.armada.chart.geography import CENTRAL, COLOURS, Chart, Territory
from armarl.games.armada.chart.svg import draw_svg, turn_line
from armarl.games.armada.text.explain import asked

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

__all__ = ["draw", "draw_svg"]

COLUMN = 28  # width of a column of territories
CENTRAL_COLUMNS = 4


def draw(game: Game, state: State, seat: int | None) -> str:
    """The map with its places' names, what lies on them, and how the game stands.

    A place reads `G4* green 5 $2 ^`: a city (a post reads `C1(Centre)`), whose flag, how many
    bands or tribes, how much gold, and a ship not launched.
    """
    view = game.describe(state, seat)
    chart: Chart = game.attributes["chart"]
    captions = [*_captions(view, seat), turn_line(view) + asked(game, state)]
    return "\n".join([*_map(chart), *_territories(chart, view), *_ships(view), *captions])


def _map(chart: Chart) -> list[str]:
    """The chart's cells, every place's name written across its widest row."""
    if chart.raster is None:
        return []
    marks = _marks(chart)
    rows = [[marks[place] for place in row] for row in chart.raster]
    for place, name in enumerate(chart.places):
        width, y, end = max(
            (_run(row, x, place), y, x + 1)
            for y, row in enumerate(chart.raster)
            for x, other in enumerate(row)
            if other == place
        )
        start = max(0, min(end - (width + len(name) + 1) // 2, len(rows[y]) - len(name)))
        rows[y][start : start + len(name)] = list(name)
    return ["".join(row) for row in rows]


def _run(row: tuple[int, ...], x: int, place: int) -> int:
    """How many cells up to `x` in a row are the place's."""
    start = x
    while start >= 0 and row[start] == place:
        start -= 1
    return x - start


def _marks(chart: Chart) -> list[str]:
    """A mark per place, different from its neighbours': land heavy, sea light."""
    marks: list[str] = []
    for place in range(len(chart.places)):
        free = " .'-~,:" if chart.is_sea(place) else "#%&=@$"
        taken = {marks[other] for other in chart.neighbours[place] if other < place}
        marks.append(next((mark for mark in free if mark not in taken), free[0]))
    return marks


def _territories(chart: Chart, view: dict[str, Any]) -> list[str]:
    """The lairs side by side, and below them the central group."""
    columns = [[lair.upper()] + [_territory(t, view) for t in _of(chart, lair)] for lair in COLOURS]
    central = [_territory(t, view) for t in _of(chart, CENTRAL)]
    height = -(-len(central) // CENTRAL_COLUMNS)
    below = [central[i : i + height] for i in range(0, len(central), height)]
    return [*_side_by_side(columns), CENTRAL.upper(), *_side_by_side(below)]


def _of(chart: Chart, lair: str) -> list[Territory]:
    return [t for t in chart.territories if t.lair == lair]


def _side_by_side(columns: list[list[str]]) -> list[str]:
    rows = zip_longest(*columns, fillvalue="")
    return ["".join(f"{text:<{COLUMN}}" for text in row).rstrip() for row in rows]


def _territory(t: Territory, view: dict[str, Any]) -> str:
    place = view["territories"][t.name]
    words = [t.name + ("*" if t.city else f"({t.post})" if t.post else "")]
    words.append(place["owner"] or ("nobody" if place["explored"] else "?"))
    if pieces := place["bands"] or place["tribes"]:
        words.append(str(pieces))
    if place["gold"]:
        words.append(f"${place['gold']}")
    if place["ship"]:
        words.append("^")
    return " ".join(words)


def _ships(view: dict[str, Any]) -> list[str]:
    ships = [
        f"{square} {ship['colour'] or 'empty'} {ship['bands']}"
        + (f" ${ship['gold']}" if ship["gold"] else "")
        for square, ship in view["ships"].items()
    ]
    return ["SHIPS  " + (", ".join(ships) or "none at sea")]


def _captions(view: dict[str, Any], seat: int | None) -> list[str]:
    reserve = ", ".join(f"{colour} {bands}" for colour, bands in view["reserve"].items())
    supply = view["supply"]
    lines = [
        f"in the supply: bands {reserve}; {supply['gold']} gold, {supply['tribes']} tribes, "
        f"{view['box']} ships"
    ]
    if claims := ", ".join(view["claims"]):
        lines.append(f"in victory, if they still are at their next turn's end: {claims}")
    for player, size in enumerate(view["hand_sizes"] if view["options"]["cards"] else []):
        hand = view["hands"][player]
        cards = f"{size} cards" if hand is None else ", ".join(hand) or "no cards"
        if left := view["known"][player]["in_deck"]:
            cards += f"; left in the deck: {', '.join(left)}"
        lines.append(f"player {player}{' (you)' if seat == player else ''}: {cards}")
    return lines
