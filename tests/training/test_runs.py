"""Training runs that are stopped, killed and resumed end as if nothing had happened."""

import csv
import errno
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import yaml

import tiny
from armarl.games.make_game import make_game
from armarl.policies.saved_policy import load_policy
from armarl.workers.jobs import ClusterError
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.run import checkpoint, config_checks
from armarl_training.run import run as run_module
from armarl_training.run.run import Run, RunError, resume_run, start_run
from processes import wait_for
from small_runs import (
    ROLLOUT,
    TOTAL,
    assert_equal,
    config,
    in_another_process,
    signals,
    stopped_run,
)

LEARNERS = {
    **{learner: {"learner": learner} for learner in ("ppo", "td", "critic", "maskable_ppo")},
    "sparse ppo": {"game": "armada", "threads": 2, "network": {"advisers": ["greedy"]}},
}


@pytest.fixture(scope="module", params=LEARNERS)
def whole(request, tmp_path_factory):
    """Return an uninterrupted run of each learner."""
    settings = config(**LEARNERS[request.param])
    run = start_run(settings, tmp_path_factory.mktemp("runs") / "whole")
    assert run.train()
    return run


# --- stopping and resuming -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
@pytest.mark.parametrize("updates", [1, 3])
def test_a_stopped_run_continues_as_if_it_had_not_been_stopped(
    tmp_path, whole, number, updates, capsys
):
    """Weights, optimiser, games, random generators, pool and counters are equal bit by bit."""
    before = signal.getsignal(number)
    run = start_run(whole.config, tmp_path / "run")
    assert not run.train(signals(number, after=updates - 1))
    assert "stopping at the end of this update" in capsys.readouterr().err
    assert (updates - 1) * ROLLOUT / 2 < run.decisions <= updates * ROLLOUT
    assert signal.getsignal(number) == before
    again = resume_run(tmp_path / "run")
    assert again.decisions == run.decisions
    assert again.train()
    assert again.decisions >= TOTAL
    assert_equal(again, whole)


def test_a_run_can_stop_after_every_update(tmp_path, whole):
    run, stops = start_run(whole.config, tmp_path / "run"), 0
    while not run.train(signals(signal.SIGINT, after=0)):
        del run
        run, stops = resume_run(tmp_path / "run"), stops + 1
    assert stops >= TOTAL // ROLLOUT - 1
    assert_equal(run, whole)


def test_a_head_start_is_not_repeated(tmp_path):
    settings = config(total_decisions=3 * ROLLOUT, imitation={"games": 8, "games_at_once": 8})
    run = start_run(settings, tmp_path / "whole")
    assert run.train()
    stopped = start_run(settings, tmp_path / "stopped")
    assert not stopped.train(signals(signal.SIGINT, after=1))
    again = resume_run(tmp_path / "stopped")
    assert again.train()
    assert_equal(again, run)


def test_a_run_stopped_during_its_head_start_repeats_the_head_start(tmp_path):
    settings = config(total_decisions=ROLLOUT, imitation={"games": 24, "games_at_once": 8})
    run = start_run(settings, tmp_path / "whole")
    assert run.train()
    lots = []

    def stop(report):
        lots.append(report.headline)
        os.kill(os.getpid(), signal.SIGINT)

    stopped = start_run(settings, tmp_path / "stopped")
    assert not stopped.train(stop)
    assert len(lots) == 1  # a whole head start would have three reports
    assert not (tmp_path / "stopped" / checkpoint.FILE).exists()
    again = resume_run(tmp_path / "stopped")
    assert again.train()
    assert_equal(again, run)


def test_the_time_limit_ends_the_head_start(tmp_path):
    settings = config(time_limit_minutes=1.0, imitation={"games": 24, "games_at_once": 8})
    run, lots = start_run(settings, tmp_path / "run"), []

    def pass_a_minute(report):
        lots.append(report.headline)
        run.seconds_before = 60.0

    assert run.train(pass_a_minute)
    assert len(lots) == 1
    assert run.decisions == 0
    again = resume_run(tmp_path / "run", ["time_limit_minutes=null"])
    seen = []
    assert again.train(lambda report: seen.append(report.headline))
    assert not any(seen)  # the head start is over, so no report is about it
    assert again.decisions >= TOTAL


