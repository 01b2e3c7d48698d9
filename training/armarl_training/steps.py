"""Steps of Adam on a CPU: weights, their moments and their average in one go.

Torch goes over all numbers once for the length of the gradient, once to scale it, once for the step
and once for the average, which for small networks takes twice as long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from armarl.compiled import summed
from armarl_training.first_loops import Floats

FIRST, SECOND = "exp_avg", "exp_avg_sq"  # torch's names of the moments


class Steps:
    """Those of an optimiser of torch's, whose settings are taken and whose state is kept up."""

    def __init__(
        self,
        optimiser: torch.optim.Adam,
        parameters: Sequence[torch.Tensor],
        averages: Sequence[torch.Tensor],
    ) -> None:
        """On the CPU.

        Args:
            parameters: all that the optimiser has, in its order.
            averages: of as many of the first of them.
        """
        self._group, self._counts = optimiser.param_groups[0], []
        self._parameters, self._averages = [_array(each) for each in parameters], []
        self._numbers: list[list[Floats]] = []
        for parameter, array in zip(parameters, self._parameters, strict=True):
            state = optimiser.state[parameter]
            if not state:
                state["step"] = torch.zeros(())
                state |= {name: torch.zeros(parameter.shape) for name in (FIRST, SECOND)}
            moments = [_laid_out_as(array, _array(state[name])) for name in (FIRST, SECOND)]
            state |= dict(zip((FIRST, SECOND), map(torch.from_numpy, moments), strict=True))
            self._counts.append(state["step"])
            self._numbers.append([_row(numbers) for numbers in (array, *moments)])
        self._averages = [_row(_array(average)) for average in averages]

    def take(self, gradients: Sequence[torch.Tensor], longest: float, newest: float) -> float:
        """One step, by a gradient that is scaled down where it is longer than `longest`.

        Args:
            newest: what the weights after it count for in their average.

        Returns:
            How long the gradient was.
        """
        pairs = zip(self._parameters, gradients, strict=True)
        slopes = [_row(_laid_out_as(array, _array(gradient))) for array, gradient in pairs]
        length = math.sqrt(sum(float(squared(some)) for some in slopes))
        (first, second), group = self._group["betas"], self._group
        torch._foreach_add_(self._counts, 1)
        step = float(self._counts[0])
        rate = group["lr"] / (1 - first**step)
        correction = 1 / math.sqrt(1 - second**step)
        scale = min(1.0, longest / (length + 1e-6))
        settings = np.array([scale, first, second, rate, correction, group["eps"]], np.float32)
        for numbers, some in zip(self._numbers, slopes, strict=True):
            move(some, *numbers, *settings)
        for (weights, *_), average in zip(self._numbers, self._averages, strict=False):
            follow(average, weights, np.float32(newest))
        return length


def _array(tensor: torch.Tensor) -> Floats:
    numbers: Floats = tensor.detach().numpy()
    return numbers


def _laid_out_as(parameter: Floats, numbers: Floats) -> Floats:
    """In the order of memory of a parameter, which may be turned; a copy if need be."""
    if numbers.strides == parameter.strides:
        return numbers
    copy = np.empty_like(parameter)
    copy[...] = numbers
    return copy


def _row(numbers: Floats) -> Floats:
    """The same memory, in its order, as one row."""
    return numbers.ravel(order="K")


def turn(layer: nn.Linear) -> None:
    """Have the weights of each input lie side by side, where those of each output did."""
    layer.weight.data = layer.weight.detach().t().contiguous().t()


@summed
def squared(numbers: Floats) -> Any:
    """The sum of their squares."""
    total = np.float32(0)
    for k in range(numbers.size):
        total += numbers[k] * numbers[k]
    return total


@summed
def move(
    slopes: Floats,
    weights: Floats,
    firsts: Floats,
    seconds: Floats,
    scale: Any,
    first: Any,
    second: Any,
    rate: Any,
    correction: Any,
    eps: Any,
) -> None:
    """Move weights by moments of their gradients (Kingma & Ba, 2015, algorithm 1).

    Args:
        scale: of the gradients, for their length.
        first, second: what remains of the moments from step to step.
        rate: of learning, corrected for first moments that began at zero.
        correction: of the roots of second moments, likewise.
    """
    for k in range(weights.size):
        slope = scale * slopes[k]
        mean = firsts[k] + (np.float32(1) - first) * (slope - firsts[k])
        square = second * seconds[k] + (np.float32(1) - second) * slope * slope
        firsts[k], seconds[k] = mean, square
        weights[k] -= rate * mean / (correction * np.sqrt(square) + eps)


@summed
def follow(averages: Floats, weights: Floats, newest: Any) -> None:
    """Let averages follow."""
    for k in range(averages.size):
        averages[k] += newest * (weights[k] - averages[k])
