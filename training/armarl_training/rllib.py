"""RLlib on our environments, with masks: one seat of many games at once, or all seats.

    from ray.rllib.algorithms.ppo import PPOConfig
    from armarl_training import rllib

    config = rllib.one_seat(PPOConfig(), "armadora", opponents="greedy")
    config = rllib.self_play(PPOConfig(), "armada", players=3)

Needs `ray[rllib]`, whose new stack of interfaces it is for. What else a configuration says is the
caller's: rates, runners, machines. Runners on other nodes need this package there.
"""

from __future__ import annotations

from typing import Any

import gymnasium
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from armarl.environments.aec import checked_env
from armarl.environments.registration import NAMESPACE
from armarl.games.catalogue import game_entry

ONE_SEAT, ALL_SEATS = "armarl-one-seat", "armarl-all-seats"  # environments, as Ray knows them
LEARNER = "learner"  # the one policy of all seats
# As RLlib's masked module has them.
_NAMES: dict[str, Any] = {"mask": "observation", "observation_key": "observations"}


def vector_env(settings: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Many games in which one seat learns; other players hold the others.

    Args:
        settings: `game`, `num_envs`, which RLlib adds, and options of
            `armarl.environments.seat_env.SeatEnv`.
    """
    options = {**settings}
    title, number = game_entry(options.pop("game")).title, options.pop("num_envs")
    return gymnasium.make_vec(f"{NAMESPACE}:{NAMESPACE}/{title}-v0", number, **_NAMES, **options)


def aec_env(settings: Any) -> PettingZooEnv:
    """One game in which all seats learn, as RLlib's environment of many agents.

    Args:
        settings: `game`, and options of `armarl.environments.aec.checked_env`.
    """
    options = {**settings}
    return PettingZooEnv(checked_env(options.pop("game"), **_NAMES, **options))


def one_seat(config: Any, game: str, **options: Any) -> Any:
    """Let a configuration of PPO train one seat against other players, in batches of games.

    Args:
        config: an `AlgorithmConfig`, which is changed and returned.
        options: of `armarl.environments.seat_env.SeatEnv`: `opponents`, `seat`, `reward`, those of
            the game.

    Raises:
        TypeError, ValueError: no such game, option or opponent.
    """
    register()
    settings = {"game": game, **options}
    env = vector_env({**settings, "num_envs": 1})
    return (
        config.environment(
            ONE_SEAT,
            env_config=settings,
            observation_space=env.single_observation_space,
            action_space=env.single_action_space,
        )
        .env_runners(gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )


def self_play(config: Any, game: str, **options: Any) -> Any:
    """Let a configuration of PPO train all seats of a game by one policy, `LEARNER`.

    Args:
        config: an `AlgorithmConfig`, which is changed and returned.
        options: of `armarl.environments.aec.checked_env`: `reward`, those of the game.

    Raises:
        TypeError, ValueError: no such game or option.
    """
    register()
    settings = {"game": game, **options}
    env = aec_env(settings)
    agent = env.env.possible_agents[0]  # all see and do the same
    module = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        observation_space=env.env.observation_space(agent),
        action_space=env.env.action_space(agent),
    )
    return (
        config.environment(ALL_SEATS, env_config=settings)
        .multi_agent(policies={LEARNER}, policy_mapping_fn=learner_everywhere)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={LEARNER: module}))
    )


def learner_everywhere(agent: str, *rest: Any, **more: Any) -> str:
    """The policy of every agent of a game: whoever learns plays against itself."""
    return LEARNER


def register() -> None:
    """Tell Ray of both environments, by the names `ONE_SEAT` and `ALL_SEATS`."""
    register_env(ONE_SEAT, vector_env)
    register_env(ALL_SEATS, aec_env)