def test_an_anchor_that_fails_loses_no_training(tmp_path, monkeypatch):
    evaluation = {"opponents": ["random"], "progress_games": 2}
    run = start_run(config(evaluation=evaluation), tmp_path / "run")

    def fail(player):
        raise ValueError("an anchor failed")

    monkeypatch.setattr(run.anchors, "measure", fail)
    with pytest.raises(ValueError, match="an anchor failed"):
        run.train()
    assert resume_run(tmp_path / "run").decisions >= TOTAL


def test_new_anchors_start_a_new_search_for_the_best_policy(tmp_path):
    evaluation = {"opponents": ["random"], "progress_games": 4}
    run = start_run(config(evaluation=evaluation), tmp_path / "run")
    assert run.train()
    (tmp_path / "run" / "best.safetensors").unlink()
    same = resume_run(tmp_path / "run")
    assert same.best == run.best
    assert same.train()
    assert not (tmp_path / "run" / "best.safetensors").exists()
    other = resume_run(tmp_path / "run", ["evaluation.opponents=[greedy]"])
    assert other.best == -1
    assert other.train()
    assert (tmp_path / "run" / "best.safetensors").exists()
    assert "wins/greedy" in other.log.rows[-1]


def test_a_run_can_train_in_another_thread(tmp_path):
    """Regression: only the main thread gets signals, so setting the signal handlers failed."""
    run = start_run(config(total_decisions=ROLLOUT), tmp_path / "run")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run.train).result()
    assert run.decisions >= ROLLOUT
    assert resume_run(tmp_path / "run").decisions == run.decisions


def test_a_lack_of_memory_gives_a_short_error(tmp_path, monkeypatch):
    """NumPy's own message would contain the whole dtype of a game's record."""

    def make(*_arguments):
        raise MemoryError("Unable to allocate 40 GiB for " + 100 * "('field', '<i8'), ")

    monkeypatch.setattr(run_module, "find_maker", lambda *_arguments, **_named: make)
    with pytest.raises(ConfigError, match="more memory than there is: Unable to a") as refused:
        start_run(config(), tmp_path / "run")
    assert len(str(refused.value)) < 400


def test_a_second_interrupt_stops_immediately(tmp_path):
    run = start_run(config(), tmp_path / "run")
    before = signal.getsignal(signal.SIGINT)

    def progress(*_report):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run.train(progress)
    assert signal.getsignal(signal.SIGINT) == before
    assert resume_run(tmp_path / "run").decisions == 0


TERMINATED_TWICE = """
import os, signal, sys
from pathlib import Path
from armarl_training.run.run import start_run
from small_runs import config

def progress(*_report):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
    print("still here", flush=True)

start_run(config(), Path(sys.argv[1])).train(progress)
"""


@pytest.mark.skipif(os.name != "posix", reason="the signal needs POSIX")
def test_a_second_termination_ends_the_process(tmp_path):
    """Regression: after SIGTERM, only Ctrl-C could stop a run immediately."""
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED_TWICE, str(tmp_path / "run")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "")
    assert resume_run(tmp_path / "run").decisions == 0


def test_the_time_limit_ends_the_run(tmp_path):
    run = start_run(config(total_decisions=10**9, time_limit_minutes=1.0), tmp_path / "run")

    seen = []

    def progress(report):
        seen.append(report.decisions)
        if len(seen) == 3:
            run.seconds_before = 60.0

    assert run.train(progress)  # True, because the run reached its end and was not stopped
    assert len(seen) == 3
    assert load_policy(run.export()).metadata["training"]["decisions"] == run.decisions
    again = resume_run(tmp_path / "run")
    assert again.train()
    assert again.decisions == run.decisions


def test_the_clock_does_not_run_after_the_training(tmp_path):
    """The minutes of training do not include the final matches and other uses of the run."""
    run = start_run(config(total_decisions=ROLLOUT), tmp_path / "run")
    assert run.seconds == 0
    assert run.train()
    spent = run.seconds
    assert float(run.log.rows[-1]["minutes"]) * 60 <= spent
    run.evaluate(run.export())
    assert run.seconds == spent
    again = resume_run(tmp_path / "run", [f"total_decisions={2 * ROLLOUT}"])
    assert 0 < again.seconds <= spent
    assert again.train()
    assert again.seconds > spent


