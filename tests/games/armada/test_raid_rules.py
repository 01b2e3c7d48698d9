"""Armada's raids, hands and secrets (ADA-33, ADA-34, ADA-36, ADA-37), in both implementations."""

from __future__ import annotations

from collections import Counter

import numpy as np

from armarl.games.armada.actions import CARD_NAMES
from reference.armada.board import COLOURS
from reference.armada.table import Table

POSTS = ("Centre", "North", "East")


def test_ada_33_asked_before_the_first_action_and_after_every_order() -> None:
    table = Table(cards=True)
    a, b = table.plain_neighbours("green")
    table.put(a, "green", 1)
    table.hand(2, "raid")
    table.turn("green", coups=2)
    for _ in range(2):  # the raider is asked even after the last order
        table.play(f"move {a} {b}")
        a, b = b, a
        assert (table.view["to_move"], table.view["turn"]["stage"]) == (2, "answer")
        assert table.view["turn"]["colour"] == "green"
        assert table.legal() == {"play raid", "decline"}
        table.play("decline")
    assert (table.view["turn"]["colour"], table.view["to_move"]) == ("raspberry", 2)
    table.play("decline")  # before raspberry's first action
    table.play("end")  # `end` is not an order, and blue is not asked in its own turn
    assert (table.view["turn"]["colour"], table.view["turn"]["stage"]) == ("blue", "order")


def test_ada_33_each_player_is_asked_once_in_play_order() -> None:
    table = Table(cards=True)
    table.turn("blue")
    table.put(table.home("blue"), "blue", 5, gold=3)
    table.hand(0, "raid", "raid")
    table.hand(1, "raid")
    table.hand(2, "raid")
    table.hand(3)
    table.deck = ["attack"]
    table.play("buy")
    assert table.view["to_move"] == 0
    table.play("play raid")
    assert table.view["turn"]["colour"] == "green"
    table.play("end")
    assert table.view["to_move"] == 1  # green has another raid card, but was already asked
    table.play("decline")
    assert (table.view["to_move"], table.view["turn"]["coups"]) == (2, 8)


def test_ada_33_a_raid() -> None:
    table = Table(cards=True)
    a, b = table.plain_neighbours("blue")
    table.put(a, "blue", 1)
    table.hand(0, "more-coups", "raid")
    table.hand(2, "raid", "more-coups")
    table.hand(3, "raid")
    table.play("play more-coups", "play raid")
    turn = table.view["turn"]
    assert (turn["colour"], turn["player"], turn["raid"], turn["coups"]) == ("blue", 2, True, 3)
    assert (turn["number"], turn["more_coups"], turn["enrolled"]) == (0, False, False)
    assert table.view["interrupted"]["colour"] == "green"
    assert table.view["interrupted"]["coups"] == 13
    # Green and orange have raid cards, but a raid cannot interrupt a raid.
    table.play(f"move {a} {b}")
    assert table.view["to_move"] == 2
    table.play("play more-coups")
    assert table.coups == 5
    table.play("end")
    assert table.view["to_move"] == 3  # the next seat is asked
    table.play("decline")
    turn = table.view["turn"]
    assert (turn["colour"], turn["coups"], turn["raid"]) == ("green", 13, False)
    assert turn["more_coups"]
    assert table.view["interrupted"] is None


def test_ada_15_a_raid_without_possible_orders_ends() -> None:
    table = Table(cards=True)
    table.put(table.home("blue"), "blue", 0)
    table.hand(0, "more-coups")
    table.hand(2, "raid")
    table.play("play more-coups", "play raid")
    assert (table.view["turn"]["colour"], table.view["turn"]["stage"]) == ("green", "order")
    assert table.view["hands"][2] == []


def test_ada_33_a_player_with_two_colours_raids_with_the_next() -> None:
    for turn, raider in (("green", "raspberry"), ("blue", "orange"), ("orange", "green")):
        table = Table(2, cards=True)
        player = COLOURS.index(turn) % 2
        table.turn(turn)
        table.hand(player, "more-coups")
        table.hand(1 - player, "raid")
        table.play("play more-coups", "play raid")
        assert table.view["turn"]["colour"] == raider


def test_ada_33_a_turn_without_a_question_cannot_be_raided() -> None:
    table = Table(cards=True)
    table.put(table.home("raspberry"), "raspberry", 0)
    table.hand(0, "raid")
    table.play("end")
    assert table.view["turn"]["number"] == 2
    assert table.view["turn"]["colour"] == "blue"
    assert table.view["to_move"] == 0


def test_ada_31_enrolment_once_a_raid() -> None:
    table = Table(cards=True, enrolment=True)
    home = table.home("green")
    table.hand(2, "raid")
    table.play("enrol", f"levy {home}", "play raid")
    assert "enrol" in table.legal()
    table.play("enrol", f"levy {table.home('blue')}")
    assert "enrol" not in table.legal()


def test_ada_34_a_raid_makes_a_claim() -> None:
    table = Table(cards=True)
    table.hand(0, "more-coups")
    table.hand(2, "raid")
    table.own("blue", [table.post(post) for post in POSTS])
    table.play("play more-coups", "play raid")
    assert table.view["claims"] == []
    table.play("end")
    assert table.view["claims"] == ["blue"]
    table.play("end", "end", "end")
    assert table.winners == [2]


