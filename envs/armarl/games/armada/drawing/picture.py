"""The picture of Armada: a chart with its pieces, the players, the last order and the dice."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

from armarl.common.messages import relation
from armarl.core.pictures.lettering import width_of, write
from armarl.core.pictures.picture import Picture, Scene
from armarl.core.pictures.sheet import Box, Part, Sheet
from armarl.games.armada.chart.geography import CENTRAL, Chart, Raster
from armarl.games.armada.chart.outlines import SIZE
from armarl.games.armada.drawing import pieces
from armarl.games.armada.drawing.ground import FRAME, LEFT, TOP, Ground, frame
from armarl.games.armada.drawing.signs import UNDER_MAP
from armarl.games.armada.rules.scoring import CITIES_ASKED, POSTS_ASKED
from armarl.games.armada.text.describe import colours_of
from armarl.games.armada.text.holdings import holdings

WIDTH = SIZE + 2 * LEFT
LEGEND = TOP + SIZE + FRAME + 34  # the y coordinate of the middle of the line under the map
PANELS = LEGEND + 34
PANEL = 222
NAME = 27  # the height of a place's name
HEIGHT = PANELS + PANEL + 16

View = dict[str, Any]


class _Page:
    """The parts that all pictures of a chart share."""

    def __init__(self, chart: Chart) -> None:
        self.ground = ground = Ground(chart)
        definitions = {**pieces.DEFINITIONS, **ground.definitions()}
        self.sheet = Sheet("armada", WIDTH, HEIGHT, pieces.COLOURS, definitions)
        page = f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="var(--page)"/>'
        whole = (0.0, 0.0, WIDTH, HEIGHT)
        self.below = Part(whole, f'<g id="ground">{page}{_on_map(ground.below + frame())}</g>')
        self.above = Part(
            (LEFT, TOP, SIZE, SIZE),
            f'<g id="borders" pointer-events="none">{_on_map(ground.above)}</g>',
        )


@lru_cache(maxsize=8)
def _page(chart: Chart, raster: Raster | None) -> _Page:
    """Return the parts that all pictures of a chart share.

    The map is an argument, and so part of the cache's key, because charts with different maps can
    be equal.
    """
    return _Page(chart)


def picture(scene: Scene) -> Picture:
    """Draw a position of Armada.

    Raises:
        ValueError: the chart has no map.
    """
    chart: Chart = scene.game.attributes["chart"]
    page = _page(chart, chart.raster)
    marked = _changed(scene.before, scene.view)
    if scene.last:
        marked |= set(scene.last[1].split())  # the places that the action names
    parts = [
        *_map(page, scene.view, marked),
        *_heading(scene),
        _legend(scene),
        *(part for player in range(scene.game.players) for part in _panel(scene, player)),
    ]
    seen = "" if scene.seat is None else f", as {scene.names[scene.seat]} sees it"
    return Picture(page.sheet, f"Armada: {_turn(scene)}{seen}", tuple(parts))


def draw_chart(chart: Chart) -> Picture:
    """Draw a bare chart, with the lairs in their colours.

    Raises:
        ValueError: the chart has no map.

    Example:
        >>> from armarl.games.armada.chart.loading import load_chart
        >>> draw_chart(load_chart()).svg()[:4]
        '<svg'
    """
    page = _page(chart, chart.raster)
    bare: View = {
        "territories": {
            t.name: {"owner": None if t.lair == CENTRAL else t.lair} for t in chart.territories
        },
        "ships": {},
    }
    title = Part((0, 0, WIDTH, 80), write("ARMADA", WIDTH / 2, 62, 50, "var(--ink)"))
    return Picture(page.sheet, "A chart of Armada", (*_map(page, bare, set()), title))


def _on_map(svg: str) -> str:
    return f'<g transform="translate({LEFT:g} {TOP:g})">{svg}</g>'


def _changed(before: View | None, view: View) -> set[str]:
    """Return the places that have changed since the previous position."""
    if before is None:
        return set()
    changed = set()
    for key in ("territories", "ships"):
        old, new = before[key], view[key]
        changed |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return changed


# --- the map -------------------------------------------------------------------------------------


def _map(page: _Page, view: View, marked: set[str]) -> list[Part]:
    ground, chart = page.ground, page.ground.chart
    land = range(len(chart.territories))
    sea = range(len(chart.territories), len(chart.places))
    names, lands, ships = chart.places, view["territories"], view["ships"]
    return [
        page.below,
        *(_tint(ground, number, lands[names[number]]["owner"]) for number in land),
        page.above,
        *(
            _territory(ground, number, _items(lands[names[number]]), names[number] in marked)
            for number in land
        ),
        *(
            _square(ground, number, _items(ships.get(names[number], {})), names[number] in marked)
            for number in sea
        ),
    ]


def _items(place: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the contents of a place as a hashable value, for the cache."""
    return tuple(place.items())


