"""Armada's rules one by one, on hand-made positions, on the kernels and the reference alike.

ADA-1 to ADA-5, the chart, are in `test_armada_chart.py`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from armarl.game import make_game
from reference.armada import COLOURS
from reference.armada_checks import Match
from reference.armada_table import Table

PLAYING = {2: COLOURS, 4: COLOURS}


def bands_on_board(table: Table, colour: str) -> int:
    view = table.view
    here = [*view["territories"].values(), *view["ships"].values()]
    return sum(place["bands"] for place in here if place["colour"] == colour)


# --- pieces and players: ADA-6 to ADA-14 ---------------------------------------------------------


def test_ada_6_what_the_supply_lacks_is_not_placed() -> None:
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
    """Every face falls as often as it is on the die, within five standard deviations."""
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
        game.loops.apply_batch(states, np.arange(throws), np.full(throws, game.actions.id(text)))
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
    assert table.legal("scuttle") == {f"scuttle {city}"}
    table.play("end")
    assert not table.legal("launch", "scuttle")  # raspberry


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
            match.play(f"count {strength - 3}")  # none left: nothing more is asked
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
    """Never attacked, no shared place; its land that it does not occupy changes the flag."""
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


# --- the turn: ADA-15 to ADA-26 ------------------------------------------------------------------


def test_ada_15_ten_coups_and_the_turn_ends_by_itself() -> None:
    table = Table()
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 1)
    for k in range(10):
        assert table.coups == 10 - k
        assert "end" in table.legal()
        table.play(f"move {a} {b}")
        a, b = b, a
    assert table.view["turn"] | {"stage": ""} == {
        "number": 1,
        "player": 1,
        "colour": "raspberry",
        "raid": False,
        "coups": 10,
        "enrolled": False,
        "more_coups": False,
        "stage": "",
    }


def test_ada_15_coups_with_the_first_decision_pieces_with_the_last() -> None:
    table = Table()
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 3, gold=2)
    table.play(f"move {a} {b}")
    assert table.coups == 9
    assert table.legal() == {"count 1", "count 2", "count 3"}
    table.play("count 2")
    assert table.legal() == {"gold 0", "gold 1", "gold 2"}
    assert (table.land(a)["bands"], table.land(b)["bands"]) == (3, 0)
    assert table.view["turn"]["stage"] == "number"
    assert table.view["pending"]["order"] == f"move {a} {b}"
    assert table.view["pending"]["numbers"] == [2]
    table.play("gold 1")
    assert (table.land(a)["bands"], table.land(a)["gold"]) == (1, 1)
    assert (table.land(b)["bands"], table.land(b)["gold"]) == (2, 1)
    assert table.coups == 9


def test_ada_15_goes_on_without_coups_while_a_card_can_be_played() -> None:
    table = Table(cards=True)
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 1)
    table.hand(0, "gold-mine", "recruit", "discovery", "strategist")
    table.turn("green", coups=1)
    table.play(f"move {a} {b}")
    owned = table.lair("green")
    expected = {"end", "play recruit"} | {f"play gold-mine {name}" for name in owned}
    assert table.legal() == expected


def test_ada_16_launch() -> None:
    table = Table()
    city = table.cities("green")[0]
    table.put(city, "green", ship=True)
    square, *others = table.coast(city)
    table.sea(square)
    assert table.legal("launch") == {f"launch {city} {other}" for other in others}
    table.play(f"launch {city} {others[0]}")
    assert table.view["ships"][others[0]] == {"colour": None, "bands": 0, "gold": 0}
    assert not table.land(city)["ship"]
    assert table.coups == 9


def test_ada_17_four_kinds_of_moves() -> None:
    table = Table()
    land = table.coastal("green")
    other, square = table.inland(land)[0], table.coast(land)[0]
    beside = next(p for p in sorted(table.near[square]) if p not in table.chart)
    table.put(land, "green", 3)
    table.sea(square, "green", 2)
    table.sea(beside)
    table.play(f"move {land} {other}", "count 1")  # territory to territory
    table.play(f"move {land} {square}", "count 1")  # load
    assert table.view["ships"][square] == {"colour": "green", "bands": 3, "gold": 0}
    table.play(f"move {square} {beside}", "count 2")  # transfer
    assert table.view["ships"][beside] == {"colour": "green", "bands": 2, "gold": 0}
    table.play(f"move {square} {land}")  # unload the last one: no choice
    assert table.view["ships"][square] == {"colour": None, "bands": 0, "gold": 0}
    assert table.land(land)["bands"] == 2
    assert table.coups == 6


def test_ada_17_19_numbers_run_to_the_ships_room() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    table.put(land, "green", 9, gold=5)
    table.sea(square, "green", 3, gold=2)
    table.play(f"move {land} {square}")
    assert table.legal() == {f"count {n}" for n in range(1, 6)}
    table.play("count 3")
    assert table.legal() == {f"gold {n}" for n in range(3)}
    table.play("gold 2")
    assert table.view["ships"][square] == {"colour": "green", "bands": 6, "gold": 4}
    assert f"move {land} {square}" not in table.legal()  # it is full


def test_ada_17_numbers_with_one_answer_are_not_asked() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    table.put(land, "green", 9, gold=5)
    table.sea(square, None, 0, gold=9)
    table.play(f"move {land} {square}")  # room for one band, and then for no gold
    assert table.view["turn"]["stage"] == "order"
    assert table.view["ships"][square] == {"colour": "green", "bands": 1, "gold": 9}


def test_ada_18_what_may_be_entered() -> None:
    table = Table()
    centre = table.post("Centre")
    unexplored, wild, free, enemy, *_ = table.inland(centre)
    table.put(centre, "green", 3)
    table.put(wild, "tribes", tribes=1)
    table.put(free, "tribes")
    table.put(enemy, "orange", 1)
    assert table.legal(f"move {centre}") == {f"move {centre} {free}"}
    table.play(f"move {centre} {free}", "count 3")
    assert table.land(free)["owner"] == "green"
    assert table.land(centre)["owner"] == "green"  # the flag stays when the bands leave
    assert table.land(unexplored)["owner"] is None


def test_ada_18_the_flag_is_replaced_by_the_next_invaders() -> None:
    table = Table()
    a, b = table.plain_neighbours("orange")
    table.put(a, "green", 2)
    table.play(f"move {a} {b}", "count 1")
    assert table.land(b)["owner"] == "green"


def test_ada_19_a_ship_of_another_colour_is_not_boarded() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    table.put(land, "green", 2)
    table.sea(square, "orange", 1)
    assert f"move {land} {square}" not in table.legal()
    table = Table()
    table.put(land, "green", 2)
    table.sea(square, None, 0, gold=10)
    assert f"move {land} {square}" not in table.legal()  # full of gold


def test_ada_20_sail() -> None:
    table = Table()
    square = table.coast(table.coastal("green"))[0]
    first, *others = [p for p in sorted(table.near[square]) if p not in table.chart]
    table.sea(square, "green", 1, gold=2)
    table.sea(first)
    assert table.legal("sail") == {f"sail {square} {other}" for other in others}
    table.play(f"sail {square} {others[0]}")
    assert table.view["ships"] == {
        first: {"colour": None, "bands": 0, "gold": 0},
        others[0]: {"colour": "green", "bands": 1, "gold": 2},
    }


def test_ada_21_explore_from_ship_and_land() -> None:
    table = Table()
    coast = table.coastal("central")
    square = table.coast(coast)[0]
    table.sea(square, "green", 1)
    inland = table.inland(square)
    assert table.legal("explore") == {f"explore {name}" for name in inland}
    table.play(f"explore {coast}", dice=[("gold", 0), ("tribes", 0)])
    land = table.land(coast)
    assert (land["owner"], land["explored"], land["gold"], land["tribes"]) == ("tribes", True, 0, 0)
    assert f"explore {coast}" not in table.legal()
    for name in set(table.inland(coast)) - set(inland):
        assert f"explore {name}" not in table.legal()  # explored, but not occupied
    table.play(f"move {square} {coast}")
    assert table.legal("explore") == {f"explore {name}" for name in table.inland(coast)}


def test_ada_21_double_at_the_centre() -> None:
    table = Table()
    centre = table.post("Centre")
    beside = table.inland(centre)[0]
    table.put(beside, "green", 1)
    table.play(f"explore {centre}", dice=[("gold", 3), ("tribes", 4)])
    assert (table.land(centre)["gold"], table.land(centre)["tribes"]) == (6, 8)
    assert table.view["chance"] == [["gold", 3], ["tribes", 4]]


def test_ada_22_attack_needs_two_bands_and_an_enemy() -> None:
    table = Table()
    centre = table.post("Centre")
    a, b, c, *_ = table.inland(centre)
    table.put(centre, "green", 2)
    table.put(a, "tribes", tribes=2)
    table.put(b, "orange", 1)
    table.put(c, "orange")
    assert table.legal("attack") == {f"attack {centre} {a}", f"attack {centre} {b}"}
    table.play(f"attack {centre} {a}", dice=[("combat", -1)])
    assert table.land(centre)["bands"] == 1
    assert not table.legal("attack")


def test_ada_22_land_and_ships_both_ways() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    beside = next(p for p in sorted(table.near[square]) if p not in table.chart)
    table.put(land, "green", 2)
    table.sea(square, "orange", 2, gold=1)
    table.sea(beside, "green", 2)
    assert table.legal("attack") == {f"attack {land} {square}", f"attack {beside} {square}"}
    table.play(f"attack {land} {square}", dice=[("combat", 2)])
    assert table.view["ships"][square] == {"colour": None, "bands": 0, "gold": 1}
    table.play(f"move {beside} {square}", "count 1")
    table = Table()
    table.put(land, "orange", 2)
    table.sea(square, "green", 2)
    assert table.legal("attack") == {f"attack {square} {land}"}


def test_ada_22_what_exceeds_is_void() -> None:
    table = Table()
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 2)
    table.put(b, "orange", 1, gold=2)
    table.play(f"attack {a} {b}", dice=[("combat", 2)])
    assert table.land(b) | {"ship": False} == {
        "owner": "orange",
        "explored": True,
        "bands": 0,
        "colour": None,
        "tribes": 0,
        "gold": 2,
        "ship": False,
    }


def test_ada_22_tribes_go_back_to_the_supply() -> None:
    table = Table()
    centre = table.post("Centre")
    wild = table.inland(centre)[0]
    table.put(centre, "green", 3)
    table.put(wild, "tribes", tribes=1)
    table.play(f"attack {centre} {wild}", dice=[("combat", 2)])
    assert table.view["supply"]["tribes"] == 50
    assert table.land(wild)["owner"] == "tribes"


def test_ada_23_a_ship_changes_owner_with_its_city() -> None:
    table = Table()
    city = next(c for c in table.cities("orange") if table.coast(c))
    square = table.coast(city)[0]
    table.put(city, "orange", ship=True)
    table.sea(square, "green", 1)
    assert not table.legal("launch")
    table.play(f"move {square} {city}")
    assert table.land(city)["ship"]
    launches = {f"launch {city} {other}" for other in table.coast(city)} - {
        f"launch {city} {square}"
    }
    assert table.legal("launch") == launches


def test_ada_24_scuttle() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    city = table.cities("green")[-1]
    table.put(land, "green", 1)
    table.put(city, "green", ship=True)
    table.sea(square, None, 0, gold=4)
    far = table.coast(table.coastal("blue"))[0]
    table.sea(far)
    assert table.legal("scuttle") == {f"scuttle {square}", f"scuttle {city}"}
    table.play(f"scuttle {square}")
    assert (table.view["box"], table.view["supply"]["gold"]) == (6, 50)
    table.play(f"scuttle {city}")
    assert table.view["box"] == 7
    assert table.view["ships"].keys() == {far}


def test_ada_24_from_a_ship_beside() -> None:
    table = Table()
    square = table.coast(table.coastal("blue"))[0]
    beside = next(p for p in sorted(table.near[square]) if p not in table.chart)
    table.sea(square, "green", 1)
    table.sea(beside)
    assert table.legal("scuttle") == {f"scuttle {beside}"}


def test_ada_25_convert_in_a_city() -> None:
    table = Table()
    first, second, _ = table.cities("blue")
    table.put(first, "green", gold=2)
    assert not table.legal("convert")  # one city of that lair only
    table = Table()
    table.put(first, "green", gold=2)
    table.put(second, "green")
    table.play(f"convert {first}")
    assert (table.land(first)["bands"], table.land(first)["gold"]) == (4, 1)
    assert table.view["supply"]["gold"] == 49
    assert table.coups == 9


def test_ada_25_convert_on_a_post() -> None:
    table = Table()
    north, south, west = (table.post(name) for name in ("North", "South", "West"))
    table.put(north, "green", gold=1)
    table.put(south, "green")
    assert not table.legal("convert")
    table = Table()
    table.put(north, "green", gold=1)
    table.own("green", [south, west])
    assert table.legal("convert") == {f"convert {north}"}


@pytest.mark.parametrize(("left", "placed"), [(3, 3), (1, 1), (0, None)])
def test_ada_25_convert_within_the_fifty(left: int, placed: int | None) -> None:
    table = Table()
    first = table.cities("green")[0]
    table.put(table.home("green"), "green", 50 - left)
    table.put(first, "green", gold=1)
    if placed is None:
        assert not table.legal("convert")
    else:
        table.play(f"convert {first}")
        assert table.land(first)["bands"] == placed
        assert table.view["reserve"]["green"] == 0


def test_ada_26_a_colour_that_could_only_end_is_not_asked() -> None:
    table = Table()
    table.put(table.home("raspberry"), "raspberry", 0)
    table.sea(table.coast(table.coastal("blue"))[0], None)
    table.play("end")
    assert (table.view["turn"]["colour"], table.view["turn"]["number"]) == ("blue", 2)


@pytest.mark.parametrize("players", [2, 4])
def test_ada_26_two_idle_rounds_end_the_game(players: int) -> None:
    table = Table(players)
    for colour in COLOURS:
        table.put(table.home(colour), colour, 0)
    table.put(table.cities("green")[0], "green", ship=True)
    table.play(f"scuttle {table.cities('green')[0]}")
    assert table.winners == []
    assert table.view["result"] == {"winners": [], "truncated": True}
    assert table.view["turn"]["number"] == 1 + 8


# --- victory: ADA-27 to ADA-30 -------------------------------------------------------------------


def round_of_ends(table: Table) -> None:
    """Everybody ends his turn, up to the same colour's next one."""
    colour = table.view["turn"]["colour"]
    table.play("end")
    while table.winners is None and table.view["turn"]["colour"] != colour:
        table.play("end")


