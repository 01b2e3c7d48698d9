"""From Stable-Baselines3 to a saved policy: the weights of an actor-critic, without its pickles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from torch import nn

from armarl.core.game import Game, check_game
from armarl.policies import saved_policy
from armarl.policies.safetensors_file import PolicyError
from armarl_training.networks.layers import ACTIVATIONS

ACTOR_CRITICS = (ActorCriticPolicy, MaskableActorCriticPolicy)
_HEADS = {"policy": ("policy_net", "action_net"), "value": ("value_net", "value_net")}


def save_policy(
    path: str | Path, model: BaseAlgorithm, game: Game | None = None, **details: Any
) -> None:
    """Save what MaskablePPO (or PPO, or A2C) has learnt as a policy of ours.

    The file is a player by its path wherever players are named, and plays without SB3 and torch:
    `save_policy("mine.safetensors", model)`, then `armarl evaluate mine.safetensors`.

    Args:
        path: of the file to write.
        model: with the policy "MlpPolicy", any `net_arch`, and Tanh or ReLU between its layers.
        game: the variant it was trained on; None: that of the model's environment.
        details: JSON values to keep in the file's metadata.

    Raises:
        PolicyError: no such network, or one of another game; the message says what would do.
        TypeError: no model.
        ValueError: the model has no environment of ours, and no game is given.
        OSError: it could not be written.
    """
    if not hasattr(model, "policy"):
        raise TypeError(f"save_policy takes a model of SB3's, not one of {type(model).__name__}")
    game = _game_of(model, game)
    _refuse_changed_observations(model)
    policy = model.policy
    activation = _activation(policy)
    _refuse_other_sizes(policy, game)
    tensors = {name: w.detach().cpu().numpy().copy() for name, w in layers(policy)}
    details = {"trained_by": type(model).__name__, "decisions": int(model.num_timesteps), **details}
    saved_policy.save_policy(path, game, tensors, activation, **details)


def layers(policy: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The weights of an actor-critic, under the names of a saved policy."""
    for head, (hidden, last) in _HEADS.items():
        linear = [m for m in getattr(policy.mlp_extractor, hidden) if isinstance(m, nn.Linear)]
        for k, layer in enumerate([*linear, getattr(policy, last)]):
            yield f"{head}.{k}.weight", layer.weight
            yield f"{head}.{k}.bias", layer.bias


def _activation(policy: Any) -> str:
    """The name of the activation between the layers of a network that a saved policy can be."""
    extractor = getattr(policy, "features_extractor", None)
    if not isinstance(policy, ACTOR_CRITICS) or not isinstance(extractor, FlattenExtractor):
        raise PolicyError(
            "only an actor-critic that sees the flat observation can be saved (MlpPolicy, masks in "
            f"the infos), no {type(policy).__name__} with {type(extractor).__name__}; another "
            "network plays as module:Class, see docs/environments/frameworks.md"
        )
    hidden = [m for name, _ in _HEADS.values() for m in getattr(policy.mlp_extractor, name)]
    kinds = {type(module) for module in hidden} - {nn.Linear}
    for name, kind in ACTIVATIONS.items():
        if kinds <= {kind}:
            return name
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise PolicyError(f"between the layers of a saved policy is Tanh or ReLU, not {found}")


def _refuse_changed_observations(model: BaseAlgorithm) -> None:
    """Refuse a model between whom and the game a wrapper stands that changes what is observed.

    A model that was loaded without its environment does not say whether there was one.
    """
    normalised = model.get_vec_normalize_env()
    if normalised is not None and normalised.norm_obs:
        raise PolicyError(
            "the model sees observations that VecNormalize has changed, and a saved policy sees "
            "them as they are: train with norm_obs=False (they are in small ranges already)"
        )
    env = model.get_env()
    if env is not None and any(env.env_is_wrapped(gymnasium.ObservationWrapper)):
        raise PolicyError(
            "the model sees observations that a wrapper of Gymnasium's has changed (such as "
            "NormalizeObservation), and a saved policy sees them as they are: train without it"
        )


def _refuse_other_sizes(policy: Any, game: Game) -> None:
    """Refuse a network of other inputs than the game's, such as several observations in one."""
    inputs, size = policy.features_dim, game.observation.size
    if inputs != size:
        raise PolicyError(
            f"the network takes {inputs:,} inputs, and an observation of {game.name} for "
            f"{game.players} players with these options has {size:,}: name the table it was "
            "trained at; or train on observations as they are, without VecFrameStack or wrappers"
        )


def _game_of(model: BaseAlgorithm, given: Game | None) -> Game:
    """The game of the model's environment, which the one given must agree with; or that one."""
    if given is not None:
        check_game(given)
    env = model.get_env()
    try:
        own = None if env is None else env.get_attr("game")[0]
    except AttributeError:
        own = None
    if not isinstance(own, Game):
        own = given
    if own is None:
        raise ValueError(
            "the model has no environment of ours: say which game it plays, "
            'save_policy(path, model, armarl.make_game("armadora", players=2))'
        )
    if given is not None and given.variant != own.variant:
        raise PolicyError(f"the model was trained on {own.variant}, not on {given.variant}")
    return own
