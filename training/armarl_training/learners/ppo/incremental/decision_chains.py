"""Chains of consecutive decisions of a seat in a game. A chain stays together in a minibatch.

After the first decision of a chain, only the changes have to be read (`changes.entries_of`). Chains
are short, so that a minibatch has a few hundred of them, from many games and seats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST = 256  # target number of chains in a minibatch, if it has at least as many decisions


class Chains(NamedTuple):
    """The learner's decisions in a rollout, sorted by chain.

    Attributes:
        rows: int64 (n,), rows of the rollout, with (steps, games) flattened to one axis.
        anew: bool (n,), whether a chain begins at the decision.
    """

    rows: NDArray[np.int64]
    anew: NDArray[np.bool_]

    def dealt(
        self, rng: np.random.Generator, minibatches: int, parts: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        """Shuffle whole chains, and yield the parts of each minibatch, as indices into `rows`."""
        starts = np.flatnonzero(self.anew)
        lengths = np.diff(starts, append=self.rows.size)
        for some in _cut(rng.permutation(starts.size), lengths, minibatches):
            # Sort the chains for faster access. The order within a minibatch does not matter.
            shares = _cut(np.sort(some), lengths, parts)
            yield [_places(starts[share], lengths[share]) for share in shares]


def chains_of(learners: NDArray[Any], movers: NDArray[Any], length: int) -> Chains:
    """Group a rollout's decisions into chains.

    Args:
        learners: bool (steps, games), whether the decision was the learner's.
        movers: int64 (steps, games), the seats that took the decisions.
        length: number of rollout steps after which all chains end.
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
    """Return the number of rollout steps in a chain.

    In these steps a seat takes about `minibatch / FEWEST` decisions, if the rollout is long enough.
    """
    return max(1, min(steps, minibatch * players // FEWEST))


def _cut(
    chains: NDArray[np.int64], lengths: NDArray[np.int64], parts: int
) -> list[NDArray[np.int64]]:
    """Split chains into parts with about the same number of decisions."""
    ends = lengths[chains].cumsum()
    whole = int(ends[-1]) if ends.size else 0
    return np.split(chains, np.searchsorted(ends, whole * np.arange(1, parts) / parts))


def _places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the decisions of some chains."""
    first = lengths.cumsum() - lengths
    return np.repeat(starts - first, lengths) + np.arange(int(lengths.sum()))
