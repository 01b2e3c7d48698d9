"""Constants and schedules that all learners share."""

from __future__ import annotations

# Largest gradient norm of judges, critics and MaskablePPO's head start. Larger gradients are scaled
# down to it.
LONGEST_GRADIENT = 1.0


def minibatches(rows: int, minibatch: int) -> int:
    """Return the number of parts to split rows into, each about as large as a minibatch."""
    return max(1, round(rows / minibatch))


def annealed(start: float, end: float, done: float) -> float:
    """Interpolate a rate linearly from `start` to `end`. `done` is the fraction, in [0, 1]."""
    return start + done * (end - start)


RECENT_GAMES = 500  # number of last games in the mean return against each opponent
