"""Rules of Armada's cards (ADA-32, ADA-35) in the kernels and the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from armarl import armada_v0
from armarl.games.make_game import make_game
from reference.armada.board import CARDS
from reference.armada.checks import Match
from reference.armada.table import Table


def battle(*hands: tuple[str, ...], attackers: int = 5, defenders: int = 5) -> tuple[Table, str]:
    """Return a table with green next to orange in green's lair, and the notation of the attack."""
    table = Table(cards=True)
    a, b = table.plain_neighbours("green")
    table.put(a, "green", attackers)
    table.put(b, "orange", defenders)
    for player, hand in enumerate(hands):
        table.hand(player, *hand)
    return table, f"attack {a} {b}"


def sizes(table: Table) -> tuple[int, int]:
    """Return the numbers of attackers and defenders in `battle`."""
    a, b = table.plain_neighbours("green")
    return table.land(a)["bands"], table.land(b)["bands"]


# --- buying --------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ada_32_two_cards_each_are_dealt(players: int) -> None:
    match = Match(make_game("armada", players=players, cards=True), seed=3)
    assert match.view["hand_sizes"] == [2] * players
    assert match.view["deck_size"] == 46 - 2 * players
    assert sum(map(Counter, match.view["hands"]), Counter(match.view["deck"])) == CARDS
    assert sum(CARDS.values()) == 46


def test_ada_32_buying_costs_two_coups_and_two_gold() -> None:
    table = Table(cards=True)
    a, b = table.plain_neighbours("green")
    square, far = (table.coast(table.coastal(colour))[0] for colour in ("green", "blue"))
    table.put(a, "green", gold=1)
    table.put(b, "orange", gold=9)
    table.sea(square, "green", 1, gold=3)
    table.sea(far, None, 0, gold=3)
    table.deck = ["raid", "attack"]
    table.play("buy")
    assert table.coups == 8
    assert table.legal() == {f"pay {a}", f"pay {square}"}
    table.play(f"pay {a}")  # only the ship's band is left, so there is no choice
    assert table.view["hands"][0] == ["raid"]
    assert table.view["deck"] == ["attack"]
    assert table.view["ships"][square]["gold"] == 2
    assert table.land(a)["gold"] == 0
    assert table.view["supply"]["gold"] == 50 - 9 - 3 - 2


def test_ada_32_buying_is_offered_when_all_of_it_can_be_paid() -> None:
    for gold, coups, deck, offered in (
        (2, 2, ["raid"], True),
        (1, 2, ["raid"], False),
        (2, 1, ["raid"], False),
        (2, 2, [], False),
    ):
        table = Table(cards=True)
        table.put(table.home("green"), "green", 5, gold=gold)
        table.turn("green", coups=coups)
        table.deck = deck
        assert ("buy" in table.legal()) == offered


# --- answers to a roll ---------------------------------------------------------------------------


def test_ada_32_attack() -> None:
    table, text = battle(("attack", "attack"))
    table.play(text, dice=[("combat", -1)])
    assert table.legal() == {"play attack", "decline"}
    assert table.view["turn"]["stage"] == "answer"
    assert table.view["to_move"] == 0
    assert table.view["pending"]["roll"] == ["combat", -1]
    assert sizes(table) == (5, 5)
    table.play("play attack")  # one card for each roll
    assert sizes(table) == (5, 3)
    assert table.view["played"].count("attack") >= 1
    # The roll is two hits already, so the player is not asked to play the card.
    table.play(text, dice=[("combat", 2)])
    assert sizes(table) == (5, 1)
    table.play(text, dice=[("combat", -1)])
    table.play("decline")
    assert sizes(table) == (4, 1)
    assert table.view["hands"][0] == ["attack"]


def test_ada_32_defence_beats_attack() -> None:
    table, text = battle(("attack",), ("defence",), ("defence",), ("defence", "defence"))
    table.play(text, dice=[("combat", 1)])
    table.play("play attack")
    assert table.view["to_move"] == 3
    assert table.legal() == {"play defence", "decline"}
    table.play("play defence")
    assert sizes(table) == (3, 5)
    table.play(text, dice=[("combat", 2)])
    assert table.view["to_move"] == 3
    table.play("decline")
    assert sizes(table) == (3, 3)


def test_ada_32_defence_of_a_second_loss() -> None:
    table, text = battle((), (), (), ("defence",))
    table.play(text, dice=[("combat", -1)])
    table.play("play defence")
    assert sizes(table) == (3, 5)


