"""Dense layers, compiled, for one input at a time.

Most inputs are nothing, and half of a hidden layer: entries that are 0 are passed over, which
products of matrices cannot do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.array_views import window
from armarl.compiler.decorators import part
from armarl.networks.policy_network import Floats, Tensors, layers

# What kernels take layers from: `numbers`, float32, and `layers`, as `flat_layers` makes them.
Layers = Any


def flat_layers(tensors: Tensors, parts: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
    """The layers of some parts one after the other, each inputs by outputs, then its bias.

    Returns:
        All their weights, float32; and where each layer begins there, its inputs and its outputs,
        int64 (layers, 3).
    """
    numbers: list[Floats] = []
    rows, begin = [], 0
    for name_of_part in parts:
        for k in range(layers(tensors, name_of_part)):
            weight, bias = (tensors[f"{name_of_part}.{k}.{name}"] for name in ("weight", "bias"))
            numbers += [np.ascontiguousarray(weight.T).reshape(-1), bias]
            rows.append((begin, weight.shape[1], weight.shape[0]))
            begin += weight.size + bias.size
    return np.concatenate(numbers).astype(np.float32), np.array(rows, np.int64)


@part
def add(net: Layers, at: int, x: Floats, first: int, y: Floats) -> None:
    """Add a layer's products to `y`; its inputs stand in `x` from `first` on."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    for j in range(inputs):
        entry = x[first + j]
        if entry != 0:
            row = window(net.numbers, begin + j * outputs, outputs)
            for k in range(outputs):
                y[k] += entry * row[k]


@part
def bias(net: Layers, at: int, y: Floats) -> None:
    """Begin the sums of a layer with its bias."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    row = window(net.numbers, begin + inputs * outputs, outputs)
    for k in range(outputs):
        y[k] = row[k]


@part
def relu(y: Floats, number: int) -> None:
    """Let nothing stay below 0."""
    for k in range(number):
        y[k] = max(y[k], np.float32(0))


@part
def run_layers(net: Layers, first: int, last: int, one: Floats, other: Floats) -> None:
    """Layers `first` to `last`, from `one` into `one`, with relu between them."""
    for at in range(first, last + 1):
        if at > first:
            relu(one, net.layers[at, 1])
        bias(net, at, other)
        add(net, at, one, 0, other)
        for k in range(net.layers[at, 2]):
            one[k] = other[k]
