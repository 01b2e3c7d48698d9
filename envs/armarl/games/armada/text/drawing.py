"""Text drawing of Armada for a terminal, at most 80 columns wide."""

from __future__ import annotations

import textwrap
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from armarl.common.messages import counted
from armarl.games.armada.chart.geography import CENTRAL, COLOURS, Chart, Raster, Territory
from armarl.games.armada.text.explain import asked

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

WIDTH = 79  # maximum width of a line
COLUMN = 20  # width of a column of territories
COLUMNS = 4
NOBODY, UNEXPLORED, SHIP = "-", "?", "^"
LETTERS = {owner: owner[0] for owner in (*COLOURS, "tribes")}
LEGEND = (
    f"{', '.join(f'{letter} {owner}' for owner, letter in LETTERS.items())}, {NOBODY} nobody, "
    f"{UNEXPLORED} unexplored; g5 five bands, $2 gold, {SHIP} a ship not launched, * a city"
)

Run: TypeAlias = tuple[int, int, int]
"""Adjacent cells of a row: (number of cells, row, column after the last cell)."""


def draw(game: Game, state: State, seat: int | None) -> str:
    """Draw a state as text: the map with its pieces, a list of all places, and the turn.

    A territory is written like `G4* g5 $2 ^`: its name (`*` marks a city, and a post is written
    like `C1(Centre)`), the letter of its flag's owner, the number of bands or tribes, the gold, and
    `^` for a ship not launched. Where there is room, the map shows the same text without spaces.

    Args:
        seat: the seat whose view to draw, or None for the full view.

    Example:
        >>> from armarl.games.armada.text.drawing import draw
        >>> from armarl import make_game
        >>> game = make_game("armada")
        >>> picture = draw(game, game.new_states(1)[0], None)
        >>> "G4* g" in picture, "C1(Centre) ?" in picture
        (True, True)
    """
    view = game.describe(state, seat)
    chart: Chart = game.attributes["chart"]
    captions = [*_captions(view, seat), turn_line(view) + asked(game, state)]
    lines = [line for caption in captions for line in textwrap.wrap(caption, WIDTH)]
    return "\n".join([*_map(chart, view), *_territories(chart, view), *_ships(view), *lines])


def _pieces(view: dict[str, Any], name: str) -> list[str]:
    """Return the words for a place: its owner's letter and pieces, its gold and its ship."""
    if name in view["territories"]:
        place = view["territories"][name]
        owner, pieces = place["owner"], place["bands"] or place["tribes"]
        empty = NOBODY if place["explored"] else UNEXPLORED
    elif name in view["ships"]:
        place = view["ships"][name] | {"ship": False}
        owner, pieces, empty = place["colour"], place["bands"], NOBODY
    else:
        return []
    words = [(LETTERS[owner] if owner else empty) + (str(pieces) if pieces else "")]
    if place["gold"]:
        words.append(f"${place['gold']}")
    return words + [SHIP] * place["ship"]


def _map(chart: Chart, view: dict[str, Any]) -> list[str]:
    """Return the rows of the map, with each place's name across its widest row.

    The pieces are written after the name, or in the next widest row. If there is no room for all
    pieces, only the bands are written, or nothing.
    """
    if chart.raster is None:
        return []
    marks, runs = _marks(chart), _runs(chart.raster)
    rows = [[marks[place] for place in row] for row in chart.raster]
    for place, name in enumerate(chart.places):
        first, *others = runs[place]
        words = _pieces(view, name)
        if not words or words[0] == UNEXPLORED:
            _write(rows, first, name)
        elif len(together := f"{name} {''.join(words)}") < first[0]:  # one cell stays free
            _write(rows, first, together)
        else:
            _write(rows, first, name)
            for text in ("".join(words), words[0]):
                if others and len(text) <= others[0][0]:
                    _write(rows, others[0], text)
                    break
    return ["".join(row) for row in rows]


@lru_cache(maxsize=8)
def _runs(raster: Raster) -> dict[int, list[Run]]:
    """Return for each place its longest run in each row, sorted by length, the longest first."""
    longest: dict[tuple[int, int], Run] = {}
    for y, row in enumerate(raster):
        end = 0
        for place, cells in groupby(row):
            length = len(list(cells))
            end += length
            longest[place, y] = max((length, y, end), longest.get((place, y), (0, y, 0)))
    runs: dict[int, list[Run]] = {}
    for (place, _y), run in longest.items():
        runs.setdefault(place, []).append(run)
    return {place: sorted(found, reverse=True) for place, found in runs.items()}


def _write(rows: list[list[str]], run: Run, text: str) -> None:
    """Write text across the middle of a run of cells."""
    length, y, end = run
    start = max(0, min(end - (length + len(text) + 1) // 2, len(rows[y]) - len(text)))
    rows[y][start : start + len(text)] = list(text)


def _marks(chart: Chart) -> list[str]:
    """Return a character per place: heavy for land, light for sea.

    Neighbours get different characters if there are enough characters.
    """
    marks: list[str] = []
    for place in range(len(chart.places)):
        free = " .'-~,:" if chart.is_sea(place) else "#%&=@$"
        taken = {marks[other] for other in chart.neighbours[place] if other < place}
        marks.append(next((mark for mark in free if mark not in taken), free[0]))
    return marks


def _territories(chart: Chart, view: dict[str, Any]) -> list[str]:
    """Return the legend, then the lairs side by side, with the central group below."""
    columns = [[lair.upper()] + [_territory(t, view) for t in _of(chart, lair)] for lair in COLOURS]
    central = [_territory(t, view) for t in _of(chart, CENTRAL)]
    height = -(-len(central) // COLUMNS)
    below = [central[i : i + height] for i in range(0, len(central), height)]
    legend = textwrap.wrap(LEGEND, WIDTH)
    return [*legend, *_side_by_side(columns), CENTRAL.upper(), *_side_by_side(below)]


def _of(chart: Chart, lair: str) -> list[Territory]:
    return [t for t in chart.territories if t.lair == lair]


def _side_by_side(columns: list[list[str]]) -> list[str]:
    rows = zip_longest(*columns, fillvalue="")
    return ["".join(f"{text:<{COLUMN}}" for text in row).rstrip() for row in rows]


def _territory(t: Territory, view: dict[str, Any]) -> str:
    name = t.name + ("*" if t.city else f"({t.post})" if t.post else "")
    return " ".join([name, *_pieces(view, t.name)])


def _ships(view: dict[str, Any]) -> list[str]:
    ships = [" ".join([square, *_pieces(view, square)]) for square in view["ships"]]
    return textwrap.wrap("SHIPS  " + (", ".join(ships) or "none at sea"), WIDTH)


def _captions(view: dict[str, Any], seat: int | None) -> list[str]:
    reserve = ", ".join(f"{colour} {bands}" for colour, bands in view["reserve"].items())
    supply = view["supply"]
    lines = [
        f"supply: bands {reserve}; {supply['gold']} gold, {supply['tribes']} tribes, "
        f"{counted(view['box'], 'ship')}"
    ]
    for colour in view["claims"]:
        new = colour in view["new_claims"]
        judged = f"{colour}'s next turn ends" if new else f"{colour}'s turn ends next"
        lines.append(f"{colour} claims victory: it wins if it is in victory when {judged}")
    for player, size in enumerate(view["hand_sizes"] if view["options"]["cards"] else []):
        hand = view["hands"][player]
        cards = counted(size, "card") if hand is None else ", ".join(hand) or "no cards"
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
    return f"{turn['colour']}'s {what} (player {turn['player']}): {counted(turn['coups'], 'coup')}"
