"""Users' rewards are checked, and each learner that supports them can learn them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl.games.make_game import make_game
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learning.imitation import play_imitation_games
from armarl_training.learning.rewards import Reward, RewardError
from armarl_training.run.run import resume_run, start_run
from small_runs import config

HERE = "test_rewards"
FOUR = make_game("armadora", players=4)


@pytest.fixture(autouse=True)
def _found_by_name(monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def half(game: Any, states: Any) -> Any:
    """Return half of the reward of a victory."""
    return game.returns(states, np.arange(states.size)) / 2


def larger(game: Any, states: Any) -> Any:
    return game.returns(states, np.arange(states.size)) * 2


def generous(game: Any, states: Any) -> Any:
    return np.full((states.size, game.players), 0.25)


def own(game: Any, states: Any) -> Any:
    """Return rewards that differ between partners."""
    return np.tile([0.5, -0.5, -0.5, 0.5], (states.size, 1))


def short(game: Any, states: Any) -> Any:
    return np.zeros(states.size)


def empty(game: Any, states: Any) -> Any:
    return np.full((states.size, game.players), np.nan)


def broken(game: Any, states: Any) -> Any:
    return states["no such field"]


def leaves(game: Any, states: Any) -> Any:
    raise SystemExit(0)


thing = 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("larger", r"must be finite and in \[-1, 1\], not "),
        ("generous", r"must add up to 0 over the sides; it gave \[0.25, 0.25, 0.25, 0.25\]"),
        ("own", r"must be the same for partners, whose sides are \[0, 1, 0, 1\]"),
        ("short", r"must return shape \(games, players\), \(64, 4\), not \(64,\)"),
        ("empty", r"must be finite and in \[-1, 1\], not nan"),
        ("broken", "failed: "),
        ("leaves", r"failed: RuntimeError: .*exit\(0\)"),
        ("missing", "cannot be imported: "),
        ("thing", "is not a function"),
    ],
)
def test_a_function_that_is_not_a_reward_leaves_no_folder(
    tmp_path: Path, name: str, said: str
) -> None:
    settings = config(options={"players": 4}, reward=f"{HERE}:{name}")
    with pytest.raises(ConfigError, match=said):
        start_run(settings, tmp_path / "run", code=True)
    assert not (tmp_path / "run").exists()


def test_a_user_s_reward_is_imported_only_with_permission(tmp_path: Path) -> None:
    settings = config(reward=f"{HERE}:half")
    with pytest.raises(ConfigError, match="to import user code, train with --code"):
        start_run(settings, tmp_path / "run")
    start_run(settings, tmp_path / "run", code=True).close()
    with pytest.raises(ConfigError, match="to import user code, train with --code"):
        resume_run(tmp_path / "run")
    resume_run(tmp_path / "run", code=True).close()


@pytest.mark.parametrize("learner", ["ppo", "td", "maskable_ppo"])
def test_every_learner_learns_a_user_s_reward(tmp_path: Path, learner: str) -> None:
    """With half the reward, the learner's return in each game is half of its return for `win`."""
    recent = {}
    for reward in ("win", f"{HERE}:half"):
        opponents = {"share": 1.0, "earlier": 0, "players": {"random": 1}}
        settings = config(learner=learner, reward=reward, opponents=opponents)
        with start_run(settings, tmp_path / reward.replace(":", "-"), code=True) as run:
            data = play_imitation_games(run.game, _greedy(run.game), 3, 0, reward, _rng())
            recent[reward] = data.returns
            while not run.learner.recent():  # until the first game against an opponent has ended
                run.learner.iterate(0.0)
            assert abs(run.learner.recent()["random"]) <= (1 if reward == "win" else 0.5)
    assert np.array_equal(recent[f"{HERE}:half"] * 2, recent["win"])


def _greedy(game: Any) -> Any:
    from armarl import make_player

    return make_player("greedy", game)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_rollout_of_ppo_contains_a_user_s_reward() -> None:
    from armarl_training.learners.ppo.rollout.rollout import SelfPlay

    game = make_game("armadora", board="mini")
    pool = start_pool(game)
    found = {}
    for reward in ("win", f"{HERE}:half"):
        play = SelfPlay(game, pool, games=8, steps=40, reward=reward, seed=[1])

        def act(quantities: Any, advice: Any, secrets: Any, masks: Any, movers: Any) -> Any:
            zeros = np.zeros((len(movers), len(game.actions)), np.float32)
            return zeros, np.zeros((len(movers), game.players), np.float32)

        def critic(quantities: Any, secrets: Any) -> Any:
            return np.zeros((len(quantities), game.players), np.float32)

        found[reward] = play.play(act, critic).rewards.copy()
    assert np.abs(found["win"]).max() == 1
    assert np.array_equal(found[f"{HERE}:half"] * 2, found["win"])


def start_pool(game: Any) -> Any:
    from armarl_training.learning.opponent_pool import OpponentPool

    return OpponentPool(game, config(opponents={"share": 0}).opponents, Path())


@pytest.mark.parametrize(
    "changes", [{"device": "cuda"}, {"ppo": {"looks": 1}, "opponents": {"share": 0}}]
)
def test_settings_that_need_a_compiled_reward_are_refused(changes: dict[str, Any]) -> None:
    base = {"total_decisions": 1000, "reward": f"{HERE}:half"}
    with pytest.raises(ValueError, match=r"needs device: cpu and ppo\.looks: 0"):
        TrainingConfig.model_validate(base | changes)


def test_a_reward_of_the_game_is_used_directly() -> None:
    reward = Reward(FOUR, "gold")
    assert (reward.compiled, reward.is_own) == ("gold", False)
    states = FOUR.new_states(np.arange(5))
    FOUR.playouts(states, np.arange(5))
    assert np.array_equal(reward.returns(states), FOUR.returns(states, np.arange(5), "gold"))
    with pytest.raises(RewardError, match="cannot be imported"):
        Reward(FOUR, "no_module:half")
