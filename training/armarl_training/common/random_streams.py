"""The random streams of a run: independent random number generators from one seed.

The random numbers of a run depend on the values of `Stream`. Never change these values.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """The purpose of a random stream."""

    GAMES = 1  # a shard's games; `more` is the shard's number, then for critics the batch's number
    LESSONS = 2  # the games of the teacher that the network imitates before the training
    UPDATES = 3  # order of the minibatches of ArmaRL's own learners


def entropy(seed: int, stream: Stream, *more: int) -> tuple[int, ...]:
    """Return the entropy that seeds a generator. `more` separates streams of the same purpose."""
    return seed, int(stream), *more


def generator(seed: int, stream: Stream, *more: int) -> np.random.Generator:
    """Create the random number generator of a stream, see `entropy`."""
    return np.random.default_rng(entropy(seed, stream, *more))
