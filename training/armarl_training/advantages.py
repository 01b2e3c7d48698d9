"""Advantages and value targets of every decision, seat by seat (Schulman et al., 2016).

In a game of several seats what follows a decision, for the seat that took it, is its own next
decision: what the others do in between is its environment. A seat's return therefore arrives at
its last decision of the game, whoever ended it, and partners each get their side's return.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import kernel
from armarl.verbs import PLAYING


def seat_advantages(
    movers: NDArray[np.int64],
    ends: NDArray[np.int8],
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    last_values: NDArray[np.float32],
    *,
    policy_lambda: float,
    value_lambda: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Generalised advantages and lambda-returns of a rollout, without discount.

    Args:
        movers: (steps, games), the seat that decided.
        ends: (steps, games), not PLAYING where the decision ended its game; the next step is then
            the first of another game.
        rewards: (steps, games, players), every seat's return at the end of a game.
        values: (steps, games, players), what every seat expects before the decision.
        last_values: (games, players), likewise after the last step.
        policy_lambda: of the advantages.
        value_lambda: of the value targets.

    Returns:
        Advantages, float32 (steps, games), of the seats that decided; and value targets, float32
        (steps, games, players), of all seats: for one that did not decide, what it expects at its
        next decision.
    """
    advantages = np.empty(movers.shape, np.float32)
    targets = np.empty(values.shape, np.float32)
    scratch = np.empty((3, values.shape[2]))
    arrays = (movers, ends, rewards, values, last_values)
    _seat_advantages(*arrays, policy_lambda, value_lambda, scratch, advantages, targets)
    return advantages, targets


@kernel
def _seat_advantages(
    movers: Any,
    ends: Any,
    rewards: Any,
    values: Any,
    last_values: Any,
    policy_lambda: Any,
    value_lambda: Any,
    scratch: Any,
    advantages: Any,
    targets: Any,
) -> None:
    """Backwards through each game, with what follows for every seat in `scratch`."""
    steps, games, players = values.shape
    # Of each seat: the value of its next decision, or its return; the advantage there; and the
    # surplus there of the lambda-return over the value.
    following, advantage, surplus = scratch[0], scratch[1], scratch[2]
    for i in range(games):
        for seat in range(players):
            following[seat], advantage[seat], surplus[seat] = last_values[i, seat], 0.0, 0.0
        for t in range(steps - 1, -1, -1):
            if ends[t, i] != PLAYING:
                for seat in range(players):
                    following[seat], advantage[seat], surplus[seat] = rewards[t, i, seat], 0.0, 0.0
            mover = movers[t, i]
            difference = following[mover] - values[t, i, mover]
            advantage[mover] = difference + policy_lambda * advantage[mover]
            surplus[mover] = difference + value_lambda * surplus[mover]
            following[mover] = values[t, i, mover]
            advantages[t, i] = advantage[mover]
            for seat in range(players):
                targets[t, i, seat] = following[seat] + surplus[seat]


def lambda_returns(
    ends: NDArray[np.int8],
    outcomes: NDArray[np.float32],
    values: NDArray[np.float32],
    value_lambda: float,
) -> NDArray[np.float32]:
    """What the values before each action should have been, by those that followed.

    Args:
        ends: (steps, games), not PLAYING where the action ended its game.
        outcomes: (steps, games, ...), what is true at the end of a game.
        values: (steps + 1, games, ...), what was expected of it before each action.

    Returns:
        float32 (steps, games, ...).
    """
    targets = np.empty(outcomes.shape, np.float32)
    following = values[-1]
    for t in range(len(ends) - 1, -1, -1):
        over = (ends[t] != PLAYING).reshape(-1, *[1] * (outcomes.ndim - 2))
        on = (1 - value_lambda) * values[t + 1] + value_lambda * following
        following = targets[t] = np.where(over, outcomes[t], on)
    return targets
