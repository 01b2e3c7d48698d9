"""The weights of an SB3 actor-critic under the names of a saved policy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.policies import Tensors

_HEADS = {"policy": ("policy_net", "action_net"), "value": ("value_net", "value_net")}


def policy_tensors(policy: Any) -> dict[str, NDArray[np.float32]]:
    """Copies of the weights of a `MaskableActorCriticPolicy` with an MLP, see `NetworkPlayer`."""
    return {name: weights.detach().numpy().copy() for name, weights in _parameters(policy)}


def set_policy_tensors(policy: Any, tensors: Tensors) -> None:
    """Put the weights of a saved policy into a `MaskableActorCriticPolicy` of the same shape.

    Raises:
        ValueError: the shapes differ.
    """
    parameters = dict(_parameters(policy))
    shapes = {name: tuple(weights.shape) for name, weights in parameters.items()}
    if shapes != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ValueError("the saved policy's network has other widths than this configuration's")
    with torch.no_grad():
        for name, weights in parameters.items():
            weights.copy_(torch.from_numpy(tensors[name]))


def _parameters(policy: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The weights of an actor-critic with an MLP, under the names of a saved policy."""
    for head, (hidden, last) in _HEADS.items():
        body = getattr(policy.mlp_extractor, hidden)
        layers = [layer for layer in body if isinstance(layer, nn.Linear)] + [getattr(policy, last)]
        for k, layer in enumerate(layers):
            yield f"{head}.{k}.weight", layer.weight
            yield f"{head}.{k}.bias", layer.bias
