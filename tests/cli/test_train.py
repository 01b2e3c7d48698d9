"""The command `armarl train` makes a policy from a configuration. Wrong arguments are refused."""

import json
import subprocess
import sys

import pytest
import yaml

import tiny
from armarl.games.make_game import make_game

TWO = make_game("armadora")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(tiny.settings(total_decisions=512)), "utf-8")
    return path


def test_train_can_use_one_fixed_opponent(run, config):
    """The run trains a best response: the player is the opponent in all games and matches."""
    rival = "greedy:style=hoarder"
    train = ("train", config, "--run", "best", "--code", "--against", rival)
    status, out, err = run(*train, "ppo.epochs=1")
    assert (status, err) == (0, "")
    assert "continue with `armarl train --resume best --code`" in out
    assert f"against {rival}: won " in out
    settings = json.loads(run("info", "best", "--json")[1])["training"]["config"]
    opponents = settings["opponents"]
    assert opponents["players"] == {rival: 1}
    assert (opponents["share"], opponents["earlier"]) == (1, 0)
    status, _, err = run("train", "--resume", "best", "--against", "random")
    assert status == 1
    assert "a resumed run keeps its opponents: leave out --against" in err


def test_train_writes_a_policy(run, config, tmp_path):
    """The policy is saved and measured, and it can play."""
    status, out, err = run("train", config, "--run", "one", "reward=gold", "ppo.epochs=1")
    assert (status, err) == (0, "")
    assert "training armadora (2 players) in one: 512 decisions" in out
    assert "continue with `armarl train --resume one`" in out
    for opponent in ("random", "greedy"):
        assert f"against {opponent}: won " in out
    metadata = json.loads(run("info", "one", "--json")[1])
    assert metadata["variant"] == TWO.variant
    assert metadata["training"]["decisions"] >= 512
    assert metadata["training"]["config"]["ppo"]["epochs"] == 1
    assert metadata["training"]["config"]["reward"] == "gold"
    assert [match["standings"][1]["player"] for match in metadata["strength"]] == [
        "random",
        "greedy",
    ]
    assert run("evaluate", "one/policy.safetensors", "--games", 2, "--workers", 1)[0] == 0

    status, _, err = run("train", config, "--run", "one")
    assert status == 1
    assert "one already contains a run; resume it with --resume" in err
    status, out, _ = run("train", "--resume", "one")  # the run is already complete
    assert status == 0
    assert "against random" in out


def test_train_reports_games_that_were_cut_short(run, config):
    """Nobody wins these games, so a win rate of 0 % does not mean that they were lost."""
    armada = ("game=armada", "options={max_turns: 10}", "opponents.players={random: 1}")
    status, out, _ = run("train", config, "--run", "one", *armada)
    assert status == 0
    games = json.loads(run("info", "one", "--json")[1])["strength"]
    assert {match["standings"][0]["cut_short"] for match in games} == {20}
    for opponent in ("random", "greedy"):
        assert f"against {opponent}: won 0.0 % of 20 games" in out
    assert out.count("would be even; 20 cut short)") == 2


def test_a_refused_configuration_leaves_no_folder(run, config, tmp_path):
    for wrong, named in [
        ("options.players=7", "2, 3 or 4 players, not 7"),
        ("options.colour=1", "armadora has no option 'colour'"),
        ("game=chess", "unknown game 'chess'"),
        ("reward=fame", "reward must be 'win' or 'gold', not 'fame'"),
        ("evaluation.opponents=[gredy]", "evaluation.opponents: unknown player 'gredy'"),
        ("ppo.epoch=1", "ppo.epoch: unknown setting (did you mean epochs?); choose from rollout_l"),
    ]:
        status, _, err = run("train", config, wrong, "--run", "one")
        assert status == 1
        assert err.startswith("armarl train: ")
        assert named in err
        assert not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "give a configuration"),
        (("none.yaml",), "none.yaml"),
        (("small.yaml", "epochs"), "'epochs' must be written key=value"),
        (("--resume", "nowhere"), "nowhere contains no run"),
        (("small.yaml", "--resume", "nowhere"), "after --resume FOLDER only settings"),
        (("small.yaml", "--run", "small.yaml"), "small.yaml is a file, but must be a folder"),
        (("small.yaml", "--run", "small.yaml/one"), "small.yaml is a file, but must be"),
        (("small.yaml", "--run", "."), "tensorboard is a file, but must be a folder"),
    ],
)
def test_train_refuses_wrong_arguments(run, config, arguments, named):
    config.with_name("tensorboard").touch()
    status, _, err = run("train", *arguments)
    assert status == 1
    assert err.startswith("armarl train: ")
    assert named in err


def test_train_explains_wrong_usage(run, config):
    status, _, err = run("train", config, "--colour", "x=1")
    assert status == 2
    assert "unrecognized arguments: --colour x=1" in err


def test_a_folder_is_not_a_configuration(run, config, tmp_path):
    """Regression: the error was that there is no file of that name."""
    folder = tmp_path / "my run"
    folder.mkdir()
    status, _, err = run("train", "my run")
    assert (status, "my run is a folder, not a file, and no shipped" in err) == (1, True)
    config.rename(folder / "config.yaml")
    status, _, err = run("train", "my run")
    assert status == 1
    assert "my run is the folder of a run: resume the run with `armarl train --resume 'my" in err


@pytest.mark.parametrize("option", ["--run", "--resume"])
def test_an_empty_name_is_not_the_current_folder(run, config, option):
    status, _, err = run("train", config, option, "")
    assert status == 2
    assert f"argument {option}: a folder needs a name" in err


def test_the_first_change_of_a_resumed_run_is_passed_on_unchanged(run, monkeypatch):
    from armarl_training.run import command

    def resumed(folder, changes, *, code):
        raise ValueError(f"asked for {changes}")

    monkeypatch.setattr(command, "resume_run", resumed)
    _, _, err = run("train", "--resume", "one", "ray=ray://host:10001", "threads=1")
    assert "asked for ['ray=ray://host:10001', 'threads=1']" in err


def test_training_without_its_packages_names_the_extra_to_install(config):
    """The other commands work without these packages."""
    program = f"""
import sys
sys.modules["torch"] = None
from armarl.cli.__main__ import main
print(main(["train", {str(config)!r}]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert "pip install 'armarl[train]'" in done.stderr
