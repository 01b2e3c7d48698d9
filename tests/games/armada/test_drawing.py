"""Drawings of Armada's chart, and of a position on it, as SVG and as text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

from armarl.core.pictures.picture import Scene
from armarl.games.armada.chart.loading import CENTRAL, COLOURS, STANDARD, Chart, load_chart
from armarl.games.armada.drawing.picture import draw_chart, picture
from armarl.games.armada.state import ORDER
from armarl.games.armada.text.drawing import draw, turn_line
from armarl.games.armada.text.explain import asked as asked_of
from armarl.games.make_game import make_game

CHART = load_chart()


def view() -> dict:
    territories = {
        t.name: {
            "owner": None if t.lair == CENTRAL else t.lair,
            "explored": t.lair != CENTRAL,
            "bands": 0,
            "colour": None,
            "tribes": 0,
            "gold": 0,
            "ship": False,
        }
        for t in CHART.territories
    }
    territories["C5"].update(owner="tribes", explored=True, tribes=43, gold=1)
    territories["G4"].update(owner="orange", colour="orange", bands=47, ship=True)
    return {
        "territories": territories,
        "ships": {"s1": {"colour": "blue", "bands": 9, "gold": 1}, "s9": {**EMPTY_SHIP}},
        "turn": {
            "number": 4,
            "colour": "green",
            "player": 0,
            "coups": 6,
            "raid": False,
            "stage": "order",
        },
        "pending": None,
        "chance": [],
        "to_move": 0,
        "deck_size": 30,
        "claims": ["green", "blue"],
        "new_claims": ["green"],
        "reserve": dict.fromkeys(COLOURS, 32),
        "supply": {"gold": 47, "tribes": 7},
        "box": 1,
        "options": {"cards": True},
        "hands": [["raid", "attack"], None],
        "hand_sizes": [2, 3],
        "known": [{"in_deck": ["discovery"]}, {"in_deck": None}],
        "result": None,
    }


EMPTY_SHIP = {"colour": None, "bands": 0, "gold": 2}


def scene(seat: int | None = None, **more) -> Scene:
    game = SimpleNamespace(attributes={"chart": CHART}, players=2, sides=(0, 1))
    return Scene(game, {**view(), **more}, seat, None, None, ("player 0", "player 1"))


def texts(svg: str) -> list[str]:
    return [e.get("data-text", "") for e in ElementTree.fromstring(svg).iter()]


def test_the_chart_shows_every_place() -> None:
    svg = draw_chart(CHART).svg()
    shown = texts(svg)
    for name in CHART.places:
        post = next((t.post for t in CHART.territories if t.name == name), None)
        assert (f"{name} {post}" if post else name) in shown
    assert svg == draw_chart(load_chart(STANDARD.read_text(encoding="utf-8"))).svg()


def test_the_picture_shows_the_pieces() -> None:
    shown = texts(picture(scene()).svg())
    assert {"47", "43", "9"} <= set(shown)
    assert "green (player 0): 6 coups left" in shown
    assert "blue claims victory" in shown
    assert {"gold, 47 left", "tribes, 7 left", "ship, 1 left"} <= set(shown)
    assert {"raid, attack", "3 cards"} <= set(shown)


def test_the_picture_shows_dice_and_the_order_under_way() -> None:
    pending = {"order": "attack G4 s14", "roll": ["combat", -1]}
    thrown = scene(chance=[["combat", -1]], pending=pending, to_move=1)
    shown = texts(picture(thrown).svg())
    assert "−1" in shown
    assert "player 1 decides on attack G4 s14" in shown
    assert "fight" in shown


def test_the_places_of_the_last_order_are_outlined() -> None:
    ordered = scene()._replace(last=(0, "attack G4 s14"))
    outlined = [part.svg for part in picture(ordered).parts if 'stroke="var(--glow)"' in part.svg]
    assert len(outlined) == 2
    for name in ("G4", "s14"):
        assert any(f'data-place="{name}"' in svg for svg in outlined)


ORDERS = {"stage": ORDER, "order": -1}  # the fields of a state that the text needs


def test_the_text_says_what_is_to_be_decided() -> None:
    game = make_game("armada", players=2)
    states = game.new_states(1)
    asked = []
    for text in ("ship G4", "ship G5", "count 3", "count 0"):
        said = turn_line(game.describe(states[0])) + asked_of(game, states[0])
        asked.append(said.partition(": ")[2])
        assert game.draw(states[0], 0).replace("\n", " ").endswith(asked[-1])
        game.apply(states, np.arange(1), np.array([game.actions.id(text)]))
    assert asked == [
        "put ship 1 of 2 on a city of its lair",
        "put ship 2 of 2 on a city of its lair",
        "how many of the 18 bands left to put on G1, from `count 0` up",
        "how many of the 15 bands left to put on G2, from `count 0` up",
    ]
    while states[0]["stage"] != ORDER:
        game.apply(states, np.arange(1), game.legal_masks(states).argmax(axis=1))
    assert re.fullmatch(r".* turn \(player .\): 10 coups", game.draw(states[0]).splitlines()[-1])


def test_the_text_shows_every_place_and_the_pieces() -> None:
    game = SimpleNamespace(attributes={"chart": CHART}, describe=lambda state, seat: view())
    text = draw(game, ORDERS, 0)
    for name in CHART.places:
        assert re.search(rf"(?<![A-Z0-9a-z]){name}(?![0-9])", text), name
    for line in (
        "G4* o47 ^",
        "C5 t43 $1",
        "C1(Centre) ?",
        "SHIPS  s1 b9 $1, s9 - $2",
        "g green, r raspberry, b blue, o orange, t tribes, - nobody, ? unexplored;",
        "supply: bands green 32, raspberry 32, blue 32, orange 32; 47 gold, 7 tribes, 1",
        "green claims victory: it wins if it is in victory when green's next turn ends",
        "blue claims victory: it wins if it is in victory when blue's turn ends next",
        "player 0 (you): raid, attack; left in the deck: discovery",
        "player 1: 3 cards",
        "green's turn (player 0): 6 coups",
    ):
        assert line in text
    assert max(map(len, text.splitlines())) < 80
    grid = text.splitlines()[:28]
    assert any("o47" in row for row in grid)  # on the map, beside the name or below it
    assert any("b9$1" in row for row in grid)
    unmapped = {"chart": load_chart(CHART.as_dict())}
    without_map = SimpleNamespace(attributes=unmapped, describe=game.describe)
    assert draw(without_map, ORDERS, 0) in text


def test_a_chart_without_a_map_cannot_be_drawn() -> None:
    chart = load_chart(CHART.as_dict())
    assert isinstance(chart, Chart)
    with pytest.raises(ValueError, match="no map to draw"):
        draw_chart(chart)
    drawn = scene()
    drawn.game.attributes["chart"] = chart
    with pytest.raises(ValueError, match="no map to draw"):
        picture(drawn)
