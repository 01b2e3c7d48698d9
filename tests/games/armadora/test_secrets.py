"""Armadora's rules by number: ARM-31 to ARM-34 and ARM-36, hidden information."""

from __future__ import annotations

import numpy as np
import pytest

from armarl import armadora_v0
from armarl.environments.seat_env import SeatEnv
from reference.armadora.game import SITES, WARRIORS
from reference.armadora.table import Table

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])
PEEK = pytest.mark.parametrize("peek", [True, False])


@PLAYERS
def test_arm_31_public_things_are_the_same_for_all(players):
    table = Table(players, characters=" ".join(["goblin", "elf", "mage", "orc"][:players]))
    table.play("goblin W3 a1", "W1 b1", "W2 c1")
    if players > 2:
        table.play("W1 e1")
    public = {
        "gold", "palisades", "palisades_left", "hand_sizes", "characters", "powers",
        "reinforcements", "passed", "seen", "to_move", "stage", "result",
    }  # fmt: skip
    whole = table.view()
    for seat in range(players):
        view = table.view(seat)
        assert {name: view[name] for name in public} == {name: whole[name] for name in public}
        assert view["warriors"]["a1"] == whole["warriors"]["a1"]  # face up
        for square, warrior in view["warriors"].items():
            assert warrior | {"value": 0} == whole["warriors"][square] | {"value": 0}


@PLAYERS
def test_arm_32_hands_and_placed_values_are_private_of_partners_too(players):
    table = Table(players).play("W3 a1", "W1 b1")
    for seat in range(1, players):
        view = table.view(seat)
        assert view["warriors"]["a1"]["value"] is None
        assert view["hands"][0] is None
        assert view["hand_sizes"][0] == table.hand_sizes[0]
    assert table.view(0)["warriors"]["a1"]["value"] == 3


@PEEK
def test_arm_32_face_down_values_are_not_in_any_observation(peek):
    for players in (2, 3, 4):
        one = Table(players, peek=peek).play("W1 a1", "W1 b1")
        other = Table(players, peek=peek).play("W4 a1", "W1 b1")
        other.states["rng"] = 12345
        for seat in range(1, players):
            views = [table.game.views(table.states, np.array([seat])) for table in (one, other)]
            assert views[0][0].tobytes() == views[1][0].tobytes()
            assert views[0][1].tobytes() == views[1][1].tobytes()
            assert one.view(seat) == other.view(seat)
            drawings = {table.game.draw(table.states[0], seat) for table in (one, other)}
            assert len(drawings) == 1


def test_arm_32_only_the_mage_s_player_knows_the_value_that_it_read():
    table = Table(4, characters="mage orc goblin elf").play("W1 a1", "W4 b1", "W1 c1", "W1 e1")
    table.play("mage b1", "W1 f1")
    values = [table.view(seat)["warriors"]["b1"]["value"] for seat in range(4)]
    assert values == [4, 4, None, None]  # the Mage's player and the owner, not the Mage's partner


def test_arm_33_with_peek_own_and_read_values_stay_visible():
    table = Table(characters="mage orc").play(
        "W3 a1", "W5 b1", "mage b1", "W1 c1", "W1 e1", "W1 f1"
    )
    values = {square: w["value"] for square, w in table.view(0)["warriors"].items()}
    assert values == {"a1": 3, "b1": 5, "c1": 1, "e1": None, "f1": 1}


def test_arm_33_without_peek_own_values_are_shown_to_nobody_again():
    table = Table(peek=False).play("W3 a1")
    assert [table.view(seat)["warriors"]["a1"]["value"] for seat in (0, 1)] == [None, None]
    assert not table.seen_by(0, "values").any()
    assert table.seen_by(0, "hand").tolist() == [11, 2, 0, 1, 1]  # the rest of the hand
    assert table.seen_by(0, "unseen")[0].tolist() == [0, 0, 1, 0, 0]
    assert table.seen_by(1, "unseen")[1].tolist() == list(WARRIORS[2].values())
    assert table.view()["warriors"]["a1"]["value"] == 3


def test_arm_33_without_peek_the_mage_sees_the_value_until_he_acts_again():
    table = Table(characters="mage orc", peek=False).play("W3 a1", "W5 b1", "mage b1")
    assert table.view(0)["warriors"]["b1"]["value"] == 5
    assert table.view(1)["warriors"]["b1"]["value"] is None
    table.play("W1 c1")
    assert table.view(0)["warriors"]["b1"]["value"] is None
    assert table.seen == [["b1"], []]


