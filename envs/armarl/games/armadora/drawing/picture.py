"""The picture of Armadora: the board, the players, and the last move."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from armarl.core.pictures.lettering import width_of, write
from armarl.core.pictures.picture import Picture, Scene, Sign
from armarl.core.pictures.sheet import Box, Part, Sheet
from armarl.games.armadora.board import (
    COLUMNS,
    LINE_NAMES,
    LINE_SQUARES,
    LINES,
    MINI_SQUARES,
    ROWS,
    SQUARE_NAMES,
    SQUARES,
)
from armarl.games.armadora.state import WARRIORS
from armarl.games.armadora.text.drawing import PLAYER_LETTERS
from armarl.games.armadora.text.territories import Territory, territories, won_by_piles

if TYPE_CHECKING:
    from armarl.core.game import Game

CELL = 112  # the side of a square
LEFT, TOP = 52, 104  # the upper left corner of the board
WIDTH = LEFT + COLUMNS * CELL + LEFT
BELOW = TOP + ROWS * CELL + 28  # the top of the players' panels
PANEL = 196
HEIGHT = BELOW + PANEL + 20

COLOURS = {
    "page": ("#f7f1e3", "#1d2320"),
    "ink": ("#2c2416", "#efe6d2"),
    "faint": ("#7d705a", "#a79c86"),
    "meadow": ("#dfe5bd", "#39442f"),
    "lawn": ("#d5dcae", "#3f4b34"),
    "grid": ("#aeb684", "#566349"),
    "off": ("#cfc8b8", "#2a2e2b"),
    "panel": ("#fffaf0", "#2a322d"),
    "mark": ("#111111", "#ffffff"),
    "glow": ("#ffd400", "#ffd400"),
    "wood": ("#6b4321", "#b98a5a"),
    "wood-edge": ("#35200d", "#2a190a"),
    "gold": ("#f3c632", "#e8b923"),
    "gold-edge": ("#8a6412", "#5e430a"),
    "gold-ink": ("#4a3405", "#332402"),
    "face": ("#fffdf6", "#fbf5e6"),
    "white": ("#ffffff", "#ffffff"),
    # Colours of Okabe and Ito, which colour-blind people can tell apart. Players also have shapes.
    "a": ("#0067a5", "#2d8fd0"),
    "b": ("#c84e00", "#e06a1b"),
    "c": ("#00805f", "#1ba67f"),
    "a2": ("#2f9fd8", "#6cc3ee"),
    "b2": ("#b98600", "#dba81f"),
}
_STRIPES = {  # stripes that mark the leader of a territory, one pattern for each side
    "side0": ("a", '<path d="M0 14L14 0M-4 4L4 -4M10 18L18 10"/>'),
    "side1": ("b", '<path d="M0 0L14 14M-4 10L4 18M10 -4L18 4"/>'),
    "side2": ("c", '<path d="M7 -1V15"/>'),
}
DEFINITIONS = {
    name: f'<pattern id="{name}" width="14" height="14" patternUnits="userSpaceOnUse">'
    f'<rect width="14" height="14" fill="var(--{paint})" fill-opacity=".17"/>'
    f'<g stroke="var(--{paint})" stroke-opacity=".34" stroke-width="2.4">{lines}</g></pattern>'
    for name, (paint, lines) in _STRIPES.items()
}
SHEET = Sheet("armadora", WIDTH, HEIGHT, COLOURS, DEFINITIONS)

_SHAPES = (  # shapes of the players' pieces, about 1 unit wide and high
    '<circle r=".5"/>',
    '<rect x="-.46" y="-.46" width=".92" height=".92" rx=".1"/>',
    '<path d="M0 -.57L.5 .4Q.52 .46 .45 .46H-.45Q-.52 .46 -.5 .4Z"/>',
    '<path d="M-.28 -.48H.28L.54 0L.28 .48H-.28L-.54 0Z"/>',
)


def picture(scene: Scene) -> Picture:
    """Draw a position of Armadora."""
    lands = territories(scene.view, scene.game.sides)
    land_of = {name: land for land in lands for name in land.squares}
    walled = {_spot(scene, land): land for land in lands} if len(lands) > 1 else {}
    marked, stands = _changed(scene), set(scene.view["palisades"])
    parts = [
        _ground(scene.view["options"].get("board", "whole")),
        *(_tint(land_of[name].leader, name) for name in SQUARE_NAMES),
        *(_square(scene, number, marked) for number in range(SQUARES)),
        *(_line(number, name in stands, name in marked) for number, name in enumerate(LINE_NAMES)),
        *(
            _score(scene, number, walled[name]) if name in walled else _no_score(number)
            for number, name in enumerate(SQUARE_NAMES)
        ),
        *_heading(scene),
        *(part for player in range(scene.game.players) for part in _panel(scene, player)),
    ]
    seen = "" if scene.seat is None else f", as {scene.names[scene.seat]} sees it"
    return Picture(SHEET, f"Armadora: {_turn(scene)}{seen}", tuple(parts))


def paint_of(scene: Scene, player: int) -> str:
    """Return a player's colour. Partners have two shades of one colour."""
    names = ("a", "b", "a2", "b2") if scene.game.players == 4 else ("a", "b", "c")
    return f"var(--{names[player]})"