_kept = lru_cache(maxsize=4096)  # most places do not change from one picture to the next


@_kept
def _tint(ground: Ground, number: int, owner: str | None) -> Part:
    """Return a territory in its owner's colour and hatching."""
    t = ground.chart.territories[number]
    text = ""
    if owner:
        text = (
            f'<use href="#area{number}" fill="var(--{owner})" fill-opacity=".42"/>'
            f'<use href="#area{number}" fill="url(#hatch-{owner})"/>'
        )
    island = ground.islands.index(t.island)
    svg = f'<g id="land-{escape(t.name)}" clip-path="url(#island{island})">{text}</g>'
    return Part(_wider(ground.boxes[number], 1), _on_map(svg))


def _wider(box: Box, by: float) -> Box:
    """Return a box of the map on the page, wider on all sides."""
    x, y, width, height = box
    return x + LEFT - by, y + TOP - by, width + 2 * by, height + 2 * by


def _around(ground: Ground, number: int, across: float, down: float) -> Box:
    """Return a box that contains a place and the pieces around its middle."""
    (x, y), (left, top, width, height) = ground.middles[number], ground.boxes[number]
    west, north = min(left, x - across), min(top, y - down)
    east, south = max(left + width, x + across), max(top + height, y + down)
    return _wider((west, north, east - west, south - north), 5)


def _area(number: int, marked: bool) -> str:
    """Return a place's outline, which can be clicked. The outline of a changed place is marked."""
    ring = 'stroke="var(--glow)" stroke-width="5" stroke-linejoin="round" ' if marked else ""
    return f'<use href="#area{number}" fill="none" {ring}pointer-events="all"/>'


@_kept
def _territory(
    ground: Ground, number: int, here: tuple[tuple[str, Any], ...], marked: bool
) -> Part:
    """Return the name, the city or post, and the pieces of a territory, around its middle."""
    t = ground.chart.territories[number]
    x, y = ground.middles[number]
    place = dict(here)
    owner, icons, tokens = place["owner"], [], []
    if t.city:
        icons.append(pieces.CITY)
    if t.post:
        icons.append(pieces.POST)
    if place.get("ship"):
        icons.append(pieces.hull())
    if owner and owner != t.lair and not (place.get("bands") or place.get("tribes")):
        icons.append(pieces.flag(owner))
    if place.get("bands"):
        tokens.append(pieces.token(owner, place["bands"]))
    if place.get("tribes"):
        tokens.append(pieces.token("tribes", place["tribes"]))
    if place.get("gold"):
        tokens.append(pieces.coin(place["gold"]))
    if len(icons) + len(tokens) <= 2:
        icons, tokens = [], icons + tokens
    rows = [line for line in (icons, tokens) if line]
    top = y - (38 * len(rows) + 24) / 2
    text = _area(number, marked)
    for line in rows:
        tight = max(0.76, min(1.0, ground.boxes[number][2] / (40 * len(line) + 8)))
        spot = f"translate({x:.1f} {top + 19:.1f}) scale({tight:.2g})"
        text += f'<g transform="{spot}">{pieces.row(line, 0, 0)}</g>'
        top += 38
    name = f"{t.name} {t.post}" if t.post else t.name
    size = 23 if t.post else NAME
    text += pieces.label(name, x, top + 20, size, "var(--name)", "var(--sand)")
    said, title = escape(t.name), f", {t.post}" if t.post else ""
    words = f"{said}{title}: {_words(t.city, place)}"
    svg = f'<g id="place-{said}" data-place="{said}"><title>{words}</title>{text}</g>'
    return Part(_around(ground, number, 64, 62), _on_map(svg))


