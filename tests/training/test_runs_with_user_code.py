"""Training runs with users' own opponents and learners."""

import signal
from pathlib import Path

import numpy as np
import pytest

from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text
from armarl.core.errors import IllegalActionError
from armarl.policies.saved_policy import load_policy
from armarl_training.config.training_config import ConfigError
from armarl_training.learners.ppo.ppo_learner import PPO
from armarl_training.run.run import resume_run, start_run
from small_runs import (
    ROLLOUT,
    assert_equal,
    config,
    signals,
)


@pytest.fixture(autouse=True)
def _found_by_name(monkeypatch):
    """Make this file a module that `module:Class` can name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


class Illegal:
    """A player whose actions do not exist."""

    def __init__(self, game):
        self.game, self.name = game, "illegal"

    def choose(self, states, seats, draws):
        return np.full(states.size, 10**6)


@pytest.mark.parametrize("learner", ["ppo", "td", "critic"])
def test_an_opponent_with_illegal_actions_is_named(tmp_path, learner):
    opponents = {"share": 1.0, "earlier": 0, "players": {"test_runs_with_user_code:Illegal": 1}}
    settings = config(learner=learner, opponents=opponents)
    with pytest.raises(ConfigError, match="train with --code"):
        start_run(settings, tmp_path / "run")
    run = start_run(settings, tmp_path / "run", code=True)
    with pytest.raises(IllegalActionError, match="the player 'test_runs_with_user_code:Illegal'"):
        run.train()


@pytest.mark.parametrize(
    ("returned", "refused", "said"),
    [
        ({"loss": 1.0, "minutes": 1.0}, ValueError, "returned 'minutes', but the run has that"),
        ({"wins/random": 1.0}, ValueError, "returned 'wins/random', but the run has that"),
        (None, TypeError, "must return statistics by name, got None"),
        ({1: 2.0}, TypeError, "must return statistics by name, got {1: 2.0}"),
    ],
    ids=str,
)
def test_wrong_statistics_of_a_user_s_learner_are_refused(
    tmp_path, monkeypatch, returned, refused, said
):
    """Regression: a statistic with the name of one of the run's columns overwrote the column."""
    run = start_run(config(), tmp_path / "run")
    monkeypatch.setattr(run.learner, "iterate", lambda done: returned)
    with pytest.raises(refused, match=said):
        run.train()
    assert not run.log.rows


class Mine(PPO):
    """A user's learner."""

    def iterate(self, done):
        return {**super().iterate(done), "mine": done}


def test_a_user_s_learner_can_train(tmp_path):
    """The learner can read any setting. A run that is stopped and resumed has the same result."""
    td = {"temperature": 0.5}
    settings = config(learner="test_runs_with_user_code:Mine", td=td, total_decisions=3 * ROLLOUT)
    with pytest.raises(
        ConfigError, match=r"learner: test_runs_with_user_code:Mine: .* train with --code"
    ):
        start_run(settings, tmp_path / "whole")
    assert not (tmp_path / "whole").exists()
    whole = start_run(settings, tmp_path / "whole", code=True)
    assert whole.train()
    assert whole.log.rows[-1]["mine"] > 0
    assert load_policy(whole.export()).metadata["training"]["config"]["td"]["temperature"] == 0.5
    assert card_text(read_card(tmp_path / "whole"))
    stopped = start_run(settings, tmp_path / "run", code=True)
    assert not stopped.train(signals(signal.SIGINT, after=0))
    with pytest.raises(ConfigError, match="train with --code"):
        resume_run(tmp_path / "run")
    again = resume_run(tmp_path / "run", code=True)
    assert again.train()
    assert_equal(again, whole)
    follower = settings.model_copy(update={"start_from": str(whole.export())})
    start_run(follower, tmp_path / "follower", code=True).close()


class Idle:
    """A learner that lacks most methods of a learner."""

    decisions = 0

    def __init__(self, config, game, pool):
        pass

    def iterate(self, done):
        return {}


def test_a_learner_that_lacks_methods_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="type Idle, which lacks imitate, recent, in_play"):
        start_run(config(learner="test_runs_with_user_code:Idle"), tmp_path / "run", code=True)
    assert not (tmp_path / "run").exists()


class Bare:
    """A learner whose constructor takes no arguments."""


def bare(game):
    raise AssertionError("it must not be called")


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("Bare", r"def __init__\(self, config, game, pool\)$"),
        ("bare", r"def bare\(config, game, pool\)$"),
    ],
)
def test_a_learner_that_does_not_take_its_arguments_is_refused(tmp_path, name, right):
    """Regression: Python's own error was shown, such as "Bare() takes no arguments"."""
    settings = config(learner=f"test_runs_with_user_code:{name}")
    called = rf"learner: test_runs_with_user_code:{name} is called with the configuration, the game"
    with pytest.raises(ConfigError, match=f"{called} and the pool; write {right}"):
        start_run(settings, tmp_path / "run", code=True)
    assert not (tmp_path / "run").exists()


def test_a_learner_must_be_a_class_or_function(tmp_path):
    settings = config(learner="test_runs_with_user_code:__name__")
    with pytest.raises(ConfigError, match=r"__name__ is not a class or function$"):
        start_run(settings, tmp_path / "run", code=True)


class Failing:
    """A learner with an error in its constructor."""

    def __init__(self, config, game, pool):
        raise TypeError("mine")


class Exiting:
    """A learner whose constructor ends the program."""

    def __init__(self, config, game, pool):
        raise SystemExit(0)


def test_an_error_in_the_constructor_of_a_learner_names_its_line(tmp_path):
    """Regression: the error did not say that it came from the user's code."""
    settings = config(learner="test_runs_with_user_code:Failing")
    note = r"\(while making the learner test_runs_with_user_code:Failing; .*, in Failing.__init__\)"
    with pytest.raises(TypeError, match=rf"^mine\n{note}$"):
        start_run(settings, tmp_path / "run", code=True)
    settings = config(learner="test_runs_with_user_code:Exiting")
    with pytest.raises(RuntimeError, match="user_code:Exiting tried to end the program: exit"):
        start_run(settings, tmp_path / "run", code=True)


def test_a_configuration_given_as_text_is_refused(tmp_path):
    with pytest.raises(TypeError, match="as load_config returns it, got 'armadora-quick'"):
        start_run("armadora-quick", tmp_path / "run")


@pytest.mark.parametrize("name", ["test_runs_with_user_code:Nobody", "no_such_module:Mine"])
def test_a_missing_learner_is_reported(tmp_path, name):
    with pytest.raises(ConfigError, match=f"learner: {name}: .*no"):
        start_run(config(learner=name), tmp_path / "run", code=True)
    assert not (tmp_path / "run").exists()


def test_a_person_cannot_be_an_opponent_in_training(tmp_path):
    for changes in (
        {"opponents": {"players": {"human": 1}}},
        {"evaluation": {"opponents": ["human"]}},
        {"imitation": {"teacher": "human", "games": 8}},
    ):
        with pytest.raises(ConfigError, match="a person cannot be asked in training"):
            start_run(config(**changes), tmp_path / "run")
