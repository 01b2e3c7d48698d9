"""Compiled judges: the computation of `judge.JudgeNetwork`, one position at a time.

Most prizes have the same features before and after an action. Therefore the result for a prize is
cached with its input, and is reused for every prize with the same input.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import kernel, part
from armarl.networks.judge import MARGIN, PARTS, VARIANCE, SurveyLayout, layout_of
from armarl.networks.layer_kernels import add, bias, flat_layers, relu, run_layers
from armarl.networks.policy_network import Floats, Tensors, layers

if TYPE_CHECKING:
    from armarl.core.game import Game

REMEMBERED = 1024  # number of cached results per row of scratch memory, a power of two


class Weights(NamedTuple):
    """A judge's weights for compiled code. Each layer is a matrix (inputs, outputs) and a bias.

    Attributes:
        numbers: the weights of all layers, one layer after the other, float32.
        layers: for each layer its offset in `numbers`, its number of inputs and its number of
            outputs, int64, shape (layers, 3). The order is *near*, *far*, the layers of *prizes*,
            the layers of *whole*, *direct*.
        prize_layers: number of layers of the part *prizes*.
        layout: the layout of the survey.
        lots: random factors of the cache's hash, float64, shape (features + rest,).
    """

    numbers: Floats
    layers: NDArray[np.int64]
    prize_layers: int
    layout: SurveyLayout
    lots: NDArray[np.float64]


class Scratch(NamedTuple):
    """Scratch memory. Each thread has its own row on the first axis (see `batch_loops.own`).

    Attributes:
        survey: the survey, float32, shape (rows, size).
        seen: the input for a prize, float32, shape (rows, features + rest).
        near: the part of the first layer's sums that all prizes share, float32, shape (rows,
            widest).
        one: a layer's values, float32, shape (rows, widest); alternates with `other`.
        other: a layer's values, float32, shape (rows, widest); alternates with `one`.
        whole: the input of the part *whole*, float32, shape (rows, widest).
        known: cached inputs for prizes, each followed by 1, float32, shape (rows, REMEMBERED,
            features + rest + 1). All entries are 0 at first. The operating system provides the
            memory only when an entry is written.
        taken: cached results for the inputs in `known`, float32, shape (rows, REMEMBERED, sides).
    """

    survey: Floats
    seen: Floats
    near: Floats
    one: Floats
    other: Floats
    whole: Floats
    known: Floats
    taken: Floats


def weights_of(game: Game, tensors: Tensors) -> Weights:
    """Return a judge's weights for compiled code. They must have passed `check_judge`."""
    numbers, rows = flat_layers(tensors, PARTS)
    layout, prize_layers = layout_of(game), layers(tensors, "prizes")
    lots = np.random.default_rng(0).random(layout.features + layout.rest)
    return Weights(numbers, rows, prize_layers, layout, lots)


def scratch_of(weights: Weights, rows: int) -> Scratch:
    """Return scratch memory of `rows` rows for one judge. The memory caches the judge's results."""
    layout = weights.layout
    widest = int(max(weights.layers[:, 1:].max(), layout.whole))
    seen = layout.features + layout.rest
    near, one, other, whole = (np.zeros((rows, widest), np.float32) for _ in range(4))
    return Scratch(
        np.zeros((rows, layout.size), np.float32),
        np.zeros((rows, seen), np.float32),
        near,
        one,
        other,
        whole,
        known=np.zeros((rows, REMEMBERED, seen + 1), np.float32),
        taken=np.zeros((rows, REMEMBERED, layout.sides), np.float32),
    )


@part
def _sure(net: Weights, stakes: Any, rival: int, survey: Floats, whole: Floats) -> Any:
    """Return the lead over side `rival`, and the lead divided by its standard deviation."""
    lead, variance = 0.0, VARIANCE
    for prize in range(net.layout.prizes):
        own, theirs = whole[prize * net.layout.sides], whole[prize * net.layout.sides + rival]
        stake = survey[prize] / stakes
        lead += stake * (own - theirs)
        variance += stake * stake * (own * (1 - own) + theirs * (1 - theirs))
    return lead, lead / math.sqrt(variance)


