"""AgileRL: PPO in one seat by its own rollouts, and DQN in all seats of the AEC environment.

Its rollouts read `info["action_mask"]` of vector environments. Its multi-agent algorithms take
parallel environments alone, so all seats need a loop of one's own, as in its tutorials: each
decision learns from the return of its own seat, whoever ended the game. (Its DQN bootstraps from
the best next action without a mask, legal or not: returns need no bootstrapping.)

Its PPO learns from returns, too, less what the critic expected (`use_gae=False`): its GAE cuts a
game off before the last decision, which alone gets the reward (version 2.58.0).
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import DQN, PPO
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.rollouts.on_policy import collect_rollouts

from armarl import armadora_v0
from armarl_training.examples.measured import Learning, main

ENVS, STEPS = 64, 16
KEPT, REPLAYS, BATCH = 50_000, 4, 256  # in all seats: how often a decision is learnt from
NETWORK = {"encoder_config": {"hidden_size": [128, 128]}, "latent_dim": 64}


def one_seat(decisions: int, seed: int) -> Learning:
    """PPO on the vector environment, the random player in the other seat."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec("armarl/Armadora-v0", ENVS, autoreset_mode="SAME_STEP")
    agent = PPO(
        envs.single_observation_space,
        envs.single_action_space,
        net_config=NETWORK,
        num_envs=ENVS,
        learn_step=ENVS * STEPS,
        batch_size=256,
        lr=1e-3,
        gamma=1.0,
        rollout_buffer_config={"use_gae": False},
        wrap=False,
    )

    def train() -> tuple[int, int]:
        taken, last = 0, (None,) * 4
        while taken < decisions:
            _, *last = collect_rollouts(
                agent,
                envs,
                STEPS,
                last_obs=last[0],
                last_done=last[1],
                last_scores=last[2],
                last_info=last[3],
            )
            agent.learn()
            taken += ENVS * STEPS
        return taken, envs.unwrapped.endings.illegal

    def choose(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            agent.actor(agent.preprocess_observation(observations), action_mask=masks)
        return agent.actor.head_net.dist.logits.argmax(dim=1).numpy()

    return Learning(choose, train)


def all_seats(decisions: int, seed: int) -> Learning:
    """DQN on the AEC environment: one network decides for every agent."""
    torch.manual_seed(seed)
    env = armadora_v0.env()
    space = env.observation_space("player_0")["observation"]
    agent = DQN(
        space, env.action_space("player_0"), net_config=NETWORK, lr=5e-4, double=False, wrap=False
    )
    buffer = ReplayBuffer(KEPT)

    def train() -> tuple[int, int]:
        taken, due = 0, 0
        while taken < decisions:
            env.reset(seed=seed + taken)
            played: list[tuple[str, Any, int]] = []
            for name in env.agent_iter():
                seen, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    break
                mask = seen["action_mask"][None]
                action = int(agent.get_action(seen["observation"][None], 0.1, action_mask=mask)[0])
                played.append((name, seen["observation"], action))
                env.step(action)
            _add(buffer, played, env.rewards)
            taken += len(played)
            due += len(played) * REPLAYS
            while due >= BATCH and len(buffer) >= BATCH:
                agent.learn(buffer.sample(BATCH))
                due -= BATCH
        return taken, env.endings.illegal

    def choose(observations: Any, masks: Any) -> Any:
        return agent.get_action(observations, 0.0, action_mask=masks)

    return Learning(choose, train)


def _add(buffer: Any, played: list[tuple[str, Any, int]], returns: dict[str, float]) -> None:
    """Keep the decisions of a game, each with its seat's return as the last reward there is."""
    observations = np.stack([observation for _, observation, _ in played])
    gained = np.array([[returns[name]] for name, _, _ in played], np.float32)
    step = Transition(
        obs=torch.from_numpy(observations),
        action=np.array([[action] for *_, action in played]),
        reward=gained,
        next_obs=torch.from_numpy(observations),
        done=np.ones_like(gained),
        batch_size=[len(played)],
    )
    buffer.add(step.to_tensordict())


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("agilerl", {"one-seat": one_seat, "all-seats": all_seats})
