"""The loops of `sparse_passes`: through the last layers and back, and in play through all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import inlined, summed
from armarl.loops import own
from armarl_training.first_loops import Floats, Following, add, follow
from armarl_training.layers import work_out_tanh
from armarl_training.losses import Lot, Room, Weights, policy_gradient, value_gradient
from armarl_training.rows import add_rows, add_to_rows
from armarl_training.softmax import Scratch, find_legal, place_of


class Ends(NamedTuple):
    """The last layers of both, or their gradients."""

    actions: Floats  # (actions + 1, units of the actor), after the actions what it expects
    action_biases: Floats  # (actions + 1,)
    trust: Floats  # (advisers, units of the actor)
    trust_biases: Floats  # (advisers,)
    outlooks: Floats  # (players, units of the critic)
    outlook_biases: Floats  # (players,)


class Learning(NamedTuple):
    """Decisions to learn from. Sums are taken, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the lot
    lot: Lot
    number: int  # over which the mean is taken
    advice: NDArray[np.int64]  # (rows of the lot, advisers)
    counts: Weights
    room: Room
    ends: Ends
    hidden: Floats  # (n, units of both), what goes into the last layers
    said: Floats  # (2 * threads, 1 + players) scratch
    slopes: Floats  # (2 * threads, 1 + players) scratch
    back: Floats  # (n, units of both) written: gradients of `hidden`
    gradients: Ends  # to which those of the decisions are added


def learn(batch: Learning, i: int, thread: int) -> None:
    """The last layers' sayings of decision `i`, the gradient of its losses, and the way back."""
    mine, row, lot, ends, sums = own(thread), batch.rows[i], batch.lot, batch.ends, batch.gradients
    scratch, units = batch.room.scratch, ends.actions.shape[1]
    hidden, others = batch.hidden[i][:units], batch.hidden[i][units:]
    back, others_back = batch.back[i][:units], batch.back[i][units:]
    said, slopes, value = batch.said[mine], batch.slopes[mine], ends.action_biases.size - 1
    number = say_legal(ends, hidden, lot.masks[row], batch.advice[row], scratch, mine)
    said[0] = _dot(hidden, ends.actions[value]) + ends.action_biases[value]
    for k in range(ends.outlook_biases.size):
        said[1 + k] = _dot(others, ends.outlooks[k]) + ends.outlook_biases[k]

    policy_gradient(lot, row, number, batch.number, batch.counts, batch.room, mine)
    value_gradient(said, lot, row, batch.number, batch.counts, batch.room, mine, False, slopes)

    legal, weights = scratch.legal[mine], scratch.weights[mine]
    back[:] = 0
    others_back[:] = 0
    for k in range(batch.advice.shape[1]):
        slope = weights[place_of(batch.advice[row, k], legal, number)]
        sums.trust_biases[k] += slope
        _go_through(hidden, ends.trust[k], slope, back, sums.trust[k])
    for j in range(number):
        sums.action_biases[legal[j]] += weights[j]
    add_rows(back, ends.actions, legal, weights, 0, number, 0, 0)
    add_to_rows(hidden, sums.actions, legal, weights, number)
    sums.action_biases[value] += slopes[0]
    _go_through(hidden, ends.actions[value], slopes[0], back, sums.actions[value])
    for k in range(ends.outlook_biases.size):
        sums.outlook_biases[k] += slopes[1 + k]
        _go_through(others, ends.outlooks[k], slopes[1 + k], others_back, sums.outlooks[k])


class Hidden(NamedTuple):
    """The layers of both between the first and the last ones.

    What goes into all layers after the first lies in one row: of each what goes into the actor's,
    then what goes into the critic's. The weights of each of these numbers are a row of `weights`.
    """

    units: NDArray[np.int64]  # (layers + 1, 2), what goes into the actor's and the critic's
    weights: Floats  # (numbers of all but the last layers, most units of a layer), filled up
    biases: Floats  # (layers, 2, most units of a layer), filled up
    rows: NDArray[np.int64]  # those of `weights`, by their numbers
    tanh: bool  # what is done to what goes in; else relu


