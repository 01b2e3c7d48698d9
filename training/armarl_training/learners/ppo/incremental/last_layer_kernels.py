"""Compiled loops of `passes`.

`learn` runs the last layers forward and backward. `act` runs all layers forward, during a rollout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined, summed
from armarl.core.batch_loops import own
from armarl_training.learners.ppo.incremental.first_layer_kernels import (
    Following,
    add,
    add_rows,
    follow,
)
from armarl_training.learners.ppo.update.losses import (
    LossScratch,
    LossWeights,
    Samples,
    policy_gradient,
    value_gradient,
)
from armarl_training.networks.layers import work_out_tanh
from armarl_training.networks.softmax import SoftmaxScratch, find_legal, place_of

if TYPE_CHECKING:
    from armarl_training.learners.ppo.update.buffers import Floats


class LastLayers(NamedTuple):
    """The last layers of the actor and the critic, or their gradients."""

    actor: Floats  # (actions + 1, units of the actor); the last row is the actor's value
    actor_biases: Floats  # (actions + 1,)
    trust: Floats  # (advisers, units of the actor), added to the logits of advised actions
    trust_biases: Floats  # (advisers,)
    critic: Floats  # (players, units of the critic)
    critic_biases: Floats  # (players,)


class Learning(NamedTuple):
    """Decisions to learn from. The loop adds up sums, so it uses one thread."""

    rows: NDArray[np.int64]  # (n,), indices into the samples
    samples: Samples
    number: int  # number of decisions over which the mean is taken
    advice: NDArray[np.int64]  # (rows of the samples, advisers)
    loss_weights: LossWeights
    scratch: LossScratch
    layers: LastLayers
    hidden: Floats  # (n, units of both networks), inputs of the last layers
    values: Floats  # (2 * threads, 1 + players) scratch: actor's value, critic's logits
    slopes: Floats  # (2 * threads, 1 + players) scratch: gradients of `values`
    hidden_gradients: Floats  # (n, units of both networks) output
    gradients: LastLayers  # output: the decisions' gradients are added to it


def learn(batch: Learning, i: int, thread: int) -> None:
    """Run the last layers forward for decision `i`, compute its losses, and run backward."""
    mine, row, decisions = own(thread), batch.rows[i], batch.number
    samples, layers, sums = batch.samples, batch.layers, batch.gradients
    softmax, units = batch.scratch.softmax, layers.actor.shape[1]
    hidden, critic_hidden = batch.hidden[i][:units], batch.hidden[i][units:]
    back, critic_back = batch.hidden_gradients[i][:units], batch.hidden_gradients[i][units:]
    values, slopes, value = batch.values[mine], batch.slopes[mine], layers.actor_biases.size - 1
    number = find_legal_logits(layers, hidden, samples.masks[row], batch.advice[row], softmax, mine)
    values[0] = _dot(hidden, layers.actor[value]) + layers.actor_biases[value]
    for k in range(layers.critic_biases.size):
        values[1 + k] = _dot(critic_hidden, layers.critic[k]) + layers.critic_biases[k]

    counts, scratch = batch.loss_weights, batch.scratch
    policy_gradient(samples, row, number, decisions, counts, scratch, mine)
    value_gradient(values, samples, row, decisions, counts, scratch, mine, False, slopes)

    legal, weights = softmax.legal[mine], softmax.weights[mine]
    back[:] = 0
    critic_back[:] = 0
    for k in range(batch.advice.shape[1]):
        slope = weights[place_of(batch.advice[row, k], legal, number)]
        sums.trust_biases[k] += slope
        _backward_output(hidden, layers.trust[k], slope, back, sums.trust[k])
    for j in range(number):
        sums.actor_biases[legal[j]] += weights[j]
        _backward_output(hidden, layers.actor[legal[j]], weights[j], back, sums.actor[legal[j]])
    sums.actor_biases[value] += slopes[0]
    _backward_output(hidden, layers.actor[value], slopes[0], back, sums.actor[value])
    for k in range(layers.critic_biases.size):
        slope = slopes[1 + k]
        sums.critic_biases[k] += slope
        _backward_output(critic_hidden, layers.critic[k], slope, critic_back, sums.critic[k])


class Hidden(NamedTuple):
    """The layers between the first and the last, of both the actor and the critic.

    The inputs of all layers after the first are stored in one row: for each layer the inputs of
    the actor, then those of the critic. The weights of each of these inputs are a row of `weights`.
    """

    units: NDArray[np.int64]  # (layers + 1, 2), number of inputs of the actor's and critic's layers
    weights: Floats  # (inputs of all but the last layers, units of the widest layer), padded
    biases: Floats  # (layers, 2, units of the widest layer), padded
    rows: NDArray[np.int64]  # for each input, its row of `weights`
    tanh: bool  # whether the activation before the layers is tanh; otherwise it is relu


class Acting(NamedTuple):
    """Positions in which to compute the policy's logits and the critic's logits."""

    following: Following
    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits
    advice: NDArray[np.int64]  # (n, advisers)
    hidden: Hidden
    layers: LastLayers
    inputs: Floats  # (2 * threads, inputs of all layers after the first) scratch
    scratch: SoftmaxScratch
    logits: Floats  # (n, actions) output, written only for legal actions
    critic_logits: Floats  # (n, players) output: logits of winning, the mover's first


def act(batch: Acting, i: int, thread: int) -> None:
    """Run all layers forward for position `i`."""
    mine, layers, scratch = own(thread), batch.layers, batch.scratch
    found, inputs, units = batch.following.found[i], batch.inputs[mine], layers.actor.shape[1]
    follow(batch.following, i, mine)
    last = inputs[_through_hidden(found, batch.hidden, inputs) :]
    hidden, critic_hidden = last[:units], last[units:]
    number = find_legal_logits(layers, hidden, batch.masks[i], batch.advice[i], scratch, mine)
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    for j in range(number):
        batch.logits[i, legal[j]] = logits[j]
    for k in range(layers.critic_biases.size):
        logit = _dot(critic_hidden, layers.critic[k]) + layers.critic_biases[k]
        batch.critic_logits[i, k] = logit


@inlined
def _through_hidden(found: Any, hidden: Hidden, inputs: Any) -> Any:
    """Write the inputs of all layers after the first.

    Return the index of the last layer's first input.
    """
    units, place = hidden.units, 0
    for k in range(found.size):
        inputs[k] = found[k]
    _activate(inputs[: found.size], hidden.tanh)
    for layer in range(1, len(units)):
        middle = place + units[layer - 1, 0]
        end = middle + units[layer - 1, 1]
        others, after = end + units[layer, 0], end + units[layer, 0] + units[layer, 1]
        _outputs(hidden, hidden.biases[layer - 1, 0], inputs, place, middle, inputs[end:others])
        _outputs(hidden, hidden.biases[layer - 1, 1], inputs, middle, end, inputs[others:after])
        _activate(inputs[end:after], hidden.tanh)
        place = end
    return place


@inlined
def _outputs(hidden: Hidden, biases: Any, inputs: Any, first: int, last: int, outputs: Any) -> None:
    """Compute a layer's outputs from the inputs `first` to `last`."""
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
def find_legal_logits(
    layers: LastLayers, hidden: Any, mask: Any, advice: Any, scratch: SoftmaxScratch, mine: int
) -> Any:
    """Write the ids and logits of the legal actions to row `mine`. Return their number."""
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    number = find_legal(mask, legal)
    _some_outputs(hidden, layers.actor, layers.actor_biases, legal, number, logits)
    for k in range(advice.size):
        place = place_of(advice[k], legal, number)
        logits[place] += _dot(hidden, layers.trust[k]) + layers.trust_biases[k]
    return number


@inlined
def _some_outputs(x: Any, weights: Any, biases: Any, some: Any, number: int, outputs: Any) -> None:
    """Compute only some outputs of a layer: those with the first `number` indices in `some`."""
    j = 0
    while j + 4 <= number:
        a, b, c, d = some[j], some[j + 1], some[j + 2], some[j + 3]
        p, q, r, s = _four_dots(x, weights[a], weights[b], weights[c], weights[d])
        outputs[j], outputs[j + 1] = p + biases[a], q + biases[b]
        outputs[j + 2], outputs[j + 3] = r + biases[c], s + biases[d]
        j += 4
    while j < number:
        outputs[j] = _dot(x, weights[some[j]]) + biases[some[j]]
        j += 1


@inlined
def _backward_output(x: Any, weights: Any, slope: Any, back: Any, gradients: Any) -> None:
    """Propagate the gradient of one output back to the inputs and the weights."""
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