def test_a_seed_makes_a_run_reproducible(tmp_path, whole):
    again = start_run(whole.config, tmp_path / "again")
    assert again.train()
    assert_equal(again, whole)
    other = start_run(whole.config.model_copy(update={"seed": 1}), tmp_path / "other")
    assert other.train()
    ours, theirs = (run.learner.policy(average=False).tensors for run in (whole, other))
    assert any(not np.array_equal(tensor, theirs[name]) for name, tensor in ours.items())


def test_the_folder_of_a_run_contains_its_files(whole):
    names = {path.name for path in whole.folder.iterdir()}
    assert names == {
        "config.yaml", "checkpoint.safetensors", "policy.safetensors", "progress.csv",
        "curve.svg", "pool", "tensorboard", "lock",
    }  # fmt: skip
    assert load_config(whole.folder / "config.yaml") == whole.config
    assert list((whole.folder / "tensorboard").iterdir())


def test_a_finished_run_leaves_no_thread(tmp_path):
    """Regression: the thread of TensorBoard's writer remained until the process ended."""
    before = threading.active_count()
    assert start_run(config(total_decisions=ROLLOUT), tmp_path / "run").train()
    assert threading.active_count() == before


def test_the_pool_contains_the_newest_earlier_versions(whole):
    """A version is added every 512 decisions, and new games use the newest two.

    A third version may remain until its games are over.
    """
    taken = sorted(path.stem for path in (whole.folder / "pool").iterdir())
    assert taken == [f"{decisions:012d}" for decisions in sorted(whole.pool.snapshots)]
    assert 2 <= len(taken) <= 3
    names = [player.name for player in whole.pool.players]
    assert names == ["random", "greedy", *["earlier"] * len(taken)]
    newest = sorted(whole.pool.snapshots)[-2:]
    shares = [0.25 * (snapshot in newest) for snapshot in whole.pool.snapshots]
    assert whole.pool.weights == pytest.approx([0.1, 0.4, *shares])


def test_measured_strength_stays_in_the_policy(tmp_path):
    run = start_run(config(), tmp_path / "run")
    assert run.train()
    strength = run.evaluate(run.export())
    measured = load_policy(run.export(strength)).metadata["strength"]
    assert measured[0]["games"] == 20
    again = resume_run(tmp_path / "run")
    assert load_policy(again.export()).metadata["strength"] == measured
    del again
    again = resume_run(tmp_path / "run", [f"total_decisions={TOTAL + ROLLOUT}"])
    assert again.train()
    assert load_policy(tmp_path / "run").metadata["strength"] == []


# --- kills ---------------------------------------------------------------------------------------


def test_a_killed_run_can_be_resumed(tmp_path):
    """Kill the run by SIGKILL in the middle. Then `armarl train --resume` finishes it."""
    total = 24 * ROLLOUT
    settings = tiny.settings(total_decisions=total, checkpoint_every_minutes=1e-6)
    settings["evaluation"] = {"games": 2, "workers": 1, "opponents": ["random"]}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    folder = tmp_path / "run"
    train = "import sys; from armarl.cli.__main__ import main; sys.exit(main({}))"
    begun = train.format(["train", str(tmp_path / "small.yaml"), "--run", str(folder)])
    with in_another_process(begun) as process:
        wait_for((folder / checkpoint.FILE).exists, process, 120)
    assert process.returncode == -signal.SIGKILL
    killed_at = resume_run(folder).decisions
    assert 0 <= killed_at < total

    with in_another_process(train.format(["train", "--resume", str(folder)])) as process:
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert "against random: won" in out
    assert load_policy(folder / "policy.safetensors").metadata["training"]["decisions"] >= total

    uninterrupted = start_run(load_config(folder / "config.yaml"), tmp_path / "whole")
    assert uninterrupted.train()
    assert_equal(resume_run(folder), uninterrupted)


