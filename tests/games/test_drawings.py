"""Drawings of every game are complete and stable. They show a seat no hidden information."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from armarl.core.game import Game
from armarl.core.pictures.picture import Scene
from armarl.core.verbs import PLAYING
from armarl.games.armadora.drawing.picture import picture
from armarl.games.make_game import make_game
from variants import RICH, VARIANTS, every_rich_game

GAMES = 8  # games of each variant, with two positions each


def positions(game: Game, games: int, seed: int) -> Iterator[tuple]:
    """Yield positions of random games, each with the state, seat and action that led to it."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        states = game.new_states(int(rng.integers(2**40)))
        course = []
        for _ in range(70):
            status, seats = game.statuses(states)
            if status[0] != PLAYING:
                break
            action = int(rng.choice(np.flatnonzero(game.legal_masks(states)[0])))
            before = states[0].copy()
            game.apply(states, np.array([0]), np.array([action]))
            course.append((states[0].copy(), before, (int(seats[0]), action)))
        if status[0] != PLAYING:
            course.pop()  # at the end everything is shown
        for k in rng.integers(len(course), size=2) if course else ():
            yield course[k]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_two_deals_that_a_seat_cannot_tell_apart_give_the_same_picture(variant):
    game = variant.make()
    found = 0
    for number, (state, before, last) in enumerate(positions(game, GAMES, seed=1)):
        for seat in range(game.players):
            one, old = (
                game.determinised(np.full(1, s), np.array([seat]), np.array([number]))[0]
                for s in (state, before)
            )
            for other in (game.concealed(np.full(1, state), np.array([seat]))[0], one):
                assert game.draw_svg(other, seat) == game.draw_svg(state, seat)
                found += 1
            if seat != last[0]:
                shown = game.draw_svg(state, seat, before=before, last=last)
                assert game.draw_svg(one, seat, before=old, last=last) == shown
    assert found


@every_rich_game
def test_parts_keep_their_ids_and_order(variant):
    game = variant.make()
    seen = []
    for state, before, last in positions(game, 8, seed=2):
        picture = game.picture(state, before=before, last=last)
        root = ElementTree.fromstring(picture.svg())
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(ids) == len(set(ids))
        seen.append([re.findall(r' id="([^"]+)"', part.svg)[0] for part in picture.parts])
        for part in picture.parts:
            x, y, width, height = part.box
            assert width > 0
            assert height > 0
            assert -30 <= x <= x + width <= picture.sheet.width + 30, part
            assert -30 <= y <= y + height <= picture.sheet.height + 30, part
    assert all(one == seen[0] for one in seen)


def test_every_place_has_the_name_that_a_person_types():
    armadora, armada = (variant.make() for variant in RICH[:2])
    for game in (armadora, armada):
        svg = game.draw_svg(game.new_states(0)[0])
        places = set(re.findall(r'data-place="([^"]+)"', svg))
        lines = set(re.findall(r'data-line="([^"]+)"', svg))
        words = {word for text in game.actions.texts for word in text.split()}
        if game is armada:
            assert places == set(game.attributes["chart"].places)
        else:
            assert len(places) == 40
            assert lines == {word for word in words if "-" in word}
            assert len(lines) == 67
        assert {word for word in words if re.fullmatch(r"[a-hs]\d+|[GRBOC]\d+", word)} <= places


def test_the_last_move_is_told_without_hidden_information():
    game = RICH[0].make()
    states = game.new_states(0)
    before, action = states[0].copy(), game.actions.id("W2 a1")
    game.apply(states, np.array([0]), np.array([action]))
    told = {
        seat: game.draw_svg(states[0], seat, before=before, last=(0, action))
        for seat in (None, 0, 1)
    }
    assert 'data-text="W2 a1"' in told[None]
    assert 'data-text="W2 a1"' in told[0]
    assert 'data-text="W? a1"' in told[1]
    assert "W2" not in told[1]
    plain = game.draw_svg(states[0])
    glow = f'"{game.picture(states[0]).sheet.colours["glow"][0]}"'
    assert glow in told[1].split("</style>")[1]
    assert glow not in plain.split("</style>")[1]


def test_a_finished_game_shows_its_result():
    for variant in RICH:
        game = variant.make()
        states = game.new_states(1)
        game.playouts(states, seeds=np.array([1]))
        svg = game.draw_svg(states[0])
        assert re.search(r'data-text="[^"]*(won|wins|cut short|share the victory)', svg), variant


def test_a_hand_still_shows_a_value_without_warriors_left():
    game = make_game("armadora", players=2)
    states = game.new_states(0)
    game.apply(states, np.array([0]), np.array([game.actions.id("W5 a1")]))
    assert game.draw_svg(states[0]).count('data-text="×0"') == 1


def armadora(**changes) -> list[str]:
    """Return the parts of a picture for four players in which something is changed."""
    game = make_game("armadora", players=4, advanced=True)
    view = game.describe(game.new_states(0)[0]) | changes
    return [part.svg for part in picture(Scene(game, view, None, None, None, tuple("abcd"))).parts]


def warrior(player: int, **more) -> dict[str, Any]:
    return {
        "player": player,
        "value": 2,
        "face_up": False,
        "arrows": 0,
        "reinforcement": None,
    } | more


def test_arm_19_a_side_that_wins_without_more_gold_has_won_by_piles():
    for gold, said in ((20, "won by piles · 20 gold"), (19, "won · 20 gold")):
        result = {"gold": [20, gold], "winners": [0]}
        shown = " ".join(armadora(result=result, to_move=None))
        assert shown.count(f'data-text="{said}"') == 2


def test_arm_29_the_side_that_wins_a_tie_has_the_sign_of_its_reinforcement():
    walls = ["a1-a2", "b1-b2", "b1-c1"]
    for helper, signs in ((None, 0), (0, 1), (3, 1)):
        first = warrior(0, reinforcement=helper, value=2 if helper is None else 1)  # ARM-28
        warriors = {"a1": first, "b1": warrior(1)}
        parts = armadora(palisades=walls, warriors=warriors)
        corner = [svg for svg in parts if 'id="score-' in svg and 'data-text="2"' in svg]
        assert len(corner) == 1
        assert corner[0].count("M-4.5 0H4.5") == signs


def test_the_points_of_a_territory_are_where_there_is_most_room():
    walls = ["a1-a2", "b1-b2", "b1-c1"]
    warriors = {"a1": warrior(0, arrows=1), "b1": warrior(0)}
    parts = armadora(palisades=walls, warriors=warriors)
    (corner,) = (svg for svg in parts if 'id="score-' in svg and 'data-text="3"' in svg)
    assert 'id="score-b1"' in corner


def test_partners_are_named():
    shown = " ".join(armadora())
    for letter in "ABCD":
        assert shown.count(f"partner: player {letter}") == 1
