"""The losses of PPO and their gradients with respect to the network outputs.

The gradients are written by hand and compiled. They take a few passes over each decision's legal
actions. Automatic differentiation would take a dozen passes over all actions.
`tests/training/test_ppo.py` checks the gradients against automatic differentiation. (Functions come
from `math`, because Numba supports only some of NumPy's functions on GPUs.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined, summed
from armarl.core.batch_loops import WrittenRows, own
from armarl_training.networks.bfloat16 import read, write
from armarl_training.networks.softmax import (
    SoftmaxScratch,
    find_legal,
    highest,
    make_softmax_scratch,
    pick,
    place_of,
    weigh,
)

if TYPE_CHECKING:
    from armarl_training.networks.learner_devices import LearnerDevice

Floats = NDArray[Any]  # float32

# Sums over decisions. Their means are reported under these names.
REPORTED = (
    "policy_loss",
    "entropy",
    "clip_fraction",
    "approx_kl",
    "own_value_loss",
    "value_loss",
    "magnet_distance",
)
POLICY_LOSS, ENTROPY, CLIP_FRACTION, APPROX_KL = range(4)
OWN_VALUE_LOSS, VALUE_LOSS, MAGNET_DISTANCE = range(4, 7)
# Further sums, from which the critic's explained variance is computed.
ERROR, TARGET, SQUARE = range(len(REPORTED), len(REPORTED) + 3)
STATISTICS = SQUARE + 1


class Samples(NamedTuple):
    """Decisions to learn from."""

    masks: Any  # uint8 (rows, bytes), the legal actions as bits
    actions: Any  # int64 (rows, k), the played action, then the lookahead actions
    log_probs: Floats  # float32 (rows, k), log-probabilities when the actions were drawn
    advantages: Floats  # float32 (rows, k), normalised; all k actions have the same weight
    targets: Floats  # float32 (rows, players), value targets in [-1, 1], the mover's first


class LossWeights(NamedTuple):
    """The clip range, and the weights of the losses."""

    clip_range: float  # clip range of the probability ratio
    entropy: float  # weight of the entropy
    magnet: float  # weight of the distance from the magnet, see `Decisions.magnets`
    value: float  # weight of the value losses


class LossScratch(NamedTuple):
    """Memory that each thread of a team needs for itself."""

    statistics: Any  # float64 (scratch rows, STATISTICS), running sums
    softmax: SoftmaxScratch


def make_loss_scratch(device: LearnerDevice, decisions: int, actions: int) -> LossScratch:
    """Allocate scratch memory for batches of `decisions` decisions."""
    statistics = device.interleaved((device.scratch_rows(decisions), STATISTICS), np.float64)
    return LossScratch(statistics, make_softmax_scratch(device, decisions, actions))


class Decisions(NamedTuple):
    """Some samples, their network outputs, and the gradients to be written."""

    rows: Any  # int64 (n,), indices into the samples
    samples: Samples
    number: int  # number of decisions over which the mean is taken
    # float32, or int16 with the bits of bfloat16, (n, actions + 1 + players): the actor's logits,
    # the actor's value, and the critic's logits of winning, the mover's first.
    outputs: Any
    # float32 (n, actions or more), logits of the magnet, the policy that the actor is pulled to
    # (Sokota et al., 2023). Not read if its weight is 0.
    magnets: Floats
    loss_weights: LossWeights
    gradients: WrittenRows  # like `outputs`
    scratch: LossScratch


def ppo_gradient(batch: Decisions, i: int, thread: int) -> None:
    """Write the gradient of decision `i`."""
    _gradient(batch, i, own(thread), False)


def ppo_gradient_bfloat16(batch: Decisions, i: int, thread: int) -> None:
    """Write the gradient of decision `i`, with outputs and gradients as the bits of bfloat16."""
    _gradient(batch, i, own(thread), True)


@inlined
def _gradient(batch: Decisions, i: int, mine: int, is_bfloat16: bool) -> None:
    """Write the gradient of all losses with respect to the outputs of a decision."""
    outputs, gradient, row = batch.outputs[i], batch.gradients[i], batch.rows[i]
    samples, scratch, loss_weights = batch.samples, batch.scratch, batch.loss_weights
    softmax, decisions = scratch.softmax, batch.number
    value = outputs.size - samples.targets.shape[1] - 1
    legal, logits, weights = softmax.legal[mine], softmax.logits[mine], softmax.weights[mine]
    number = find_legal(samples.masks[row], legal)
    pick(outputs, legal, number, is_bfloat16, logits)
    if loss_weights.magnet != 0:
        pick(batch.magnets[i], legal, number, False, softmax.magnets[mine])
    policy_gradient(samples, row, number, decisions, loss_weights, scratch, mine)
    gradient[:] = 0
    for j in range(number):
        write(weights[j], gradient, legal[j], is_bfloat16)
    values, of_values = outputs[value:], gradient[value:]
    value_gradient(
        values, samples, row, decisions, loss_weights, scratch, mine, is_bfloat16, of_values
    )


@inlined
def policy_gradient(
    samples: Samples,
    row: int,
    legal_actions: int,
    decisions: int,
    loss_weights: LossWeights,
    scratch: LossScratch,
    mine: int,
) -> None:
    """Compute the gradient of policy loss, entropy and distance from the magnet for one row.

    On entry, row `mine` of `scratch.softmax` contains the ids of the legal actions, their logits,
    and the magnet's logits if the magnet has a weight. On return, `weights` in this row contains
    the gradients of the logits.
    """
    softmax, statistics = scratch.softmax, scratch.statistics[mine]
    legal, logits, weights = softmax.legal[mine], softmax.logits[mine], softmax.weights[mine]
    actions, old_log_probs = samples.actions[row], samples.log_probs[row]
    advantages, clip_range = samples.advantages[row], loss_weights.clip_range
    number, drawn_actions, share = legal_actions, actions.size, 1.0 / decisions
    most = highest(logits, number)
    total, mean = weigh(logits, number, most, softmax.bits[mine], softmax.numbers[mine], weights)
    spread = math.log(total)
    log_total, entropy = np.float64(most) + spread, spread - mean / total
    drawn, distance, magnets, to_magnet = 0.0, 0.0, softmax.magnets[mine], loss_weights.magnet
    if to_magnet != 0:
        drawn = _log_total(magnets, number)
        distance = drawn - log_total + _apart(logits, magnets, number, weights) / total
    slopes = 0.0  # sum of the loss's derivatives with respect to the log-probabilities
    for k in range(drawn_actions):
        log_prob = logits[place_of(actions[k], legal, number)] - log_total
        log_ratio = log_prob - old_log_probs[k]
        ratio = math.exp(log_ratio)
        clipped = min(max(ratio, 1.0 - clip_range), 1.0 + clip_range)
        slopes += _slope(advantages[k], ratio, clip_range) / drawn_actions
        objective = min(advantages[k] * ratio, advantages[k] * clipped)
        statistics[POLICY_LOSS] -= objective / drawn_actions
        statistics[CLIP_FRACTION] += (ratio != clipped) / drawn_actions
        statistics[APPROX_KL] += (ratio - 1.0 - log_ratio) / drawn_actions
    # The part of the logits' gradients that is the same for all actions.
    same = loss_weights.entropy * (entropy - log_total) - slopes
    if to_magnet != 0:
        same += to_magnet * (drawn - log_total - distance)
    to_both = loss_weights.entropy + to_magnet
    _pull(logits, magnets, number, to_magnet, to_both, same, share / total, weights)
    for k in range(drawn_actions):
        place = place_of(actions[k], legal, number)
        ratio = math.exp(logits[place] - log_total - old_log_probs[k])
        weights[place] += share * _slope(advantages[k], ratio, clip_range) / drawn_actions
    statistics[ENTROPY] += entropy
    statistics[MAGNET_DISTANCE] += distance


@summed
def _pull(
    logits: Any,
    magnets: Any,
    number: int,
    to_magnet: float,
    to_both: float,
    same: float,
    scale: float,
    weights: Any,
) -> None:
    """Turn softmax weights of the legal actions into gradients of their logits, in place."""
    magnetic, both = np.float32(to_magnet), np.float32(to_both)
    rest, factor = np.float32(same), np.float32(scale)
    for j in range(number):
        pull = both * logits[j] + rest
        if magnetic != np.float32(0):
            pull -= magnetic * magnets[j]
        weights[j] *= factor * pull


@inlined
def _log_total(logits: Any, number: int) -> Any:
    """Return the logarithm of the sum of exp(logit) over the first `number` logits."""
    most, total = highest(logits, number), 0.0
    for j in range(number):
        total += math.exp(logits[j] - most)
    return np.float64(most) + math.log(total)


@summed
def _apart(logits: Any, magnets: Any, number: int, weights: Any) -> Any:
    """Return the weighted sum of the differences between the logits and the magnet's logits."""
    apart = np.float32(0)
    for j in range(number):
        apart += weights[j] * (logits[j] - magnets[j])
    return apart


