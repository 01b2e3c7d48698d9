"""Compiled dense layers for one input at a time.

Most inputs are 0, and about half of the values of a hidden layer are 0. The functions here skip
entries that are 0, which a matrix product cannot do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.array_views import window
from armarl.compiler.decorators import part
from armarl.networks.policy_network import Floats, Tensors, layers

# A tuple with the fields `numbers` and `layers`, the two results of `flat_layers`.
Layers = Any


def flat_layers(tensors: Tensors, parts: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
    """Flatten the layers of a network's parts, each to a matrix (inputs, outputs) and its bias.

    Returns:
        All weights, float32; and for each layer its offset in the weights, its number of inputs and
        its number of outputs, int64, shape (layers, 3).
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
    """Add a layer's weights times its inputs to `y`. The inputs begin at `x[first]`."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    for j in range(inputs):
        entry = x[first + j]
        if entry != 0:
            row = window(net.numbers, begin + j * outputs, outputs)
            for k in range(outputs):
                y[k] += entry * row[k]


@part
def bias(net: Layers, at: int, y: Floats) -> None:
    """Write a layer's bias to `y`, before `add` adds the other terms."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    row = window(net.numbers, begin + inputs * outputs, outputs)
    for k in range(outputs):
        y[k] = row[k]


@part
def relu(y: Floats, number: int) -> None:
    """Set the first `number` entries of `y` to 0 where they are negative."""
    for k in range(number):
        y[k] = max(y[k], np.float32(0))


@part
def run_layers(net: Layers, first: int, last: int, one: Floats, other: Floats) -> None:
    """Apply layers `first` to `last` to `one`, in place, with relu between them.

    `other` is working memory.
    """
    for at in range(first, last + 1):
        if at > first:
            relu(one, net.layers[at, 1])
        bias(net, at, other)
        add(net, at, one, 0, other)
        for k in range(net.layers[at, 2]):
            one[k] = other[k]
