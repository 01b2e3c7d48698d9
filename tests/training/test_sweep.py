"""Sweeps are runs with searched settings. They can be stopped, killed and continued."""

import csv
import shutil
import signal
import sys
from contextlib import closing
from xml.etree import ElementTree

import pytest
import yaml

import tiny
from armarl.cli.__main__ import main
from armarl.policies.saved_policy import read_policy_metadata
from armarl.workers.jobs import ClusterError
from armarl_training.common.run_folder import LockError, RunError
from armarl_training.config.training_config import ConfigError, load_config
from armarl_training.run import config_checks
from armarl_training.run.run import Run, resume_run, start_run
from armarl_training.run.sweep import Choice, Range, Sweep, plot, read_space
from processes import started, wait_for

SEARCHED = ["ppo.learning_rate=1e-5..1e-2:log", "network.widths=[8],[16,8]", "ppo.epochs=1..3"]


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    small = tiny.settings(total_decisions=256, evaluation={"games": 4})
    path.write_text(yaml.safe_dump(small), "utf-8")
    return path


def table(folder):
    with (folder / "sweep.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_searched_and_fixed_settings_are_told_apart():
    space, fixed = read_space([*SEARCHED, "network.activation=relu, tanh", "seed=3"])
    assert space == {
        "ppo.learning_rate": Range(1e-5, 1e-2, log=True),
        "network.widths": Choice(("[8]", "[16, 8]")),
        "ppo.epochs": Range(1, 3),
        "network.activation": Choice(('"relu"', '"tanh"')),
    }
    assert fixed == ["seed=3"]
    # Any reward can be searched, because trials are compared by games won.
    assert read_space(["reward=win,gold"])[0]
    _, fixed = read_space(['opponents.players={"greedy": 1, "random": 2}', "ray=", "game"])
    assert len(fixed) == 3


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("ppo.epochs=3..1", "low below high"),
        ("ppo.epochs=2..2", "low below high"),
        ("ppo.entropy=0..0.1:log", "above 0"),
        ("ppo.entropy=1.2.3..4", "could not convert"),
        ("ppo.epochs=[1,2", "not valid YAML"),
        ("ppo.epoch=1..3", "unknown setting"),
        ("ppo.epochs=0..3", "greater than 0"),
        ("network.activation=relu,relux", "activation"),
        ("seed=1", "nothing to search for"),
        (
            "evaluation.opponents=[random],[greedy]",
            "evaluation.opponents changes the games by which",
        ),
        ("evaluation.games=2..4", "a sweep cannot vary it"),
        ("options.players=2,3", "options.players changes the games by which"),
        ("game=armadora,armada", "game changes the games by which"),
        ("ppo.learning_rate=1e-4..3e-3:lg", "only :log may follow low..high"),
    ],
)
def test_wrong_settings_are_refused(config, tmp_path, setting, said):
    with pytest.raises(ConfigError, match=said):
        Sweep(config, [setting], tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("options.players=7", "2, 3 or 4 players, not 7"),
        ("reward=fame", "reward must be 'win' or 'gold', not 'fame'"),
        ("opponents.players.greedi=1", "opponents.players: unknown player 'greedi'"),
        ("opponents.players.greedi=0.5..1", "opponents.players: unknown player 'greedi'"),
        ("opponents.players.none/p.safetensors=1", "opponents.players: unknown player .none/p"),
        ("opponents.players.tiny:Backwards=1", "with --code"),
        ("learner=test_sweep:Mine", "learner: test_sweep:Mine: .*train with --code"),
        ("evaluation.opponents=[nobody]", "evaluation.opponents: unknown player 'nobody'"),
        ("start_from=none.safetensors", "start_from: there is no file none"),
    ],
)
def test_a_setting_that_would_fail_in_every_trial_is_refused_before_the_first(
    config, tmp_path, setting, said
):
    """Regression: all trials failed, and the corrected command could not continue the sweep."""
    with pytest.raises(ConfigError, match=said):
        Sweep(config, ["ppo.epochs=1..3", setting], tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_a_ray_address_that_does_not_answer_starts_no_sweep(config, tmp_path, monkeypatch):
    def refuse(address):
        raise ClusterError(f"there is no Ray cluster at {address!r}")

    monkeypatch.setattr(config_checks, "reach", refuse)
    with pytest.raises(ClusterError, match="at 'nowhere:1'"):
        Sweep(config, ["ppo.epochs=1..3", "ray=nowhere:1"], tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_a_continued_sweep_accepts_its_own_small_numbers(config, tmp_path):
    """Regression: small numbers were saved as text, so the sweep rejected its own file."""
    for _ in range(2):
        Sweep(config, ["ppo.final_learning_rate=1e-6,3e-6"], tmp_path / "sweep").close()


def test_files_of_others_are_not_overwritten(config, tmp_path):
    (tmp_path / "sweep.csv").write_text("mine", "utf-8")
    with pytest.raises(RunError, match=r"has a sweep\.csv, but no sweep"):
        Sweep(config, SEARCHED, tmp_path)
    assert (tmp_path / "sweep.csv").read_text("utf-8") == "mine"


def test_a_trial_whose_settings_were_drawn_in_part_is_not_trained(config, tmp_path):
    """Regression: the settings that had not been drawn were taken from the configuration."""
    with closing(Sweep(config, SEARCHED, tmp_path / "sweep")) as search:
        trial = search._study.ask()
        search.space["ppo.epochs"].suggest(trial, "ppo.epochs")
    with closing(Sweep(config, SEARCHED, tmp_path / "sweep")) as search:
        assert search.run(2, lambda _line: None, Run.train)
        assert [trial.state.name for trial in search._study.trials] == ["FAIL", "COMPLETE"]


def test_a_sweep_is_refused_in_the_folder_of_a_run(config, tmp_path):
    with start_run(load_config(config), tmp_path / "run"):
        pass
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RunError, match="run contains a run, not a sweep; choose another"):
        Sweep(config, SEARCHED, tmp_path / "run")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_sweep_can_use_players_of_a_user(config, tmp_path):
    settings = ["ppo.epochs=1..3", "opponents.players.tiny:Backwards=1"]
    with closing(Sweep(config, settings, tmp_path / "sweep", code=True)) as sweep:
        assert sweep.run(1)
        assert sweep.best is not None


def test_a_setting_given_twice_is_refused(config, tmp_path):
    for other in ("ppo.epochs=2", "ppo.epochs=2..4"):
        with pytest.raises(ConfigError, match=r"ppo\.epochs is given twice"):
            Sweep(config, ["ppo.epochs=1..3", other], tmp_path / "sweep")


def test_a_player_with_settings_can_be_searched_for():
    key = "opponents.players.greedy:style=settler"
    assert read_space([f"{key}=0.5..2"]) == ({key: Range(0.5, 2)}, [])


def test_drawn_settings_do_not_depend_on_where_a_sweep_was_stopped(config, tmp_path):
    drawn = []
    for name, stops in (("one", [3]), ("other", [2, 3])):
        for trials in stops:
            with closing(Sweep(config, SEARCHED, tmp_path / name)) as sweep:
                assert sweep.run(trials, train=lambda run: True)
                drawn += [[trial.params for trial in sweep._study.trials]]
    assert drawn[0] == drawn[2]
    assert drawn[0][0] != drawn[0][1]


def test_a_sweep_trains_and_ranks_its_trials(config, tmp_path, capsys, monkeypatch):
    """Each trial is a run with its own settings. The table is sorted by games won."""
    monkeypatch.chdir(tmp_path)
    arguments = ["sweep", str(config), *SEARCHED, "seed=3", "--folder", "sweep"]
    assert main([*arguments, "--trials", "2"]) == 0
    said = capsys.readouterr().out
    assert "2 trials in sweep, searching for ppo.learning_rate, network.widths" in said
    assert main([*arguments, "--trials", "3"]) == 0  # continues the sweep
    said = capsys.readouterr().out
    assert "trial 2: ppo.learning_rate=" in said
    assert "trial 1:" not in said
    rows = table(tmp_path / "sweep")
    assert sorted(int(row["trial"]) for row in rows) == [0, 1, 2]
    rates = [float(row["win_rate"]) for row in rows]
    assert rates == sorted(rates, reverse=True)
    assert f"best: {'sweep'}/00" in said
    assert f"won {100 * rates[0]:.1f} %" in said
    for row in rows:
        folder = tmp_path / "sweep" / f"00{row['trial']}"
        settings = read_policy_metadata(folder / "policy.safetensors")["training"]["config"]
        assert settings["seed"] == 3
        assert settings["ppo"]["learning_rate"] == pytest.approx(float(row["ppo.learning_rate"]))
        assert settings["ppo"]["epochs"] == int(row["ppo.epochs"])
        assert settings["network"]["widths"] == yaml.safe_load(row["network.widths"])
    drawing = (tmp_path / "sweep" / "sweep.svg").read_text("utf-8")
    assert ElementTree.fromstring(drawing).tag.endswith("svg")
    assert drawing.count("<circle") == 9

    assert main([*arguments, "--trials", "0"]) == 1
    assert "--trials must be 1 or more" in capsys.readouterr().err
    assert main(["sweep", str(config), "ppo.epochs=1..2", "--folder", "sweep"]) == 1
    assert "sweep contains a sweep of another configuration" in capsys.readouterr().err


def test_a_failing_trial_is_reported_and_the_next_one_starts(config, tmp_path):
    said = []
    lengths = ["environments=16,24", "shards=3,4"]  # 3 is not a divisor of 16
    with closing(Sweep(config, lengths, tmp_path / "sweep")) as sweep:
        assert sweep.run(6, said.append)
        assert sweep.best is not None
    assert len(said) == 6
    assert any("failed: a trial's configuration" in line for line in said)
    assert 1 <= len(table(tmp_path / "sweep")) <= 5


def test_only_the_trial_with_a_failing_player_fails(config, tmp_path):
    """An interrupt stops the sweep. A full disk is reported once, not by every trial."""

    def train(raised):
        def fail(_run):
            raise raised

        return fail

    said = []
    with closing(Sweep(config, SEARCHED, tmp_path / "sweep")) as sweep:
        assert sweep.run(1, said.append, train(KeyError("x")))
        for error in (OSError("no room"), KeyboardInterrupt()):
            with pytest.raises(type(error)):
                sweep.run(2, said.append, train(error))
    assert len(said) == 1
    assert said[0].endswith("failed: KeyError: 'x'")
    with closing(Sweep(config, SEARCHED, tmp_path / "sweep")) as sweep:
        assert sweep.run(2, said.append, lambda run: True)
        assert sweep.best.number == 1


def test_a_stopped_sweep_continues_in_the_middle_of_a_trial(config, tmp_path):
    """Nothing in the trial's run is repeated, and two processes cannot run the same sweep."""

    def stopped(run):
        run.train(lambda _report: signal.raise_signal(signal.SIGINT))
        done.append(run.decisions)
        return False

    done = []
    settings = [*SEARCHED, "total_decisions=512"]
    with closing(Sweep(config, settings, tmp_path / "sweep")) as sweep:
        assert not sweep.run(1, train=stopped)
        assert sweep.best is None
        with pytest.raises(RunError, match="is in use by process"):
            Sweep(config, settings, tmp_path / "sweep")
    begun = []

    def watched(run):
        begun.append(run.decisions)
        return Run.train(run)

    with closing(Sweep(config, settings, tmp_path / "sweep")) as sweep:
        assert sweep.run(2, train=watched)
    assert done[0] > 0
    assert begun == [done[0], 0]
    assert len(table(tmp_path / "sweep")) == 2


def test_a_trial_whose_folder_is_locked_is_not_lost(config, tmp_path):
    """Regression: the trial counted as failed, as if its settings were wrong."""
    folder, said = tmp_path / "sweep", []
    with closing(Sweep(config, SEARCHED, folder)) as sweep:
        assert not sweep.run(1, said.append, lambda run: run.save() is not None)
    with (
        resume_run(folder / "000"),
        closing(Sweep(config, SEARCHED, folder)) as sweep,
        pytest.raises(LockError, match="000 is in use by process"),
    ):
        sweep.run(1, said.append)
    with closing(Sweep(config, SEARCHED, folder)) as sweep:
        assert sweep.run(1, said.append)
        assert [trial.state.name for trial in sweep._study.trials] == ["COMPLETE"]
    assert len(said) == 1


def test_a_killed_sweep_can_continue(config, tmp_path):
    command = [sys.executable, "-m", "armarl.cli", "sweep", str(config), *SEARCHED]
    command += ["total_decisions=1_000_000", "checkpoint_every_minutes=0.001"]
    command += ["--trials", "1", "--folder", str(tmp_path / "sweep")]
    checkpoint = tmp_path / "sweep" / "000" / "checkpoint.safetensors"
    with started(command) as process:
        wait_for(checkpoint.exists, process, 200)
    begun = []

    def ended(run):
        begun.append(run.decisions)
        return True

    with closing(Sweep(config, [*SEARCHED, "total_decisions=1_000_000"], tmp_path / "x")):
        pass  # another sweep, in another folder
    settings = [*SEARCHED, "total_decisions=1_000_000", "checkpoint_every_minutes=0.001"]
    with closing(Sweep(config, settings, tmp_path / "sweep")) as sweep:
        assert sweep.run(1, train=ended)
    assert begun[0] > 0
    assert len(table(tmp_path / "sweep")) == 1


def test_damaged_folders_are_refused(config, tmp_path):
    """A sweep checks the contents of its folder: its own file, Optuna's file, and the runs."""
    folder = tmp_path / "sweep"
    with closing(Sweep(config, SEARCHED, folder)) as sweep:
        assert sweep.run(1)
    shutil.copytree(folder, tmp_path / "other")
    (folder / "sweep.yaml").write_text("[", "utf-8")
    with pytest.raises(RunError, match=r"sweep\.yaml is damaged"):
        Sweep(config, SEARCHED, folder)
    other = tmp_path / "other"
    (other / "study.db").unlink()
    settings = (other / "000" / "config.yaml").read_text("utf-8")
    (other / "000" / "config.yaml").write_text(settings.replace("seed: 0", "seed: 1", 1), "utf-8")
    said = []
    with closing(Sweep(config, SEARCHED, other)) as sweep:
        assert sweep.run(1, said.append)
    assert len(said) == 1
    assert "000 contains a run with other settings; remove it" in said[0]
    (other / "study.db").write_bytes(b"no database" * 100)
    with pytest.raises(RunError, match=r"study\.db cannot be used"):
        Sweep(config, SEARCHED, other)


def test_a_plot_without_trials_can_be_drawn():
    space = {"a": Choice(("1", "2")), "b": Range(0.1, 1.0, log=True)}
    assert ElementTree.fromstring(plot(space, [])).tag.endswith("svg")


@pytest.mark.skipif(sys.platform == "win32", reason="names there cannot hold a question mark")
@pytest.mark.parametrize("name", ["s?mode=memory", "s%41", "s#x"])
def test_a_folder_s_name_is_not_read_as_a_database_address(config, tmp_path, name):
    """Regression: the study was written to a file `s` beside the folder."""
    before = {path.name for path in tmp_path.iterdir()}
    with closing(Sweep(config, ["ppo.epochs=1..2"], tmp_path / name)):
        assert (tmp_path / name / "study.db").is_file()
    assert {path.name for path in tmp_path.iterdir()} == before | {name}


def test_an_unknown_setting_with_unprintable_characters_is_refused(config, tmp_path):
    """Regression: the setting was accepted, and every trial failed."""
    with pytest.raises(ConfigError, match="unknown setting"):
        Sweep(config, ["\x1b[2J\u202ex=1..2"], tmp_path / "sweep")