def signs(game: Game) -> tuple[Sign, ...]:
    """Return the signs in the picture of a variant, with their meanings."""
    down = _shape(0, 44, "var(--a)", "var(--white)", 3)
    hidden = f"{down}{write('?', 0, 10, 27, '#ffffff')}"
    up = _shape(1, 44, "var(--face)", "var(--b)", 6) + write(4, 0, 10, 28, "#20180c")
    badge = _shape(0, 15, "var(--a)", "var(--white)", 1.5)
    plus = '<path d="M-4.5 0H4.5M0 -4.5V4.5" stroke="#ffffff" stroke-width="2.6"/>'
    found = [
        Sign(
            hidden,
            "A Warrior that was placed face down, in its player's colour and shape. "
            "? hides its value.",
        ),
        Sign(up, "A Warrior that was placed face up, with its value."),
        Sign(f'<g transform="scale(.62)">{_pile(5)}</g>', "A mine with this amount of gold."),
        Sign(f'<g transform="translate(0 -28) scale(.5)">{_palisade("")}</g>', "A palisade."),
        *(
            Sign(
                f'<rect x="-24" y="-24" width="48" height="48" fill="url(#{name})" '
                f'stroke="var(--{paint})"/>',
                f"Stripes: in this territory {_owner(game, side)} has the most points, where a "
                "hidden Warrior counts as 1.",
            )
            for side, (name, (paint, _)) in enumerate(_STRIPES.items())
            if side in game.sides
        ),
        Sign(
            f'<g transform="translate(-12 0)">{badge}'
            f"{write('3+', 10, 7, 21, 'var(--ink)', 'start')}</g>",
            "A badge in the corner of a territory: the Warrior points of a side there, where a "
            "hidden Warrior counts as 1. A plus after the number: it may be more.",
        ),
        Sign(
            '<rect x="-24" y="-24" width="48" height="48" rx="8" fill="none" stroke="var(--mark)" '
            'stroke-width="7"/><rect x="-24" y="-24" width="48" height="48" rx="8" fill="none" '
            'stroke="var(--glow)" stroke-width="4"/>',
            "A yellow edge: the last action changed this.",
        ),
    ]
    if game.options["advanced"]:
        found += [
            Sign(_arrow(0, 0), "An arrow of the Elf: this Warrior counts 1 point less (ARM-26)."),
            Sign(
                _reinforcement(0, "var(--a)", 0, 0),
                "A reinforcement of the player of this shape: 1 point more, and it wins ties "
                "(ARM-28, ARM-29).",
            ),
            Sign(
                f'<g transform="translate(-1 0) scale(1.4)">{badge}{plus}</g>',
                "A plus in a badge: this side leads a tie by its reinforcement (ARM-29).",
            ),
            Sign(
                _eye("var(--b)", 0, 0),
                "An eye: the Mage of this colour has looked at the Warrior (ARM-23).",
            ),
        ]
    return tuple(found)