def test_ada_27_28_three_posts_with_the_centre() -> None:
    table = Table()
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    round_of_ends(table)
    assert table.view["claims"] == ["green"]
    table.play("end")
    assert table.view["result"] == {"winners": [0], "truncated": False}
    assert table.view["to_move"] is None
    assert table.view["turn"]["stage"] == "over"


@pytest.mark.parametrize("posts", [["Centre", "North"], ["North", "South", "East", "West"]])
def test_ada_27_too_few_posts(posts: list[str]) -> None:
    table = Table()
    table.own("green", [table.post(name) for name in posts])
    table.play("end")
    assert table.view["claims"] == []


def test_ada_27_a_lair_must_be_held() -> None:
    posts = ("Centre", "North", "East")
    table = Table()
    table.own("green", [table.post(name) for name in posts])
    table.own("orange", table.lair("green")[:4])
    table.play("end")
    assert table.view["claims"] == []
    table = Table()
    table.own("green", [table.post(name) for name in posts])
    table.own("orange", table.lair("green")[:4])
    table.own("green", [name for name in table.lair("blue") if name != table.home("blue")][:4])
    table.play("end")
    assert table.view["claims"] == ["green"]  # any lair will do


def test_ada_27_four_cities_in_enemy_lairs() -> None:
    for number, claims in ((3, []), (4, ["green"])):
        table = Table()
        enemy = [city for colour in COLOURS[1:] for city in table.cities(colour)[:2]]
        table.own("green", enemy[:number])
        table.play("end")
        assert table.view["claims"] == claims


