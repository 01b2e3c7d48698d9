"""The random streams of a run: independent random number generators from one seed.

The random numbers of a run depend on the numbers below, so these must never change.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """The purpose of a stream."""

    GAMES = 1  # a shard's games; the shard's number follows, and for critics the batch's number
    LESSONS = 2  # games of the head start
    UPDATES = 3  # order of the minibatches of our own learners


def entropy(seed: int, stream: Stream, *more: int) -> tuple[int, ...]:
    """Return the entropy that seeds a generator. `more` tells streams of one kind apart."""
    return seed, int(stream), *more


def generator(seed: int, stream: Stream, *more: int) -> np.random.Generator:
    """Create the random number generator of a stream, see `entropy`."""
    return np.random.default_rng(entropy(seed, stream, *more))