def test_ada_34_a_raid_neither_withdraws_nor_fulfils() -> None:
    for posts in ((), POSTS):
        table = Table(cards=True)
        table.hand(0, "more-coups")
        table.hand(2, "raid")
        table.own("blue", [table.post(post) for post in posts])
        table.claims = ["blue"]
        table.play("play more-coups", "play raid", "end")
        assert table.view["claims"] == ["blue"]
        assert table.winners is None


def test_ada_29_in_a_raid() -> None:
    table = Table(cards=True)
    a, b = table.plain_neighbours("green")
    for colour in COLOURS[:3]:
        table.put(table.home(colour), colour, 0)
    table.put(a, "green", 1)
    table.put(b, "orange", 5)
    table.hand(0, "more-coups")
    table.hand(3, "raid")
    table.play("play more-coups", "play raid")
    table.play(f"attack {b} {a}", dice=[("combat", 1)])
    assert table.winners == [3]


# --- hands and secrets ---------------------------------------------------------------------------


def test_ada_36_two_players_have_two_hands() -> None:
    table = Table(2, cards=True)
    table.hand(0, "gold-mine")
    table.turn("blue")
    assert len(table.view["hands"]) == 2
    table.play(f"play gold-mine {table.home('blue')}")
    table = Table(2, cards=True)
    table.hand(0, "gold-mine")
    table.turn("blue")
    assert table.legal("play") == {f"play gold-mine {name}" for name in table.lair("blue")}


def test_ada_36_a_payment_without_a_choice_is_not_asked() -> None:
    table = Table(cards=True)
    table.put(table.home("green"), "green", 5, gold=2)
    table.deck = ["raid"]
    table.play("buy")
    assert table.land(table.home("green"))["gold"] == 0
    assert table.view["hands"][0] == ["raid"]


def test_ada_37_hands_looks_and_the_deck_are_secret() -> None:
    table = Table(cards=True)
    table.hand(0, "strategist")
    table.hand(1, "raid", "attack")
    table.deck = ["mutiny", "raid", "attack"]
    table.play("play strategist")
    own, other = (table.match.game.describe(table.match.states[0], seat) for seat in (0, 1))
    assert own["pending"]["looked"] == ["mutiny"]
    assert own["hands"] == [[], None, None, None]
    assert other["hands"] == [None, ["attack", "raid"], None, None]
    assert not other["pending"].get("looked")
    for seen in (own, other):
        assert seen["hand_sizes"] == [0, 2, 0, 0]
        assert seen["deck"] is None
        assert seen["deck_size"] == 3
        assert seen["played"] == table.view["played"]


def test_ada_37_a_strategist_remembers_what_it_left_in_the_deck() -> None:
    table = Table(players=3, neutral="orange", cards=True)
    table.hand(0, "strategist", "strategist")
    table.hand(1, "strategist")
    table.put(table.home("raspberry"), "raspberry", 5, gold=2)
    table.deck = ["attack", "raid", "mutiny", "defence", "raid"]
    table.play("play strategist", "peek", "peek", "take")
    assert table.view["known"][0]["in_deck"] == ["attack", "raid"]
    seen = [table.match.game.describe(table.match.states[0], seat)["known"][0] for seat in (0, 1)]
    assert [known["in_deck"] for known in seen] == [["attack", "raid"], None]
    table.play("end", "buy")
    assert table.view["known"][0]["in_deck"] == ["attack", "raid"]
    assert table.view["known"][0]["drawn"] == [0, 1, 0]  # the drawn card may be one of them


def test_ada_37_determinise_deals_uniformly_what_agrees_with_the_memory() -> None:
    """One of the two cards was in the hand before, so it is not one that was seen in the deck."""
    table = Table(players=3, neutral="orange", cards=True)
    table.hand(0, "strategist")
    table.hand(1, "discovery")
    table.put(table.home("raspberry"), "raspberry", 5, gold=2)
    table.deck = ["attack", "natives", "mutiny", "defence", "recruit"]
    table.play("play strategist", "peek", "peek", "take")
    table.play("end", "buy")
    left, unseen = {"attack", "natives"}, {"attack", "natives", "defence", "recruit", "discovery"}
    hands = Counter(frozenset((old, drawn)) for old in unseen - left for drawn in unseen - {old})
    game, n = table.match.game, 6000
    dealt = game.determinised(np.repeat(table.match.states, n), np.zeros(n, int), np.arange(n))
    found = Counter(frozenset(np.array(CARD_NAMES)[hand > 0]) for hand in dealt["hand"][:, 1])
    assert found.keys() == hands.keys()
    for hand, ways in hands.items():
        assert abs(found[hand] / n - ways / hands.total()) < 0.02


def test_ada_37_a_question_shows_whether_a_player_has_the_card() -> None:
    table = Table(players=4, cards=True)
    table.hand(0, "gold-mine", "gold-mine")
    table.hand(2, "raid", "raid")
    table.play(f"play gold-mine {table.home('green')}")
    assert [known["holds"]["raid"] for known in table.view["known"]] == [None, False, True, None]
    table.play("decline")
    assert [known["holds"]["raid"] for known in table.view["known"]] == [None, False, True, False]
    table.play(f"play gold-mine {table.home('green')}", "play raid")
    assert table.view["known"][2]["holds"]["raid"] is None
