"""Options of games on the command line, and a user's dice."""

import pytest

import tiny
from armarl.games.make_game import make_game
from armarl.matches.records import read_records


def test_options_of_a_training_are_settings(run):
    status, _, err = run("train", "armadora-quick", "-o", "players=3")
    assert status == 2
    assert "this command takes game options as settings, such as options.players=3" in err
    status, _, err = run("train", "armadora-quick", "--seed", "3")
    assert status == 2
    assert "--seed 3; settings are written without hyphens, such as seed=3" in err


def test_game_options_are_written_with_o(run):
    status, _, err = run("evaluate", "greedy", "random", "--players", "3")
    assert status == 2
    assert "--players 3; game options are written with -o, such as -o players=3" in err


def test_options_with_a_saved_policy_are_those_of_its_game(run):
    """Regression: the options were read as those of the first registered game."""
    status, out, err = run("play", "armada-2p", "-o", "max_turns=400", typed="quit\n")
    assert (status, "the names of the chart" in out, err) == (130, True, "\nstopped\n")
    status, _, err = run("play", "armada-2p", "-o", "cards=true", typed="quit\n")
    assert status == 1
    assert "armada-2p was made for options cards=false, but this game has options cards=true" in err
    assert "policies that play it: armada-2p-cards, armada-2p-cards-ppo\n" in err


OWN_DICE = """combat = [3, 0, 1, -1, -3, -3]
gold = [5, 0, 12, 1, 0, 4]
tribes = [0, 1, 6, 12, 0, 3]
"""


def test_a_user_s_dice_can_be_used(run, tmp_path):
    """A file of dice is an option of a match, and records and policies contain the dice."""
    (tmp_path / "mine.toml").write_text(OWN_DICE)
    faces = "dice={'combat': [3, 0, 1, -1, -3, -3], 'gold': [5, 0, 12, 1, 0, 4], 'tribes': [0, 1, 6"
    options = ("--game", "armada", "-o", "dice=mine.toml", "-o", "max_turns=6")
    match = ("--games", 2, "--workers", 1, "--records", "games.txt")
    status, out, err = run("evaluate", "greedy", "greedy", *options, *match)
    assert (status, err) == (0, "")
    assert faces in out
    game = make_game("armada", dice=tmp_path / "mine.toml", max_turns=6)
    (tmp_path / "mine.toml").unlink()
    assert [record.game for record in read_records(tmp_path / "games.txt")] == [game, game]
    assert run("replay", "games.txt")[::2] == (0, "")
    path = tiny.policy(tmp_path, game)
    status, out, err = run("evaluate", path, "greedy", "--games", 2, "--workers", 1)
    assert (status, err) == (0, "")
    assert faces in out
    (tmp_path / "other.toml").write_text(OWN_DICE.replace("12", "2"))
    for other in ("none", "other.toml"):
        status, _, err = run("evaluate", path, "greedy", "-o", f"dice={other}", "--games", 2)
        assert status == 1
        assert "was made for options" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN_DICE.replace("-3, -3", "-3"), "mine.toml: the combat die must list 6 faces"),
        (OWN_DICE.replace("12", "13"), "must be a whole number from 0 to 12, not 13"),
        ("faces\n", "mine.toml: the dice are not valid TOML"),
        (None, "there is no file mine.toml; dice must be the path of a TOML file"),
    ],
)
def test_invalid_dice_are_refused(run, tmp_path, text, said):
    if text is not None:
        (tmp_path / "mine.toml").write_text(text)
    status, _, err = run("info", "armada", "-o", "dice=mine.toml")
    assert status == 1
    assert said in err