def test_ada_32_defence_is_never_asked_for_tribes_or_nobody() -> None:
    for neutral in ("orange", None):
        table = Table(3 if neutral else 4, neutral, cards=True)
        for player in range(1, table.match.game.players):
            table.hand(player, "defence")
        centre = table.post("Centre")
        wild = table.inland(centre)[0]
        a, b = table.plain_neighbours("orange")
        table.put(a, "green", 5)
        table.put(b, "orange", 5)
        table.put(centre, "green", 5)
        table.put(wild, "tribes", tribes=5)
        table.play(f"attack {centre} {wild}", dice=[("combat", 1)])
        assert table.view["turn"]["stage"] == "order"
        table.play(f"attack {a} {b}", dice=[("combat", 1)])
        assert table.view["turn"]["stage"] == ("answer" if neutral is None else "order")


# --- cards in the player's own turn --------------------------------------------------------------


def test_ada_32_shipyard() -> None:
    table = Table(cards=True)
    table.hand(0, "shipyard")
    docked, *free = table.cities("green")
    table.put(docked, "green", ship=True)
    table.put(table.cities("blue")[0], "green")
    free.append(table.cities("blue")[0])
    assert table.legal("play shipyard") == {f"play shipyard {city}" for city in free}
    table.play(f"play shipyard {free[-1]}")
    assert table.land(free[-1])["ship"]
    assert table.view["box"] == 6
    assert table.coups == 10
    assert table.view["hands"][0] == []


def test_ada_32_shipyard_needs_a_ship_in_the_box() -> None:
    table = Table(cards=True)
    table.hand(0, "shipyard")
    for square in [place for place in table.near if place not in table.chart][:8]:
        table.sea(square)
    assert not table.legal("play")


@pytest.mark.parametrize("lost", [0, 1])
def test_ada_32_shipyard_needs_a_ship_that_was_scuttled(lost: int) -> None:
    """With three players, two ships are in the box from the start and cannot be taken."""
    table = Table(3, "orange", cards=True)
    table.hand(0, "shipyard")
    for square in [place for place in table.near if place not in table.chart][: 6 - lost]:
        table.sea(square)
    assert len(table.legal("play shipyard")) == (3 if lost else 0)
    if not lost:
        game, states = table.match.game, table.match.states
        city = table.cities("green")[0]
        why = game.explain(states[0], game.actions.id(f"play shipyard {city}"))
        assert why.endswith("the box has no ship that was scuttled (ADA-32)")


def test_ada_32_discovery() -> None:
    table = Table(cards=True)
    centre = table.post("Centre")
    beside = table.inland(centre)[0]
    other = next(name for name in table.inland(beside) if name != centre)
    table.put(beside, "green", 1)
    table.hand(0, "discovery", "discovery")
    explorable = table.legal("explore")
    assert {text.replace("explore", "play discovery") for text in explorable} == table.legal("play")
    table.play(f"play discovery {centre}", dice=[("gold", 3), ("tribes", 4)])
    assert (table.land(centre)["gold"], table.land(centre)["tribes"]) == (12, 16)
    assert table.coups == 9
    table.play(f"play discovery {other}", dice=[("gold", 1), ("tribes", 2)])
    assert (table.land(other)["gold"], table.land(other)["tribes"]) == (2, 4)


def test_ada_32_discovery_needs_a_coup() -> None:
    table = Table(cards=True)
    table.put(table.inland(table.post("Centre"))[0], "green", 1)
    table.hand(0, "discovery", "more-coups")
    table.turn("green", coups=0)
    assert table.legal() == {"end", "play more-coups"}


def test_ada_32_recruit() -> None:
    table = Table(cards=True)
    table.hand(0, "recruit")
    table.play("play recruit", dice=[("tribes", 3)])
    assert table.legal() == {f"levy {name}" for name in table.lair("green")}
    assert table.view["pending"]["roll"] == ["tribes", 3]
    table.play(f"levy {table.lair('green')[0]}")
    assert table.land(table.lair("green")[0])["bands"] == 3
    assert table.coups == 10


def test_ada_32_big_recruit_on_two_territories() -> None:
    table = Table(cards=True)
    table.hand(0, "big-recruit")
    first, *others = table.lair("green")
    table.play("play big-recruit", dice=[("tribes", 3)])
    table.play(f"levy {first}", dice=[("tribes", 2)])
    assert table.legal() == {f"levy {name}" for name in others}
    table.play(f"levy {others[0]}")
    assert (table.land(first)["bands"], table.land(others[0])["bands"]) == (3, 2)