def test_arm_33_face_up_warriors_show_without_peek():
    table = Table(characters="goblin orc", peek=False).play("goblin W5 a1")
    assert [table.view(seat)["warriors"]["a1"]["value"] for seat in (0, 1)] == [5, 5]


@PEEK
def test_arm_34_who_read_which_square_is_public(peek):
    table = Table(3, characters="mage orc elf", peek=peek)
    table.play("W1 a1", "W1 b1", "W1 c1", "mage c1", "W1 e1")
    for seat in range(3):
        assert table.view(seat)["seen"] == [["c1"], [], []]
        assert table.view(seat)["powers"] == [1, 1, 2]
        read = table.seen_by(seat, "read")
        mage = (0 - seat) % 3  # seats are relative to the observer
        assert read.sum() == 1
        assert read[mage, SITES.index("c1")] == 1


@PEEK
@PLAYERS
def test_arm_36_at_the_end_all_warriors_are_turned_face_up(players, peek):
    table = Table(
        players, characters=" ".join(["elf", "orc", "mage", "goblin"][:players]), peek=peek
    )
    table.play("W3 a1", "W2 b1")
    for seat in range(players):
        assert table.view(seat) != table.view()
        assert "?" in table.game.draw(table.states[0], seat)
        assert "Warrior ? of" in table.game.draw_svg(table.states[0], seat)
    table.finish()
    for seat in range(players):
        assert table.view(seat) == table.view()
        assert "?" not in table.game.draw(table.states[0], seat)
        svg = table.game.draw_svg(table.states[0], seat)
        for words in ("a1: Warrior 3 of player 0", "b1: Warrior 2 of player 1"):
            assert f"<title>{words}, placed face down</title>" in svg
    assert {square: w["value"] for square, w in table.warriors.items()} == {"a1": 3, "b1": 2}
    assert [sum(hand.values()) for hand in table.hands] == table.hand_sizes
    # Only the Goblin's Warriors were placed face up.
    assert not any(warrior["face_up"] for warrior in table.warriors.values())


@PEEK
@PLAYERS
def test_arm_36_observations_keep_what_a_seat_knew(players, peek):
    table = Table(players, peek=peek).play("W3 a1", "W2 b1")
    while table.passed.count(False) > 1:
        table.play("pass")
    names = ("values", "hand", "unseen", "territory_points", "territory_hidden")
    before = [[table.seen_by(seat, name) for name in names] for seat in range(players)]
    table.play("pass")
    assert table.stage == "over"
    for seat in range(players):
        for name, block in zip(names, before[seat], strict=True):
            assert np.array_equal(table.seen_by(seat, name), block)


@PEEK
def test_arm_36_at_the_end_nothing_is_concealed_or_dealt_again(peek):
    table = Table(3, peek=peek).play("W3 a1", "W2 b1", "W1 c1")
    table.finish()
    for seat in range(3):
        seats = np.array([seat])
        concealed = table.game.concealed(table.states, seats)
        assert concealed["rng"] == 0  # the generator would reveal the next deal
        dealt = table.game.determinised(concealed, seats, seats)
        table.game.check_states(dealt)
        for states in (concealed, dealt):
            assert table.game.describe(states[0], seat) == table.view()


@PLAYERS
def test_arm_36_in_the_environments(players):
    env = armadora_v0.env(players=players, render_mode="ansi")
    env.reset(seed=1)
    first = [env.unwrapped.action_id(text) for text in ("W3 a1", "W2 b1")]
    for action in first:
        env.step(action)
    assert env.unwrapped.describe(1)["warriors"]["a1"]["value"] is None
    while not all(env.terminations.values()):
        env.step(env.unwrapped.action_id("pass"))
    for seat in range(players):
        assert env.unwrapped.describe(seat) == env.unwrapped.describe()
    assert env.unwrapped.describe(1)["warriors"]["a1"]["value"] == 3
    seat_env = SeatEnv("armadora", players=players, seat=0, render_mode="ansi")
    seat_env.reset(seed=1)
    over = False
    while not over:
        actions = np.flatnonzero(seat_env.action_masks())
        over = seat_env.step(int(actions[-1]))[2]
    assert seat_env.describe(0) == seat_env.describe()
    assert "?" not in seat_env.render()
