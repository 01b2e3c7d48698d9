"""The losses of PPO and their gradients with respect to what the networks put out.

Written out by hand and compiled: one pass over the legal actions of each decision, where automatic
differentiation would make a dozen over all actions. `tests/test_ppo.py` holds it to the latter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiled import kernel, part

# Sums over decisions
POLICY_LOSS, ENTROPY, CLIPPED, CHANGE, OWN_LOSS, VALUE_LOSS, DISTANCE = range(7)
STATISTICS = 7


@part
def _log_total(logits: Any, mask: Any) -> Any:
    """The logarithm of the sum of exp(logit) over the legal actions."""
    most, total = -np.inf, 0.0
    for byte in range(mask.size):
        for bit in range(8):
            if (mask[byte] >> (7 - bit)) & 1:
                most = max(most, logits[8 * byte + bit])
    for byte in range(mask.size):
        for bit in range(8):
            if (mask[byte] >> (7 - bit)) & 1:
                total += np.exp(logits[8 * byte + bit] - most)
    return most + np.log(total)


@kernel
def ppo_gradients(
    outputs: Any,
    outlooks: Any,
    magnets: Any,
    masks: Any,
    actions: Any,
    chances: Any,
    gains: Any,
    targets: Any,
    clip: Any,
    entropy_weight: Any,
    magnet_weight: Any,
    value_weight: Any,
    output_gradients: Any,
    outlook_gradients: Any,
    statistics: Any,
) -> None:
    """Gradients of the mean loss of n decisions.

    Args:
        outputs: float32 (n, actions + 1) of the actor: logits, and the value it expects.
        outlooks: float32 (n, players) of the critic: logits of winning, the mover's first.
        magnets: like outputs, of the policy from which the actor is held back (Sokota et al.,
            2023); not looked at if its weight is 0.
        masks: uint8 (n, bytes), the legal actions as bits.
        actions: int64 (n, k), the action taken, and others whose advantages are known.
        chances: float32 (n, k), the logarithms of their chances then.
        gains: float32 (n, k), advantages, normalised; all k count alike.
        targets: float32 (n, players), value targets in [-1, 1], the mover's first.
        clip: of the ratio of chances.
        entropy_weight, magnet_weight, value_weight: of the losses in their sum.
        output_gradients, outlook_gradients: of the shapes of the outputs, to write into.
        statistics: float64 (STATISTICS,), to which sums over the decisions are added.
    """
    n, width = outputs.shape
    players, samples = outlooks.shape[1], actions.shape[1]
    value = width - 1
    share = 1.0 / n
    for i in range(n):
        logits, gradient, mask = outputs[i], output_gradients[i], masks[i]
        gradient[:] = 0
        most = -np.inf
        for byte in range(mask.size):
            if mask[byte]:
                for bit in range(8):
                    if (mask[byte] >> (7 - bit)) & 1 and logits[8 * byte + bit] > most:
                        most = logits[8 * byte + bit]
        total, mean = 0.0, 0.0  # of exp(x), and of x times it
        for byte in range(mask.size):
            if mask[byte]:
                for bit in range(8):
                    if (mask[byte] >> (7 - bit)) & 1:
                        x = logits[8 * byte + bit] - most
                        weight = np.exp(np.float32(x))
                        gradient[8 * byte + bit] = weight
                        total += weight
                        mean += weight * x
        spread = np.log(total)
        entropy = spread - mean / total
        distance, drawn = 0.0, 0.0  # from the magnet; its own log of the sum of all exp(x)
        if magnet_weight != 0:
            drawn = _log_total(magnets[i], mask)
            for byte in range(mask.size):
                if mask[byte]:
                    for bit in range(8):
                        a = 8 * byte + bit
                        if (mask[byte] >> (7 - bit)) & 1:
                            apart = logits[a] - most - spread - magnets[i, a] + drawn
                            distance += gradient[a] / total * apart
        loss, slopes = 0.0, 0.0
        for k in range(samples):
            gain, change = gains[i, k], logits[actions[i, k]] - most - spread - chances[i, k]
            ratio = np.exp(change)
            bounded = min(max(ratio, 1.0 - clip), 1.0 + clip)
            loss -= min(gain * ratio, gain * bounded) / samples
            # Of the loss, with respect to the log-probability of the action.
            if gain * ratio <= gain * bounded:
                slopes -= gain * ratio / samples
            statistics[CLIPPED] += (ratio != bounded) / samples
            statistics[CHANGE] += (ratio - 1.0 - change) / samples
        for byte in range(mask.size):
            if mask[byte]:
                for bit in range(8):
                    a = 8 * byte + bit
                    if (mask[byte] >> (7 - bit)) & 1:
                        p = gradient[a] / total
                        log = logits[a] - most - spread
                        pull = entropy_weight * (log + entropy) - slopes
                        if magnet_weight != 0:
                            pull += magnet_weight * (log - magnets[i, a] + drawn - distance)
                        gradient[a] = share * p * pull
        for k in range(samples):
            gain, change = gains[i, k], logits[actions[i, k]] - most - spread - chances[i, k]
            ratio = np.exp(change)
            if gain * ratio <= gain * min(max(ratio, 1.0 - clip), 1.0 + clip):
                gradient[actions[i, k]] -= share * gain * ratio / samples
        error = outputs[i, value] - targets[i, 0]
        gradient[value] = share * value_weight * 2.0 * error
        for k in range(players):
            z, wanted = outlooks[i, k], 0.5 * (targets[i, k] + 1.0)
            chance = 1.0 / (1.0 + np.exp(-z))
            outlook_gradients[i, k] = share * value_weight * (chance - wanted) / players
            bits = max(z, 0.0) - z * wanted + np.log(1.0 + np.exp(-abs(z)))
            statistics[VALUE_LOSS] += bits / players
        statistics[POLICY_LOSS] += loss
        statistics[ENTROPY] += entropy
        statistics[DISTANCE] += distance
        statistics[OWN_LOSS] += error * error