def test_ada_35_a_roll_of_nothing_uses_no_territory() -> None:
    table = Table(cards=True)
    table.hand(0, "big-recruit", "recruit")
    table.play("play big-recruit", dice=[("tribes", 0), ("tribes", 4)])
    assert table.legal() == {f"levy {name}" for name in table.lair("green")}
    table.play(f"levy {table.lair('green')[0]}")
    table.play("play recruit", dice=[("tribes", 0)])
    assert table.view["turn"]["stage"] == "order"
    assert table.view["hands"][0] == []


def test_ada_35_the_same_territory_is_used_if_there_is_no_other() -> None:
    table = Table(cards=True)
    home = table.home("green")
    table.own("orange", [name for name in table.lair("green") if name != home])
    table.hand(0, "big-recruit")
    table.play("play big-recruit", dice=[("tribes", 3), ("tribes", 2)])
    assert table.land(home)["bands"] == Table.GARRISON + 5


def test_ada_35_recruits_are_limited_by_the_fifty() -> None:
    table = Table(cards=True)
    table.put(table.home("green"), "green", 48)
    table.hand(0, "big-recruit", "recruit")
    table.play("play big-recruit", dice=[("tribes", 4)])
    table.play(f"levy {table.lair('green')[0]}")
    assert table.land(table.lair("green")[0])["bands"] == 2
    assert table.view["turn"]["stage"] == "order"
    assert not table.legal("play")  # it would have no effect


def test_ada_32_35_natives() -> None:
    table = Table(cards=True)
    centre, north, south = (table.post(name) for name in ("Centre", "North", "South"))
    table.put(centre, "green", 1)
    table.put(north, "orange")
    table.put(south, "tribes", tribes=1)
    table.hand(0, "natives", "big-natives")
    table.play("play natives", dice=[("tribes", 3)])
    assert table.legal() == {f"rise {north}", f"rise {south}"}
    table.play(f"rise {north}")
    assert (table.land(north)["owner"], table.land(north)["tribes"]) == ("tribes", 3)
    table.play("play big-natives", dice=[("tribes", 2)])
    # Only the south territory is left, so there is no choice.
    table.play(f"rise {north}", dice=[("tribes", 1)])
    assert (table.land(north)["tribes"], table.land(south)["tribes"]) == (5, 2)
    assert table.coups == 10


def test_ada_35_natives_of_an_empty_roll_or_supply() -> None:
    table = Table(cards=True)
    north, south = table.post("North"), table.post("South")
    table.own("orange", [north, south])
    table.hand(0, "natives")
    table.play("play natives", dice=[("tribes", 0)])
    assert table.land(north)["owner"] == "orange"
    table = Table(cards=True)
    table.put(north, "tribes", tribes=50)
    table.hand(0, "natives", "big-natives")
    assert not table.legal("play")
    table = Table(cards=True)
    table.hand(0, "natives", "big-natives")
    assert not table.legal("play")  # nothing is explored


def test_ada_32_strategist() -> None:
    table = Table(cards=True)
    table.hand(0, "strategist")
    table.deck = ["attack", "raid", "mutiny", "defence"]
    table.play("play strategist")
    assert table.coups == 9
    assert table.legal() == {"peek", "take"}
    assert table.view["turn"]["stage"] == "look"
    assert table.view["pending"]["looked"] == ["attack"]
    table.play("peek")
    assert table.view["pending"]["looked"] == ["attack", "raid"]
    assert table.coups == 8
    table.play("take")
    assert table.view["hands"][0] == ["raid"]
    assert sorted(table.view["deck"]) == ["attack", "defence", "mutiny"]
    assert "strategist" in table.view["played"]


def test_ada_32_strategist_shuffles_the_whole_deck() -> None:
    orders = set()
    for rng in range(30):
        table = Table(cards=True)
        table.hand(0, "strategist")
        table.deck = ["attack", "raid", "mutiny", "defence"]
        table.legal()
        table.match.states["rng"] = rng
        table.play("play strategist", "take")
        orders.add(tuple(table.view["deck"]))
    assert len(orders) == 6


def test_ada_32_strategist_takes_the_last_card_or_with_the_last_coup() -> None:
    for coups, deck in ((1, ["raid", "attack"]), (5, ["raid"])):
        table = Table(cards=True)
        table.hand(0, "strategist", "gold-mine")
        table.deck = deck
        table.turn("green", coups=coups)
        table.play("play strategist")
        assert table.view["hands"][0] == ["gold-mine", "raid"]
        assert table.view["turn"]["stage"] == "order"
    table = Table(cards=True)
    table.hand(0, "strategist")
    table.deck = []
    assert not table.legal("play")


