"""Armada's turn and its orders (ADA-15 to ADA-26), in the kernels and the reference."""

from __future__ import annotations

import pytest

from reference.armada.board import COLOURS
from reference.armada.table import Table


def test_ada_15_ten_coups_and_the_turn_ends() -> None:
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


def test_ada_15_a_turn_without_coups_continues_while_a_card_can_be_played() -> None:
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
    table.play(f"move {land} {square}", "count 1")  # load a ship
    assert table.view["ships"][square] == {"colour": "green", "bands": 3, "gold": 0}
    table.play(f"move {square} {beside}", "count 2")  # transfer to another ship
    assert table.view["ships"][beside] == {"colour": "green", "bands": 2, "gold": 0}
    table.play(f"move {square} {land}")  # unload the last band: no choice
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
    assert f"move {land} {square}" not in table.legal()  # the ship is full


def test_ada_17_numbers_with_one_answer_are_not_asked() -> None:
    table = Table()
    land = table.coastal("green")
    square = table.coast(land)[0]
    table.put(land, "green", 9, gold=5)
    table.sea(square, None, 0, gold=9)
    table.play(f"move {land} {square}")  # there is room for one band, and then none for gold
    assert table.view["turn"]["stage"] == "order"
    assert table.view["ships"][square] == {"colour": "green", "bands": 1, "gold": 9}


def test_ada_18_places_that_may_be_entered() -> None:
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
    assert f"move {land} {square}" not in table.legal()  # the ship is full of gold


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


def test_ada_22_losses_beyond_the_bands_are_ignored() -> None:
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
    table.put(city, "green", 1, ship=True)
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


@pytest.mark.parametrize("guards", [0, 3])
def test_ada_24_anybodys_unlaunched_ship_from_the_land_beside(guards: int) -> None:
    table = Table()
    city = table.cities("orange")[0]
    table.put(city, "orange", guards, ship=True)
    table.put(table.inland(city)[0], "green", 1)
    assert table.legal("scuttle") == {f"scuttle {city}"}
    table.play(f"scuttle {city}")
    assert (table.land(city)["ship"], table.land(city)["bands"]) == (False, guards)
    assert (table.view["box"], table.coups) == (8, 9)


def test_ada_24_anybodys_unlaunched_ship_from_a_ship_beside() -> None:
    table = Table()
    city = table.cities("orange")[0]
    table.put(city, "orange", ship=True)
    table.sea(table.coast(city)[0], "green", 1)
    assert table.legal("scuttle") == {f"scuttle {city}"}


def test_ada_24_not_the_own_ship_without_a_band_near() -> None:
    table = Table()
    city = table.cities("green")[-1]
    table.put(city, "green", ship=True)
    table.sea(table.coast(city)[0], None)  # an empty ship next to it does not count as a band
    assert not table.legal("scuttle")
    game, states = table.match.game, table.match.states
    why = game.explain(states[0], game.actions.id(f"scuttle {city}"))
    assert why.endswith(f"green has no band on {city} or next to it (ADA-24)")


def test_ada_25_convert_in_a_city() -> None:
    table = Table()
    first, second, _ = table.cities("blue")
    table.put(first, "green", gold=2)
    assert not table.legal("convert")  # only one city of that lair
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
def test_ada_26_two_rounds_without_orders_end_the_game(players: int) -> None:
    table = Table(players)
    for colour in COLOURS:
        table.put(table.home(colour), colour, 0)
    city = table.cities("green")[0]
    table.put(city, "green", ship=True)
    table.play(f"launch {city} {table.coast(city)[0]}")
    assert table.winners == []
    assert table.view["result"] == {"winners": [], "truncated": True}
    assert table.view["turn"]["number"] == 1 + 8
