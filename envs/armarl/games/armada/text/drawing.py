"""Text drawing of Armada for a terminal."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from armarl.games.armada.chart.geography import CENTRAL, COLOURS, Chart, Territory
from armarl.games.armada.state import NEW_CLAIM
from armarl.games.armada.text.explain import asked

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

COLUMN = 28  # width of a column of territories
CENTRAL_COLUMNS = 4


def draw(game: Game, state: State, seat: int | None) -> str:
    """Draw a state as text: the map with place names, the pieces on each place, and the turn.

    A territory is written like `G4* green 5 $2 ^`: its name (`*` marks a city, and a post is
    written like `C1(Centre)`), the owner of its flag, the number of bands or tribes, the gold, and
    `^` for a ship not launched.

    Args:
        seat: the seat whose view to draw, or None for the full view.

    Example:
        >>> from armarl.games.armada.text.drawing import draw
        >>> from armarl import make_game
        >>> game = make_game("armada")
        >>> picture = draw(game, game.new_states(1)[0], None)
        >>> "G4* green" in picture, "C1(Centre) ?" in picture
        (True, True)
    """
    view = game.describe(state, seat)
    chart: Chart = game.attributes["chart"]
    new = {colour for k, colour in enumerate(COLOURS) if state["claims"][k] == NEW_CLAIM}
    captions = [*_captions(view, seat, new), turn_line(view) + asked(game, state)]
    return "\n".join([*_map(chart), *_territories(chart, view), *_ships(view), *captions])


def _map(chart: Chart) -> list[str]:
    """Return the rows of the map, with each place's name written across its widest row."""
    if chart.raster is None:
        return []
    marks = _marks(chart)
    rows = [[marks[place] for place in row] for row in chart.raster]
    widest: dict[int, tuple[int, int, int]] = {}  # by place: the width of a row, y, its end
    for y, row in enumerate(chart.raster):
        for x, place in enumerate(row):
            found = _run(row, x, place), y, x + 1
            widest[place] = max(found, widest.get(place, found))
    for place, name in enumerate(chart.places):
        width, y, end = widest[place]
        start = max(0, min(end - (width + len(name) + 1) // 2, len(rows[y]) - len(name)))
        rows[y][start : start + len(name)] = list(name)
    return ["".join(row) for row in rows]


def _run(row: tuple[int, ...], x: int, place: int) -> int:
    """Return the number of consecutive cells of the place in a row that end at `x`."""
    start = x
    while start >= 0 and row[start] == place:
        start -= 1
    return x - start


def _marks(chart: Chart) -> list[str]:
    """Return a character per place: heavy for land, light for sea.

    Neighbours get different characters as long as there are enough of them.
    """
    marks: list[str] = []
    for place in range(len(chart.places)):
        free = " .'-~,:" if chart.is_sea(place) else "#%&=@$"
        taken = {marks[other] for other in chart.neighbours[place] if other < place}
        marks.append(next((mark for mark in free if mark not in taken), free[0]))
    return marks


def _territories(chart: Chart, view: dict[str, Any]) -> list[str]:
    """Return the lairs side by side, with the central group below."""
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


def _captions(view: dict[str, Any], seat: int | None, new: set[str]) -> list[str]:
    reserve = ", ".join(f"{colour} {bands}" for colour, bands in view["reserve"].items())
    supply = view["supply"]
    lines = [
        f"supply: bands {reserve}; {supply['gold']} gold, {supply['tribes']} tribes, "
        f"{view['box']} ships"
    ]
    for colour in view["claims"]:
        judged = f"{colour}'s next turn ends" if colour in new else f"{colour}'s turn ends next"
        lines.append(f"{colour} claims victory: it wins if it is in victory when {judged}")
    for player, size in enumerate(view["hand_sizes"] if view["options"]["cards"] else []):
        hand = view["hands"][player]
        cards = f"{size} cards" if hand is None else ", ".join(hand) or "no cards"
        if left := view["known"][player]["in_deck"]:
            cards += f"; left in the deck: {', '.join(left)}"
        lines.append(f"player {player}{' (you)' if seat == player else ''}: {cards}")
    return lines


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
