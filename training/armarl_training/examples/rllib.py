"""RLlib's PPO: one seat of the vector environment, and all seats of the AEC environment.

Its example module for masks wants observations under the key "observations"; vectorised
environments must reset in the next step. All seats share one policy: self-play.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from armarl import armadora_v0
from armarl_training.examples.measured import Learning, main

NAMES = {"mask": "observation", "observation_key": "observations"}
ENVS = 32


def one_seat(decisions: int, seed: int) -> Learning:
    """`gymnasium.make_vec` in RLlib's hands, the random player in the other seat."""
    made: list[Any] = []

    def make(config: Any) -> Any:
        number = config["num_envs"]
        made.append(gymnasium.make_vec("armarl:armarl/Armadora-v0", number, **NAMES))
        return made[-1]

    register_env("armadora-one-seat", make)
    spaces = make({"num_envs": 1})
    config = (
        PPOConfig()
        .environment(
            "armadora-one-seat",
            observation_space=spaces.single_observation_space,
            action_space=spaces.single_action_space,
        )
        .env_runners(num_envs_per_env_runner=ENVS, gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )
    return _learning(config, "default_policy", made, decisions, seed)


def all_seats(decisions: int, seed: int) -> Learning:
    """The AEC environment; one policy for all agents."""
    made: list[Any] = []

    def make(config: Any) -> Any:
        made.append(armadora_v0.env(**NAMES))
        return PettingZooEnv(made[-1])

    register_env("armadora-all-seats", make)
    env = armadora_v0.env(**NAMES)
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        observation_space=env.observation_space("player_0"),
        action_space=env.action_space("player_0"),
    )
    config = (
        PPOConfig()
        .environment("armadora-all-seats")
        .env_runners(num_envs_per_env_runner=1)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": module}))
    )
    return _learning(config, "shared", made, decisions, seed)


def _learning(
    config: PPOConfig, module: str, made: list[Any], decisions: int, seed: int
) -> Learning:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    config = (
        config.env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(
            train_batch_size=2048,
            minibatch_size=512,
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            entropy_coeff=0.01,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    algorithm = config.build_algo()

    def train() -> tuple[int, int]:
        taken = 0
        while taken < decisions:
            result = algorithm.train()
            taken = int(result["num_env_steps_sampled_lifetime"])
        return taken, sum(env.unwrapped.endings.illegal for env in made)

    def choose(observations: Any, masks: Any) -> Any:
        batch = {
            "observations": torch.from_numpy(observations),
            "action_mask": torch.from_numpy(masks).float(),
        }
        with torch.no_grad():
            out = algorithm.get_module(module).forward_inference({"obs": batch})
        return out["action_dist_inputs"].argmax(dim=1).numpy()

    return Learning(choose, train)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main("ray", {"one-seat": one_seat, "all-seats": all_seats})
