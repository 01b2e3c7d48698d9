"""Judges of positions, compiled: what `judges.JudgeNetwork` computes, position by position.

Most of what lies around a prize is nothing, and half of a hidden layer: entries that are 0 are
passed over, which products of matrices cannot do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import kernel, part
from armarl.game import Game
from armarl.judges import MARGIN, PARTS, VARIANCE, Reading, reading_of
from armarl.networks import Floats, Tensors, layers
from armarl.windows import window


class Weights(NamedTuple):
    """A judge as the kernel takes it: layers follow each other, each inputs by outputs, then bias.

    Attributes:
        numbers: float32, all weights.
        layers: int64 (layers, 3), where each begins in `numbers`, its inputs and its outputs: near,
            far, those of prizes, those of whole, direct.
        prize_layers: number of those of prizes.
        reading: see `Reading`.
    """

    numbers: Floats
    layers: NDArray[np.int64]
    prize_layers: int
    reading: Reading


class Scratch(NamedTuple):
    """What a thread works in.

    Attributes:
        survey: float32 (size,).
        near: float32 (widest,), sums of the first layer.
        one, other: float32 (widest,), layers in turns.
        whole: float32 (widest,), what the part whole reads.
    """

    survey: Floats
    near: Floats
    one: Floats
    other: Floats
    whole: Floats


def weights_of(game: Game, tensors: Tensors) -> Weights:
    """The weights of a judge that `check_judge` has found right, as the kernel takes them."""
    numbers: list[Floats] = []
    rows, begin = [], 0
    for name_of_part in PARTS:
        for k in range(layers(tensors, name_of_part)):
            weight, bias = (tensors[f"{name_of_part}.{k}.{name}"] for name in ("weight", "bias"))
            numbers += [np.ascontiguousarray(weight.T).reshape(-1), bias]
            rows.append((begin, weight.shape[1], weight.shape[0]))
            begin += weight.size + bias.size
    flat = np.concatenate(numbers).astype(np.float32)
    return Weights(flat, np.array(rows, np.int64), layers(tensors, "prizes"), reading_of(game))


def scratch_of(weights: Weights, rows: int) -> Scratch:
    """Scratch for so many rows."""
    widest = int(max(weights.layers[:, 1:].max(), weights.reading.whole))
    survey = np.zeros((rows, weights.reading.size), np.float32)
    return Scratch(survey, *(np.zeros((rows, widest), np.float32) for _ in range(4)))


@part
def _add(net: Weights, at: int, x: Floats, first: int, step: int, y: Floats) -> None:
    """Add a layer's products to `y`; of `x` it reads every `step`-th from `first` on."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    for j in range(inputs):
        entry = x[first + j * step]
        if entry != 0:
            row = window(net.numbers, begin + j * outputs, outputs)
            for k in range(outputs):
                y[k] += entry * row[k]


@part
def _bias(net: Weights, at: int, y: Floats) -> None:
    """Begin the sums of a layer with its bias."""
    begin, inputs, outputs = net.layers[at, 0], net.layers[at, 1], net.layers[at, 2]
    row = window(net.numbers, begin + inputs * outputs, outputs)
    for k in range(outputs):
        y[k] = row[k]


@part
def _relu(y: Floats, number: int) -> None:
    for k in range(number):
        y[k] = max(y[k], np.float32(0))


@part
def _layers(net: Weights, first: int, last: int, one: Floats, other: Floats) -> None:
    """Layers `first` to `last`, from `one` into `one`, with relu between them."""
    for at in range(first, last + 1):
        if at > first:
            _relu(one, net.layers[at, 1])
        _bias(net, at, other)
        _add(net, at, one, 0, 1, other)
        for k in range(net.layers[at, 2]):
            one[k] = other[k]


@part
def _sure(net: Weights, stakes: Any, rival: int, survey: Floats, whole: Floats) -> Any:
    """The own lead over a rival side, and the same by its standard deviation."""
    lead, variance = 0.0, VARIANCE
    for prize in range(net.reading.prizes):
        own, theirs = whole[prize * net.reading.sides], whole[prize * net.reading.sides + rival]
        stake = survey[prize] / stakes
        lead += stake * (own - theirs)
        variance += stake * stake * (own * (1 - own) + theirs * (1 - theirs))
    return lead, lead / math.sqrt(variance)


@kernel
def worth(
    net: Weights, survey: Floats, near: Floats, one: Floats, other: Floats, whole: Floats
) -> Any:
    """What a surveyed position is worth, as `JudgeNetwork.worths`; the others are scratch."""
    prizes, sides, rest = net.reading.prizes, net.reading.sides, net.reading.rest
    width, around, last = net.layers[0, 2], prizes * net.reading.features, net.layers.shape[0] - 1
    # What is the same for all prizes: both biases, and far.
    _bias(net, 0, near)
    _bias(net, 1, one)
    for k in range(width):
        near[k] += one[k]
    _add(net, 1, survey, around, 1, near)

    stakes = np.float32(0)
    for prize in range(prizes):
        stakes += survey[prize]
    stakes = max(stakes, np.float32(1e-6))
    for prize in range(prizes):
        for k in range(width):
            one[k] = near[k]
        _add(net, 0, survey, prize, prizes, one)
        _relu(one, width)
        _layers(net, 2, 1 + net.prize_layers, one, other)
        for side in range(sides):
            taken = 1 / (1 + math.exp(-one[side]))
            whole[prize * sides + side] = taken
            whole[(prizes + prize) * sides + side] = taken * survey[prize] / stakes

    first, leads = 2 * prizes * sides, 0.0
    for rival in range(1, sides):
        lead, sure = _sure(net, stakes, rival, survey, whole)
        leads += lead
        whole[first + rival - 1] = sure
    for k in range(rest):
        whole[first + sides - 1 + k] = survey[around + k]
    _bias(net, last, one)
    _add(net, last, whole, first, 1, one)
    logit = one[0]
    for k in range(first + sides - 1 + rest):
        one[k] = whole[k]
    _layers(net, 2 + net.prize_layers, last - 1, one, other)
    logit += one[0]
    return (1 - MARGIN) * math.tanh(logit / 2) + MARGIN * leads / (sides - 1)
