"""Torch layers, and the base class of networks whose weights a saved policy contains."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.compiler.decorators import kernel
from armarl.networks.policy_network import Tensors

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


def tanh(x: torch.Tensor) -> torch.Tensor:
    """Compute tanh in the precision of the input.

    On a CPU, tanh of bfloat16 comes from a lookup table, which is seven times as fast as torch's.
    """
    if x.dtype != torch.bfloat16 or x.device.type != "cpu":
        return torch.tanh(x)
    return tanh_in_place(x.detach().clone(memory_format=torch.contiguous_format))


def tanh_in_place(x: torch.Tensor) -> torch.Tensor:
    """Compute `tanh` in place. The input must be contiguous."""
    if x.device.type != "cpu" or x.dtype not in (torch.bfloat16, torch.float32):
        return x.tanh_()
    if x.dtype == torch.float32:
        work_out_tanh(x.detach().numpy().reshape(-1))
        return x
    bits = x.detach().view(torch.uint16).numpy().reshape(-1)
    look_up(bits, _tanh_table(), bits)
    return x


# tanh(x) = x p(x^2) / q(x^2), exact to a few units in the last place. Beyond _FARTHEST, tanh is 1
# in float32. The rational function is that of Eigen's generic_fast_tanh_float.
_FARTHEST = np.float32(7.90531110763549805)
_P = tuple(
    map(
        np.float32,
        (
            -2.76076847742355e-16,
            2.00018790482477e-13,
            -8.60467152213735e-11,
            5.12229709037114e-08,
            1.48572235717979e-05,
            6.37261928875436e-04,
            4.89352455891786e-03,
        ),
    )
)
_Q = tuple(
    map(
        np.float32,
        (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03),
    )
)


@kernel
def work_out_tanh(numbers: NDArray[np.float32]) -> None:
    """Replace every number by its tanh. torch's tanh takes several times as long."""
    for i in range(numbers.size):
        x = min(max(numbers[i], -_FARTHEST), _FARTHEST)
        square = x * x
        above, below = _P[0], _Q[0]
        for k in range(1, 7):
            above = above * square + _P[k]
        for k in range(1, 4):
            below = below * square + _Q[k]
        numbers[i] = x * above / below


@cache
def _tanh_table() -> NDArray[np.uint16]:
    """Return a table from the bits of every bfloat16 to the bits of its tanh."""
    every = torch.from_numpy(np.arange(1 << 16, dtype=np.uint16)).view(torch.bfloat16)
    found: NDArray[np.uint16] = torch.tanh(every.float()).bfloat16().view(torch.uint16).numpy()
    return found


@kernel
def look_up(bits: NDArray[np.uint16], table: NDArray[np.uint16], found: NDArray[np.uint16]) -> None:
    """Write the table's entry for the bits of each number to `found`."""
    for i in range(bits.size):
        found[i] = table[bits[i]]


class BriefTanh(torch.autograd.Function):
    """A version of `tanh` that saves only its output for the backward pass."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        y = tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (y,), (gradient,) = ctx.saved_tensors, gradients
        return torch.ops.aten.tanh_backward(gradient, y)


class Tanh(nn.Tanh):
    """A layer that applies `tanh`."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = BriefTanh.apply(x)  # type: ignore[no-untyped-call]
        return found


def make_activation(name: str) -> nn.Module:
    """Create the activation layer with this name, one of ACTIVATIONS."""
    return Tanh() if name == "tanh" else ACTIVATIONS[name]()


class Linear(nn.Linear):
    """A linear layer that computes in the precision of its input, not of its weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return outputs (n, out) for inputs (n, in), in the inputs' dtype."""
        return nn.functional.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


def mlp(sizes: Sequence[int], activation: str, gain: float) -> nn.Sequential:
    """Create linear layers with orthogonal initial weights, and activations between the layers.

    `gain` scales the weights of the last layer. The other layers have gain sqrt(2).
    """
    layers: list[nn.Module] = []
    for k in range(len(sizes) - 1):
        last = k == len(sizes) - 2
        layers.append(make_linear(sizes[k], sizes[k + 1], gain if last else math.sqrt(2)))
        if not last:
            layers.append(make_activation(activation))
    return nn.Sequential(*layers)


def make_linear(inputs: int, units: int, gain: float) -> Linear:
    """Create a linear layer with orthogonal initial weights and zero biases."""
    layer = Linear(inputs, units)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def linears(layers: nn.Sequential) -> list[Linear]:
    """Return the linear layers of a sequence."""
    return [layer for layer in layers if isinstance(layer, Linear)]


def put_in_place(weights: Mapping[str, torch.Tensor], tensors: Tensors) -> None:
    """Copy the tensors of a saved policy into the weights of the same names.

    Raises:
        ValueError: the policy's network has another shape.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if shapes != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ValueError(
            "the network of the saved policy and that of the configuration have different widths; "
            "they must agree"
        )
    for name, tensor in weights.items():
        tensor.detach().copy_(torch.from_numpy(tensors[name]))


class PolicyNetwork(nn.Module):
    """Base class of networks that a saved policy contains, as parts such as `trunk` and `value`."""

    def parts(self) -> dict[str, list[Linear]]:
        """Return the layers of each part of a saved policy."""
        raise NotImplementedError

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the weights without copying them, by their names in a saved policy."""
        return {
            f"{part}.{k}.{name}": weights.detach()
            for part, linears in self.parts().items()
            for k, linear in enumerate(linears)
            for name, weights in linear.named_parameters()
        }

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the weights, by their names in a saved policy."""
        return {name: weights.cpu().numpy().copy() for name, weights in self.weights().items()}

    def take_over(self, tensors: Tensors) -> None:
        """Load the weights of a saved policy.

        Raises:
            ValueError: the policy's network has another shape.
        """
        put_in_place(self.weights(), tensors)


@torch.no_grad()
def move_average(
    average: nn.Module, network: nn.Module, optimiser: torch.optim.Optimizer, averaging: float
) -> None:
    """Update an average of weights after a step of the optimiser. See `newest_weight`."""
    weight = newest_weight(averaging, steps_taken(optimiser))
    torch._foreach_lerp_(list(average.parameters()), list(network.parameters()), weight)


def newest_weight(averaging: float, steps: int) -> float:
    """Return the coefficient of the newest weights in the average, after a number of steps.

    At first the average is the plain mean of the weights after all steps so far. In a purely
    exponential average, the initial weights would dominate for thousands of steps.
    """
    return max(1 - averaging, 1 / (1 + steps))


def steps_taken(optimiser: torch.optim.Optimizer) -> int:
    """Return the number of steps that an optimiser has taken. On a GPU, wait for the device."""
    return int(next(iter(optimiser.state.values()))["step"]) if optimiser.state else 0