@pytest.mark.parametrize("coups", [2, 3, 5])
def test_ada_32_strategist_may_stop_after_every_look(coups: int) -> None:
    cards = ["attack", "raid", "mutiny", "defence"]
    for looks in range(1, min(coups, len(cards)) + 1):
        table = Table(cards=True)
        table.hand(0, "strategist")
        table.deck = cards
        table.turn("green", coups=coups)
        table.play("play strategist")
        for seen in range(1, looks):
            assert table.legal() == {"peek", "take"}
            assert table.view["pending"]["looked"] == cards[:seen]
            table.play("peek")
        # Otherwise there is only one card, which is taken without a question.
        if looks < min(coups, len(cards)):
            assert table.legal() == {"peek", "take"}
            table.play("take")
        assert table.view["hands"][0] == [cards[looks - 1]]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ada_32_strategist_in_the_environment(players: int) -> None:
    env = armada_v0.env(players=players, cards=True).unwrapped
    for seed in range(50):
        env.reset(seed=seed)
        while env.describe()["turn"]["number"] is None:
            env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
        if "play strategist" in env.describe()["legal"]:
            break
    env.step(env.action_id("play strategist"))
    while (view := env.describe())["turn"]["stage"] == "look":
        assert view["legal"] == ["peek", "take"]
        assert 0 < view["turn"]["coups"] == 10 - len(view["pending"]["looked"])
        looked = view["pending"]["looked"]
        env.step(env.action_id("peek"))
    assert len(looked) == 9  # the tenth card was taken with the last coup


def test_ada_32_gold_mine() -> None:
    table = Table(cards=True)
    table.hand(0, "gold-mine", "gold-mine", "gold-mine")
    home = table.home("green")
    table.put(table.home("blue"), "blue", 5, gold=46)
    assert table.legal("play") == {f"play gold-mine {name}" for name in table.lair("green")}
    table.play(f"play gold-mine {home}")
    assert table.land(home)["gold"] == 3
    table.play(f"play gold-mine {home}")
    assert table.land(home)["gold"] == 4
    assert not table.legal("play")  # the supply is empty


def test_ada_32_mutiny() -> None:
    table = Table(cards=True)
    table.hand(0, "mutiny")
    few, many, empty, own = [place for place in table.near if place not in table.chart][:4]
    table.sea(few, "blue", 3, gold=2)
    table.sea(many, "blue", 4)
    table.sea(empty)
    table.sea(own, "green", 2)
    assert table.legal("play") == {f"play mutiny {few}"}
    table.play(f"play mutiny {few}")
    assert table.view["ships"][few] == {"colour": "green", "bands": 3, "gold": 2}
    assert table.view["reserve"]["blue"] == 50 - Table.GARRISON - 4


@pytest.mark.parametrize("left", [0, 2])
def test_ada_35_mutiny_at_the_fifty(left: int) -> None:
    table = Table(cards=True)
    table.hand(0, "mutiny")
    table.put(table.home("green"), "green", 50 - left)
    square = table.coast(table.coastal("blue"))[0]
    table.sea(square, "blue", 3, gold=2)
    table.play(f"play mutiny {square}")
    colour = "green" if left else None
    assert table.view["ships"][square] == {"colour": colour, "bands": left, "gold": 2}


def test_ada_29_mutiny_may_take_the_last_bands() -> None:
    table = Table(2, cards=True)
    table.hand(0, "mutiny")
    for colour in ("raspberry", "orange"):
        table.put(table.home(colour), colour, 0)
    square = table.coast(table.coastal("blue"))[0]
    table.sea(square, "orange", 1)
    table.play(f"play mutiny {square}")
    assert table.winners == [0]


def test_ada_32_mutiny_not_on_the_own_second_colour() -> None:
    table = Table(2, cards=True)
    table.hand(0, "mutiny")
    table.sea(table.coast(table.coastal("blue"))[0], "blue", 1)
    assert not table.legal("play")


def test_ada_32_more_coups_once_a_turn() -> None:
    table = Table(cards=True)
    table.hand(0, "more-coups", "more-coups")
    table.play("play more-coups")
    assert table.coups == 13
    assert not table.legal("play")
    assert table.view["turn"]["more_coups"]
