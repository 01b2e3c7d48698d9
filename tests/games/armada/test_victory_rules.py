"""Armada's victory, end and enrolment (ADA-27 to ADA-31), in the kernels and the reference."""

from __future__ import annotations

import pytest

from reference.armada.board import COLOURS
from reference.armada.table import Table


def round_of_ends(table: Table) -> None:
    """Every colour ends its turn, up to the next turn of the same colour."""
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
    assert table.view["claims"] == ["green"]  # any lair counts


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
    table.play("end")  # blue is in victory now, green was before
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
    assert table.winners is None  # raspberry is still there


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
