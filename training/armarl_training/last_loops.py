"""The loops of `sparse_passes`: through the last layers, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import inlined, summed
from armarl.loops import own
from armarl_training.first_loops import Floats, add
from armarl_training.losses import Lot, Room, Weights, policy_gradient, value_gradient
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
        _go_through(hidden, ends.actions[legal[j]], weights[j], back, sums.actions[legal[j]])
    sums.action_biases[value] += slopes[0]
    _go_through(hidden, ends.actions[value], slopes[0], back, sums.actions[value])
    for k in range(ends.outlook_biases.size):
        sums.outlook_biases[k] += slopes[1 + k]
        _go_through(others, ends.outlooks[k], slopes[1 + k], others_back, sums.outlooks[k])


class Speaking(NamedTuple):
    """Positions of which is said what to play there, and what to expect."""

    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits
    advice: NDArray[np.int64]  # (n, advisers)
    ends: Ends
    hidden: Floats  # (n, units of both), what goes into the last layers
    scratch: Scratch
    logits: Floats  # (n, actions) written where an action is legal
    outlooks: Floats  # (n, players) written: logits of winning, the mover's first


def speak(batch: Speaking, i: int, thread: int) -> None:
    """Of position `i`."""
    mine, ends, scratch = own(thread), batch.ends, batch.scratch
    units = ends.actions.shape[1]
    hidden, others = batch.hidden[i][:units], batch.hidden[i][units:]
    number = say_legal(ends, hidden, batch.masks[i], batch.advice[i], scratch, mine)
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    for j in range(number):
        batch.logits[i, legal[j]] = logits[j]
    for k in range(ends.outlook_biases.size):
        batch.outlooks[i, k] = _dot(others, ends.outlooks[k]) + ends.outlook_biases[k]


@inlined
def say_legal(ends: Ends, hidden: Any, mask: Any, advice: Any, scratch: Scratch, mine: int) -> Any:
    """Write the ids and logits of the legal actions to row `mine`; returns how many they are."""
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    number = find_legal(mask, legal)
    for j in range(number):
        logits[j] = _dot(hidden, ends.actions[legal[j]]) + ends.action_biases[legal[j]]
    for k in range(advice.size):
        place = place_of(advice[k], legal, number)
        logits[place] += _dot(hidden, ends.trust[k]) + ends.trust_biases[k]
    return number


@inlined
def _go_through(x: Any, weights: Any, slope: Any, back: Any, gradients: Any) -> None:
    """Back through one output of a layer, by the gradient of that output."""
    add(back, weights, np.float32(slope))
    add(gradients, x, np.float32(slope))


@summed
def _dot(x: Any, y: Any) -> Any:
    total = np.float32(0)
    for k in range(x.size):
        total += x[k] * y[k]
    return total