def test_a_kill_while_a_checkpoint_is_written_keeps_the_last_one(tmp_path):
    """The previous file is intact, and the run continues from it."""
    run = stopped_run(tmp_path / "run")
    before = (tmp_path / "run" / checkpoint.FILE).read_bytes()
    program = f"""
import os, signal
from pathlib import Path
from armarl_training.run.run import resume_run
run = resume_run(Path({str(tmp_path / "run")!r}))
os.fsync = lambda _file: os.kill(os.getpid(), signal.SIGKILL)
run.train()
"""
    with in_another_process(program) as process:
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "run" / checkpoint.FILE).read_bytes() == before
    again = resume_run(tmp_path / "run")
    assert again.decisions == run.decisions
    assert again.train()


def test_a_kill_after_a_checkpoint_loses_no_row_of_the_table(tmp_path, monkeypatch):
    def killed(_self):
        raise KeyboardInterrupt

    run = start_run(config(checkpoint_every_minutes=1e-9), tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(Run, "export", killed)
        with pytest.raises(KeyboardInterrupt):
            run.train()
    again = resume_run(tmp_path / "run")
    assert again.decisions > 0
    assert [row["decisions"] for row in again.log.rows] == [again.decisions]


def test_a_full_disk_keeps_the_last_checkpoint(tmp_path, monkeypatch):
    stopped_run(tmp_path / "run", total_decisions=2 * ROLLOUT)
    before = (tmp_path / "run" / checkpoint.FILE).read_bytes()

    def full(_file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    resumed = resume_run(tmp_path / "run")
    resumed.pool.take = lambda *_arguments: None  # otherwise the pool would fail first
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*the previous one is intact: free"):
        resumed.train()
    monkeypatch.undo()
    assert (tmp_path / "run" / checkpoint.FILE).read_bytes() == before


# --- refusals ------------------------------------------------------------------------------------


def test_a_closed_run_cannot_overwrite_one_that_was_continued(tmp_path):
    run = stopped_run(tmp_path / "run")
    with resume_run(tmp_path / "run") as other:
        assert other.train()
        done = other.decisions
    with pytest.raises(RunError, match="was continued after this one was closed"):
        run.train()
    with resume_run(tmp_path / "run") as again:  # the folder is not locked
        assert again.decisions == done
        assert again.train()
    assert again.train()  # a closed run accepts the checkpoint that it wrote itself


def test_a_training_without_decisions_ends(tmp_path, monkeypatch):
    """Regression: the training never ended."""
    run = start_run(config(), tmp_path / "run")
    monkeypatch.setattr(run.learner, "iterate", lambda done: {})
    with pytest.raises(RunError, match="no decision to learn from in 100 iterations in a row"):
        run.train()


@pytest.mark.parametrize("name", ["policy.safetensors", "progress.csv", "curve.svg"])
def test_files_of_others_are_not_overwritten(tmp_path, name):
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(RunError, match=f"has a {name}, but no run"):
        start_run(config(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_without_a_run_cannot_be_resumed(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(RunError, match=r"contains no run: it has no config\.yaml"):
            resume_run(folder)


def test_a_new_run_is_refused_in_the_folder_of_a_run(tmp_path, whole):
    before = (whole.folder / "config.yaml").read_bytes()
    with pytest.raises(RunError, match="already contains a run; resume it with --resume"):
        start_run(config(seed=5), whole.folder)
    assert (whole.folder / "config.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"options": {"players": 5}},
        {"options": {"colour": 1}},
        {"game": "armada", "options": {"chart": "nofile.yaml"}},
        {"game": "chess"},
        {"reward": "fame"},
        {"evaluation": {"opponents": ["nobody"]}},
        {"network": {"advisers": ["greedy:style=nobody"]}},
    ],
    ids=str,
)
def test_a_refused_configuration_leaves_no_folder(tmp_path, changes):
    with pytest.raises(ConfigError):
        start_run(config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture
def stopped(tmp_path):
    """Return the folder of a run that was stopped after its first update."""
    return stopped_run(tmp_path / "run").folder


def test_only_one_process_at_a_time_can_resume_a_run(stopped):
    """A lock ends with its process, so a killed process locks nobody out."""
    program = f"""
import time
from armarl_training.run.run import resume_run
run = resume_run({str(stopped)!r})
print("locked", flush=True)
time.sleep(60)
"""
    with in_another_process(program) as process:
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(RunError, match=f"is in use by process {process.pid}"):
            resume_run(stopped)
    assert resume_run(stopped).decisions > 0


def test_a_closed_run_releases_its_folder(stopped):
    with resume_run(stopped) as run:
        with pytest.raises(RunError, match="is in use by process"):
            resume_run(stopped)
        run.close()
        with resume_run(stopped) as other, pytest.raises(RunError, match="is in use by"):
            run.train()
        other.close()  # closing it a second time changes nothing
    with pytest.raises(ZeroDivisionError), resume_run(stopped) as run:
        raise ZeroDivisionError
    with resume_run(stopped) as run:
        assert run.train()
        assert load_policy(run.export()).metadata["training"]["decisions"] >= TOTAL


def test_a_new_run_locks_its_folder(tmp_path):
    with start_run(config(), tmp_path / "run"), pytest.raises(RunError, match="is in use by"):
        resume_run(tmp_path / "run")
    assert resume_run(tmp_path / "run").decisions == 0


def test_half_written_files_are_removed(stopped):
    """Other files are not removed, because they may be the user's."""
    (stopped / "pool").mkdir(exist_ok=True)
    for name in (".checkpoint.safetensors.123", "pool/.000000000512.safetensors.77"):
        (stopped / f"{name}.half-written-by-armarl").write_bytes(b"half")
    (stopped / ".bashrc.bak.2024").touch()
    with pytest.raises(ConfigError):
        resume_run(stopped, ["seed=1"])
    assert len(list(stopped.rglob(".*"))) == 3
    resume_run(stopped)
    assert [path.name for path in stopped.rglob(".*")] == [".bashrc.bak.2024"]


def test_a_finished_run_that_is_resumed_plays_no_anchor_again(tmp_path):
    """A run that is killed between its last checkpoint and its end is resumed in this way."""
    evaluation = {"progress_games": 4, "opponents": ["random"]}
    always = config(evaluation=evaluation, checkpoint_every_minutes=1e-9)
    start_run(always, tmp_path / "run").train()
    table = tmp_path / "run" / "progress.csv"
    whole = table.read_bytes()
    with table.open(encoding="utf-8") as file:
        measured = [row["decisions"] for row in csv.DictReader(file) if row["rating"]]
    assert len(measured) == len(set(measured)) > 3
    assert resume_run(tmp_path / "run").train()
    assert table.read_bytes() == whole


def test_a_resumed_run_may_continue_for_longer(stopped):
    with pytest.raises(ConfigError, match="keeps its seed"):
        resume_run(stopped, ["seed=3"])
    run = resume_run(stopped, [f"total_decisions={TOTAL + ROLLOUT}", "evaluation.games=4"])
    assert load_config(stopped / "config.yaml") == run.config
    assert run.config.evaluation.games == 4
    assert run.train()
    assert run.decisions >= TOTAL + ROLLOUT


def test_a_resumed_run_cannot_end_before_its_current_decisions(tmp_path, stopped):
    before = (stopped / "config.yaml").read_bytes()
    with resume_run(stopped) as run:
        done = run.decisions
    for change, reason in (
        ("total_decisions=1", f"from {done:,} decisions; use total_decisions={done} to end"),
        ("time_limit_minutes=1e-9", f"minutes=1e-09: the run has .*; use total_decisions={done}"),
    ):
        with pytest.raises(ConfigError, match=reason):
            resume_run(stopped, [change])
        assert (stopped / "config.yaml").read_bytes() == before
    with resume_run(stopped, [f"total_decisions={done}"]) as run:
        assert run.train()
        assert run.decisions == done
    resume_run(stopped, [f"total_decisions={done}", "time_limit_minutes=1000"]).close()


def test_a_ray_address_that_does_not_answer_is_not_saved(tmp_path, stopped, monkeypatch):
    """Regression: the address was saved, so every later resume without options failed."""

    def refuse(address):
        raise ClusterError(f"there is no Ray cluster at {address!r}")

    monkeypatch.setattr(config_checks, "reach", refuse)
    before = (stopped / "config.yaml").read_bytes()
    with pytest.raises(ClusterError, match="at 'nowhere:1'"):
        resume_run(stopped, ["ray=nowhere:1", "evaluation.games=4"])
    assert (stopped / "config.yaml").read_bytes() == before
    resume_run(stopped).close()
    with pytest.raises(ClusterError, match="at 'nowhere:1'"):
        start_run(config(ray="nowhere:1"), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_run_keeps_its_initial_precision(tmp_path):
    settings = tiny.settings()
    assert TrainingConfig.model_validate(settings).ppo.precision == "auto"
    run = start_run(TrainingConfig.model_validate(settings), tmp_path / "run")
    kept = load_config(tmp_path / "run" / "config.yaml")
    assert kept.ppo.precision == run.config.ppo.precision != "auto"


# --- starting from a saved policy ----------------------------------------------------------------


def test_a_run_can_start_from_a_saved_policy(tmp_path, whole):
    path = whole.export()
    settings = whole.config.model_copy(update={"start_from": str(path)})
    follower = start_run(settings, tmp_path / "follower")
    begun = follower.learner.policy(average=False).tensors
    for name, tensor in load_policy(path).tensors.items():
        assert np.array_equal(begun[name], tensor)
    del follower  # as if the run were killed before its first checkpoint
    again = resume_run(tmp_path / "follower").learner.policy(average=True).tensors
    assert all(np.array_equal(again[name], tensor) for name, tensor in begun.items())


def test_a_run_keeps_a_copy_of_the_policy_it_starts_from(tmp_path):
    """Regression: until the first checkpoint, the policy was read again from its path."""
    first, second = (stopped_run(tmp_path / name, seed=seed) for seed, name in ((1, "a"), (2, "b")))
    path = first.export()
    start_run(config(start_from=str(path)), tmp_path / "run").close()
    path.unlink()
    with resume_run(tmp_path / "run") as run:
        begun = run.learner.policy(average=False).tensors
    path.write_bytes(second.export().read_bytes())
    with resume_run(tmp_path / "run") as run:
        again = run.learner.policy(average=False).tensors
    assert all(np.array_equal(begun[name], again[name]) for name in begun)


def another(whole, **changes):
    """Return the configuration of a run similar to `whole`, with changes."""
    kept = whole.config
    network = {"widths": [16], "advisers": kept.network.advisers} | changes.pop("network", {})
    return config(**{"learner": kept.learner, "game": kept.game, "network": network}, **changes)


def test_a_run_can_start_from_a_policy_of_another_number_of_players(tmp_path, whole):
    path = whole.export()
    settings = another(whole, start_from=str(path), options={"players": 3})
    if whole.config.learner == "td":
        with pytest.raises(ConfigError, match="start_from: only a policy of plain layers"):
            start_run(settings, tmp_path / "follower")
        return
    follower = start_run(settings, tmp_path / "follower")
    begun, before = follower.learner.policy(average=False).tensors, load_policy(path).tensors
    for name, tensor in before.items():  # layers of the same shape are equal to the byte
        assert begun[name].shape != tensor.shape or np.array_equal(begun[name], tensor)


def test_a_policy_of_another_kind_is_refused_with_its_kind(tmp_path):
    for learner, policy, reason in (
        ("ppo", "armadora-2p", "a judge of positions .*, but learner: ppo needs a network"),
        ("td", tiny.policy(tmp_path, make_game("armadora")), "needs a judge of positions"),
        ("ppo", tiny.policy(tmp_path, make_game("armadora")), "activation is tanh"),
    ):
        settings = config(learner=learner, start_from=str(policy), network={"widths": [16]})
        with pytest.raises(ConfigError, match=f"start_from: .*{reason}"):
            start_run(settings, tmp_path / "none")
        assert not (tmp_path / "none").exists()


def test_a_policy_that_does_not_fit_is_refused_before_the_run_starts(tmp_path, whole):
    path = whole.export()
    for changes, reason in (
        ({"network": {"widths": [8]}}, "different widths"),
        ({"start_from": "nowhere.safetensors"}, "there is no file"),
    ):
        settings = another(whole, **{"start_from": str(path), **changes})
        with pytest.raises(ConfigError, match=f"start_from: .*{reason}"):
            start_run(settings, tmp_path / "none")
        assert not (tmp_path / "none").exists()
