"""Policies that compute on torch's threads. They are opponents in training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from armarl.networks.policy_network import Network, Tensors
from armarl.policies.network_players import CriticPlayer, JudgingPlayer, NetworkPlayer


def _layer(tensors: Tensors, part: str, k: int, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute one layer on torch's threads. NumPy's threads would compete with torch's."""
    weight, bias = (torch.from_numpy(tensors[f"{part}.{k}.{name}"]) for name in ("weight", "bias"))
    y: NDArray[np.float32] = functional.linear(torch.from_numpy(x), weight, bias).numpy()
    return y


class TorchNetwork(Network):
    """A network that computes on torch's threads."""

    def layer(self, part: str, k: int, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """Compute one layer along the last axis."""
        return _layer(self.tensors, part, k, x)


class TorchPlayer(NetworkPlayer):
    """A policy that computes on torch's threads."""

    network_class = TorchNetwork


def on_torch(policy: NetworkPlayer, *, name: str, sample: bool) -> NetworkPlayer:
    """Return a copy of a policy that computes on torch's threads.

    Judges and critics (players that use a value network) have compiled kernels, so their copies
    keep using ArmaRL's own threads.
    """
    compiled = isinstance(policy, JudgingPlayer | CriticPlayer)
    playing = type(policy) if compiled else TorchPlayer
    return playing(
        policy.game,
        policy.tensors,
        policy.activation,
        advisers=policy.advice.advisers,
        name=name,
        sample=sample,
    )
