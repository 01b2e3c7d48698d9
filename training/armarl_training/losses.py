"""The losses of PPO and their gradients with respect to what the networks put out.

Written out by hand and compiled: one pass over the legal actions of each decision, where automatic
differentiation would make a dozen over all actions. `tests/test_ppo.py` holds it to the latter.
(Functions are those of `math`: for GPUs Numba has NumPy's for some alone.)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import inlined
from armarl.loops import own

Floats = NDArray[Any]  # float32

# Sums over decisions
POLICY_LOSS, ENTROPY, CLIPPED, CHANGE, OWN_LOSS, VALUE_LOSS, DISTANCE = range(7)
STATISTICS = 7


class Decisions(NamedTuple):
    """Decisions, what the networks say of them, and the gradients of their mean loss."""

    outputs: Floats  # float32 (n, actions + 1) of the actor: logits, and the value it expects
    outlooks: Floats  # float32 (n, players) of the critic: logits of winning, the mover's first
    # Like outputs, of the policy from which the actor is held back (Sokota et al., 2023); not
    # looked at if its weight is 0.
    magnets: Floats
    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits
    actions: NDArray[np.int64]  # (n, k), the one taken, and others whose advantages are known
    chances: Floats  # float32 (n, k), the logarithms of their chances then
    gains: Floats  # float32 (n, k), advantages, normalised; all k count alike
    targets: Floats  # float32 (n, players), value targets in [-1, 1], the mover's first
    clip: float  # of the ratio of chances
    entropy_weight: float  # in the sum of the losses, as those that follow
    magnet_weight: float
    value_weight: float
    output_gradients: Floats  # float32 (n, actions + 1), written
    outlook_gradients: Floats  # float32 (n, players), written
    statistics: NDArray[np.float64]  # (2 * threads, STATISTICS), to which sums are added


def ppo_gradient(batch: Decisions, i: int, thread: int) -> None:
    """The gradient of decision `i`."""
    share = 1.0 / batch.outputs.shape[0]
    _actor_gradient(batch, i, share, batch.statistics[own(thread)])
    _value_gradient(batch, i, share * batch.value_weight, batch.statistics[own(thread)])


@inlined
def _actor_gradient(batch: Decisions, i: int, share: float, statistics: Any) -> None:
    """Of the policy's loss, its entropy, and its distance from the magnet."""
    logits, mask, gradient = batch.outputs[i], batch.masks[i], batch.output_gradients[i]
    samples = batch.actions.shape[1]
    total, entropy = _softmax(logits, mask, gradient)
    drawn, distance = 0.0, 0.0
    if batch.magnet_weight != 0:
        drawn = _log_total(batch.magnets[i], mask)
        distance = _distance(logits, total, batch.magnets[i], drawn, mask, gradient)
    slopes = 0.0  # of the loss, with respect to the log-probabilities of the actions
    for k in range(samples):
        change = logits[batch.actions[i, k]] - total - batch.chances[i, k]
        ratio = math.exp(change)
        bounded = min(max(ratio, 1.0 - batch.clip), 1.0 + batch.clip)
        slopes += _slope(batch.gains[i, k], ratio, batch.clip) / samples
        won = min(batch.gains[i, k] * ratio, batch.gains[i, k] * bounded)
        statistics[POLICY_LOSS] -= won / samples
        statistics[CLIPPED] += (ratio != bounded) / samples
        statistics[CHANGE] += (ratio - 1.0 - change) / samples
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):
                if (mask[byte] >> (7 - bit)) & 1:
                    a = 8 * byte + bit
                    pull = batch.entropy_weight * (logits[a] - total + entropy) - slopes
                    if batch.magnet_weight != 0:
                        apart = logits[a] - total - batch.magnets[i, a] + drawn
                        pull += batch.magnet_weight * (apart - distance)
                    gradient[a] = share * gradient[a] * pull
    for k in range(samples):
        a = batch.actions[i, k]
        ratio = math.exp(logits[a] - total - batch.chances[i, k])
        gradient[a] += share * _slope(batch.gains[i, k], ratio, batch.clip) / samples
    statistics[ENTROPY] += entropy
    statistics[DISTANCE] += distance


@inlined
def _softmax(logits: Any, mask: Any, chances: Any) -> Any:
    """Write the chances of the legal actions, and 0 for the others.

    Returns the logarithm of the sum of exp(logit) over the legal ones, and their entropy.
    """
    chances[:] = 0
    most = _most(logits, mask)
    total, mean = 0.0, 0.0  # of exp(x), and of x times it
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):
                if (mask[byte] >> (7 - bit)) & 1:
                    x = logits[8 * byte + bit] - most
                    weight = math.exp(np.float32(x))
                    chances[8 * byte + bit] = weight
                    total += weight
                    mean += weight * x
    for a in range(chances.size):
        chances[a] /= total
    spread = math.log(total)
    return most + spread, spread - mean / total


@inlined
def _log_total(logits: Any, mask: Any) -> Any:
    """The logarithm of the sum of exp(logit) over the legal actions."""
    most, total = _most(logits, mask), 0.0
    for byte in range(mask.size):
        for bit in range(8):
            if (mask[byte] >> (7 - bit)) & 1:
                total += math.exp(logits[8 * byte + bit] - most)
    return most + math.log(total)


@inlined
def _most(logits: Any, mask: Any) -> Any:
    """The highest logit of a legal action."""
    most = -np.inf
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):
                if (mask[byte] >> (7 - bit)) & 1 and logits[8 * byte + bit] > most:
                    most = logits[8 * byte + bit]
    return most


@inlined
def _distance(
    logits: Any, total: float, magnets: Any, drawn: float, mask: Any, chances: Any
) -> Any:
    """The divergence of the policy from the magnet; both logs of sums are known."""
    distance = 0.0
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):
                if (mask[byte] >> (7 - bit)) & 1:
                    a = 8 * byte + bit
                    distance += chances[a] * (logits[a] - total - magnets[a] + drawn)
    return distance


@inlined
def _slope(gain: float, ratio: float, clip: float) -> Any:
    """Of the clipped loss, with respect to the logarithm of the ratio of chances."""
    if gain * ratio <= gain * min(max(ratio, 1.0 - clip), 1.0 + clip):
        return -gain * ratio
    return 0.0


@inlined
def _value_gradient(batch: Decisions, i: int, share: float, statistics: Any) -> None:
    """Of what the actor expects, and of the critic's chances to win."""
    players, value = batch.outlooks.shape[1], batch.outputs.shape[1] - 1
    error = batch.outputs[i, value] - batch.targets[i, 0]
    batch.output_gradients[i, value] = share * 2.0 * error
    statistics[OWN_LOSS] += error * error
    for k in range(players):
        z, wanted = batch.outlooks[i, k], 0.5 * (batch.targets[i, k] + 1.0)
        chance = 1.0 / (1.0 + math.exp(-z))
        batch.outlook_gradients[i, k] = share * (chance - wanted) / players
        bits = max(z, 0.0) - z * wanted + math.log(1.0 + math.exp(-abs(z)))
        statistics[VALUE_LOSS] += bits / players
