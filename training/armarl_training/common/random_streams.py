"""The streams of chance of a run: generators that have its seed in common, and no draws.

What a run draws hangs on these numbers, so that none of them is ever changed.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What is drawn from a stream."""

    GAMES = 1  # of a shard: its number follows, and of a critic's games that of the lot
    LESSONS = 2  # of the head start
    UPDATES = 3  # of a learner of ours: the order in which it learns


def entropy(seed: int, stream: Stream, *more: int) -> tuple[int, ...]:
    """What a generator is seeded with; `more` tells streams of one kind apart."""
    return seed, int(stream), *more


def generator(seed: int, stream: Stream, *more: int) -> np.random.Generator:
    """A stream at its beginning; see `entropy`."""
    return np.random.default_rng(entropy(seed, stream, *more))
