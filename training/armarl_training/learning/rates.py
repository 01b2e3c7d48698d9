"""Constants, schedules and minibatch counts that several learners use."""

from __future__ import annotations

# Maximum gradient norm of `td`, `critic`, and MaskablePPO's imitation of a teacher. Larger
# gradients are scaled down to it.
LONGEST_GRADIENT = 1.0


def minibatches(rows: int, minibatch: int) -> int:
    """Return the number of minibatches, of about `minibatch` rows each, for `rows` rows."""
    return max(1, round(rows / minibatch))


def annealed(start: float, end: float, done: float) -> float:
    """Interpolate a rate linearly from `start` (for `done` = 0) to `end` (for `done` = 1)."""
    return start + done * (end - start)


RECENT_GAMES = 500  # number of latest games in the mean return against each opponent
