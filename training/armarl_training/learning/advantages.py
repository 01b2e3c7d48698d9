"""Advantages and value targets of every decision, seat by seat (Schulman et al., 2016).

In a game of several seats what follows a decision, for the seat that took it, is its own next
decision: what the others do in between is its environment. A seat's return therefore arrives at
its last decision of the game, whoever ended it, and partners each get their side's return.
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
    """What happened in some games, and what to make of it; see `seat_advantages`."""

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
    """Generalised advantages and lambda-returns of a rollout, without discount.

    Args:
        movers: int64 (steps, games), the seat that decided.
        learners: bool (steps + 1, games), whether the learner decided, or is to after the last
            step.
        ends: int8 (steps, games), not PLAYING where the decision ended its game; the next step is
            then the first of another game.
        rewards: float32 (steps, games, players), every seat's return at the end of a game.
        values: float32 (steps, games, players), what every seat expects before the decision.
        last_values: float32 (games, players), likewise after the last step.
        policy_lambda: of the advantages.
        value_lambda: of the value targets.
        device: whose arrays they are.

    Returns:
        Advantages, float32 (steps, games), of the seats that decided; and value targets, float32
        (steps, games, players), of all seats: for one that did not decide, what it expects at the
        learner's next decision in it. Both are 0 where a rival decided.
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
    """Backwards through game `i`, with what follows for every seat in its scratch.

    Only values before the learner's decisions count, as the critic learns from these alone: where a
    rival is to move, it would take him for the learner. So a game that stops with a rival to move
    is known up to the learner's last decision in it, which is told nothing.
    """
    scratch = course.scratch[own(thread)]
    steps, _, players = course.values.shape
    # Of each seat: the value of its next decision, or its return; the advantage there; and the
    # surplus there of the lambda-return over the value.
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
    """What the values before each action should have been, by those that followed.

    Args:
        ends: (steps, games), not PLAYING where the action ended its game.
        cut: (steps, games), where the action tells nothing of the position before, whose value
            stands, for what came before as well: it was random (Watkins, 1989).
        outcomes: (steps, games, ...), what is true at the end of a game.
        values: (steps + 1, games, ...), what was expected of it before each action.

    Returns:
        float32 (steps, games, ...).
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
