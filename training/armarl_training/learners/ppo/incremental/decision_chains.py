"""Which decisions lie together in a minibatch: those that a seat took one after another.

Of each of them but the first no more need be looked at than what has changed (`entries`). Chains
are short, so that in a minibatch there are some hundred of them, of as many games or seats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST = 256  # chains in a minibatch, or as many as it has decisions


class Chains(NamedTuple):
    """The learner's decisions of a rollout, chain by chain.

    Attributes:
        rows: int64 (n,), rows of the rollout, whose steps and games are one axis.
        anew: bool (n,), where a chain begins.
    """

    rows: NDArray[np.int64]
    anew: NDArray[np.bool_]

    def dealt(
        self, rng: np.random.Generator, minibatches: int, parts: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Whole chains by chance, as places in `rows`: of every minibatch its parts."""
        starts = np.flatnonzero(self.anew)
        lengths = np.diff(starts, append=self.rows.size)
        for some in _cut(rng.permutation(starts.size), lengths, minibatches):
            # In the order of memory, since where they stand in a minibatch matters to nobody.
            shares = _cut(np.sort(some), lengths, parts)
            yield [_places(starts[share], lengths[share]) for share in shares]


def chains_of(learners: NDArray[Any], movers: NDArray[Any], length: int) -> Chains:
    """Of a rollout's decisions.

    Args:
        learners: bool (steps, games), whether the decision was the learner's.
        movers: int64 (steps, games), who took it.
        length: steps after which a chain ends in any case.
    """
    rows = np.flatnonzero(learners)
    steps, games = np.divmod(rows, learners.shape[1])
    movers, blocks = movers.reshape(-1)[rows], steps // length
    order = np.lexsort((steps, movers, games, blocks))
    chain = np.stack([blocks, games, movers])[:, order]
    anew = np.ones(rows.size, np.bool_)
    anew[1:] = (chain[:, 1:] != chain[:, :-1]).any(axis=0)
    return Chains(rows[order], anew)


def chain_length(minibatch: int, steps: int, players: int) -> int:
    """Steps of a rollout that make a chain: about `minibatch / FEWEST` decisions of a seat."""
    return max(1, min(steps, minibatch * players // FEWEST))


def _cut(
    chains: NDArray[np.int64], lengths: NDArray[np.int64], parts: int
) -> list[NDArray[np.int64]]:
    """Into parts of about as many decisions."""
    ends = lengths[chains].cumsum()
    whole = int(ends[-1]) if ends.size else 0
    return np.split(chains, np.searchsorted(ends, whole * np.arange(1, parts) / parts))


def _places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of the decisions of some chains."""
    first = lengths.cumsum() - lengths
    return np.repeat(starts - first, lengths) + np.arange(int(lengths.sum()))