def _owner(game: Game, side: int) -> str:
    """Return the letters of a side's players."""
    return " with ".join(PLAYER_LETTERS[p] for p in range(game.players) if game.sides[p] == side)


def _changed(scene: Scene) -> set[str]:
    """Return the squares and lines that have changed since the previous position."""
    before, view = scene.before, scene.view
    if before is None:
        return set()
    changed = set(view["palisades"]) ^ set(before["palisades"])
    for key in ("warriors", "gold"):
        old, new = before[key], view[key]
        changed |= {
            name for name in old.keys() | new.keys() if _pieces(old, name) != _pieces(new, name)
        }
    for old, new in zip(before["seen"], view["seen"], strict=True):
        changed |= set(old) ^ set(new)
    return changed


def _pieces(found: dict[str, Any], name: str) -> Any:
    """Return the contents of a square without a Warrior's value: a look is not a change."""
    here = found.get(name)
    return {**here, "value": None} if isinstance(here, dict) else here


# --- the board -----------------------------------------------------------------------------------


def _corner(square: int) -> tuple[int, int]:
    return LEFT + square % COLUMNS * CELL, TOP + square // COLUMNS * CELL


@lru_cache(maxsize=4)
def _ground(board: str) -> Part:
    """Return the fixed parts of the picture: the page, the squares and their names."""
    text = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="var(--page)"/>'
    for square, name in enumerate(SQUARE_NAMES):
        x, y = _corner(square)
        fill = "lawn" if (square % COLUMNS + square // COLUMNS) % 2 else "meadow"
        if board != "whole" and name not in MINI_SQUARES:
            fill = "off"
        text += f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="var(--{fill})"/>'
    lines = "".join(f"M{LEFT + k * CELL} {TOP}v{ROWS * CELL}" for k in range(1, COLUMNS))
    lines += "".join(f"M{LEFT} {TOP + k * CELL}h{COLUMNS * CELL}" for k in range(1, ROWS))
    text += f'<path d="{lines}" stroke="var(--grid)" stroke-width="2"/>'
    text += (
        f'<rect x="{LEFT - 4}" y="{TOP - 4}" width="{COLUMNS * CELL + 8}" rx="6" '
        f'height="{ROWS * CELL + 8}" fill="none" stroke="var(--wood)" stroke-width="8"/>'
    )
    for k, letter in enumerate("abcdefgh"):
        text += write(letter, LEFT + (k + 0.5) * CELL, TOP - 14, 32, "var(--ink)")
    for k in range(ROWS):
        text += write(k + 1, LEFT / 2 - 2, TOP + (k + 0.5) * CELL + 11, 32, "var(--ink)")
    return Part((0, 0, WIDTH, HEIGHT), f'<g id="ground">{text}</g>')


@lru_cache(maxsize=4 * SQUARES)
def _tint(leader: int | None, name: str) -> Part:
    """Return the tint of a square. It shows the side that leads in the territory."""
    x, y = _corner(SQUARE_NAMES.index(name))
    fill = "none" if leader is None else f"url(#side{leader})"
    rect = f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}"/>'
    return Part((x, y, CELL, CELL), f'<g id="land-{name}">{rect}</g>')


