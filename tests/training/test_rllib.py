"""RLlib's PPO learns in our environments for a few iterations, locally and in a Ray worker."""

import os

import pytest
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from armarl_training import rllib
from paths import ROOT

DECISIONS = 128  # per iteration


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Start a Ray cluster with two cores of this machine, whose workers can import our sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "envs", ROOT / "training"))))
        patch.setenv("RAY_worker_niceness", "0")  # otherwise other processes slow the workers down
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def trained(config, runners, iterations=2):
    """Return the results of some iterations, and the number of illegal actions in its runners."""
    algorithm = (
        config.env_runners(num_env_runners=runners, num_envs_per_env_runner=4)
        .learners(num_learners=0)
        .training(train_batch_size=DECISIONS, minibatch_size=64, num_epochs=1, gamma=1.0)
        .debugging(seed=0, log_level="ERROR")
        .build_algo()
    )
    before, probed = weights(algorithm), illegal_actions(algorithm)
    results = [algorithm.train() for _ in range(iterations)]
    assert any((before[name] != after).any() for name, after in weights(algorithm).items())
    illegal = illegal_actions(algorithm) - probed
    algorithm.stop()
    return results, illegal


def weights(algorithm):
    """Return all weights of the learner, by name."""
    kept = algorithm.learner_group.get_weights()
    return {
        f"{policy}/{name}": torch.as_tensor(array).clone()
        for policy, arrays in kept.items()
        for name, array in arrays.items()
    }


def illegal_actions(algorithm):
    """Count the games that an illegal action ended.

    RLlib's own check of an environment ignores masks, so it also plays illegal actions.
    """

    def of(runner):
        if runner.env is None:  # this is the local runner, and workers run the environments
            return 0
        inside = getattr(runner.env, "envs", None)
        games = [one.unwrapped.env for one in inside] if inside else [runner.env.unwrapped]
        return sum(one.endings.illegal for one in games)

    return sum(algorithm.env_runner_group.foreach_env_runner(of))


def test_one_seat_can_learn_against_the_greedy_player():
    """A beginner loses to greedy. Without rewards from other seats' turns, returns would be 0."""
    config = rllib.one_seat(PPOConfig(), "armadora", opponents="greedy")
    results, illegal = trained(config, runners=0)
    assert illegal == 0
    played = results[-1]["env_runners"]
    assert results[-1]["num_env_steps_sampled_lifetime"] >= 2 * DECISIONS
    assert played["num_episodes"] > 0
    assert played["episode_len_mean"] > 10
    assert played["episode_return_mean"] < -0.5


def test_self_play_learns_in_a_worker():
    """The returns of every game add up to 0, so the loser also gets its return at the end."""
    config = rllib.self_play(PPOConfig(), "armadora", board="mini")
    results, illegal = trained(config, runners=1)
    assert illegal == 0
    returns = [result["env_runners"]["agent_episode_returns_mean"] for result in results]
    assert any(each["player_0"] for each in returns)
    assert all(each["player_0"] + each["player_1"] == pytest.approx(0) for each in returns)
    assert set(results[-1]["learners"]) >= {rllib.LEARNER}


@pytest.mark.parametrize("make", [rllib.one_seat, rllib.self_play])
def test_an_unknown_option_is_refused(make):
    with pytest.raises(TypeError, match="colour"):
        make(PPOConfig(), "armadora", colour="red")