def test_ada_27_the_players_second_lair_is_no_enemys() -> None:
    for lairs, claims in ((("blue", "raspberry"), []), (("raspberry", "orange"), ["green"])):
        table = Table(2)
        table.own("green", [city for lair in lairs for city in table.cities(lair)[:2]])
        table.play("end")
        assert table.view["claims"] == claims


def test_ada_27_nobodys_lair_is_an_enemys() -> None:
    table = Table(3, "orange")
    table.own("green", [*table.cities("orange"), table.cities("blue")[0]])
    table.play("end")
    assert table.view["claims"] == ["green"]


def test_ada_28_by_the_same_condition_or_the_other() -> None:
    table = Table()
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    table.own("green", [city for colour in COLOURS[1:] for city in table.cities(colour)[:1]])
    beside = table.inland(table.post("Centre"))[0]
    table.put(beside, "orange", 2)
    fourth = table.cities("blue")[1]
    table.sea(table.coast(fourth)[0], "green", 1)
    table.play("end")
    table.play("end")  # raspberry
    table.play("end")  # blue
    table.play(f"move {beside} {table.post('Centre')}", "count 1")
    table.play("end")
    table.play(f"move {table.coast(fourth)[0]} {fourth}")
    table.play("end")
    assert table.winners == [0]