def _square(scene: Scene, square: int, marked: set[str]) -> Part:
    """Return the part for a square: its Warrior or gold, and a mark if the square has changed."""
    name, view = SQUARE_NAMES[square], scene.view
    x, y = _corner(square)
    text = f'<rect width="{CELL}" height="{CELL}" fill="none" pointer-events="all"/>'
    if name in marked:
        text += (
            f'<rect x="9" y="9" width="{CELL - 18}" height="{CELL - 18}" rx="12" '
            'fill="none" stroke="var(--mark)" stroke-width="7"/>'
            f'<rect x="9" y="9" width="{CELL - 18}" height="{CELL - 18}" rx="12" '
            'fill="none" stroke="var(--glow)" stroke-width="4"/>'
        )
    middle, words = "", name
    if warrior := view["warriors"].get(name):
        readers = [player for player, seen in enumerate(view["seen"]) if name in seen]
        middle = _warrior(scene, warrior, readers)
        words += f": {_words(scene, warrior)}"
    elif gold := view["gold"].get(name):
        middle = _pile(gold)
        words += f": {gold} gold"
    text += (
        f'<g transform="translate({CELL / 2:g} {CELL / 2 + 5:g})">{middle}</g>' if middle else ""
    )
    svg = (
        f'<g id="place-{name}" data-place="{name}" transform="translate({x} {y})">'
        f"<title>{words}</title>{text}</g>"
    )
    return Part((x, y, CELL, CELL), svg)


def _words(scene: Scene, warrior: dict[str, Any]) -> str:
    value = warrior["value"]
    said = f"Warrior {'?' if value is None else value} of {scene.names[warrior['player']]}"
    turned = scene.view["result"] is not None  # ARM-36: at the end all Warriors are face up
    said += ", face up" if warrior["face_up"] else f", {'placed ' * turned}face down"
    if warrior["arrows"]:
        said += f", arrows {warrior['arrows']}"
    if warrior["reinforcement"] is not None:
        said += f", reinforced by {scene.names[warrior['reinforcement']]}"
    return escape(said)


def _shape(player: int, size: float, fill: str, stroke: str, width: float) -> str:
    """Return a player's shape around the origin."""
    return (
        f'<g transform="scale({size:g})" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{width / size:.4f}">{_SHAPES[player]}</g>'
    )


def _warrior(scene: Scene, warrior: dict[str, Any], readers: list[int]) -> str:
    """Return a Warrior with its value or ?: light if it was placed face up, otherwise dark."""
    player, paint = warrior["player"], paint_of(scene, warrior["player"])
    value = "?" if warrior["value"] is None else warrior["value"]
    drop = 5 if player == 2 else 0  # a triangle's middle is low
    if warrior["face_up"]:
        text = _shape(player, 76, "var(--face)", paint, 9)
        text += write(value, 0, 17 + drop, 50, "#20180c")
    else:
        text = _shape(player, 76, paint, "var(--white)", 3)
        text += write(value, 0, 16 + drop, 46, "#ffffff")
    for k in range(warrior["arrows"]):
        text += _arrow(-38 + 15 * k, -38)
    if (helper := warrior["reinforcement"]) is not None:
        text += _reinforcement(helper, paint_of(scene, helper), 36, -34)
    for k, reader in enumerate(readers):
        text += _eye(paint_of(scene, reader), -32 + 28 * k, 36)
    return text


def _arrow(x: int, y: int) -> str:
    """Return an arrow of the Elf."""
    return (
        f'<g transform="translate({x} {y}) rotate(45)" fill="none" '
        'stroke-linecap="round" stroke-linejoin="round">'
        '<g stroke="#ffffff" stroke-width="9"><path d="M-12 0H14M5 -7L14 0L5 7"/></g>'
        '<g stroke="#1c130a" stroke-width="4.5"><path d="M-12 0H14M5 -7L14 0L5 7"/></g></g>'
    )


def _reinforcement(player: int, paint: str, x: int, y: int) -> str:
    """Return the sign of a player's reinforcement."""
    text = f'<g transform="translate({x} {y})">' + _shape(player, 33, paint, "var(--white)", 3)
    return text + '<path d="M-7 1H7M0 -6V8" stroke="#ffffff" stroke-width="4.5"/></g>'


def _eye(paint: str, x: int, y: int) -> str:
    """Return the sign of an eye, in the colour of a player whose Mage has read a Warrior."""
    return (
        f'<g transform="translate({x} {y})"><path d="M-14 0Q0 -13 14 0Q0 13 -14 0Z" '
        f'fill="#ffffff" stroke="{paint}" stroke-width="3"/><circle r="5" fill="{paint}"/></g>'
    )


