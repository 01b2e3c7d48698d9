"""Armada's pieces, players and preliminary turn (ADA-6 to ADA-14), in kernels and reference.

`test_chart.py` tests ADA-1 to ADA-5, the chart.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from armarl.games.armada.chart.loading import load_chart
from armarl.games.make_game import make_game
from reference.armada.board import COLOURS
from reference.armada.checks import Match
from reference.armada.table import Table


def test_ada_6_pieces_that_the_supply_lacks_are_not_placed() -> None:
    table = Table()
    coast = table.coastal("central")
    table.sea(table.coast(coast)[0], "green", 2)
    table.put(table.home("blue"), "blue", 5, gold=48)
    table.put(table.post("Centre"), "tribes", tribes=49)
    table.play(f"explore {coast}", dice=[("gold", 3), ("tribes", 4)])
    assert (table.land(coast)["gold"], table.land(coast)["tribes"]) == (2, 1)
    assert table.view["supply"] == {"gold": 0, "tribes": 0}


def test_ada_6_lost_bands_go_back_to_their_reserve() -> None:
    table = Table()
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 4)
    table.put(b, "orange", 3)
    table.play(f"attack {a} {b}", dice=[("combat", 2)])
    assert table.land(b)["bands"] == 1
    assert table.view["reserve"]["orange"] == 50 - Table.GARRISON - 1
    table.play(f"attack {a} {b}", dice=[("combat", -1)])
    assert table.land(a)["bands"] == 3
    assert table.view["reserve"]["green"] == 50 - Table.GARRISON - 3


def test_ada_7_dice() -> None:
    """Each face is rolled as often as it is on the die, within five standard deviations."""
    table = Table()
    a, b = table.plain_neighbours("green")
    coast = table.coastal("central")
    table.put(a, "green", 4)
    table.put(b, "orange", 4)
    table.sea(table.coast(coast)[0], "green", 2)
    table.legal()
    game, throws = table.match.game, 1200
    thrown: Counter[tuple[str, int]] = Counter()
    for text in (f"attack {a} {b}", f"explore {coast}"):
        states = np.repeat(table.match.states, throws)
        states["rng"] = 1000 * np.arange(throws)
        game.apply(states, np.arange(throws), np.full(throws, game.actions.id(text)))
        for state in states:
            thrown.update((die, face) for die, face in game.describe(state)["chance"])
    faces = {
        "combat": [1, 1, 1, 2, -1, -1],
        "gold": [0, 1, 1, 2, 2, 3],
        "tribes": [0, 1, 2, 2, 3, 4],
    }
    expected = Counter((die, face) for die, six in faces.items() for face in six)
    assert thrown.keys() == expected.keys()
    for face, copies in expected.items():
        mean = throws * copies / 6
        assert abs(thrown[face] - mean) < 5 * (mean * (1 - copies / 6)) ** 0.5, face


def test_ada_8_an_empty_ship_is_nobodys_and_keeps_its_gold() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    table.sea(square, "green", 2, gold=3)
    table.play(f"move {square} {land}", "count 2", "gold 1")
    assert table.view["ships"][square] == {"colour": None, "bands": 0, "gold": 2}
    assert not table.legal("sail")


def test_ada_8_a_ship_not_launched_belongs_to_the_owner_of_its_city() -> None:
    table = Table()
    city = table.cities("orange")[0]
    table.put(city, "green", ship=True)
    assert table.legal("launch") == {f"launch {city} {square}" for square in table.coast(city)}
    assert not table.legal("scuttle")  # no band of green is next to it (ADA-24)
    table.play("end")
    assert not table.legal("launch", "scuttle")  # it is raspberry's turn


@pytest.mark.parametrize("players", [2, 4])
def test_ada_9_to_11_players_and_colours(players: int) -> None:
    table = Table(players)
    order = []
    for _ in range(5):
        turn = table.view["turn"]
        order.append((turn["colour"], turn["player"]))
        table.play("end")
    assert order == [(COLOURS[k % 4], k % players) for k in range(5)]


@pytest.mark.parametrize(("players", "strength"), [(2, 18), (4, 18)])
def test_ada_10_11_13_preliminary_turn(players: int, strength: int) -> None:
    match = Match(make_game("armada", players=players), seed=1)
    lairs = {
        colour: [n for n, land in match.reference.chart.items() if land["lair"] == colour]
        for colour in COLOURS
    }
    for number, colour in enumerate(COLOURS):
        turn = match.view["turn"]
        assert (turn["colour"], turn["player"]) == (colour, number % players)
        assert (turn["stage"], turn["number"]) == ("preliminary", None)
        cities = [name for name in lairs[colour] if match.reference.chart[name]["city"]]
        assert match.view["legal"] == sorted(f"ship {city}" for city in cities)
        match.play(f"ship {cities[2]}")
        assert match.view["legal"] == sorted(f"ship {city}" for city in cities[:2])
        match.play(f"ship {cities[0]}")
        assert match.view["legal"] == sorted(f"count {n}" for n in range(strength + 1))
        match.play("count 3")
        assert match.view["legal"] == sorted(f"count {n}" for n in range(strength - 2))
        if number % 2:
            match.play(f"count {strength - 3}")  # no bands are left, so there is no question
        else:
            for _ in range(5):
                match.play("count 1")  # the last territory gets the rest
        bands = [match.view["territories"][name]["bands"] for name in lairs[colour]]
        one_each = [3, 1, 1, 1, 1, 1, strength - 8]
        assert bands == ([3, strength - 3, 0, 0, 0, 0, 0] if number % 2 else one_each)
    assert match.view["turn"]["number"] == 0
    assert (match.view["turn"]["colour"], match.view["turn"]["coups"]) == ("green", 10)
    assert match.view["box"] == 0
    assert match.view["reserve"] == dict.fromkeys(COLOURS, 50 - strength)


def test_ada_11_own_second_colour() -> None:
    """Colours of one player never attack each other or share a place, but may take empty land."""
    table = Table(2)
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 3)
    table.put(b, "blue", 1)
    square, *_ = table.coast(table.coastal("green"))
    table.sea(square, "blue", 2)
    assert f"attack {a} {b}" not in table.legal()
    assert f"move {a} {b}" not in table.legal()
    assert not any(text.endswith(f" {square}") for text in table.legal("move", "attack", "scuttle"))
    table = Table(2)
    table.put(a, "green", 3)
    table.put(b, "blue", 0)
    table.play(f"move {a} {b}", "count 1")
    assert table.land(b)["owner"] == "green"


def test_ada_11_what_a_player_has_counts_for_one_colour() -> None:
    """Conversion, purchase and enrolment do not count the player's second colour."""
    for colours, allowed in ((("green", "blue"), False), (("green", "green"), True)):
        table = Table(2, cards=True, enrolment=True)
        first, second, _ = table.cities("orange")
        north, south, west = (table.post(name) for name in ("North", "South", "West"))
        for name, owner in zip((first, second), colours, strict=True):
            table.put(name, owner, gold=1)
        for name, owner in zip((north, south, west), (*colours, colours[1]), strict=True):
            table.put(name, owner, gold=1)
        cities, posts = {first, second}, {north, south, west}
        wanted = {f"convert {name}" for name in cities | posts} if allowed else set()
        assert table.legal("convert") == wanted
    for owner, allowed in (("blue", False), ("green", True)):
        table = Table(2, cards=True, enrolment=True)
        one, two = table.cities("orange")[:2]
        table.put(one, "green", gold=1)
        table.put(two, owner, gold=1)
        assert ("buy" in table.legal()) == allowed
    table = Table(2, cards=True, enrolment=True)
    table.own("green", table.lair("central")[:2])
    table.own("blue", table.lair("central")[2:4])
    # Bands may be enrolled in territories of the lair, but not of the centre.
    table.play("enrol", f"levy {table.home('green')}")
    assert table.view["turn"]["stage"] == "order"


