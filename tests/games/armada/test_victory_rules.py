"""Armada's victory, end and enrolment (ADA-27 to ADA-31), in the kernels and the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference.armada.board import COLOURS
from reference.armada.table import LEFT, Table, last_band_of_orange


def round_of_ends(table: Table) -> None:
    """Let every colour end its turn, until the next turn of the same colour."""
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
    assert table.view["claims"] == ["green"]  # any enemy lair counts


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
    table.play("end")  # blue is in victory now, and green was before
    assert table.view["claims"] == ["green", "blue"]
    assert table.winners is None


def test_ada_28_a_turn_that_nobody_is_asked_for_counts() -> None:
    table = Table()
    table.put(table.home("green"), "green", 0)
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    table.claims = ["green"]
    table.turn("orange")
    said = told(table)  # orange's turn ends, and green's turn begins and ends
    assert table.winners == [0]
    assert said.startswith("player 0 wins: green claimed victory, and one turn later still owns")


def observed_claims(table: Table, seat: int) -> list[int]:
    """Return the block `claim` as a seat observes it."""
    game = table.match.game
    observations, _ = game.views(table.match.states, np.array([seat]))
    claims: list[int] = game.observation.decode(observations[0])["claim"].tolist()
    return claims


def one_step_from_victory(colour: str, **options: Any) -> tuple[Table, str]:
    """Return a table where a colour owns two posts, and its move to the Centre."""
    table = Table(**options)
    centre = table.post("Centre")
    beside = table.inland(centre)[0]
    table.own(colour, [table.post(name) for name in ("North", "East")])
    table.put(centre, "tribes")
    table.put(beside, colour, 1)
    return table, f"move {beside} {centre}"


def test_ada_28_a_claim_is_laid_during_the_turn() -> None:
    table, move = one_step_from_victory("green")
    assert table.view["claims"] == []
    table.play(move)
    assert table.view["claims"] == table.view["new_claims"] == ["green"]
    assert observed_claims(table, 0) == [1, 0, 0, 0]  # not judged at the end of this turn
    assert observed_claims(table, 1) == [0, 0, 0, 1]
    table.play("end")
    assert table.winners is None
    assert (table.view["claims"], table.view["new_claims"]) == (["green"], [])
    assert observed_claims(table, 1) == [0, 0, 0, 2]
    table.play("end", "end", "end")
    assert observed_claims(table, 0) == [2, 0, 0, 0]  # judged at the end of this turn
    assert table.winners is None
    table.play("end")
    assert table.winners == [0]


@pytest.mark.parametrize("again", [False, True])
def test_ada_28_a_raid_cannot_undo_a_claim_before_it_is_judged(again: bool) -> None:
    """Regression: claims were laid only at the end of a turn, so a raid could prevent them."""
    table, move = one_step_from_victory("green", cards=True)
    north = table.post("North")
    beside = next(name for name in table.inland(north) if name not in move.split())
    back = next(name for name in table.inland(north) if name not in (*move.split(), beside))
    table.put(beside, "blue", 1)
    table.put(back, "green", 1)
    table.hand(2, "raid")
    table.play(move, "play raid", f"move {beside} {north}", f"move {north} {beside}", "end")
    assert table.view["claims"] == ["green"]
    assert observed_claims(table, 0) == [1, 0, 0, 0]
    table.play("end")
    assert table.view["claims"] == ["green"]
    assert observed_claims(table, 0) == [2, 0, 0, 0]
    table.play("end", "end", "end")
    if again:
        table.play(f"move {back} {north}")
    table.play("end")
    assert table.winners == ([0] if again else None)
    assert table.view["claims"] == (["green"] if again else [])


def test_ada_34_a_claim_in_a_raid_is_judged_at_the_end_of_the_next_own_turn() -> None:
    table, move = one_step_from_victory("blue", cards=True)
    table.hand(0, "more-coups")
    table.hand(2, "raid")
    table.play("play more-coups", "play raid", move)
    assert table.view["turn"]["raid"]
    assert table.view["claims"] == ["blue"]
    assert observed_claims(table, 2) == [2, 0, 0, 0]
    table.play("end", "end", "end")
    assert table.winners is None
    table.play("end")
    assert table.winners == [2]


@pytest.mark.parametrize("left", LEFT)
def test_ada_29_a_player_is_out_without_bands_cards_gold_and_enrolment(left: str) -> None:
    """Regression: a player with a card, gold or land to enrol from was out after its last band."""
    table, attack = last_band_of_orange(left, attackers=2)
    table.play(attack, dice=[("combat", 1)])
    assert table.winners == ([0] if left == "nothing" else None)


def test_ada_29_the_second_colour_s_gold_keeps_a_player_in() -> None:
    for owner, winners in (("raspberry", None), ("blue", [0]), ("green", [0])):
        table = Table(2)
        a, b = table.plain_neighbours("green")
        for colour in ("raspberry", "orange"):
            table.put(table.home(colour), colour, 0)
        table.put(table.cities("raspberry")[0], owner, gold=1)
        table.put(a, "green", 2)
        table.put(b, "orange", 1)
        table.play(f"attack {a} {b}", dice=[("combat", 1)])
        assert table.winners == winners


def test_ada_29_a_player_without_bands_continues() -> None:
    table = Table()
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    city = table.cities("orange")[0]
    table.put(city, "orange", gold=1)
    table.play("end")
    assert table.view["turn"]["colour"] == "orange"
    table.play(f"convert {city}")
    assert table.land(city)["bands"] == 4


def last_gold_taken(max_turns: int = 400) -> Table:
    """Return a table after green took the last gold of all players without bands, but no band."""
    table = Table(max_turns=max_turns)
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    table.put(a, "green", 1)
    table.put(b, "orange", gold=1)
    centre = table.post("Centre")
    table.put(centre, "green", 5)
    table.put(table.inland(centre)[0], "tribes", tribes=5)
    table.play(f"move {a} {b}")
    assert table.winners is None
    return table


def test_ada_29_is_checked_when_a_turn_ends() -> None:
    table = last_gold_taken()
    table.play("end")
    assert table.winners == [0]


def test_ada_29_comes_before_ada_30() -> None:
    table = last_gold_taken(max_turns=1)
    table.play("end")
    assert table.view["result"] == {"winners": [0], "truncated": False}


def test_ada_29_is_checked_when_bands_are_removed() -> None:
    table = last_gold_taken()
    centre = table.post("Centre")
    attack = f"attack {centre} {table.inland(centre)[0]}"
    table.play(attack, dice=[("combat", 2)])
    assert table.winners is None  # tribes do not count as bands
    table.play(attack, dice=[("combat", -1)])
    assert table.winners == [0]


def test_ada_29_the_last_player_with_bands_wins_immediately() -> None:
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


def test_ada_30_is_checked_after_ada_28() -> None:
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
    assert table.view["turn"]["stage"] == "order"  # all fifty bands are on the board


def test_ada_31_nothing_to_enrol() -> None:
    table = Table(enrolment=True)
    table.own("orange", table.lair("green")[:4])
    table.own("green", table.lair("central")[:3])
    assert "enrol" not in table.legal()
    table = Table(enrolment=True)
    table.put(table.home("green"), "green", 50)
    assert "enrol" not in table.legal()
    assert "enrol" not in Table().legal()


def told(table: Table, action: str = "end", **more: Any) -> str:
    """Play an action. Return the last sentence about its result."""
    assert action in table.legal()  # `legal` begins the game
    game, before = table.match.game, table.match.states[0].copy()
    seat = int(before["to_move"])
    table.play(action, **more)
    return str(
        game.tell(table.match.states[0], (seat, game.actions.id(action)), before=before).words[-1]
    )


def test_ada_28_a_new_claim_of_a_position_is_not_judged_at_the_end_of_its_turn() -> None:
    table = Table()
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    table.claims = table.new_claims = ["green"]
    round_of_ends(table)
    assert table.winners is None
    assert (table.view["claims"], table.view["new_claims"]) == (["green"], [])
    table.play("end")
    assert table.winners == [0]


def test_ada_28_a_description_tells_a_new_claim_from_a_due_one() -> None:
    """Regression: `state_from` made a claim due that was new, so a player could win too early."""
    table, move = one_step_from_victory("green")
    table.play(move)
    game = table.match.game
    new = game.state_from(game.describe(table.match.states[0]))
    due = game.state_from(game.describe(table.match.states[0]) | {"new_claims": []})
    for state, winners in ((new, None), (due, [0])):
        states = np.full(1, state)
        game.apply(states, np.arange(1), np.array([game.actions.id("end")]))
        result = game.describe(states[0])["result"]
        assert (result and result["winners"]) == winners


def test_the_end_of_a_game_is_told_with_its_reason() -> None:
    table = Table()
    table.own("green", [table.post(name) for name in ("Centre", "North", "East")])
    round_of_ends(table)
    assert told(table) == (
        "player 0 wins: green claimed victory, and one turn later still owns 7 territories of the "
        "green lair and 3 trading posts, the Centre among them (ADA-27, ADA-28)."
    )
    table = Table()
    table.own("green", [city for colour in COLOURS[1:] for city in table.cities(colour)[:2]][:4])
    round_of_ends(table)
    assert "of the green lair and 4 cities in enemy lairs (ADA-27, ADA-28)." in told(table)


def test_a_claim_of_a_player_that_is_out_is_no_reason() -> None:
    """The claim holds: owning places without bands is enough (ADA-27). But green won by ADA-29."""
    table = Table()
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    table.own("orange", [table.post(name) for name in ("Centre", "North", "East")])
    table.claims = ["orange"]
    table.put(a, "green", 2)
    table.put(b, "orange", 1)
    said = told(table, f"attack {a} {b}", dice=[("combat", 1)])
    assert said == "player 0 wins: the others have nothing left to play with (ADA-29)."


@pytest.mark.parametrize("claims", [[], ["green"]], ids=["new", "due"])
def test_a_claim_of_the_winner_that_is_not_judged_is_no_reason(claims: list[str]) -> None:
    """Regression: the reason was ADA-28 whenever the winner had a claim and was in victory."""
    table, move = one_step_from_victory("green")
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    table.claims = claims
    table.put(a, "green", 2)
    table.put(b, "orange", 1)
    table.play(move)
    assert table.view["claims"] == ["green"]
    assert table.view["new_claims"] == ([] if claims else ["green"])
    said = told(table, f"attack {a} {b}", dice=[("combat", 1)])
    assert said == "player 0 wins: the others have nothing left to play with (ADA-29)."


def test_a_new_claim_is_no_reason_at_the_end_of_its_own_turn() -> None:
    table, move = one_step_from_victory("green")
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[1:]:
        table.put(table.home(colour), colour, 0)
    table.put(a, "green", 1)
    table.put(b, "orange", gold=1)
    table.play(f"move {a} {b}", move)
    assert table.winners is None
    assert table.view["new_claims"] == ["green"]
    assert told(table) == "player 0 wins: the others have nothing left to play with (ADA-29)."