def _pile(gold: int) -> str:
    """Return a pile of coins with its number."""
    coins = "".join(f'<ellipse cy="{34 - 7 * k}" rx="36" ry="13"/>' for k in range(min(gold, 7)))
    top = 34 - 7 * min(gold, 7)
    return (
        f'<g fill="var(--gold)" stroke="var(--gold-edge)" stroke-width="2.5">{coins}'
        f'<circle cy="{top - 4}" r="33"/><circle cy="{top - 4}" r="27" stroke-width="1.2"/></g>'
        f"{write(gold, 0, top + 13, 50, 'var(--gold-ink)')}"
    )


@lru_cache(maxsize=4 * LINES)
def _line(line: int, stands: bool, marked: bool) -> Part:
    """Return a line between two squares, with its palisade if there is one."""
    name, (a, b) = LINE_NAMES[line], LINE_SQUARES[line]
    x, y = _corner(b)
    upright, text = b == a + 1, ""
    if stands:
        edge = (
            'stroke="var(--glow)" stroke-width="5"'
            if marked
            else 'stroke="var(--wood-edge)" stroke-width="2.5"'
        )
        text = _palisade(edge)
    else:
        high = CELL - 24
        text = f'<rect x="-9" y="12" width="18" height="{high}" fill="none" pointer-events="all"/>'
    turn = "" if upright else " rotate(-90)"
    svg = (
        f'<g id="line-{name}" data-line="{name}" transform="translate({x} {y}){turn}">'
        f"<title>{name}{': palisade' if stands else ''}</title>{text}</g>"
    )
    box: Box = (x - 14, y - 2, 28, CELL + 4) if upright else (x - 2, y - 14, CELL + 4, 28)
    return Part(box, svg)


def _palisade(edge: str) -> str:
    """Return a palisade with its upper end at the origin. `edge`: SVG attributes of its outline."""
    posts = "".join(
        f'<rect x="{k % 2 * 1.5 - 9.5}" y="{4 + k * 13.1:.1f}" width="{19 - k % 2 * 3}" '
        'height="11.5" rx="4"/>'
        for k in range(8)
    )
    return (
        f'<rect x="-10.5" y="2" width="21" height="{CELL - 4}" rx="7" fill="var(--wood-edge)" '
        f'{edge}/><g fill="var(--wood)">{posts}</g>'
    )


def _spot(scene: Scene, land: Territory) -> str:
    """Return the square that shows a territory's points: the first of those with most room."""

    def crowd(name: str) -> int:
        warrior = scene.view["warriors"].get(name)
        if warrior is None:
            return 2 if name in scene.view["gold"] else 0
        added = warrior["arrows"] or warrior["reinforcement"] is not None
        return 3 if added else 1

    return min(land.squares, key=crowd)


def _score(scene: Scene, square: int, land: Territory) -> Part:
    """Return the part with each side's points in a territory.

    If a side is tied in points but leads by a reinforcement (ARM-29), its badge shows a plus.
    """
    text, at = "", 0.0
    for side, points in enumerate(land.points):
        if points:
            words = f"{points}{'+' if land.open[side] else ''}"
            text += f'<g transform="translate({at + 10:g} 10)">'
            text += _shape(side, 15, paint_of(scene, side), "var(--white)", 1.5)
            if land.leader == side and land.by_reinforcement:
                text += '<path d="M-4.5 0H4.5M0 -4.5V4.5" stroke="#ffffff" stroke-width="2.6"/>'
            text += "</g>"
            text += write(words, at + 20, 17, 21, "var(--ink)", "start")
            at += 26 + width_of(words, 21)
    if text:
        back = f'<rect y="-1" width="{at:.0f}" height="23" rx="8" fill="var(--page)"'
        text = f'{back} opacity=".85"/>{text}'
    return _at_score(square, text, at)