@part
def _read(net: Weights, survey: Floats, prize: int, seen: Floats) -> Any:
    """Write the features of a prize to `seen`. Return a hash of the features."""
    prizes, features = net.layout.prizes, net.layout.features
    sum_of_lots = 0.0
    for k in range(features):
        seen[k] = survey[prize + k * prizes]
        sum_of_lots += seen[k] * net.lots[k]
    return np.int64(sum_of_lots * (1 << 20))


@part
def _is_known(seen: Floats, known: Floats) -> Any:
    """Return whether the cache entry `known` is for the input `seen`."""
    for k in range(seen.size):
        if seen[k] != known[k]:
            return False
    return known[seen.size] == 1


@part
def _begin(net: Weights, seen: Floats, near: Floats, one: Floats) -> None:
    """Write the sum that all prizes share to `near`: the output of *far* and the bias of *near*."""
    bias(net, 0, near)
    bias(net, 1, one)
    for k in range(net.layers[0, 2]):
        near[k] += one[k]
    add(net, 1, seen, net.layout.features, near)


@part
def _judge_prize(
    net: Weights, seen: Floats, near: Floats, one: Floats, other: Floats, taken: Floats
) -> None:
    """Write the share of a prize that each side will take to `taken`."""
    width = net.layers[0, 2]
    for k in range(width):
        one[k] = near[k]
    add(net, 0, seen, 0, one)
    relu(one, width)
    run_layers(net, 2, 1 + net.prize_layers, one, other)
    for side in range(net.layout.sides):
        taken[side] = 1 / (1 + math.exp(-one[side]))


@kernel
def worth(net: Weights, work: Scratch, mine: int) -> Any:
    """Return the worth of the position whose survey is in row `mine` of the scratch memory.

    See `JudgeNetwork.worths`.
    """
    survey, seen, whole = work.survey[mine], work.seen[mine], work.whole[mine]
    near, one, other = work.near[mine], work.one[mine], work.other[mine]
    known, taken = work.known[mine], work.taken[mine]
    prizes, sides, rest = net.layout.prizes, net.layout.sides, net.layout.rest
    features, last = net.layout.features, net.layers.shape[0] - 1
    elsewhere = 0.0
    for k in range(rest):
        seen[features + k] = survey[prizes * features + k]
        elsewhere += seen[features + k] * net.lots[features + k]
    shift = np.int64(elsewhere * (1 << 20))

    stakes = np.float32(0)
    for prize in range(prizes):
        stakes += survey[prize]
    stakes = max(stakes, np.float32(1e-6))
    begun = False
    for prize in range(prizes):
        place = (_read(net, survey, prize, seen) + shift) & (REMEMBERED - 1)
        if not _is_known(seen, known[place]):
            if not begun:
                _begin(net, seen, near, one)
                begun = True
            _judge_prize(net, seen, near, one, other, taken[place])
            for k in range(seen.size):
                known[place, k] = seen[k]
            known[place, seen.size] = 1
        for side in range(sides):
            part_taken = taken[place, side]
            whole[prize * sides + side] = part_taken
            whole[(prizes + prize) * sides + side] = part_taken * survey[prize] / stakes

    first, leads = 2 * prizes * sides, 0.0
    for rival in range(1, sides):
        lead, sure = _sure(net, stakes, rival, survey, whole)
        leads += lead
        whole[first + rival - 1] = sure
    for k in range(rest):
        whole[first + sides - 1 + k] = seen[features + k]
    bias(net, last, one)
    add(net, last, whole, first, one)
    logit = one[0]
    for k in range(first + sides - 1 + rest):
        one[k] = whole[k]
    run_layers(net, 2 + net.prize_layers, last - 1, one, other)
    logit += one[0]
    return (1 - MARGIN) * math.tanh(logit / 2) + MARGIN * leads / (sides - 1)
