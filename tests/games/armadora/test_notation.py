"""Armadora's notation, its public view, its options, and the mini board (ARM-35)."""

from __future__ import annotations

import numpy as np
import pytest

from armarl.games.make_game import make_game
from reference.armadora.table import Table

PLAYERS = pytest.mark.parametrize("players", [2, 3, 4])


KEYS = {
    "game", "version", "players", "options", "gold", "palisades", "palisades_left", "warriors",
    "hands", "hand_sizes", "characters", "powers", "reinforcements", "passed", "seen", "to_move",
    "stage", "legal", "result",
}  # fmt: skip


@PLAYERS
@pytest.mark.parametrize("advanced", [False, True])
@pytest.mark.parametrize("peek", [True, False])
def test_describe_has_the_names_of_the_rules_page(players, advanced, peek):
    table = Table(players, advanced=advanced, peek=peek).play("W3 c4", "P c3-d3")
    for seat in (None, *range(players)):
        view = table.view(seat)
        assert view.keys() == KEYS
        assert view["game"] == "armadora"
        assert view["players"] == players
        assert view["options"] == {"advanced": advanced, "peek": peek}
        assert view["palisades"] == ["c3-d3"]
        warrior = view["warriors"]["c4"]
        assert warrior.keys() == {"player", "value", "face_up", "arrows", "reinforcement"}
        assert warrior["value"] == (3 if seat is None or (seat == 0 and peek) else None)
        assert [hand is None for hand in view["hands"]] == [
            seat not in (None, player) for player in range(players)
        ]
        assert (view["legal"] is None) == (seat not in (None, 1))
        assert (view["stage"], view["to_move"], view["result"]) == ("second palisade", 1, None)
        assert (view["characters"] is None) == (not advanced)
        assert view["reinforcements"] == [int(advanced)] * players


def test_describe_is_plain_json():
    def plain(value):
        if isinstance(value, dict):
            return all(type(key) is str and plain(item) for key, item in value.items())
        if isinstance(value, list):
            return all(map(plain, value))
        return value is None or type(value) in (str, int, bool)

    table = Table(3, advanced=True, peek=np.True_).play("W3 c4", "P c3-d3", "stop")
    assert plain(table.view())
    table.finish()
    assert plain(table.view())
    assert plain(table.view(2))


def test_notations_and_ids_are_inverse_and_equal_in_both_games():
    base, advanced = make_game("armadora").actions, make_game("armadora", advanced=True).actions
    assert len(base) == 5 * 32 + 67 + 2
    assert len(advanced) == len(base) + 32 + 32 + 5 * 32 + 67 + 32
    assert advanced.texts[: len(base)] == base.texts
    for table in (base, advanced):
        assert [table.id(table.text(action)) for action in range(len(table))] == list(
            range(len(table))
        )
    for text in ("R c4", "mage c4", "goblin W2 c4", "orc P c3-d3", "elf c4"):
        assert advanced.text(advanced.id(text)) == text
        with pytest.raises(ValueError, match="unknown action"):
            base.id(text)


def test_ids_out_of_range_are_refused():
    table = Table()
    size = len(table.game.actions)
    for action in (-1, size):
        with pytest.raises(ValueError, match="ids run from 0"):
            table.game.actions.text(action)
        assert "there is no action" in table.game.explain(table.states[0], action)
    for seat in (-1, 2):
        with pytest.raises(ValueError, match="seat must be from 0 to 1"):
            table.game.describe(table.states[0], seat)


@pytest.mark.parametrize("players", [1, 5, 0, True, "2", 2.5])
def test_a_wrong_number_of_players_is_refused(players):
    with pytest.raises(ValueError, match="2, 3 or 4 players"):
        make_game("armadora", players=players)


def test_arm_35_the_mini_board_is_a_corner_walled_off():
    table = Table(board="mini")
    assert sorted(table.gold.values()) == [0] * 6 + [3, 4]
    assert {mine for mine, gold in table.gold.items() if gold} == {"d1", "b2"}
    assert table.legal_of("W1") == table.legal_of("W2") == {"a1", "b1", "c1", "a2", "c2", "d2"}
    assert table.hands == [{"1": 1, "2": 1, "3": 0, "4": 0, "5": 0}] * 2
    inside = {"a1-b1", "c1-d1", "a2-b2", "b2-c2", "c2-d2", "a1-a2", "b1-b2", "c1-c2", "d1-d2"}
    assert table.legal_of("P") == inside
    assert table.palisades_left == 1
    for text, reason in (
        ("W1 e1", "e1 is outside the mini board"),
        ("P e1-f1", "e1-f1 is outside the mini board"),
        ("P d1-e1", "there is already a palisade"),
        ("P b1-c1", "there is already a palisade"),
    ):
        assert reason in table.game.explain(table.states[0], table.game.actions.id(text))


def test_arm_35_the_one_palisade_divides_the_mini_board_and_ends_the_turn():
    table = Table(board="mini", gold={"d1": 3, "b2": 4}).play("P b2-c2")
    assert (table.to_move, table.stage, table.palisades_left) == (1, "turn", 0)
    table.play("W2 a1", "W2 d2", "W1 a2", "W1 c1")
    table.play("pass", "pass")
    assert table.result == {"gold": [3, 4], "piles": [[3], [4]], "winners": [1]}


def test_arm_35_is_for_two_players_without_advanced_rules():
    for options in ({"players": 3}, {"advanced": True}):
        with pytest.raises(ValueError, match="mini board is for 2 players without advanced"):
            make_game("armadora", board="mini", **options)
    with pytest.raises(ValueError, match="board must be 'whole' or 'mini', not 'large'"):
        make_game("armadora", board="large")
    # Saved policies therefore also lack this option.
    assert "board" not in make_game("armadora", board="whole").options


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="advanced must be True or False"):
        make_game("armadora", advanced="yes")
    with pytest.raises(TypeError, match="its options are players, advanced, peek, board"):
        make_game("armadora", player=2)