@pytest.mark.parametrize("neutral", COLOURS)
def test_ada_12_three_players(neutral: str) -> None:
    table = Table(3, neutral)
    match = Match(table.match.game, table.match.seed)
    playing = [colour for colour in COLOURS if colour != neutral]
    lair = table.lair(neutral)
    for name in lair:
        land = match.view["territories"][name]
        assert land["owner"] == land["colour"] == neutral
        assert land["bands"] == (3 if table.chart[name]["city"] else 1)
        assert not land["ship"]
    opposite = COLOURS[(COLOURS.index(neutral) + 2) % 4]
    for player, colour in enumerate(playing):
        assert (match.view["turn"]["colour"], match.view["to_move"]) == (colour, player)
        for city in table.cities(colour)[:2]:
            match.play(f"ship {city}")
        strength = 20 if colour == opposite else 15
        assert match.view["legal"] == sorted(f"count {n}" for n in range(strength + 1))
        match.play(f"count {strength}")
    assert match.view["box"] == 2
    assert match.view["reserve"].keys() == set(playing)
    turns = []
    for _ in range(4):
        turns.append(match.view["turn"]["colour"])
        match.play("end")
    assert turns == [*playing, playing[0]]


@pytest.mark.parametrize("neutral", COLOURS)
def test_ada_12_the_bonus_follows_the_chart(neutral: str) -> None:
    """If raspberry and blue exchange their lairs, green and raspberry are opposite each other."""
    other = {"raspberry": "blue", "blue": "raspberry"}
    chart = load_chart().as_dict()
    for territory in chart["territories"]:
        territory["lair"] = other.get(territory["lair"], territory["lair"])
    table = Table(3, neutral, chart=chart)
    match = Match(table.match.game, table.match.seed)
    strengths = {}
    for colour in (c for c in COLOURS if c != neutral):
        for city in table.cities(colour)[:2]:
            match.play(f"ship {city}")
        strengths[colour] = max(int(text.split()[1]) for text in match.view["legal"])
        match.play(f"count {strengths[colour]}")
    opposite = {"green": "raspberry", "raspberry": "green", "blue": "orange", "orange": "blue"}
    assert strengths.pop(opposite[neutral]) == 20
    assert set(strengths.values()) == {15}


def test_ada_12_nobodys_bands_defend_and_can_be_driven_out() -> None:
    table = Table(3, "blue")
    a, b = table.plain_neighbours("blue")
    table.put(a, "green", 5)
    table.put(b, "blue", 1)
    assert f"move {a} {b}" not in table.legal()
    table.play(f"attack {a} {b}", dice=[("combat", 1)])
    table.play(f"move {a} {b}", "count 2")
    assert table.land(b)["owner"] == "green"


def test_ada_14_start() -> None:
    match = Match(make_game("armada", players=4), seed=0)
    for name, land in match.view["territories"].items():
        lair = match.reference.chart[name]["lair"]
        assert land["owner"] == (None if lair == "central" else lair)
        assert land["explored"] == (lair != "central")
    assert match.view["supply"] == {"gold": 50, "tribes": 50}
