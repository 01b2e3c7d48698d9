"""Armadora by the numbers of the rules page: ARM-21 to ARM-34, powers and who knows what."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from armarl.game import make_game
from reference.armadora.game import SITES, SQUARES, WARRIORS
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
    assert table.play("W1 f1").to_move == 1  # the turn's action ends it, power or not
    table.play("W1 g1", "mage e1", "W1 h1", "W1 c2")
    assert table.powers == [0, 2]
    assert table.refuses("mage g1", "ARM-22")


def test_arm_22_a_turn_without_a_power():
    table = Table(characters="goblin orc")
    assert table.play("W1 a1").powers == [1, 1]
    assert table.play("pass").passed == [False, True]


def closed_and_reinforced(characters: str) -> Table:
    """Two players who have both reinforced, each in a full corner, and have 13 Warriors left."""
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
    assert {"mage g4", "pass"} <= table.legal  # his next turn, in which he may do it again
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
    table.play(f"elf {target}")  # his next turn, for the other has passed
    assert table.warriors[target]["arrows"] == 2
    assert table.legal == {"pass"}


def test_arm_22_turn_simply_ends_with_a_reinforcement_that_has_no_place():
    """He still has the token, but none of his Warriors is in a full territory."""
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
    assert table.refuses("mage a1", "ARM-23")  # his own
    assert table.refuses("mage h5", "ARM-23")  # nobody's
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
    assert not table.legal_of("elf")  # he has none on the board
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


def test_arm_26_face_up_warriors_may_be_shot():
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


# --- reinforcements ------------------------------------------------------------------------------


def test_arm_27_full_is_every_square_with_a_warrior_or_gold():
    table = Table(characters="mage orc").play("W1 a1", "W1 b1").wall(TOP_LEFT)
    assert table.refuses("R a1", "ARM-28")  # a2 is free
    table.play("W1 a2", "W1 h5")
    assert table.legal_of("R") == {"a1", "a2"}


def test_arm_28_on_an_own_warrior_in_a_full_territory_once():
    table = Table(4, characters="mage orc goblin elf")
    table.play("W1 a1", "W1 b1", "W1 a2", "W1 h5")
    assert table.refuses("R a1", "ARM-28")
    table.wall(TOP_LEFT)
    assert table.legal_of("R") == {"a1"}
    assert table.refuses("R b1", "ARM-28")  # an opponent's
    assert table.refuses("R a2", "ARM-28")  # his partner's
    assert table.refuses("R c1", "ARM-28")  # nobody's
    table.play("R a1")
    assert table.warriors["a1"]["reinforcement"] == 0
    assert table.reinforcements == [0, 1, 1, 1]
    assert (table.stage, table.to_move) == ("turn", 1)
    assert table.refuses("R b1", "ARM-28")  # one per territory


def test_arm_28_a_full_territory_cut_in_two_may_take_another():
    table = Table(characters="mage orc")
    table.play("W1 a1", "W1 c1", "W1 a2", "W1 c2", "W1 b1", "W1 d2")
    table.wall([*TOP_LEFT, "c1", "d1", "c2", "d2"]).play("R a1")
    assert table.refuses("R c1", "ARM-28")
    table.play("P b1-c1", "P b2-c2", "pass")
    assert table.legal_of("R") == {"c1", "c2", "d2"}


def test_arm_28_a_player_has_only_one():
    table = Table(characters="mage orc")
    table.play("W1 a1", "pass", "W1 b1", "W1 a2", "W1 g1", "W1 h1", "W1 g2")
    table.wall(TOP_LEFT, TOP_RIGHT).play("R a1")
    assert table.refuses("R g1", "ARM-28")


def test_arm_28_adds_a_point():
    table = Table(characters="mage orc", gold={"b2": 7})
    table.play("W3 a1", "W2 b1", "...", "W1 a2").wall(TOP_LEFT)
    assert table.seen_by(1, "territory_points")[0][0] == 3
    table.play("...", "R b1")
    assert table.seen_by(1, "territory_points")[0][0] == 4
    assert table.finish()["piles"] == [[], [7]]


def test_arm_28_goes_on_top_of_arrows():
    table = Table(characters="elf orc", gold={"b2": 7})
    table.play("W5 a1", "W4 b1", "elf b1", "...", "...", "...", "W1 a2").wall(TOP_LEFT)
    table.play("...", "R b1")
    assert table.warriors["b1"] == {
        "player": 1, "value": 4, "face_up": False, "arrows": 1, "reinforcement": 1
    }  # fmt: skip
    assert table.seen_by(1, "territory_points")[0][0] == 5  # 4 - 1 + 1, and 1
    assert table.finish()["piles"] == [[], [7]]  # the reinforcement decides the tie with the 5


@pytest.mark.parametrize(
    ("reinforcers", "piles"), [((), [[3], [3]]), ((1,), [[], [7]]), ((0,), [[7], []])]
)
def test_arm_29_a_tie_goes_whole_to_whoever_reinforced(reinforcers, piles):
    value = 3 if reinforcers == (1,) else 1 if reinforcers == (0,) else 2
    table = Table(characters="mage orc", gold={"b2": 7})
    table.play(f"W{value} a1", "W1 b1", "...", "W1 a2").wall(TOP_LEFT)
    if reinforcers == (0,):
        table.play("R a1")
    elif reinforcers == (1,):
        table.play("...", "R b1")
    assert table.finish()["piles"] == piles


def corner_of_three(reinforcer: str, *warriors: str) -> dict:
    """3 players with a Warrior each in the closed corner, and one reinforcement."""
    table = Table(3, characters="mage orc goblin", gold={"b2": 7}).play(*warriors).wall(TOP_LEFT)
    while reinforcer not in table.legal:
        table.play("pass")
    return table.play(reinforcer).finish()


@pytest.mark.parametrize(
    ("warriors", "reinforcer", "takes"),
    [
        (("W2 a1", "W3 b1", "W1 a2"), "R a1", 0),  # 3 3 1: his reinforcement made the tie
        (("W2 a1", "W2 b1", "W1 a2"), "R a2", 2),  # 2 2 2: three tied
        (("W2 a1", "W2 b1", "W1 a2"), "R a1", 0),  # 3 2 1: no tie at all
        (("W4 a1", "W2 b1", "W3 a2"), "R a2", 2),  # 4 2 4
        (("W4 a1", "W2 b1", "W1 a2"), "R b1", 0),  # 4 3 1: it does not reach the tie
    ],
)
def test_arm_29_ties_of_three(warriors, reinforcer, takes):
    expected = [[], [], []]
    expected[takes] = [7]
    assert corner_of_three(reinforcer, *warriors)["piles"] == expected


def test_arm_29_a_reinforcement_of_a_side_that_is_not_tied_breaks_nothing():
    piles = corner_of_three("R a2", "W4 a1", "W4 b1", "W1 a2")["piles"]
    assert piles == [[3], [3], []]


def test_arm_29_a_team_wins_by_its_partners_reinforcement():
    table = Table(4, characters="mage orc goblin elf", gold={"b2": 7})
    table.play("W1 a1", "W3 b1", "W1 a2", "W1 h5").wall(TOP_LEFT)
    table.play("pass", "pass", "R a2")  # 1 + 1 + 1 against 3
    assert table.finish()["piles"][0] == [7]


def test_arm_30_never_less_than_0():
    """A Warrior of 1 with two arrows is 0, not -1: the other one of his side still counts 1."""
    table = Table(characters="elf mage", gold={"b2": 7})
    table.play("W1 a1", "W1 b1", "elf b1", "...", "...", "elf b1", "...", "W1 a2").wall(TOP_LEFT)
    assert table.warriors["b1"]["arrows"] == 2
    assert table.seen_by(1, "territory_points")[0][0] == 1
    assert table.finish()["piles"] == [[3], [3]]


def test_arm_30_arrows_and_reinforcement_count_together():
    """1 - 2 + 1 is 0. Were it held at 0 before the reinforcement, it would be 1 and win the tie."""
    table = Table(characters="elf mage", gold={"a4": 7, "c5": 5})
    table.play("W1 a5", "W1 b5", "elf b5", "...", "...", "elf b5", "...")
    table.wall(["a4", "a5", "b5", "c5"])
    if table.to_move == 0:
        table.play("pass")
    table.play("R b5")
    assert table.seen_by(1, "territory_points")[0][SQUARES.index("b5")] == 0
    assert table.finish()["piles"] == [[12], []]


def test_arm_30_and_18_a_side_of_0_points_takes_nothing_even_alone():
    table = Table(characters="elf mage", gold={"h2": 5})
    table.play("W1 c1", "W1 g1", "elf g1", "...", "...", "elf g1", "...", "...").wall(TOP_RIGHT)
    assert table.finish()["piles"] == [[35], []]


# --- who knows what ------------------------------------------------------------------------------


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
def test_arm_32_what_was_played_face_down_does_not_show_in_any_observation(peek):
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


def test_arm_32_only_the_mage_himself_knows_what_he_read():
    table = Table(4, characters="mage orc goblin elf").play("W1 a1", "W4 b1", "W1 c1", "W1 e1")
    table.play("mage b1", "W1 f1")
    values = [table.view(seat)["warriors"]["b1"]["value"] for seat in range(4)]
    assert values == [4, 4, None, None]  # the Mage and the owner, not the Mage's partner


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
    assert table.seen_by(0, "hand").tolist() == [11, 2, 0, 1, 1]  # but what he still holds
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
        mage = (0 - seat) % 3  # seats are seen from oneself on
        assert read.sum() == 1
        assert read[mage, SITES.index("c1")] == 1