def _words(city: bool, place: dict[str, Any]) -> str:
    said = ["city"] if city else []
    said.append(place["owner"] or ("nobody's" if place.get("explored") else "unexplored"))
    for key in ("bands", "tribes", "gold"):
        if place.get(key):
            said.append(f"{place[key]} {key}")
    return ", ".join(said + (["ship"] if place.get("ship") else []))


@_kept
def _square(ground: Ground, number: int, here: tuple[tuple[str, Any], ...], marked: bool) -> Part:
    """Return a sea square with its name and ship."""
    name = ground.chart.places[number]
    x, y = ground.middles[number]
    ship, words = dict(here), "sea"
    text = _area(number, marked)
    if ship:
        line = [pieces.ship(ship["colour"], ship["bands"])]
        if ship["gold"]:
            line.append(pieces.coin(ship["gold"]))
        fleet = pieces.row(line, 0, 0, 44)
        text += f'<g transform="translate({x:.1f} {y - 10:.1f}) scale(1.2)">{fleet}</g>'
        words = f"ship, {ship['colour'] or 'nobody'}, {ship['bands']} bands, {ship['gold']} gold"
    low = y + 46 > SIZE  # then the name is above the ship
    under = (-44 if low else 43) if ship else 8
    text += pieces.label(name, x, y + under, NAME, "var(--foam)", "var(--deepest)")
    said = escape(name)
    svg = f'<g id="place-{said}" data-place="{said}"><title>{said}: {words}</title>{text}</g>'
    return Part(_around(ground, number, 60, 62), _on_map(svg))


# --- around the map ------------------------------------------------------------------------------


def _turn(scene: Scene) -> str:
    """Return in words whose turn it is, with the coups left, or the result."""
    view = scene.view
    if (result := view["result"]) is not None:
        names = " and ".join(scene.names[winner] for winner in result["winners"])
        return f"{names} won" if names else "cut short, nobody has won"
    turn = view["turn"]
    who = f"{turn['colour']} ({scene.names[turn['player']]})"
    if turn["stage"] == "preliminary":
        return f"{who} sets out"
    coups = f"{turn['coups']} coup{'s' * (turn['coups'] != 1)} left"
    return f"{who}{' raids' if turn['raid'] else ''}: {coups}"


def _heading(scene: Scene) -> list[Part]:
    """Return the lines above the map: turn, coups, last order, open decision and dice."""
    view, middle, end = scene.view, 32.0, WIDTH - LEFT - 300
    number, start, turn = view["turn"]["number"], LEFT, ""
    if view["result"] is None:
        turn += f'<g transform="translate({LEFT + 22} {middle})">'
        turn += pieces.shape(view["turn"]["colour"]) + "</g>"
        start += 54
    turn += write(_turn(scene), start, middle + 12, 38, "var(--ink)", "start", end - start - 10)
    said = []
    if scene.last:
        seat, order = scene.last
        kind, *rest = order.split()
        if kind in ("count", "gold"):
            order = f"{rest[0]} {'gold' if kind == 'gold' else 'bands'}"
        said.append(f"{scene.names[seat]}: {order}")
    if view["pending"] and view["to_move"] is not None:
        said.append(f"{scene.names[view['to_move']]} decides on {view['pending']['order']}")
    last = write(" · ".join(said), LEFT + 4, 80, 27, "var(--ink)", "start", end - LEFT - 10)
    dice = ""
    if number is not None:
        dice += write(f"turn {number + 1}", WIDTH - LEFT, middle + 6, 30, "var(--ink)", "end")
    if thrown := [pieces.die(kind, face) for kind, face in view["chance"]][-6:]:
        row = pieces.row(thrown, -23 * len(thrown), 0, 46)
        dice += f'<g transform="translate({WIDTH - LEFT:g} 66) scale(.84)">{row}</g>'
        words = "fight" if view["chance"][-1][0] == "combat" else "found"
        dice += write(words, WIDTH - LEFT - 39 * len(thrown) - 8, 74, 25, "var(--ink)", "end")
    return [
        Part((0, 0, end, 56), f'<g id="turn">{turn}</g>'),
        Part((0, 56, end, TOP - FRAME - 56), f'<g id="last">{last}</g>'),
        Part((end, 0, WIDTH - end, TOP - FRAME), f'<g id="dice">{dice}</g>'),
    ]


