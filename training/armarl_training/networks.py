"""Networks of layers, as `armarl.policies` plays them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.policies import NetworkPlayer, Tensors

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class Linear(nn.Linear):
    """A layer that computes in the precision of its input, whatever that of its weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs (n, out) of inputs (n, in), in their type."""
        return nn.functional.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


def mlp(sizes: Sequence[int], activation: str, gain: float) -> nn.Sequential:
    """Layers with an activation between them; orthogonal at the start, the last one by `gain`."""
    layers: list[nn.Module] = []
    for k in range(len(sizes) - 1):
        last = k == len(sizes) - 2
        layers.append(_linear(sizes[k], sizes[k + 1], gain if last else math.sqrt(2)))
        if not last:
            layers.append(ACTIVATIONS[activation]())
    return nn.Sequential(*layers)


def _linear(inputs: int, units: int, gain: float) -> Linear:
    layer = Linear(inputs, units)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Actor(nn.Module):
    """A trunk with two heads of a layer each: logits of the actions, and the expected return."""

    def __init__(self, inputs: int, widths: Sequence[int], actions: int, activation: str) -> None:
        super().__init__()
        self.actions = actions
        # One layer serves both heads: one product of matrices instead of two.
        self.layers = mlp([inputs, *widths, actions + 1], activation, gain=0.01)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits, and the expected return after them: (n, actions + 1)."""
        outputs: torch.Tensor = self.layers(x)
        return outputs

    def _linears(self) -> list[Linear]:
        return [layer for layer in self.layers if isinstance(layer, Linear)]

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Copies of the weights, under the names of a saved policy."""
        found: dict[str, NDArray[np.float32]] = {}
        *trunk, heads = self._linears()
        for k, layer in enumerate(trunk):
            for name, weights in layer.named_parameters():
                found[f"trunk.{k}.{name}"] = weights.detach().numpy().copy()
        for name, weights in heads.named_parameters():
            found[f"policy.0.{name}"] = weights.detach()[: self.actions].numpy().copy()
            found[f"value.0.{name}"] = weights.detach()[self.actions :].numpy().copy()
        return found

    def take_over(self, tensors: Tensors) -> None:
        """Put the weights of a saved policy in place.

        Raises:
            ValueError: its network has another shape.
        """
        own, tensors = self.tensors(), _with_trunk(tensors)
        if {name: t.shape for name, t in own.items()} != {n: t.shape for n, t in tensors.items()}:
            raise ValueError(
                "the saved policy's network has other widths than this configuration's"
            )
        *trunk, heads = self._linears()
        with torch.no_grad():
            for k, layer in enumerate(trunk):
                for name, weights in layer.named_parameters():
                    weights.copy_(torch.from_numpy(tensors[f"trunk.{k}.{name}"]))
            for name, weights in heads.named_parameters():
                both = [tensors[f"{head}.0.{name}"] for head in ("policy", "value")]
                weights.copy_(torch.from_numpy(np.concatenate(both)))


class TorchPlayer(NetworkPlayer):
    """A policy that computes on torch's threads; NumPy's would be in their way while training."""

    def _layer(self, part: str, k: int, x: NDArray[np.float32]) -> NDArray[np.float32]:
        weight, bias = (
            torch.from_numpy(self.tensors[f"{part}.{k}.{name}"]) for name in ("weight", "bias")
        )
        y: NDArray[np.float32] = nn.functional.linear(torch.from_numpy(x), weight, bias).numpy()
        return y


def _with_trunk(tensors: Tensors) -> Tensors:
    """A network of two heads apart as one with a trunk, which loses what its value has learnt."""
    if any(name.startswith("trunk.") for name in tensors):
        return tensors
    last = sum(name.startswith("policy.") for name in tensors) // 2 - 1
    found: dict[str, NDArray[np.float32]] = {}
    for name in ("weight", "bias"):
        for k in range(last):
            found[f"trunk.{k}.{name}"] = tensors[f"policy.{k}.{name}"]
        found[f"policy.0.{name}"] = tensors[f"policy.{last}.{name}"]
        found[f"value.0.{name}"] = np.zeros_like(found[f"policy.0.{name}"][:1])
    return found
