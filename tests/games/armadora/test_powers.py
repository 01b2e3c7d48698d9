"""Armadora's rules by number: ARM-21 to ARM-26, the characters and their powers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from armarl.games.make_game import make_game
from reference.armadora.game import SITES, SQUARES
from reference.armadora.table import CORNERS, Table

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])
PEEK = pytest.mark.parametrize("peek", [True, False])
TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = CORNERS.values()
POWERS = {"mage", "goblin", "orc", "elf"}


def kinds(table: Table) -> set[str]:
    return {text.split()[0] for text in table.legal}


# --- characters and powers -----------------------------------------------------------------------


@PLAYERS
def test_arm_21_different_characters_with_their_powers(players):
    game = make_game("armadora", players=players, advanced=True)
    dealt = set()
    for state in game.new_states(np.arange(300)):
        view = game.describe(state)
        dealt.add(tuple(view["characters"]))
        powers = {"orc": 1, "goblin": 1, "elf": 2, "mage": 2}
        assert view["powers"] == [powers[character] for character in view["characters"]]
        assert view["reinforcements"] == [1] * players
    assert dealt == set(permutations(("orc", "goblin", "elf", "mage"), players))


def test_arm_21_the_base_game_has_neither():
    table = Table()
    assert (table.characters, table.powers, table.reinforcements) == (None, [0, 0], [0, 0])


def test_arm_21_only_the_own_power():
    table = Table(characters="orc goblin").play("W1 a1", "W1 b1")
    assert kinds(table) & POWERS == {"orc"}
    for text in ("goblin W1 c1", "elf b1", "mage b1"):
        assert table.refuses(text, "ARM-21")
    table.play("pass")
    assert kinds(table) & POWERS == {"goblin"}
    assert table.refuses("orc P a1-a2", "ARM-21")


def test_arm_22_a_power_and_then_an_action():
    table = Table(characters="orc goblin").play("orc P a1-b1")
    assert (table.stage, table.to_move, table.powers) == ("after power", 0, [0, 1])
    assert kinds(table) == {"P", "W1", "W2", "W3", "W4", "W5"}
    assert table.refuses("pass", "ARM-22")
    assert table.refuses("stop", "ARM-13")
    assert table.refuses("orc P c1-c2", "ARM-22")
    table.play("W1 c1")
    assert (table.stage, table.to_move) == ("turn", 1)


def test_arm_22_a_power_and_then_two_palisades():
    table = Table(characters="orc goblin").play("orc P a1-b1", "P c1-c2")
    assert (table.stage, table.to_move) == ("second palisade", 0)
    assert table.play("P e1-e2").to_move == 1
    assert table.palisades_left == 32


def test_arm_22_a_power_and_then_the_reinforcement():
    table = Table(characters="mage orc").play("W1 a1", "W2 b1", "W1 a2", "pass").wall(TOP_LEFT)
    table.play("mage b1")
    assert kinds(table) >= {"R"}
    table.play("R a1")
    assert (table.stage, table.reinforcements) == ("turn", [0, 1])


def test_arm_22_one_power_a_turn_and_no_action_before_it():
    table = Table(characters="mage elf").play("W1 a1", "W1 b1", "W1 c1", "W1 e1")
    table.play("mage b1")
    assert table.refuses("mage e1", "ARM-22")
    # The action ends the turn, even if the power was not used.
    assert table.play("W1 f1").to_move == 1
    table.play("W1 g1", "mage e1", "W1 h1", "W1 c2")
    assert table.powers == [0, 2]
    assert table.refuses("mage g1", "ARM-22")


def test_arm_22_a_turn_without_a_power():
    table = Table(characters="goblin orc")
    assert table.play("W1 a1").powers == [1, 1]
    assert table.play("pass").passed == [False, True]


def closed_and_reinforced(characters: str) -> Table:
    """Return a table for two where both have reinforced a full corner and have 13 Warriors left."""
    table = Table(characters=characters)
    table.play("W1 a1", "W1 h4", "W1 b1", "W1 g4", "W1 a2", "W1 h5")
    return table.wall(TOP_LEFT, BOTTOM_RIGHT).play("R a1", "R h5")


def test_arm_22_turn_simply_ends_after_the_mage():
    table = closed_and_reinforced("mage orc")
    table.spend("P", "W", until=lambda: table.to_move == 0 and kinds(table) == {"mage", "pass"})
    table.play("mage h4")
    assert (table.stage, table.powers[0], table.passed[0]) == ("turn", 1, False)
    assert table.view(0)["warriors"]["h4"]["value"] == 1
    while table.to_move != 0:
        table.play("pass")
    assert {"mage g4", "pass"} <= table.legal  # the same player's next turn
    assert table.refuses("mage h4", "ARM-23")


def test_arm_22_turn_simply_ends_after_the_goblins_last_warrior():
    table = closed_and_reinforced("goblin orc")
    table.spend("P", until=lambda: table.to_move == 1 and not table.legal_of("P"))
    table.play("pass").spend("W", until=lambda: table.hand_sizes[0] == 1)
    warriors = {text for text in table.legal if text.startswith("W")}
    assert len(warriors) > 1  # free squares remain
    table.play(f"goblin {min(warriors)}")
    assert (table.stage, table.to_move, table.passed) == ("turn", 0, [False, True])
    assert table.legal == {"pass"}


def test_arm_22_turn_simply_ends_after_the_orcs_palisade():
    table = closed_and_reinforced("orc mage")
    table.spend("W", "P", until=lambda: table.to_move == 0 and table.palisades_left == 1)
    assert kinds(table) == {"P", "orc", "pass"}
    table.play(min(text for text in table.legal if text.startswith("orc")))
    assert (table.stage, table.palisades_left, table.passed[0]) == ("turn", 0, False)


def test_arm_22_turn_simply_ends_after_the_elfs_arrow():
    table = closed_and_reinforced("elf mage").play("W1 h3", "W1 g3")
    table.spend("P", until=lambda: table.to_move == 1 and not table.legal_of("P"))
    table.play("pass").spend("W", until=lambda: table.hand_sizes[0] == 0)
    assert kinds(table) == {"elf", "pass"}
    target = min(table.legal_of("elf"))
    table.play(f"elf {target}")
    assert (table.stage, table.to_move, table.passed) == ("turn", 0, [False, True])
    table.play(f"elf {target}")  # the same player's next turn, because the other has passed
    assert table.warriors[target]["arrows"] == 2
    assert table.legal == {"pass"}


def test_arm_22_turn_simply_ends_with_a_reinforcement_that_has_no_place():
    """The player still has the token, but no Warrior in a full territory."""
    table = Table(characters="mage orc").play("W1 a1", "W1 h5")
    table.spend("P", until=lambda: table.to_move == 1 and not table.legal_of("P")).play("pass")
    while table.hand_sizes[0]:
        free = dict(zip(SQUARES, table.seen_by(0, "territory_free"), strict=True))
        warriors = [text for text in sorted(table.legal) if text.startswith("W")]
        table.play(next(text for text in warriors if free[text.split()[1]] > 1))
    assert kinds(table) == {"mage", "pass"}
    table.play("mage h5")
    assert (table.stage, table.to_move, table.reinforcements) == ("turn", 0, [1, 1])
    assert table.legal == {"pass"}


# --- the Mage ------------------------------------------------------------------------------------


def test_arm_23_mage_learns_one_opposing_value():
    table = Table(characters="mage orc").play("W1 a1", "W5 b1")
    assert table.view(0)["warriors"]["b1"]["value"] is None
    table.play("mage b1")
    assert table.view(0)["warriors"]["b1"]["value"] == 5
    assert table.seen_by(0, "values")[SITES.index("b1")] == 5
    assert table.seen == [["b1"], []]
    assert not table.warriors["b1"]["face_up"]


def test_arm_23_not_an_own_nor_an_empty_square_nor_a_known_one():
    table = Table(characters="mage goblin").play("W1 a1", "goblin W2 b1", "W1 c1")
    assert table.legal_of("mage") == {"c1"}
    assert table.refuses("mage a1", "ARM-23")  # the player's own
    assert table.refuses("mage h5", "ARM-23")  # no Warrior there
    assert table.refuses("mage b1", "ARM-23")  # face up
    table.play("mage c1", "W1 e1", "W1 f1")
    assert table.refuses("mage c1", "ARM-23")  # read before
    assert table.legal_of("mage") == {"f1"}


@PEEK
def test_arm_23_read_once_without_peek_too(peek):
    table = Table(characters="mage orc", peek=peek).play("W1 a1", "W5 b1", "mage b1", "W1 c1")
    table.play("W1 e1")
    assert table.legal_of("mage") == {"e1"}


def test_arm_23_not_a_partners():
    table = Table(4, characters="mage orc goblin elf").play("W1 a1", "W1 b1", "W1 c1", "W1 e1")
    assert table.legal_of("mage") == {"b1", "e1"}
    assert table.refuses("mage c1", "ARM-23")


# --- Goblin and Orc ------------------------------------------------------------------------------


def test_arm_24_goblin_places_face_up():
    table = Table(characters="goblin mage").play("goblin W4 a1")
    assert table.warriors["a1"] == {
        "player": 0, "value": 4, "face_up": True, "arrows": 0, "reinforcement": None
    }  # fmt: skip
    assert table.view(1)["warriors"]["a1"]["value"] == 4
    assert table.hands[0]["4"] == 0
    assert table.refuses("W4 b1", "ARM-7")
    assert table.refuses("W1 a1", "ARM-11")
    table.play("W5 b1", "W1 c1")
    assert table.refuses("goblin W1 e1", "ARM-22")


def test_arm_24_goblin_needs_a_free_square_and_the_value():
    table = Table(characters="goblin mage").play("W5 a1", "W1 b1")
    assert table.refuses("goblin W5 c1", "ARM-7")
    assert table.refuses("goblin W1 b1", "ARM-11")
    assert len(table.legal_of("goblin")) == 4 * 30


def test_arm_25_orc_palisade_obeys_arm_12_and_the_supply():
    table = Table(characters="orc mage").play("P a1-b1", "stop", "pass")
    assert table.refuses("orc P a1-a2", "ARM-12")
    assert table.refuses("orc P a1-b1", "ARM-12")
    assert table.legal_of("orc") == {f"P {line}" for line in table.legal_of("P")}
    table.play("orc P a2-b2")
    assert (table.palisades_left, table.stage) == (33, "after power")
    assert table.refuses("P a2-a3", "ARM-12")


def test_arm_25_no_orc_palisade_from_an_empty_supply():
    table = Table(characters="orc mage")
    table.spend("P", until=lambda: table.palisades_left == 0 and table.to_move == 0)
    assert not table.legal_of("orc")
    assert table.refuses("orc P a1-b1", "ARM-5")


# --- the Elf -------------------------------------------------------------------------------------


def test_arm_26_before_any_territory_is_closed_the_whole_board_is_it():
    table = Table(characters="elf mage").play("W1 a1", "W3 h5", "P c3-d3", "stop", "W1 g4")
    assert table.legal_of("elf") == {"h5", "g4"}
    table.play("elf h5")
    assert table.warriors["h5"]["arrows"] == 1
    assert (table.stage, table.powers) == ("after power", [1, 2])


def test_arm_26_needs_an_own_warrior_in_the_territory():
    table = Table(characters="elf mage").play("P c3-d3", "stop", "W3 a1")
    assert not table.legal_of("elf")  # the player has no Warrior on the board
    assert table.refuses("elf a1", "ARM-26")
    table.play("W1 g4", "W1 h5", "P e1-e2", "stop", "W2 e2").wall(BOTTOM_RIGHT)
    if table.to_move != 0:
        table.play("W1 f3")
    assert table.refuses("elf a1", "ARM-26")
    assert table.legal_of("elf") == {"h5"}


def test_arm_26_not_own_nor_partners_nor_empty():
    table = Table(4, characters="elf orc goblin mage").play("W1 a1", "W1 b1", "W1 c1", "W1 e1")
    assert table.legal_of("elf") == {"b1", "e1"}
    for text in ("elf a1", "elf c1", "elf h5"):
        assert table.refuses(text, "ARM-26")


def test_arm_26_a_partners_warrior_gives_no_range():
    table = Table(4, characters="elf orc goblin mage")
    table.play("W1 h5", "W1 a1", "W1 b1", "W1 e1").wall(TOP_LEFT)
    assert table.legal_of("elf") == {"e1"}
    assert table.refuses("elf a1", "ARM-26")


def test_arm_26_not_into_a_full_territory():
    table = Table(characters="elf mage")
    table.play("W1 a1", "W1 b1", "W1 h5", "W1 h4").wall(TOP_LEFT)
    assert table.legal_of("elf") == {"b1", "h4"}  # a2 is free
    table.play("W1 a2", "W1 f3")
    assert table.legal_of("elf") == {"h4", "f3"}
    assert table.refuses("elf b1", "ARM-26")


def test_arm_26_warriors_that_are_face_up_may_be_shot():
    table = Table(characters="goblin elf").play("goblin W2 a1", "W1 b1", "W1 c1", "...")
    assert table.legal_of("elf") == {"a1", "b1"}


def test_arm_26_both_arrows_may_hit_one_warrior_in_different_turns():
    table = Table(characters="elf mage", gold={"b2": 7}).play("W3 a1", "W4 b1", "elf b1")
    assert table.refuses("elf b1", "ARM-22")
    table.play("W1 h5", "W1 h4", "elf b1", "P c3-d3", "stop", "W1 g4")
    assert table.warriors["b1"]["arrows"] == 2
    assert table.refuses("elf b1", "ARM-22")
    assert table.wall(TOP_LEFT).finish()["piles"][0] == [7]  # 3 against 4 - 2


def test_arm_26_arrows_do_not_change_the_value_itself():
    table = Table(characters="elf mage").play("W3 a1", "W4 b1", "elf b1", "W1 h5")
    assert table.warriors["b1"]["value"] == 4
    assert table.view(1)["warriors"]["b1"]["value"] == 4