def _legend(scene: Scene) -> Part:
    """Return the meanings of the signs, with the numbers left in the supply."""
    view = scene.view
    left = {**view["supply"], "box": view["box"], "deck": view["deck_size"]}
    entries = [
        (sign.svg, short.format(**left))
        for short, sign in UNDER_MAP.items()
        if view["options"]["cards"] or sign.svg != pieces.CARD
    ]
    wide = sum(40 + width_of(words, 24) for _, words in entries)
    gap, at, text = (WIDTH - 2 * LEFT - wide) / (len(entries) - 1), LEFT, ""
    for piece, words in entries:
        svg, end = pieces.entry(piece, words, at, LEGEND, 24)
        text, at = text + svg, end + gap
    return Part((0, LEGEND - 26, WIDTH, 52), f'<g id="legend">{text}</g>')


def _panel(scene: Scene, player: int) -> list[Part]:
    """Return a player's panel: name, colours with their scores, claims, and cards."""
    view, players = scene.view, scene.game.players
    gap = 12
    wide = (WIDTH - 2 * 14 - gap * (players - 1)) / players
    x = 14 + player * (wide + gap)
    moves = view["to_move"] == player
    you = "" if scene.seat is None else relation(scene.game.sides, scene.seat, player)
    result, colours = view["result"], colours_of(view, player)
    won = bool(result and player in result["winners"])
    room = wide / len(colours)
    title = write(
        scene.names[player] + you, 18, 40, 29, "var(--ink)", "start", wide - 100 * won - 36
    )
    if won:
        title += write("won", wide - 16, 40, 29, "var(--ink)", "end")
    edge = (
        f'<rect width="{wide:.1f}" height="{PANEL}" rx="14" fill="var(--panel)" '
        f'stroke="var(--ink)" stroke-width="{7 if moves else 1.5}"/>'
    )
    rows = [  # for each part: its name, its box and its SVG
        ("player", (-4.0, -4.0, wide + 8, PANEL + 8), edge),
        ("name", (8.0, 8.0, wide - 16, 42.0), title),
    ]
    for k, colour in enumerate(colours):
        score = f'<g transform="translate({room * k:.1f} 0)">{_score(scene, colour, room)}</g>'
        rows.append((f"score{k}", (room * k + 4, 52.0, room - 8, 126.0), score))
    if view["options"]["cards"]:
        rows.append(("hand", (8.0, 178.0, wide - 16, 40.0), _cards(scene, player, wide)))
    return [
        Part(
            (x + left, PANELS + top, width, height),
            f'<g id="{name}-{player}" data-player="{player}" '
            f'transform="translate({x:.1f} {PANELS})">{svg}</g>',
        )
        for name, (left, top, width, height), svg in rows
    ]


def _score(scene: Scene, colour: str, wide: float) -> str:
    """Return a colour with its land, its posts, its cities in enemy lairs, and its reserve."""
    view = scene.view
    own = holdings(view, scene.game.attributes["chart"], colour)
    text = f'<g transform="translate(38 78)">{pieces.shape(colour, 0.9)}</g>'
    claim = " claims victory" if colour in view["claims"] else ""
    text += write(colour + claim, 66, 87, 26, "var(--ink)", "start", wide - 76)
    posts, cities = f"{len(own.posts)}/{POSTS_ASKED}", f"{own.cities}/{CITIES_ASKED}"
    line = [(pieces.POST, posts), (pieces.CITY, cities)]
    at = 22.0
    for piece, count in line:
        svg, end = pieces.entry(piece, count, at, 124)
        text, at = text + svg, end + 14
    words = f"land {own.land}, reserve {view['reserve'][colour]}"
    return text + write(words, 22, 168, 27, "var(--ink)", "start", wide - 32)


def _cards(scene: Scene, player: int, wide: float) -> str:
    """Return a player's hand: the cards, or only their number."""
    hand, size = scene.view["hands"][player], scene.view["hand_sizes"][player]
    if hand is None:
        words = f"{size} card{'s' * (size != 1)}" if size else ""
    else:
        counts = {card: hand.count(card) for card in hand}
        words = ", ".join(f"{n}× {card}" if n > 1 else card for card, n in counts.items())
    text, _ = pieces.entry(pieces.CARD, "", 18, 197)
    return text + write(words or "no cards", 52, 205, 27, "var(--ink)", "start", wide - 62)
