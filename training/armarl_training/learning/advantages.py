"""Advantages and value targets of every decision, seat by seat (Schulman et al., 2016).

In a game with several seats, the next step after a seat's decision is that seat's own next
decision. The moves of other seats in between are part of the seat's environment. A seat therefore
gets its return at its last decision of the game, no matter which seat ended the game. Each partner
gets the return of its side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.core.batch_loops import own
from armarl.core.verbs import PLAYING

if TYPE_CHECKING:
    from armarl_training.networks.learner_devices import Array, LearnerDevice


class Course(NamedTuple):
    """Arguments of `look_back`: a rollout and the arrays for its results, see `seat_advantages`."""

    movers: NDArray[np.int64]
    learners: NDArray[np.bool_]
    ends: NDArray[np.int8]
    rewards: NDArray[np.float32]
    values: NDArray[np.float32]
    last_values: NDArray[np.float32]
    policy_lambda: float
    value_lambda: float
    scratch: NDArray[np.float64]  # (2 * threads, 3, players)
    advantages: NDArray[np.float32]  # written
    targets: NDArray[np.float32]  # written


def seat_advantages(
    movers: Array,
    learners: Array,
    ends: Array,
    rewards: Array,
    values: Array,
    last_values: Array,
    *,
    policy_lambda: float,
    value_lambda: float,
    device: LearnerDevice,
) -> tuple[Array, Array]:
    """Compute the generalised advantages and lambda-returns of a rollout, without discounting.

    Args:
        movers: the seat that decided, int64, shape (steps, games).
        learners: whether the learner (not an opponent) decided, bool, shape (steps + 1, games).
            The last row says whether the learner decides next, after the rollout.
        ends: a value other than PLAYING where the decision ended its game, int8, shape (steps,
            games). The next step then starts a new game.
        rewards: every seat's return at the end of a game, float32, shape (steps, games, players).
        values: the critic's value of every seat before the decision, float32, shape (steps, games,
            players).
        last_values: the critic's value of every seat after the last step, float32, shape (games,
            players).
        policy_lambda: lambda of the advantages.
        value_lambda: lambda of the value targets.
        device: the device of the arrays.

    Returns:
        The advantages of the seats that decided, float32, shape (steps, games), and the value
        targets of all seats, float32, shape (steps, games, players). The target of the seat that
        decided is its lambda-return. The target of another seat is its lambda-return at its own
        next decision, or its return or last value if there is none. Advantages and targets are 0
        where an opponent decided.
    """
    (steps, games, players), zeros = values.shape, device.zeros
    course = Course(
        movers=movers,
        learners=learners,
        ends=ends,
        rewards=rewards,
        values=values,
        last_values=last_values,
        policy_lambda=policy_lambda,
        value_lambda=value_lambda,
        scratch=device.interleaved((device.scratch_rows(games), 3, players), np.float64),
        advantages=zeros((steps, games), np.float32),
        targets=zeros((steps, games, players), np.float32),
    )
    device.run(look_back, games, course)
    return course.advantages, course.targets


def look_back(course: Course, i: int, thread: int) -> None:
    """Go backwards through game `i` and write its advantages and targets.

    The critic learns only from positions where the learner decides, so only its values of these
    positions are used. Where an opponent is to move, the critic would assume that the learner
    moves. If the rollout stops with an opponent to move, the value at the learner's last decision
    is used as the value after that decision, whose advantage is then 0.
    """
    scratch = course.scratch[own(thread)]
    steps, _, players = course.values.shape
    # For each seat: the value at its next decision, or the seat's return if there is none; the
    # advantage of this next decision; and its lambda-return minus its value.
    following, advantage, surplus = scratch[0], scratch[1], scratch[2]
    for seat in range(players):
        following[seat], advantage[seat], surplus[seat] = course.last_values[i, seat], 0.0, 0.0
    known = course.learners[steps, i]
    for t in range(steps - 1, -1, -1):
        if course.ends[t, i] != PLAYING:
            for seat in range(players):
                following[seat] = course.rewards[t, i, seat]
                advantage[seat], surplus[seat] = 0.0, 0.0
            known = True
        if course.learners[t, i]:
            if not known:
                for seat in range(players):
                    following[seat] = course.values[t, i, seat]
                known = True
            mover = course.movers[t, i]
            difference = following[mover] - course.values[t, i, mover]
            advantage[mover] = difference + course.policy_lambda * advantage[mover]
            surplus[mover] = difference + course.value_lambda * surplus[mover]
            following[mover] = course.values[t, i, mover]
            course.advantages[t, i] = advantage[mover]
            for seat in range(players):
                course.targets[t, i, seat] = following[seat] + surplus[seat]


def lambda_returns(
    ends: NDArray[np.int8],
    cut: NDArray[np.bool_],
    outcomes: NDArray[np.float32],
    values: NDArray[np.float32],
    value_lambda: float,
) -> NDArray[np.float32]:
    """Compute the lambda-returns, the targets of the values before each action.

    Args:
        ends: a value other than PLAYING where the action ended its game, shape (steps, games).
        cut: whether returns are cut at the action because it was random (Watkins, 1989), shape
            (steps, games). The target of such an action is the value before it, and the returns of
            earlier actions end with this value.
        outcomes: the true outcome at the end of a game, shape (steps, games, ...).
        values: the predicted outcome before each action, shape (steps + 1, games, ...).
        value_lambda: lambda of the returns.

    Returns:
        The lambda-returns, float32, shape (steps, games, ...).
    """
    targets = np.empty(outcomes.shape, np.float32)
    following = values[-1]
    for t in range(len(ends) - 1, -1, -1):
        over, stands = (
            some.reshape(-1, *[1] * (outcomes.ndim - 2)) for some in (ends[t] != PLAYING, cut[t])
        )
        on = (1 - value_lambda) * values[t + 1] + value_lambda * following
        found = np.where(over, outcomes[t], on)
        following = targets[t] = np.where(stands, values[t], found)
    return targets