def test_ada_28_the_claim_is_withdrawn() -> None:
    table = Table()
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    beside = table.inland(table.post("Centre"))[0]
    table.put(beside, "orange", 2)
    for _ in range(3):
        table.play("end")
    table.play(f"move {beside} {table.post('Centre')}", "count 1")
    table.play("end")
    assert table.view["claims"] == ["green"]
    table.play("end")
    assert table.view["claims"] == []
    assert table.winners is None


def test_ada_28_with_two_players_the_same_colour() -> None:
    table = Table(2)
    table.own("green", [table.post(name) for name in ("North", "East")])
    table.own("blue", [table.post(name) for name in ("South", "West")])
    centre = table.post("Centre")
    table.put(centre, "green")
    beside = table.inland(centre)[0]
    table.put(beside, "blue", 2)
    table.play("end")
    table.play("end")
    table.play(f"move {beside} {centre}", "count 1")
    table.play("end")  # blue is in victory now, green was
    assert table.view["claims"] == ["green", "blue"]
    assert table.winners is None


def test_ada_28_a_turn_that_nobody_is_asked_for_counts() -> None:
    table = Table()
    table.put(table.home("green"), "green", 0)
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    table.claims = ["green"]
    table.turn("orange")
    table.play("end")
    assert table.winners == [0]


