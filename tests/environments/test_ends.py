"""Ends by the rules are terminations in every environment. Limits of the user are truncations."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from armarl import armada_v0, armadora_v0
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl_training.vec_env import make_vec_env

SHORT: dict[str, Any] = {"players": 2, "max_turns": 3}


def flags_of_single(**options: Any) -> tuple[float, bool, bool]:
    env = gymnasium.make("armarl/Armada-v0", **options)
    _, info = env.reset(seed=0)
    over = [False, False]
    while not any(over):
        _, reward, *over, info = env.step(int(info["action_mask"].argmax()))
    return float(reward), *over


def flags_of_batch(mode: str, **options: Any) -> tuple[float, bool, bool]:
    env = gymnasium.make_vec("armarl/Armada-v0", 1, autoreset_mode=mode, **options)
    _, info = env.reset(seed=0)
    over = [np.zeros(1, bool)] * 2
    while not (over[0] | over[1]).any():
        _, rewards, *over, info = env.step(info["action_mask"].argmax(axis=1))
    return float(rewards[0]), bool(over[0][0]), bool(over[1][0])


def flags_of_sb3(**options: Any) -> tuple[float, bool, bool]:
    env = make_vec_env("armada", 1, seed=0, **options)
    env.reset()
    dones = np.zeros(1, bool)
    while not dones.any():
        _, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
    cut = infos[0]["TimeLimit.truncated"]
    return float(rewards[0]), not cut, cut


def flags_of_aec(make: Any, max_episode_steps: int | None = None, **options: Any) -> Any:
    env = make(max_cycles=max_episode_steps, **options)
    env.reset(seed=0)
    while not any((*env.terminations.values(), *env.truncations.values())):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    (flags,) = {*zip(env.terminations.values(), env.truncations.values(), strict=True)}
    assert len({*env.rewards.values()}) == 1
    return env.rewards["player_0"], *flags


FACES = {
    "single": flags_of_single,
    **{
        mode: lambda mode=mode, **options: flags_of_batch(mode, **options)
        for mode in ("NEXT_STEP", "SAME_STEP", "DISABLED")
    },
    "sb3": flags_of_sb3,
    "env": lambda **options: flags_of_aec(armada_v0.env, **options),
    "raw_env": lambda **options: flags_of_aec(armada_v0.raw_env, **options),
}


@pytest.mark.parametrize("face", FACES)
def test_max_turns_terminates_with_a_return_of_0(face: str) -> None:
    """Regression: SB3's `VecEnv` reported a truncation, so MaskablePPO added its critic's value."""
    assert FACES[face](**SHORT) == (0.0, True, False)


@pytest.mark.parametrize("face", FACES)
def test_a_limit_of_the_user_truncates(face: str) -> None:
    assert FACES[face](**SHORT, max_episode_steps=4) == (0.0, False, True)


def test_max_turns_terminates_self_play() -> None:
    batch = SelfPlayBatch("armada", 2, **SHORT)
    turn = batch.reset(seed=0)
    while not turn.terminated.any():
        turn = batch.step(turn.masks.argmax(axis=1))
    assert not turn.truncated.any()
    assert not turn.rewards.any()


@pytest.mark.parametrize(("more", "highest"), [({}, 0.0), ({"max_episode_steps": 4}, 5.0)])
def test_maskable_ppo_adds_its_critic_s_value_only_to_truncations(
    more: dict[str, int], highest: float
) -> None:
    env = make_vec_env("armada", 2, seed=0, **SHORT, **more)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, gamma=1.0, device="cpu")
    with torch.no_grad():
        model.policy.value_net.weight[:], model.policy.value_net.bias[:] = 0, 5
    model.learn(128)
    assert model.rollout_buffer.episode_starts.sum() > 2
    assert model.rollout_buffer.rewards.max() == highest


def test_max_cycles_counts_the_actions_of_all_agents() -> None:
    env = armadora_v0.env(players=3, max_cycles=7)
    for seed in range(2):
        env.reset(seed=seed)
        for _ in range(7):
            assert not any(env.truncations.values())
            assert env.agents == env.possible_agents
            env.step(int(env.last()[0]["action_mask"].argmax()))
        assert all(env.truncations.values())
        assert not any(env.terminations.values())
        for agent in env.agent_iter():
            assert env.last()[1:] == (0.0, False, True, {}), agent
            env.step(None)
        assert env.agents == []
    assert (env.endings.episodes, env.endings.illegal) == (2, 0)
    with pytest.raises(ValueError, match="max_cycles must be from 1 to"):
        armadora_v0.env(max_cycles=0)
