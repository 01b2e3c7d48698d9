"""Export of Stable-Baselines3 actor-critics as ArmaRL policies: only weights, no pickles."""

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
    """Save an SB3 model (MaskablePPO, PPO or A2C) as an ArmaRL policy.

    To save weights as arrays, without a model, use `armarl.save_policy`.

    The saved policy plays without SB3 and torch. The path of its file works wherever a player is
    named, as in `armarl evaluate mine.safetensors`.

    Args:
        path: path of the file to write.
        model: an SB3 model with the policy "MlpPolicy", any `net_arch`, and Tanh or ReLU as
            activation.
        game: the game that the model was trained on. None: the game of the model's environment.
        details: JSON values to store in the file's metadata, as in `armarl.save_policy`.

    Raises:
        PolicyError: the network cannot be saved, or it is for another game. The message says what
            would work.
        TypeError: `model` is not an SB3 model, `game` is not a `Game`, or a detail is not a JSON
            value.
        ValueError: the model has no ArmaRL environment, and no game was given; or a detail has the
            name of one of ArmaRL's own entries, or a number in it is not finite.
        OSError: the file could not be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from armarl import load_policy
        >>> from armarl_training.sb3 import save_policy
        >>> from armarl_training import make_vec_env
        >>> from sb3_contrib import MaskablePPO
        >>> model = MaskablePPO("MlpPolicy", make_vec_env("armadora", 2), device="cpu")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_policy(Path(folder) / "mine.safetensors", model)
        ...     load_policy(Path(folder) / "mine.safetensors").activation
        'tanh'
    """
    if not hasattr(model, "policy"):
        raise TypeError(
            f"save_policy takes an SB3 model, got an object of {type(model).__name__}; "
            "armarl.save_policy saves weights as arrays"
        )
    game = _game_of(model, game)
    _refuse_changed_observations(model)
    policy = model.policy
    activation = _activation(policy)
    _refuse_other_sizes(policy, game)
    tensors = {name: w.detach().cpu().numpy().copy() for name, w in layers(policy)}
    details = {"trained_by": type(model).__name__, "decisions": int(model.num_timesteps), **details}
    saved_policy.save_policy(path, game, tensors, activation, **details)


def layers(policy: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights of an actor-critic with their names in a saved policy."""
    for head, (hidden, last) in _HEADS.items():
        linear = [m for m in getattr(policy.mlp_extractor, hidden) if isinstance(m, nn.Linear)]
        for k, layer in enumerate([*linear, getattr(policy, last)]):
            yield f"{head}.{k}.weight", layer.weight
            yield f"{head}.{k}.bias", layer.bias


def _activation(policy: Any) -> str:
    """Return the name of a network's activation. Raise PolicyError if it cannot be saved."""
    extractor = getattr(policy, "features_extractor", None)
    if not isinstance(policy, ACTOR_CRITICS) or not isinstance(extractor, FlattenExtractor):
        raise PolicyError(
            "only an actor-critic that sees the flat observation can be saved (MlpPolicy, masks in "
            f"the infos), not {type(policy).__name__} with {type(extractor).__name__}; to play "
            "with another network, write a class with `name` and choose(states, seats, draws), and "
            "name it as module:Class"
        )
    hidden = [m for name, _ in _HEADS.values() for m in getattr(policy.mlp_extractor, name)]
    kinds = {type(module) for module in hidden} - {nn.Linear}
    for name, kind in ACTIVATIONS.items():
        if kinds <= {kind}:
            return name
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise PolicyError(f"the activation of a saved policy must be Tanh or ReLU, got {found}")


def _refuse_changed_observations(model: BaseAlgorithm) -> None:
    """Refuse a model whose environment has a wrapper that changes observations.

    A model that was loaded without its environment cannot be checked, and is accepted.
    """
    normalised = model.get_vec_normalize_env()
    if normalised is not None and normalised.norm_obs:
        raise PolicyError(
            "the model sees observations changed by VecNormalize, but a saved policy sees them "
            "unchanged; train with norm_obs=False (observations have small ranges already)"
        )
    env = model.get_env()
    if env is not None and any(env.env_is_wrapped(gymnasium.ObservationWrapper)):
        raise PolicyError(
            "the model sees observations changed by a Gymnasium wrapper (such as "
            "NormalizeObservation), but a saved policy sees them unchanged; train without this "
            "wrapper"
        )


def _refuse_other_sizes(policy: Any, game: Game) -> None:
    """Refuse a network whose input is not one observation, such as several stacked observations."""
    inputs, size = policy.features_dim, game.observation.size
    if inputs != size:
        raise PolicyError(
            f"the network takes {inputs:,} inputs, but an observation of {game.name} for "
            f"{game.players} players with these options has {size:,} numbers; pass the game that "
            "the network was trained on, or train on unchanged observations, without VecFrameStack "
            "or wrappers"
        )


def _game_of(model: BaseAlgorithm, given: Game | None) -> Game:
    """Return the game of the model's environment, or else the given game.

    Raises:
        ValueError: there is neither.
        PolicyError: the two games differ.
    """
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
            "the model has no ArmaRL environment; pass the game that it plays, as in "
            'save_policy(path, model, armarl.make_game("armadora", players=2))'
        )
    if given is not None and given.variant != own.variant:
        raise PolicyError(f"the model was trained on {own.variant}, not on {given.variant}")
    return own
