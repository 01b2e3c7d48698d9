"""Armadora's rules by number: ARM-1 to ARM-20, the base game.

`test_powers.py`, `test_reinforcements.py` and `test_secrets.py` test the powers, the reinforcements
and the hidden information.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from armarl.games.make_game import make_game
from reference.armadora.game import LINES, MINES, SITES, SQUARES, winners
from reference.armadora.table import CORNERS, Table

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])
TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT = CORNERS.values()


def texts_of(table: Table, kind: str) -> list[str]:
    return [text for text in table.game.actions.texts if text.startswith(kind)]


# --- board and pieces ----------------------------------------------------------------------------


def test_arm_1_board_is_8_by_5():
    assert (len(SQUARES), SQUARES[0], SQUARES[8], SQUARES[-1]) == (40, "a1", "a2", "h5")
    table = Table()
    assert [text.split()[1] for text in texts_of(table, "W1 ")] == SITES
    for square in ("i1", "a6", "a0", "A1"):
        with pytest.raises(ValueError, match="unknown action"):
            table.game.actions.id(f"W1 {square}")


def test_arm_2_mines_hold_no_warrior():
    table = Table()
    assert list(table.gold) == ["d1", "b2", "f2", "h2", "a4", "e4", "c5", "g5"]
    assert len(SITES) == 32
    for mine in MINES:
        with pytest.raises(ValueError, match="unknown action"):
            table.game.actions.id(f"W1 {mine}")


def test_arm_3_67_lines_between_neighbours():
    lines = [text[2:] for text in texts_of(Table(), "P ")]
    assert lines == LINES
    assert len(lines) == 67
    assert sum(line[0] != line[3] for line in lines) == 35  # between columns
    assert {f"P {line}" for line in lines} <= Table().legal
    for text in ("P b1-a1", "P a1-c1", "P a1-b2", "P a2-a1", "P h1-i1", "P a1"):
        with pytest.raises(ValueError, match="unknown action"):
            Table().game.actions.id(text)


def test_arm_4_whole_board_is_one_territory_at_first():
    table = Table()
    assert (table.seen_by(0, "territory_size") == 40).all()
    assert (table.seen_by(0, "territory_gold") == 40).all()
    assert (table.seen_by(0, "territory_free") == 32).all()


def test_arm_4_palisades_close_territories_in_which_mines_count():
    table = Table(gold={"b2": 7}).wall(TOP_LEFT)
    size = dict(zip(SQUARES, table.seen_by(0, "territory_size"), strict=True))
    assert {size[square] for square in TOP_LEFT} == {4}
    assert {size[square] for square in SQUARES if square not in TOP_LEFT} == {36}
    gold = dict(zip(SQUARES, table.seen_by(1, "territory_gold"), strict=True))
    assert (gold["a1"], gold["b2"], gold["c1"]) == (7, 7, 33)


def test_arm_4_a_gap_keeps_a_territory_open():
    table = Table().play("P b1-c1", "P b2-c2", "P a2-a3")  # but not b2-b3
    assert (table.seen_by(0, "territory_size") == 40).all()


@PLAYERS
def test_arm_5_all_share_35_palisades(players):
    table = Table(players)
    assert table.palisades_left == 35
    table.play("P a1-b1", "P c1-c2", "P e3-f3", "stop")
    assert table.palisades_left == 32
    assert len(table.palisades) == 3
    table.spend("P", until=lambda: table.palisades_left == 0)
    assert len(table.palisades) == 35
    assert not table.legal_of("P")
    free = next(line for line in LINES if line not in table.palisades)
    assert table.refuses(f"P {free}", "ARM-5")


# --- setup ---------------------------------------------------------------------------------------


def test_arm_6_eight_piles_one_on_each_mine():
    orders = set()
    for state in make_game("armadora").new_states(np.arange(200)):
        gold = make_game("armadora").describe(state)["gold"]
        assert sorted(gold.values()) == [3, 4, 4, 5, 5, 6, 6, 7]
        orders.add(tuple(gold.values()))
    assert len(orders) > 150


@pytest.mark.parametrize(
    ("players", "hand"), [(2, [11, 2, 1, 1, 1]), (3, [7, 2, 1, 1, 0]), (4, [5, 1, 1, 1, 0])]
)
def test_arm_7_warriors_of_each_player(players, hand):
    table = Table(players)
    assert table.hands == [dict(zip("12345", hand, strict=True))] * players
    assert table.hand_sizes == [{2: 16, 3: 11, 4: 8}[players]] * players
    values = {text[1] for text in table.legal if text.startswith("W")}
    assert values == {str(value) for value, number in enumerate(hand, 1) if number}
    if players > 2:
        assert table.refuses("W5 a1", "ARM-7")


def test_arm_7_a_value_runs_out():
    table = Table().play("W5 a1", "W1 b1")
    assert table.refuses("W5 c1", "ARM-7")
    assert table.hands[0] == {"1": 11, "2": 2, "3": 1, "4": 1, "5": 0}
    assert "W5 e1" in table.play("W1 c1").legal  # the other player still has its 5


@PLAYERS
def test_arm_8_clockwise_from_seat_0(players):
    table = Table(players)
    for turn, square in enumerate(SITES[:9]):
        assert table.to_move == turn % players
        table.play(f"W1 {square}")


@pytest.mark.parametrize(("players", "sides"), [(2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 0, 1))])
def test_arm_9_four_players_are_two_teams(players, sides):
    table = Table(players)
    assert table.game.sides == sides
    assert len(table.finish()["gold"]) == len(set(sides))


# --- turn ----------------------------------------------------------------------------------------


def test_arm_10_a_turn_is_one_warrior_or_palisades_or_pass():
    table = Table(3)
    kinds = {text.split()[0] for text in table.legal}
    assert kinds == {"W1", "W2", "W3", "W4", "P", "pass"}
    assert table.play("W2 a1").to_move == 1
    assert table.play("P a1-b1").to_move == 1
    assert {text.split()[0] for text in table.legal} == {"P", "stop"}
    assert table.refuses("W1 b1", "ARM-13")
    assert table.refuses("pass", "ARM-13")
    assert table.play("P e3-e4").to_move == 2
    assert table.play("pass").to_move == 0
    assert table.stage == "turn"
    assert table.refuses("stop", "ARM-13")


def test_arm_11_a_warrior_goes_face_down_on_a_free_square():
    table = Table().play("W3 c4")
    assert table.warriors == {
        "c4": {"player": 0, "value": 3, "face_up": False, "arrows": 0, "reinforcement": None}
    }
    assert table.refuses("W1 c4", "ARM-11")
    assert len(table.legal_of("W1")) == 31
    assert table.play("W4 c3").warriors["c3"]["player"] == 1


def test_arm_12_a_corner_square_cannot_be_cut_off():
    table = Table().play("P a1-b1", "stop")
    assert table.refuses("P a1-a2", "ARM-12")
    assert "P a2-b2" in table.legal
    assert table.refuses("P a1-b1", "ARM-12")  # this line has a palisade


def test_arm_12_three_squares_are_too_few_and_four_enough():
    table = Table().play("P c1-c2", "P b1-b2", "P a1-a2", "stop")
    assert table.refuses("P c1-d1", "ARM-12")  # a1 b1 c1
    assert "P d1-e1" in table.legal
    table.play("P d1-e1", "stop", "P d1-d2", "stop")  # a1 b1 c1 d1: four, one is a mine
    assert set(table.seen_by(0, "territory_size")[:4]) == {4}
    for line in ("a1-b1", "b1-c1", "c1-d1"):  # 1+3, 2+2, 3+1
        assert table.refuses(f"P {line}", "ARM-12")


def test_arm_12_inside_the_board_and_on_both_sides_of_the_line():
    table = Table().play("P c3-d3", "P e3-f3", "P d2-d3", "P e2-e3", "P d3-d4", "stop")
    assert table.refuses("P e3-e4", "ARM-12")  # d3 e3
    assert "P d4-e4" in table.legal
    eight = Table().wall([*TOP_LEFT, "c1", "c2", "d1", "d2"])
    assert {"P b1-c1", "P b2-c2"} <= eight.legal
    assert eight.play("P b1-c1", "P b2-c2").stage == "turn"  # two territories of four


def test_arm_12_five_squares_in_a_row_split_only_into_one_and_four():
    table = Table().wall(["a1", "b1", "c1", "d1", "e1"])
    inside = {f"{a}1-{b}1" for a, b in ("ab", "bc", "cd", "de")}
    assert not inside & table.legal_of("P")  # 1+4 leaves a single square


def test_arm_12_each_palisade_is_tested_by_itself_in_order():
    """The first palisade of a turn can make the second one illegal, even at another place."""
    table = Table()
    assert {"P a1-b1", "P a1-a2", "P h4-h5"} <= table.legal
    table.play("P a1-b1")
    assert table.refuses("P a1-a2", "ARM-12")
    assert table.play("P h4-h5").stage == "turn"
    assert table.refuses("P g5-h5", "ARM-12")


def test_arm_12_palisades_may_lie_along_squares_with_warriors():
    table = Table().play("W1 a1", "W1 b1")
    assert "P a1-b1" in table.legal
    assert table.wall(TOP_LEFT).warriors.keys() == {"a1", "b1"}


def test_arm_13_stopping_after_the_first_palisade():
    table = Table().play("P c3-d3")
    assert (table.stage, table.to_move) == ("second palisade", 0)
    assert "stop" in table.legal
    table.play("stop")
    assert (table.stage, table.to_move, table.palisades_left) == ("turn", 1, 34)


def test_arm_13_two_palisades_end_the_turn():
    table = Table().play("P c3-d3", "P c1-c2")
    assert (table.stage, table.to_move) == ("turn", 1)


def test_arm_13_the_last_palisade_of_the_supply_ends_the_turn():
    table = Table()
    table.spend("P", until=lambda: table.palisades_left == 1)
    player = table.to_move
    table.play(sorted(text for text in table.legal if text.startswith("P "))[0])
    assert (table.palisades_left, table.stage, table.to_move) == (0, "turn", 1 - player)


def test_arm_13_no_open_line_for_a_second_palisade_ends_the_turn():
    for seed in range(200):  # random walls, until they fill the board before the supply runs out
        table, rng = Table(), random.Random(seed)
        while lines := sorted(text for text in table.legal if text.startswith("P ")):
            first_of_turn, player = table.stage == "turn", table.to_move
            table.play(rng.choice(lines))
        if first_of_turn and table.palisades_left:
            assert (table.stage, table.to_move) == ("turn", 1 - player)
            return
    pytest.fail("no such game found")


@PLAYERS
def test_arm_14_a_player_that_has_passed_does_not_act_again(players):
    table = Table(players).play("pass")
    assert table.passed == [True] + [False] * (players - 1)
    for square in SITES[:6]:
        assert table.to_move != 0
        table.play(f"W1 {square}")


def test_arm_14_the_last_player_continues_without_the_others():
    table = Table(3).play("pass", "W1 a1", "pass")
    for square in ("b1", "c1", "e1"):
        assert table.to_move == 1
        table.play(f"W1 {square}")
    assert table.play("P a2-b2", "P c3-d3").to_move == 1


def test_arm_14_with_no_other_action_a_player_must_pass():
    table = Table()
    table.spend("W", "P", until=lambda: table.legal == {"pass"})
    assert table.passed == [False, False]  # a player without actions has not passed
    assert table.hand_sizes == [0, 0]
    assert table.refuses("W1 a1", "ARM-7")
    assert table.play("pass").passed.count(True) == 1


def test_arm_14_without_warriors_palisades_remain():
    table = Table(4)
    table.spend("W", until=lambda: sum(table.hand_sizes) == 0)
    assert table.passed == [False] * 4
    assert {text.split()[0] for text in table.legal} == {"P", "pass"}
    assert len(table.legal_of("P")) == 67


@PLAYERS
def test_arm_15_the_game_ends_when_all_have_passed(players):
    table = Table(players)
    for player in range(players):
        assert (table.stage, table.to_move, table.result) == ("turn", player, None)
        table.play("pass")
    assert (table.stage, table.to_move, table.legal) == ("over", None, set())
    for text in ("pass", "W1 a1", "P a1-b1", "stop"):
        assert table.refuses(text, "ARM-15")


# --- scoring -------------------------------------------------------------------------------------


def test_arm_16_the_highest_total_takes_all_gold_of_a_territory():
    table = Table(gold={"b2": 7, "h2": 3})
    table.play("W2 a1", "W3 b1", "W2 a2", "W1 g1")  # 4 against 3
    table.wall(TOP_LEFT, TOP_RIGHT)
    result = table.finish()
    assert result == {"gold": [7, 3], "piles": [[7], [3]], "winners": [0]}
    assert table.rewards == [1, -1]


def test_arm_16_mines_of_one_territory_are_one_pile():
    result = Table().play("W1 a1", "pass").finish()
    assert result == {"gold": [40, 0], "piles": [[40], []], "winners": [0]}


def test_arm_16_partners_add_up():
    table = Table(4, gold={"b2": 6})
    table.play("W2 a1", "W3 b1", "W3 a2", "pass").wall(TOP_LEFT)  # 2 and 3 against 3
    assert table.finish() == {"gold": [6, 0], "piles": [[6], []], "winners": [0]}
    assert table.rewards == [1, -1, 1, -1]


def test_arm_17_the_remainder_of_a_tie_is_lost():
    table = Table(gold={"b2": 7}).play("W2 a1", "W2 b1").wall(TOP_LEFT)
    assert table.finish() == {"gold": [3, 3], "piles": [[3], [3]], "winners": [0, 1]}


def test_arm_17_three_tied_and_two_of_three_tied():
    table = Table(3, gold={"b2": 7, "h2": 5})
    table.play("W1 a1", "W1 b1", "W1 a2", "W2 g1", "W2 h1", "W1 g2")
    table.wall(TOP_LEFT, TOP_RIGHT)
    assert table.finish() == {
        "gold": [4, 4, 2],
        "piles": [[2, 2], [2, 2], [2]],
        "winners": [0, 1],
    }
    assert table.rewards == [0.25, 0.25, -0.5]


def test_arm_17_a_tie_of_the_lower_does_not_matter():
    table = Table(3, gold={"b2": 7}).play("W1 a1", "W1 b1", "W2 a2").wall(TOP_LEFT)
    assert table.finish()["gold"] == [0, 0, 7]


@PLAYERS
def test_arm_18_a_total_of_0_wins_nothing(players):
    table = Table(players)
    sides = len(set(table.game.sides))
    assert table.finish() == {
        "gold": [0] * sides,
        "piles": [[]] * sides,
        "winners": list(range(sides)),
    }
    assert table.rewards == [0] * players


def test_arm_19_equal_gold_is_decided_by_the_largest_pile():
    table = Table(gold={"b2": 7, "h2": 3, "a4": 5, "g5": 5})
    table.play("W1 a1", "W1 b4", "W1 g1", "W1 h4")
    table.wall(*CORNERS.values())
    assert table.finish() == {"gold": [10, 10], "piles": [[7, 3], [5, 5]], "winners": [0]}


# Six territories with one mine each; f2 and e4 are in the rest of the board, which is empty.
SIX = [*CORNERS.values(), ["c1", "d1", "e1", "f1"], ["c4", "d4", "c5", "d5"]]
SIX_MINES = ["b2", "h2", "a4", "g5", "d1", "c5"]


@pytest.mark.parametrize(
    ("piles", "won"),
    [
        ((6, 4, 6, 4, 5, 5), [0, 1]),  # the third side is out, the other two share
        ((6, 4, 5, 5, 7, 3), [2]),
        ((5, 5, 6, 4, 4, 6), [1, 2]),
        ((5, 4, 3, 6, 4, 5), [1]),  # 9 each
        ((5, 4, 4, 5, 6, 3), [2]),
    ],
)
def test_arm_19_three_tied_drop_out_one_by_one(piles, won):
    table = Table(3, gold=dict(zip(SIX_MINES, piles, strict=True)))
    table.play("W1 a1", "W1 a5", "W1 c1", "W1 g1", "W1 h4", "W1 d4")
    table.wall(*SIX)
    result = table.finish()
    assert len(set(result["gold"])) == 1
    assert result["winners"] == won


def test_arm_19_any_piles():
    """The kernels rank sides by the rule, even with piles that do not occur in short games."""
    rng = random.Random(0)
    for _ in range(2000):
        players = rng.choice((2, 3))
        table_of = [[rng.randint(0, 3) for _ in range(4)] for _ in range(players)]
        if rng.random() < 0.5:
            table_of = [rng.sample(table_of[0], 4) for _ in range(players)]
        states = make_game("armadora", players=players).new_states(0)
        states["stage"] = 3
        for side, wins in enumerate(table_of):
            states["piles"][0, side, rng.sample(range(8), 4)] = wins
        result = make_game("armadora", players=players).describe(states[0])["result"]
        piles = [sorted((win for win in wins if win), reverse=True) for wins in table_of]
        assert result["piles"] == piles
        assert result["winners"] == winners(piles)


def test_arm_20_equal_piles_share_the_victory():
    table = Table(gold={"b2": 5, "h2": 5}).play("W1 a1", "W1 g1").wall(TOP_LEFT, TOP_RIGHT)
    assert table.finish() == {"gold": [5, 5], "piles": [[5], [5]], "winners": [0, 1]}
    assert table.rewards == [0, 0]
