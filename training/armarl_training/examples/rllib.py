"""RLlib's PPO in one seat of the vector environment, or in all seats of the AEC environment.

The environments, the masked module and the mapping of agents to policies are in
`armarl_training.rllib`. All seats share one policy, so this is self-play.
"""

from __future__ import annotations

from typing import Any

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

from armarl_training import rllib
from armarl_training.examples.measured import GAME, Learning, main

ENVS = 32


def one_seat(decisions: int, seed: int) -> Learning:
    """Train on `gymnasium.make_vec` through RLlib, with the random player in the other seat."""
    config = rllib.one_seat(PPOConfig(), GAME).env_runners(num_envs_per_env_runner=ENVS)
    return _learning(config, "default_policy", decisions, seed)


def all_seats(decisions: int, seed: int) -> Learning:
    """Train on the AEC environment, with one policy for all agents."""
    config = rllib.self_play(PPOConfig(), GAME).env_runners(num_envs_per_env_runner=ENVS)
    return _learning(config, rllib.LEARNER, decisions, seed)


def _learning(config: PPOConfig, module: str, decisions: int, seed: int) -> Learning:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    config = (
        config.env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(
            train_batch_size=1024,
            minibatch_size=256,
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            use_kl_loss=False,
            clip_param=0.2,
            entropy_coeff=0.01,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    algorithm = config.build_algo()

    def train() -> tuple[int, int]:
        taken = 0
        before = _illegal(algorithm.env_runner.env)  # by RLlib's own check, without masks
        while taken < decisions:
            result = algorithm.train()
            taken = int(result["num_env_steps_sampled_lifetime"])
        return taken, _illegal(algorithm.env_runner.env) - before

    def choose(observations: Any, masks: Any) -> Any:
        batch = {
            "observations": torch.from_numpy(observations),
            "action_mask": torch.from_numpy(masks).float(),
        }
        with torch.no_grad():
            out = algorithm.get_module(module).forward_inference({"obs": batch})
        return out["action_dist_inputs"].argmax(dim=1).numpy()

    return Learning(choose, train)


def _illegal(env: Any) -> int:
    """Count the illegal actions so far in a runner's environment: a batch, or several AEC games."""
    inside = [one.unwrapped.env for one in env.envs] if hasattr(env, "envs") else [env.unwrapped]
    return sum(one.endings.illegal for one in inside)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("ray", {"one-seat": one_seat, "all-seats": all_seats})
