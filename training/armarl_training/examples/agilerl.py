"""AgileRL's PPO in one seat, with AgileRL's rollouts, or in all seats of the AEC environment.

AgileRL's rollouts read `info["action_mask"]` of vector environments. AgileRL's multi-agent
algorithms accept only parallel environments, so training in all seats needs a custom loop, as in
its tutorials. The target of each decision is the return of its own seat, no matter which seat ended
the game.

In both modes the advantage is the return minus the critic's value (`use_gae=False` in one seat).
AgileRL's GAE (version 2.58.0) cuts off a game before its last decision, the only one with a reward.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from tensordict import TensorDict

from armarl import armadora_v0
from armarl_training.examples.measured import Learning, main

ENVS, STEPS = 64, 16
SETTINGS: dict[str, Any] = {
    "net_config": {"encoder_config": {"hidden_size": [128, 128]}, "latent_dim": 64},
    "num_envs": ENVS,
    "learn_step": ENVS * STEPS,
    "batch_size": 256,
    "lr": 1e-3,
    "gamma": 1.0,  # undiscounted, because all games end
    "rollout_buffer_config": {"use_gae": False},
    "wrap": False,
}


def one_seat(decisions: int, seed: int) -> Learning:
    """Train on the vector environment, with the random player in the other seat."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec("armarl/Armadora-v0", ENVS, autoreset_mode="SAME_STEP")
    agent = PPO(envs.single_observation_space, envs.single_action_space, **SETTINGS)

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

    return Learning(_chooser(agent), train)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train on whole games of the AEC environment. One network decides for every agent."""
    torch.manual_seed(seed)
    env = armadora_v0.env()
    space = env.observation_space("player_0")["observation"]
    agent = PPO(space, env.action_space("player_0"), **SETTINGS)

    def train() -> tuple[int, int]:
        taken = 0
        while taken < decisions:
            rows: list[dict[str, Any]] = []
            while len(rows) < ENVS * STEPS:
                rows += _play(env, agent, seed + taken + len(rows))
            columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
            agent.learn(TensorDict(columns, batch_size=[len(rows)]))
            taken += len(rows)
        return taken, env.endings.illegal

    return Learning(_chooser(agent), train)


def _play(env: Any, agent: PPO, seed: int) -> list[dict[str, Any]]:
    """Play a game. Return its decisions in AgileRL's format, each with the return of its seat."""
    env.reset(seed=seed)
    movers, rows = [], []
    for name in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        mask = seen["action_mask"]
        action, logprob, _, value = agent.get_action(
            seen["observation"][None], action_mask=mask[None]
        )
        movers.append(name)
        rows.append(
            {
                "observations": seen["observation"],
                "action_masks": mask,
                "actions": action,
                "log_probs": logprob[0],
                "values": value[0],
            }
        )
        env.step(int(action[0]))
    for name, row in zip(movers, rows, strict=True):
        row["returns"] = np.float32(env.rewards[name])
        row["advantages"] = row["returns"] - row["values"]
    return rows


def _chooser(agent: PPO) -> Any:
    def choose(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            agent.actor(agent.preprocess_observation(observations), action_mask=masks)
        return agent.actor.head_net.dist.logits.argmax(dim=1).numpy()

    return choose


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("agilerl", {"one-seat": one_seat, "all-seats": all_seats})
