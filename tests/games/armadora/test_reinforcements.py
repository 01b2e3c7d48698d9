"""Armadora's rules by number: ARM-27 to ARM-30, reinforcements and points."""

from __future__ import annotations

import pytest

from reference.armadora.game import SQUARES
from reference.armadora.table import CORNERS, Table

TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = CORNERS.values()


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
    assert table.refuses("R a2", "ARM-28")  # a partner's
    assert table.refuses("R c1", "ARM-28")  # no Warrior there
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
    # The reinforcement breaks the tie in favour of its owner.
    assert table.finish()["piles"] == [[], [7]]


@pytest.mark.parametrize(
    ("reinforcers", "piles"), [((), [[3], [3]]), ((1,), [[], [7]]), ((0,), [[7], []])]
)
def test_arm_29_all_gold_of_a_tie_goes_to_the_player_with_a_reinforcement(reinforcers, piles):
    value = 3 if reinforcers == (1,) else 1 if reinforcers == (0,) else 2
    table = Table(characters="mage orc", gold={"b2": 7})
    table.play(f"W{value} a1", "W1 b1", "...", "W1 a2").wall(TOP_LEFT)
    if reinforcers == (0,):
        table.play("R a1")
    elif reinforcers == (1,):
        table.play("...", "R b1")
    assert table.finish()["piles"] == piles


def corner_of_three(reinforcer: str, *warriors: str) -> dict:
    """Return the result for three players with a Warrior each in the closed corner, one reinforced.

    `reinforcer` is the action that reinforces.
    """
    table = Table(3, characters="mage orc goblin", gold={"b2": 7}).play(*warriors).wall(TOP_LEFT)
    while reinforcer not in table.legal:
        table.play("pass")
    return table.play(reinforcer).finish()


@pytest.mark.parametrize(
    ("warriors", "reinforcer", "takes"),
    [
        (("W2 a1", "W3 b1", "W1 a2"), "R a1", 0),  # 3 3 1: the reinforcement made the tie
        (("W2 a1", "W2 b1", "W1 a2"), "R a2", 2),  # 2 2 2: three tied
        (("W2 a1", "W2 b1", "W1 a2"), "R a1", 0),  # 2 2 2: a tie of three
        (("W4 a1", "W2 b1", "W3 a2"), "R a2", 2),  # 4 2 4
        (("W4 a1", "W2 b1", "W1 a2"), "R b1", 0),  # 4 3 1: not enough for a tie
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
    """A Warrior of 1 with two arrows counts 0, not -1.

    Another Warrior of its side still counts 1.
    """
    table = Table(characters="elf mage", gold={"b2": 7})
    table.play("W1 a1", "W1 b1", "elf b1", "...", "...", "elf b1", "...", "W1 a2").wall(TOP_LEFT)
    assert table.warriors["b1"]["arrows"] == 2
    assert table.seen_by(1, "territory_points")[0][0] == 1
    assert table.finish()["piles"] == [[3], [3]]


def test_arm_30_arrows_and_reinforcement_count_together():
    """The points are 1 - 2 + 1 = 0.

    If 1 - 2 counted as 0 first, they would be 1 and win the tie.
    """
    table = Table(characters="elf mage", gold={"a4": 7, "c5": 5})
    table.play("W1 a5", "W1 b5", "elf b5", "...", "...", "elf b5", "...")
    table.wall(["a4", "a5", "b5", "c5"])
    if table.to_move == 0:
        table.play("pass")
    table.play("R b5")
    assert table.seen_by(1, "territory_points")[0][SQUARES.index("b5")] == 0
    assert table.finish()["piles"] == [[12], []]


def test_arm_30_and_18_a_side_of_0_points_takes_nothing_even_without_opponents():
    table = Table(characters="elf mage", gold={"h2": 5})
    table.play("W1 c1", "W1 g1", "elf g1", "...", "...", "elf g1", "...", "...").wall(TOP_RIGHT)
    assert table.finish()["piles"] == [[35], []]