class Speaking(NamedTuple):
    """Positions of which is said what to play there, and what to expect."""

    following: Following
    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits
    advice: NDArray[np.int64]  # (n, advisers)
    hidden: Hidden
    ends: Ends
    inputs: Floats  # (2 * threads, numbers of all layers after the first) scratch
    scratch: Scratch
    logits: Floats  # (n, actions) written where an action is legal
    outlooks: Floats  # (n, players) written: logits of winning, the mover's first


def speak(batch: Speaking, i: int, thread: int) -> None:
    """Of position `i`."""
    mine, ends, scratch = own(thread), batch.ends, batch.scratch
    found, inputs, units = batch.following.found[i], batch.inputs[mine], ends.actions.shape[1]
    follow(batch.following, i, mine)
    last = inputs[_go_on(found, batch.hidden, inputs) :]
    number = say_legal(ends, last[:units], batch.masks[i], batch.advice[i], scratch, mine)
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    for j in range(number):
        batch.logits[i, legal[j]] = logits[j]
    for k in range(ends.outlook_biases.size):
        batch.outlooks[i, k] = _dot(last[units:], ends.outlooks[k]) + ends.outlook_biases[k]


@inlined
def _go_on(found: Any, hidden: Hidden, inputs: Any) -> Any:
    """Write what goes into all layers after the first; returns where that of the last begins."""
    units, place = hidden.units, 0
    for k in range(found.size):
        inputs[k] = found[k]
    _activate(inputs[: found.size], hidden.tanh)
    for layer in range(1, len(units)):
        middle = place + units[layer - 1, 0]
        end = middle + units[layer - 1, 1]
        others, after = end + units[layer, 0], end + units[layer, 0] + units[layer, 1]
        _say_all(hidden, hidden.biases[layer - 1, 0], inputs, place, middle, inputs[end:others])
        _say_all(hidden, hidden.biases[layer - 1, 1], inputs, middle, end, inputs[others:after])
        _activate(inputs[end:after], hidden.tanh)
        place = end
    return place


@inlined
def _say_all(hidden: Hidden, biases: Any, inputs: Any, first: int, last: int, outputs: Any) -> None:
    """What a layer makes of some of the inputs."""
    for k in range(outputs.size):
        outputs[k] = biases[k]
    add_rows(outputs, hidden.weights, hidden.rows, inputs, first, last, 0, 0)


@inlined
def _activate(numbers: Any, with_tanh: bool) -> None:
    if with_tanh:
        work_out_tanh(numbers)
    else:
        for k in range(numbers.size):
            numbers[k] = max(numbers[k], np.float32(0))


@inlined
def say_legal(ends: Ends, hidden: Any, mask: Any, advice: Any, scratch: Scratch, mine: int) -> Any:
    """Write the ids and logits of the legal actions to row `mine`; returns how many they are."""
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    number = find_legal(mask, legal)
    _say_some(hidden, ends.actions, ends.action_biases, legal, number, logits)
    for k in range(advice.size):
        place = place_of(advice[k], legal, number)
        logits[place] += _dot(hidden, ends.trust[k]) + ends.trust_biases[k]
    return number


@inlined
def _say_some(x: Any, weights: Any, biases: Any, some: Any, number: int, said: Any) -> None:
    """What some of a layer's outputs say."""
    j = 0
    while j + 4 <= number:
        a, b, c, d = some[j], some[j + 1], some[j + 2], some[j + 3]
        p, q, r, s = _four_dots(x, weights[a], weights[b], weights[c], weights[d])
        said[j], said[j + 1] = p + biases[a], q + biases[b]
        said[j + 2], said[j + 3] = r + biases[c], s + biases[d]
        j += 4
    while j < number:
        said[j] = _dot(x, weights[some[j]]) + biases[some[j]]
        j += 1


@inlined
def _go_through(x: Any, weights: Any, slope: Any, back: Any, gradients: Any) -> None:
    """Back through one output of a layer, by the gradient of that output."""
    add(back, weights, np.float32(slope))
    add(gradients, x, np.float32(slope))


@summed
def _four_dots(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for k in range(x.size):
        p += x[k] * a[k]
        q += x[k] * b[k]
        r += x[k] * c[k]
        s += x[k] * d[k]
    return p, q, r, s


@summed
def _dot(x: Any, y: Any) -> Any:
    total = np.float32(0)
    for k in range(x.size):
        total += x[k] * y[k]
    return total
