"""The commands `armarl evaluate` and `armarl arena`: output, files and refusals."""

import errno
import json

import pytest

import tiny
from armarl.games.make_game import make_game

TWO, THREE = make_game("armadora"), make_game("armadora", players=3)


def test_evaluate_prints_and_writes_a_match(run, tmp_path):
    arguments = ("evaluate", "greedy", "random", "--games", 20, "--workers", 1, "--seed", 3)
    status, out, err = run(*arguments, "--json", "result.json")
    assert (status, err) == (0, "")
    head, columns, greedy, random = out.strip().split("\n")
    assert head.startswith("armadora, 2 players, advanced=False, peek=True; seed 3: 20 games, 10")
    for named in (
        "player",
        "win rate",
        "95 % interval",
        "fair",
        "won",
        "shared",
        "lost",
        "cut short",
    ):
        assert named in columns
    (match,) = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert match["variant"] == TWO.variant
    assert (match["games"], match["deals"], match["seed"]) == (20, 10, 3)
    for line, standing in zip((greedy, random), match["standings"], strict=True):
        name, *numbers = line.replace("%", "").replace(" - ", " ").split()
        rate, low, high, fair, *counts = numbers
        assert name == standing["player"]
        assert float(rate) == pytest.approx(100 * standing["win_rate"], abs=0.051)
        assert float(low) == pytest.approx(100 * standing["low"], abs=0.051)
        assert float(high) == pytest.approx(100 * standing["high"], abs=0.051)
        assert float(fair) == 50
        assert [int(count) for count in counts] == [
            standing[key] for key in ("wins", "shared", "losses", "cut_short")
        ]
    assert run(*arguments)[1] == out  # with a seed, the output is reproducible
    assert run(*arguments[:-1], 4)[1] != out


def test_evaluate_plays_all_pairs_of_more_players_than_seats(run, tmp_path):
    names = [tiny.policy(tmp_path, TWO, seed, f"{seed}.safetensors") for seed in range(2)]
    status, out, _ = run(
        "evaluate", *names, "random", "--games", 4, "--workers", 1, "--json", "all.json"
    )
    assert status == 0
    matches = json.loads((tmp_path / "all.json").read_text("utf-8"))
    players = [[standing["player"] for standing in match["standings"]] for match in matches]
    assert players == [["0", "1"], ["0", "random"], ["1", "random"]]
    assert out.count("armadora, 2 players") == 3


def test_an_unknown_player_is_refused_before_the_first_game(run, tmp_path):
    files = ("--json", "all.json", "--records", "games.txt")
    status, out, err = run("evaluate", "greedy", "random", "nobody", "--games", 2, *files)
    assert (status, out) == (1, "")
    assert "unknown player 'nobody'" in err
    assert not (tmp_path / "games.txt").exists()


