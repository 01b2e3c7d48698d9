"""Schedules and sizes that all learners share."""

from __future__ import annotations

LONGEST_GRADIENT = 1.0  # of judges, critics and MaskablePPO's head start; longer are scaled down


def minibatches(rows: int, minibatch: int) -> int:
    """In how many parts to learn from so many rows, that each has about as many as a minibatch."""
    return max(1, round(rows / minibatch))


def annealed(start: float, end: float, done: float) -> float:
    """A rate that goes linearly from `start` to `end`, at a part `done` of the way, in [0, 1]."""
    return start + done * (end - start)


RECENT_GAMES = 500  # against each opponent, of which the mean is shown
