"""Tianshou's DQN in one seat, or in both seats of the AEC environment.

Tianshou's policies expect `{"obs": ..., "mask": ...}`, and its multi-agent code uses PettingZoo's
own names. In one seat, DQN learns from six-step returns with a target network. In both seats, the
successor of a transition is often the *other* agent's observation, so bootstrapping from it would
learn the opponent's value. Returns over the rest of the game need no bootstrapping. They include
the reward no matter which agent ended the game. (Their horizon is longer than any game, and nothing
is discounted.)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from armarl import armadora_v0
from armarl_training.examples.measured import Learning, main

ENVS = 16
KEPT, REPLAYS = 50_000, 4  # decisions in the buffer; number of times that each is used
AHEAD, TARGET_EVERY = 6, 500  # steps per return; updates between two copies to the target network
TO_THE_END = 200  # number of actions that no two-player game of Armadora exceeds


def one_seat(decisions: int, seed: int) -> Learning:
    """Train on single environments, with the random player in the other seat."""
    torch.manual_seed(seed)
    names = {"mask": "observation", "observation_key": "obs", "mask_key": "mask"}
    envs = [gymnasium.make("armarl/Armadora-v0", **names).unwrapped for _ in range(ENVS)]
    space, actions = envs[0].observation_space["obs"], envs[0].action_space
    algorithm = _dqn(space, actions, AHEAD, target_every=TARGET_EVERY)
    return _learning(algorithm, algorithm.policy, envs, envs, decisions, seed)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train on the AEC environment, with one network for both agents."""
    torch.manual_seed(seed)
    envs = [PettingZooEnv(armadora_v0.env()) for _ in range(ENVS)]
    space = envs[0].observation_space["observation"]
    shared = _dqn(space, envs[0].action_space, TO_THE_END)
    both = MultiAgentOffPolicyAlgorithm(algorithms=[shared, shared], env=envs[0])
    ours = [env.env for env in envs]
    return _learning(both, shared.policy, envs, ours, decisions, seed)


def _dqn(space: Any, actions: Any, horizon: int, *, target_every: int = 0) -> DQN:
    """Build a DQN with returns over `horizon` transitions: a double DQN if `target_every` > 0."""
    network = Net(state_shape=space.shape, action_shape=actions.n, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(
        model=network, action_space=actions, observation_space=space, eps_training=0.1
    )
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=5e-4),
        gamma=1.0,
        n_step_return_horizon=horizon,
        target_update_freq=target_every,
        is_double=target_every > 0,
    )


def _learning(
    algorithm: Any, policy: Any, envs: list[Any], ours: list[Any], decisions: int, seed: int
) -> Learning:
    """Build the trainer. `ours` are ArmaRL's environments; in `envs` they may have a wrapper."""
    np.random.seed(seed)
    vector = DummyVectorEnv([lambda env=env: env for env in envs])
    vector.seed(seed)
    buffer = VectorReplayBuffer(KEPT, ENVS)
    collector = Collector(algorithm, vector, buffer, exploration_noise=True)

    def train() -> tuple[int, int]:
        taken = algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                max_epochs=1,
                epoch_num_steps=decisions,
                collection_step_num_env_steps=256,
                update_step_num_gradient_steps_per_sample=REPLAYS / 256,
                batch_size=256,
                test_collector=None,
                verbose=False,
                show_progress=False,
            )
        )
        del taken
        return collector.collect_step, sum(env.endings.illegal for env in ours)

    def choose(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            batch = Batch(obs=Batch(obs=observations, mask=masks == 1), info=Batch())
            return policy(batch).act

    return Learning(choose, train)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("tianshou", {"one-seat": one_seat, "all-seats": all_seats})