def test_a_player_that_fails_later_loses_no_result(run, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "class Failing:\n"
        "    def __init__(self, game):\n        self.name = 'failing'\n"
        "    def choose(self, states, seats, draws):\n        raise ValueError('mine')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    command = ("evaluate", "random", "greedy", "mine:Failing", "--games", 2, "--workers", 1)
    status, out, err = run(*command, "--json", "all.json")
    assert (status, out.count("seed 0: 2 games"), "mine" in err) == (1, 1, True)
    (kept,) = json.loads((tmp_path / "all.json").read_text("utf-8"))
    assert [standing["player"] for standing in kept["standings"]] == ["random", "greedy"]


def test_a_result_replaces_only_a_result(run, tmp_path, monkeypatch):
    policy = tiny.policy(tmp_path, TWO, name="mine.safetensors")
    command = ("evaluate", "random", "greedy", "--games", 2, "--workers", 1, "--json")
    before = policy.read_bytes()
    status, out, err = run(*command, policy)
    assert (status, out, "does not contain JSON" in err) == (1, "", True)
    assert policy.read_bytes() == before
    kept = tmp_path / "all.json"
    assert run(*command, kept)[0] == 0
    first = kept.read_text("utf-8")

    def full(_number):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("armarl.common.files.os.fsync", full)
    assert run(*command, kept, "--seed", 1)[0] == 1
    assert kept.read_text("utf-8") == first


def test_a_style_is_not_a_player(run):
    status, _, err = run("evaluate", "armada-2p", "admiral")
    assert status == 1
    assert "admiral is a style of the greedy player; name it as greedy:style=admiral" in err


def test_evaluate_takes_the_game_of_the_policy(run, tmp_path):
    path = tiny.policy(tmp_path, THREE)
    status, out, _ = run("evaluate", path, "--games", 3, "--workers", 1)
    assert status == 0
    assert out.startswith("armadora, 3 players")
    assert "against the panel, 3 games with each" in out  # a single player plays against the panel


def test_evaluate_accepts_options(run):
    status, out, _ = run(
        *("evaluate", "random", "greedy", "--games", 2, "--workers", 1),
        *("-o", "players=4", "--option", "advanced=TRUE", "-o", "peek=false"),
    )
    assert status == 0
    assert out.startswith("armadora, 4 players, advanced=True, peek=False;")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("gredy",), "unknown player 'gredy' (did you mean greedy?); choose from random, greedy,"),
        (("random", "-o", "players=5"), "2, 3 or 4 players, not 5"),
        (("random", "-o", "players=two"), "2, 3 or 4 players, not 'two'"),
        (("random", "-o", "colour=red"), "no option 'colour'; its options are players, advanced"),
        (("random", "-o", "advanced"), "option 'advanced' must be written name=value"),
        (("random", "-o", "advanced=maybe"), "advanced must be True or False, not 'maybe'"),
        (("random", "--game", "chess"), "unknown game 'chess'; choose from armadora"),
        (("random", "--game", "Armada"), "unknown game 'Armada' (did you mean armada?); choose"),
        (("random", "-o", "players=²"), "2, 3 or 4 players, not '²'"),
        (("random", "-o", "players=--2"), "2, 3 or 4 players, not '--2'"),
        (("random", "--games", "0"), "games must be from 1 to 100000000, not 0"),
        (("random", "--games", "-3"), "games must be from 1 to 100000000, not -3"),
        (("random", "--games", "1" + 23 * "0"), "games must be from 1 to 100000000, not 1000"),
        (("random", "--seed", "-1"), "seed must be from 0 to 9223372036854775796, not -1"),
        (("random", "--workers", "0"), "workers must be at least 1, not 0"),
        (("random", "--json", "."), ". is a folder; name a file to write"),
        (("random", "--json", "no/where.json"), "there is no folder no to write where.json to"),
        (("random", "--records", "."), ". is a folder; name a file to write"),
    ],
)
def test_evaluate_refuses_wrong_arguments(run, arguments, named):
    status, out, err = run("evaluate", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("armarl evaluate: ")
    assert named in err


@pytest.mark.parametrize("lead", ["inf", "nan", "1e6", "0", "-20", "many"])
def test_a_lead_that_is_too_small_or_large_is_refused(run, lead):
    """Regression: the match played all deals, and its likelihood ratio was NaN."""
    status, out, err = run("arena", "random", "greedy", f"--stronger={lead}")
    assert (status, out) == (2, "")
    assert f"a lead in Elo points must be above 0 and at most 2000, not {lead}" in err


def test_arena_refuses_a_single_deal_before_it_plays(run, tmp_path):
    status, out, err = run("arena", "random", "random", "--deals", 1, "--folder", "games")
    assert (status, out) == (1, "")
    assert "ratings need at least 2 deals to estimate how much deals differ; --deals is 1" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("random", "--games", "many"), (), ("random", "--colour")])
def test_evaluate_explains_wrong_usage(run, arguments):
    status, _, err = run("evaluate", *arguments)
    assert status == 2
    assert "usage: armarl" in err


def test_evaluate_refuses_a_policy_of_another_variant(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    status, _, err = run("evaluate", path, "-o", "players=3")
    assert status == 1
    assert "was made for 2 players, but this game has 3 players" in err
    status, _, err = run("evaluate", path, "-o", "advanced=true")
    assert status == 1
    assert "was made for options" in err


def test_a_damaged_policy_is_reported(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    path.write_bytes(path.read_bytes()[:-1])
    for command in ("evaluate", "play", "info"):
        status, _, err = run(command, path)
        assert status == 1
        assert f"armarl {command}: {path} is damaged" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "best.zip", "random"),
        ("arena", "best.zip", "random"),
        ("play", "best.zip"),
        ("info", "best.zip"),
        ("info", "best.zip", "--json"),
    ],
    ids=" ".join,
)
def test_a_model_of_sb3_must_be_saved_as_a_policy(run, tmp_path, arguments):
    (tmp_path / "best.zip").write_bytes(b"PK\x03\x04 and what SB3 writes")
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert "best.zip is not an ArmaRL policy" in err
    assert "save_policy('best.safetensors', MaskablePPO.load('best.zip'), game)" in err


def test_one_file_for_two_outputs_is_refused(run, tmp_path):
    """Regression: the result overwrote the records."""
    arguments = ("--games", 2, "--workers", 1, "--json", "x", "--records", tmp_path / "x")
    status, _, err = run("evaluate", "greedy", "random", *arguments)
    assert (status, "--json and --records name the same file" in err) == (1, True)
    assert not (tmp_path / "x").exists()