@lru_cache(maxsize=SQUARES)
def _no_score(square: int) -> Part:
    """Return an empty part in place of the points, for a square that shows no points."""
    return _at_score(square, "", 0)


def _at_score(square: int, text: str, width: float) -> Part:
    """Return the part with a territory's points, in the corner of a square."""
    (x, y), name = _corner(square), SQUARE_NAMES[square]
    left = min(x + 13.0, LEFT + COLUMNS * CELL - 6 - width)
    svg = f'<g id="score-{name}" transform="translate({left:.1f} {y + 7})">{text}</g>'
    return Part((left - 1, y + 4, max(width, 1.0) + 2, 28), svg)


# --- around the board ----------------------------------------------------------------------------


def _turn(scene: Scene) -> str:
    """Return in words whose turn it is, or the result."""
    view = scene.view
    if (result := view["result"]) is not None:
        won = [p for p in range(scene.game.players) if scene.game.sides[p] in result["winners"]]
        gold = " : ".join(map(str, result["gold"]))
        names = " and ".join(scene.names[player] for player in won)
        shared = len(result["winners"]) > 1
        return f"{names} {'share the victory' if shared else 'won'}, gold {gold}"
    stage = {"turn": " to move", "second palisade": ": a second palisade?"}
    return f"{scene.names[view['to_move']]}{stage.get(view['stage'], ' after the power')}"


def _heading(scene: Scene) -> list[Part]:
    """Return the line above the board: whose turn it is, the last action, the palisades left."""
    view, mover, result = scene.view, scene.view["to_move"], scene.view["result"]
    winners = result["winners"] if result else []
    shown = [p for p in range(scene.game.players) if p == mover or scene.game.sides[p] in winners]
    start, turn = LEFT, ""
    for player in shown:
        turn += f'<g transform="translate({start + 20} 36)">'
        turn += _shape(player, 34, paint_of(scene, player), "var(--white)", 2) + "</g>"
        start += 42
    start += 4 * bool(shown)
    turn += write(_turn(scene), start, 47, 34, "var(--ink)", "start", LEFT + 516 - start)
    last = ""
    if scene.last:
        seat, said = scene.last
        last += f'<g transform="translate({LEFT + 548} 36)">'
        last += _shape(seat, 28, paint_of(scene, seat), "var(--white)", 2) + "</g>"
        last += write(said, LEFT + 570, 46, 30, "var(--ink)", "start", 190)
    left = view["palisades_left"]
    supply = (
        f"<title>palisades left: {left}</title>"
        f'<g transform="translate({WIDTH - LEFT - 110} 14) scale(.4)"><rect x="-10.5" width="21" '
        'height="108" rx="7" fill="var(--wood)" stroke="var(--wood-edge)" stroke-width="4"/></g>'
        + write(f"×{left}", WIDTH - LEFT - 92, 47, 32, "var(--ink)", "start")
    )
    middle, end = LEFT + 526, WIDTH - LEFT - 124
    return [
        Part((0, 0, middle, 66), f'<g id="turn">{turn}</g>'),
        Part((middle, 0, end - middle, 66), f'<g id="last">{last}</g>'),
        Part((end, 0, WIDTH - end, 66), f'<g id="supply">{supply}</g>'),
    ]


