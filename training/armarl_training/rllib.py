"""RLlib with action masks on ArmaRL environments, for one seat or all seats.

    from ray.rllib.algorithms.ppo import PPOConfig
    from armarl_training import rllib

    config = rllib.one_seat(PPOConfig(), "armadora", opponents="greedy")
    config = rllib.self_play(PPOConfig(), "armada", players=3)

`one_seat` trains one seat of many games in a batch. `self_play` trains all seats with one policy.
All other settings (learning rates, env runners, machines) are up to the caller.

This module needs `ray[rllib]` and uses its new API stack. If env runners use other nodes, install
this package on these nodes.
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

ONE_SEAT, ALL_SEATS = "armarl-one-seat", "armarl-all-seats"  # names of the environments in Ray
LEARNER = "learner"  # id of the one policy that plays all seats
# Keys of the observation dictionary that RLlib's masked module expects.
_NAMES: dict[str, Any] = {"mask": "observation", "observation_key": "observations"}


def vector_env(settings: Any) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Create a Gymnasium vector environment in which one seat of each game learns.

    Args:
        settings: `game`, `num_envs` (added by RLlib), and options of
            `armarl.environments.seat_env.SeatEnv`.
    """
    options = {**settings}
    title, number = game_entry(options.pop("game")).title, options.pop("num_envs")
    return gymnasium.make_vec(f"{NAMESPACE}:{NAMESPACE}/{title}-v0", number, **_NAMES, **options)


def aec_env(settings: Any) -> PettingZooEnv:
    """Create an RLlib multi-agent environment of one game in which all seats learn.

    Args:
        settings: `game`, and options of `armarl.environments.aec.checked_env`.
    """
    options = {**settings}
    return PettingZooEnv(checked_env(options.pop("game"), **_NAMES, **options))


def one_seat(config: Any, game: str, **options: Any) -> Any:
    """Set up an RLlib configuration to train one seat against other players, in batches of games.

    Args:
        config: an `AlgorithmConfig` such as RLlib's `PPOConfig`. It is changed in place.
        game: name of the game.
        options: options of `armarl.SeatVectorEnv`, such as `opponents`, `seat`, `reward` and the
            options of the game. This function itself sets `mask` and `observation_key`.

    Returns:
        The same configuration.

    Raises:
        TypeError: an option does not exist.
        ValueError: the game or an opponent does not exist, or a value is wrong.

    Example:
        >>> from ray.rllib.algorithms.ppo import PPOConfig
        >>> from armarl_training import rllib
        >>> config = rllib.one_seat(PPOConfig(), "armadora", opponents="greedy")
        >>> config.env
        'armarl-one-seat'
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
    """Set up an RLlib configuration to train all seats of a game with one policy, `LEARNER`.

    Args:
        config: an `AlgorithmConfig` such as RLlib's `PPOConfig`. It is changed in place.
        game: name of the game.
        options: options of the game's function `env`, such as `reward`, `max_cycles` and the
            options of the game. This function itself sets `mask` and `observation_key`.

    Returns:
        The same configuration.

    Raises:
        TypeError: an option does not exist.
        ValueError: the game does not exist, or a value is wrong.

    Example:
        >>> from ray.rllib.algorithms.ppo import PPOConfig
        >>> from armarl_training import rllib
        >>> config = rllib.self_play(PPOConfig(), "armada", players=3)
        >>> config.env
        'armarl-all-seats'
    """
    register()
    settings = {"game": game, **options}
    env = aec_env(settings)
    agent = env.env.possible_agents[0]  # all agents have the same spaces
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
    """Map every agent to the policy `LEARNER`, which then plays against itself.

    Example:
        >>> from armarl_training import rllib
        >>> rllib.learner_everywhere("player_1")
        'learner'
    """
    return LEARNER


def register() -> None:
    """Register both environments with Ray, under the names `ONE_SEAT` and `ALL_SEATS`."""
    register_env(ONE_SEAT, vector_env)
    register_env(ALL_SEATS, aec_env)
