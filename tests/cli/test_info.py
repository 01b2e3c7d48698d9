"""The command `armarl info` for games, for saved policies, and for other names."""

import json

import pytest

import tiny
from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text
from armarl.games.make_game import make_game
from armarl.policies.saved_policy import read_policy_metadata

TWO = make_game("armadora")


def test_info_describes_a_game(run):
    status, out, _ = run("info", "armadora", "-o", "players=3", "-o", "advanced=true")
    assert status == 0
    game = make_game("armadora", players=3, advanced=True)
    assert out.startswith("# armadora, version")
    assert game.actions.markdown() in out
    assert game.observation.markdown() in out


def test_info_prints_the_card_of_a_policy(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    status, out, _ = run("info", path)
    assert (status, out) == (0, card_text(read_card(path)) + "\n")
    status, out, _ = run("info", path, "--json")
    assert (status, json.loads(out)) == (0, read_policy_metadata(path))


def test_info_with_json_needs_a_policy(run):
    status, out, err = run("info", "armadora", "--json")
    assert (status, out) == (1, "")
    assert "--json is for saved policies, but armadora is a game" in err


def test_info_of_an_unknown_name_is_refused(run):
    status, out, err = run("info", "armadoro")
    assert (status, out) == (1, "")
    assert "'armadoro' is neither a game (armadora, armada" in err


def test_the_help_lists_no_option_that_is_always_refused(run):
    status, out, _ = run("info", "--help")
    assert status == 0
    assert "--game" not in out
    assert "--option" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("armada-2p", "-o", "players=3"), "-o players=3: options are for a game"),
        (("armada-2p", "--game", "armada"), "info takes no --game"),
        (("armada", "--game", "armadora"), "info takes no --game"),
    ],
)
def test_info_refuses_options_without_effect(run, arguments, said):
    status, out, err = run("info", *arguments)
    assert (status, out) == (1, "")
    assert said in err