def test_ada_29_the_last_player_with_bands_wins_at_once() -> None:
    table = Table()
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    table.put(a, "green", 2)
    table.put(b, "orange", 2)
    table.play(f"attack {a} {b}", dice=[("combat", 1)])
    assert table.winners is None
    table.play(f"attack {a} {b}", dice=[("combat", 1)])
    assert table.winners == [0]


def test_ada_29_nobodys_bands_do_not_count() -> None:
    table = Table(3, "blue")
    a, b = table.plain_neighbours("green")
    table.put(table.home("raspberry"), "raspberry", 0)
    table.put(table.home("orange"), "orange", 0)
    table.put(a, "green", 2)
    table.put(b, "orange", 1)
    table.play(f"attack {a} {b}", dice=[("combat", 2)])
    assert table.winners == [0]


def test_ada_29_the_second_colour_keeps_a_player_in() -> None:
    table = Table(2)
    a, b = table.plain_neighbours("green")
    table.put(table.home("orange"), "orange", 0)
    table.put(a, "green", 2)
    table.put(b, "orange", 1)
    table.play(f"attack {a} {b}", dice=[("combat", 1)])
    assert table.winners is None  # raspberry is there


def test_ada_29_losing_ones_own_last_bands() -> None:
    table = Table(2, cards=True)
    a, b = table.plain_neighbours("green")
    for colour in ("green", "blue"):
        table.put(table.home(colour), colour, 0)
    table.put(a, "green", 2)
    table.put(b, "orange", 1)
    table.hand(1, "defence")
    table.play(f"attack {a} {b}", dice=[("combat", 1)])
    table.play("play defence")
    assert table.winners == [1]


@pytest.mark.parametrize("turns", [1, 3])
def test_ada_30_max_turns(turns: int) -> None:
    table = Table(max_turns=turns)
    for _ in range(turns):
        assert table.winners is None
        table.play("end")
    assert table.view["result"] == {"winners": [], "truncated": True}


def test_ada_30_is_tested_after_ada_28() -> None:
    table = Table(max_turns=1)
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    table.claims = ["green"]
    table.play("end")
    assert table.view["result"] == {"winners": [0], "truncated": False}


# --- enrolment: ADA-31 ---------------------------------------------------------------------------


def test_ada_31_enrolment() -> None:
    table = Table(enrolment=True)
    centre = table.lair("central")[:9]
    table.own("green", centre)
    blue = table.lair("blue")[:3]
    table.own("green", blue)
    table.play("enrol")
    assert table.coups == 9
    assert table.view["turn"]["stage"] == "place"
    assert table.legal() == {f"levy {name}" for name in table.lair("green")}
    table.play(f"levy {table.lair('green')[1]}")
    assert table.legal() == {f"levy {name}" for name in centre}
    table.play(f"levy {centre[0]}", f"levy {centre[0]}")
    assert table.land(centre[0])["bands"] == 2
    assert table.land(table.lair("green")[1])["bands"] == 1
    assert "enrol" not in table.legal()
    assert table.view["turn"]["enrolled"]
    assert table.coups == 9


def test_ada_31_several_lairs_in_play_order_and_the_limit() -> None:
    table = Table(enrolment=True)
    table.put(table.home("green"), "green", 48)
    table.own("green", table.lair("orange")[:4])
    table.own("green", table.lair("central")[:4])
    table.play("enrol", f"levy {table.home('green')}")
    assert table.legal() == {f"levy {name}" for name in table.lair("orange")[:4]}
    table.play(f"levy {table.lair('orange')[0]}")
    assert table.view["turn"]["stage"] == "order"  # the fifty are on the board


def test_ada_31_nothing_to_enrol() -> None:
    table = Table(enrolment=True)
    table.own("orange", table.lair("green")[:4])
    table.own("green", table.lair("central")[:3])
    assert "enrol" not in table.legal()
    table = Table(enrolment=True)
    table.put(table.home("green"), "green", 50)
    assert "enrol" not in table.legal()
    assert "enrol" not in Table().legal()
