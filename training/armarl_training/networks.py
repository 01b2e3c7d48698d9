"""The weights of an SB3 actor-critic under the names of a saved policy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

_HEADS = {"policy": ("policy_net", "action_net"), "value": ("value_net", "value_net")}


def policy_tensors(policy: Any) -> dict[str, NDArray[np.float32]]:
    """Copies of the weights of a `MaskableActorCriticPolicy` with an MLP, see `NetworkPlayer`."""
    tensors = {}
    for head, (hidden, last) in _HEADS.items():
        body = getattr(policy.mlp_extractor, hidden)
        layers = [layer for layer in body if isinstance(layer, nn.Linear)] + [getattr(policy, last)]
        for k, layer in enumerate(layers):
            tensors[f"{head}.{k}.weight"] = layer.weight.detach().numpy().copy()
            tensors[f"{head}.{k}.bias"] = layer.bias.detach().numpy().copy()
    return tensors
