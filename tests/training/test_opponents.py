"""Opponents do not change during training, and errors name the opponent that fails."""

import signal

import pytest

import tiny
from armarl.games.make_game import make_game
from armarl_training.config.training_config import ConfigError
from armarl_training.run.run import RunError, resume_run, start_run
from small_runs import TOTAL, assert_equal, config, signals


@pytest.mark.parametrize("learner", ["ppo", "td", "maskable_ppo"])
def test_an_opponent_is_not_replaced_during_a_game(tmp_path, learner):
    opponents = {"share": 1.0, "earlier": 1.0, "snapshot_every": 64, "pool_size": 1}
    settings = config(learner=learner, opponents=opponents, total_decisions=2 * TOTAL)
    run = start_run(settings, tmp_path / "run")
    take, taken = run.pool.take, []

    def watched(policy, decisions):
        sitting = {slot: run.pool.players[slot] for slot in run.learner.in_play() if slot >= 0}
        take(policy, decisions)
        assert all(run.pool.players[slot] is player for slot, player in sitting.items())
        taken.append(len(sitting))

    run.pool.take = watched
    assert run.train()
    assert len(taken) > 3
    assert any(taken)
    assert len(run.pool.snapshots) == 2


def test_an_opponent_given_by_path_keeps_its_weights(tmp_path):
    game = make_game("armadora")
    path = tiny.policy(tmp_path, game, seed=1, name="rival.safetensors")
    named = {"players": {str(path): 1.0}}
    measured = {"opponents": [f"{path}:noise=0.1"], "progress_games": 4}
    settings = config(opponents=named, evaluation=measured)
    whole = start_run(settings, tmp_path / "whole")
    assert whole.train()
    stopped = start_run(settings, tmp_path / "run")
    assert not stopped.train(signals(signal.SIGINT, after=1))
    tiny.policy(tmp_path, game, seed=2, name="rival.safetensors")  # somebody overwrites the file
    again = resume_run(tmp_path / "run")
    assert again.train()
    assert_equal(again, whole)
    path.unlink()
    again = resume_run(tmp_path / "run")
    assert again.pool.players[0].name == "rival"
    (match,) = again.evaluate(again.export())
    assert match["standings"][1]["player"] == "rival:noise=0.1"


def test_two_policies_named_best_are_told_apart_by_their_runs(tmp_path):
    game = make_game("armadora")
    paths = [tiny.policy(tmp_path / run, game, name="best.safetensors") for run in ("one", "two")]
    settings = config(opponents={"players": dict.fromkeys(map(str, paths), 1.0)})
    run = start_run(settings, tmp_path / "run")
    assert run.train()
    for path in paths:
        path.unlink()
    again = resume_run(tmp_path / "run")
    assert [player.name for player in again.pool.players[:2]] == ["one/best", "two/best"]


def test_policies_are_not_copied_through_links(tmp_path):
    path = tiny.policy(tmp_path, make_game("armadora"), name="rival.safetensors")
    elsewhere, run = tmp_path / "elsewhere", tmp_path / "run"
    for folder in (elsewhere, run / "pool"):
        folder.mkdir(parents=True)
    (run / "pool" / "named").symlink_to(elsewhere)
    with pytest.raises(RunError, match="named is a link"):
        start_run(config(opponents={"players": {str(path): 1.0}}), run)
    assert list(elsewhere.iterdir()) == []


def test_two_players_with_the_same_name_are_refused(tmp_path):
    game = make_game("armadora")
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        tiny.policy(tmp_path / folder, game, name="mine.safetensors")
    both = {str(tmp_path / folder / "mine.safetensors"): 1.0 for folder in ("one", "other")}
    with pytest.raises(ConfigError, match=r"two players have the name mine; .* rename one"):
        start_run(config(opponents={"players": both}), tmp_path / "run")
    alone = {str(tiny.policy(tmp_path, game, name="earlier.safetensors")): 1.0}
    with pytest.raises(ConfigError, match="earlier versions of the policy are named earlier"):
        start_run(config(opponents={"players": alone}), tmp_path / "run")


@pytest.mark.parametrize("answers", [0, 30])
def test_an_error_names_the_player_that_failed_and_how_to_continue(tmp_path, answers):
    named = {"players": {"tiny:Faulty": 1.0}, "share": 1.0, "earlier": 0.0}
    settings = config(opponents=named, checkpoint_every_minutes=1e-6)
    run = start_run(settings, tmp_path / "run", code=True)
    run.pool.players[0].answers = answers
    with pytest.raises(KeyError, match="nowhere") as raised:
        run.train()
    told = "\n".join(raised.value.__notes__)
    assert "the player 'tiny:Faulty'" in told
    assert ("checkpoint.safetensors is intact" if answers else "no checkpoint yet") in told
    assert "--resume" in told