@inlined
def _slope(advantage: float, ratio: float, clip_range: float) -> Any:
    """Return the derivative of the clipped loss with respect to the log of the ratio."""
    clipped = min(max(ratio, 1.0 - clip_range), 1.0 + clip_range)
    if advantage * ratio <= advantage * clipped:
        return -advantage * ratio
    return 0.0


@inlined
def value_gradient(
    values: Any,
    samples: Samples,
    row: int,
    decisions: int,
    loss_weights: LossWeights,
    scratch: LossScratch,
    mine: int,
    is_bfloat16: bool,
    gradient: Any,
) -> None:
    """Write the gradients of the actor's value and of the critic's logits to `gradient`.

    `values` contains the actor's value, then the critic's logits, the mover's first.
    """
    statistics, targets = scratch.statistics[mine], samples.targets[row]
    share, players = loss_weights.value / decisions, targets.size
    error = read(values, 0, is_bfloat16) - targets[0]
    write(share * 2.0 * error, gradient, 0, is_bfloat16)
    statistics[OWN_VALUE_LOSS] += error * error
    for k in range(players):
        logit, wanted = read(values, 1 + k, is_bfloat16), 0.5 * (targets[k] + 1.0)
        small = math.exp(-abs(logit))
        chance = (1.0 if logit >= 0 else small) / (1.0 + small)
        write(share * (chance - wanted) / players, gradient, 1 + k, is_bfloat16)
        cross_entropy = max(logit, 0.0) - logit * wanted + math.log(1.0 + small)
        statistics[VALUE_LOSS] += cross_entropy / players
        if k == 0:
            statistics[ERROR] += 4.0 * (chance - wanted) * (chance - wanted)
            statistics[TARGET] += targets[k]
            statistics[SQUARE] += targets[k] * targets[k]


def explained_variance(means: NDArray[np.float64]) -> float:
    """Return the share of the variance of the movers' targets that the critic explains.

    It is computed from the means of the statistics, and is 0 if all targets are equal.
    """
    variance = float(means[SQUARE] - means[TARGET] ** 2)
    return 1.0 - float(means[ERROR]) / variance if variance > 1e-12 else 0.0