def _panel(scene: Scene, player: int) -> list[Part]:
    """Return a player's panel: name, character, Warriors in hand, powers, reinforcement, gold."""
    view, players = scene.view, scene.game.players
    gap = 12
    wide = (COLUMNS * CELL + 8 - gap * (players - 1)) / players
    x = LEFT - 4 + player * (wide + gap)
    moves = view["to_move"] == player
    drop = 12 if player == 2 else 9
    you = " (you)" if scene.seat == player else ""
    partner = _partner(scene, player)
    room = wide - 74 - 42 * bool(partner)
    rows = {  # for each part's name: the part's top and bottom, and its SVG
        "player": (
            (-5, PANEL + 5),
            f'<rect width="{wide:.1f}" height="{PANEL}" rx="14" fill="var(--panel)" '
            f'stroke="{paint_of(scene, player)}" stroke-width="{7 if moves else 2.5}"/>',
        ),
        "name": (
            (10, 60),
            f'<g transform="translate(34 36)">'
            f"{_shape(player, 38, paint_of(scene, player), 'var(--white)', 2)}"
            f"{write(PLAYER_LETTERS[player], 0, drop, 24, '#ffffff')}</g>"
            f"{write(scene.names[player] + you, 62, 45, 29, 'var(--ink)', 'start', room)}"
            f'<g transform="translate({wide - 20:.1f} 36)">{partner}</g>',
        ),
        "notes": ((62, 96), _notes(scene, player, wide)),
        "hand": (
            (96, 188),
            f'<g transform="translate(14 124)">{_hand(scene, player, wide - 28)}</g>',
        ),
    }
    return [
        Part(
            (x - 5, BELOW + top, wide + 10, bottom - top),
            f'<g id="{name}-{player}" data-player="{player}" '
            f'transform="translate({x:.1f} {BELOW})">{svg}</g>',
        )
        for name, ((top, bottom), svg) in rows.items()
    ]


def _partner(scene: Scene, player: int) -> str:
    """Return a plus and the sign of a player's partner, or no text without a partner."""
    sides = scene.game.sides
    partner = next(
        (p for p in range(len(sides)) if p != player and sides[p] == sides[player]), None
    )
    if partner is None:
        return ""
    drop = 8 if partner == 2 else 6
    return (
        f"<title>partner: player {PLAYER_LETTERS[partner]}</title>"
        f"{_shape(partner, 26, paint_of(scene, partner), 'var(--white)', 2)}"
        f"{write(PLAYER_LETTERS[partner], 0, drop, 17, '#ffffff')}"
        f"{write('+', -20, 8, 22, 'var(--ink)')}"
    )


def _notes(scene: Scene, player: int, wide: float) -> str:
    """Return the line under a player's name: character and powers, or a pass, or the gold."""
    view, notes = scene.view, []
    if view["characters"]:
        powers = view["powers"][player]
        notes.append(
            f"{view['characters'][player].capitalize()}, {powers} power{'s' * (powers != 1)}"
        )
        if view["reinforcements"][player]:
            notes.append("1 reinforcement" if wide > 300 else "+1")
    if (result := view["result"]) is not None:
        side = scene.game.sides[player]
        notes = [f"{result['gold'][side]} gold"]
        if side in result["winners"]:
            notes.insert(0, "won by piles" if won_by_piles(result) else "won")
    elif view["passed"][player]:
        notes.append("passed")
    return write(" · ".join(notes), 16, 86, 25, "var(--ink)", "start", wide - 30)


def _hand(scene: Scene, player: int, wide: float) -> str:
    """Return the Warriors in hand: the number of each value, or only their total number."""
    hand, size = scene.view["hands"][player], scene.view["hand_sizes"][player]
    paint = paint_of(scene, player)
    if hand is None:
        shown = [("?", size)]
    else:
        mini = scene.view["options"].get("board") == "mini"
        dealt = WARRIORS[int(mini), scene.game.players]
        shown = [(value, n) for value, n in hand.items() if dealt[int(value) - 1]]
    step, text = min(wide / max(len(shown), 1), 84.0), ""
    for k, (value, n) in enumerate(shown):
        back, ink, words = "var(--face)", "#20180c", "var(--ink)"
        if not n:
            back, ink, words = "none", "var(--faint)", "var(--faint)"
        elif value == "?":
            back, ink = paint, "#ffffff"
        text += f'<g transform="translate({step * (k + 0.5):.1f} 0)">'
        text += _shape(player, min(40.0, 0.8 * step), back, paint, 4 if n else 2)
        text += write(value, 0, 12 if player == 2 else 9, 26, ink)
        text += write(f"×{n}", 0, 52, 25, words, most=step - 4) + "</g>"
    return text
