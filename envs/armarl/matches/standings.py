"""How each player fared in a match: win rates with 95 % intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.959964  # 95 % of the normal distribution lie within


@dataclass(frozen=True)
class Standing:
    """How one player fared in a match.

    Attributes:
        fair: the win rate among equals: the part of the sides that it holds.
        wins: games in which its side alone won.
        shared: games whose victory its side shared.
        cut_short: games that ended without a winner; they count as no victory for anybody.
        win_rate: the mean share of victory (a draw of two counts a half), with its 95 % interval.
        reward: the mean "win" return, in [-1, 1].
    """

    player: str
    games: int
    wins: int
    shared: int
    losses: int
    cut_short: int
    win_rate: float
    low: float
    high: float
    fair: float
    reward: float


def _standings(
    names: list[str],
    shares: NDArray[np.float64],
    rewards: NDArray[np.float64],
    tables: list[list[int]],
) -> tuple[Standing, ...]:
    standings = []
    for entrant, name in enumerate(names):
        cut_short = np.isnan(shares[:, :, entrant])
        share = np.where(cut_short, 0.0, shares[:, :, entrant])
        low, high = _interval(share)
        standings.append(
            Standing(
                player=name,
                games=share.size,
                wins=int((share > 1 - 1e-9).sum()),
                shared=int(((share > 1e-9) & (share < 1 - 1e-9)).sum()),
                losses=int((share < 1e-9).sum() - cut_short.sum()),
                cut_short=int(cut_short.sum()),
                win_rate=float(share.mean()),
                low=low,
                high=high,
                fair=float(np.mean(np.array(tables) == entrant)),
                reward=float(rewards[:, :, entrant].mean()),
            )
        )
    return tuple(standings)


def _interval(share: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of the mean of `share` (deals, rotations).

    The games of a deal are no independent ones. Where they vary together the number of games is
    cut by the design effect (Kish, 1965), measured from the spread between deals.
    """
    games, mean = share.size, float(share.mean())
    spread = mean * (1 - mean)
    if len(share) > 1 and spread > 0:
        between = float(share.mean(axis=1).var(ddof=1)) * share.shape[1]
        games /= max(1.0, between / spread)
    return wilson_interval(mean, games)


def wilson_interval(rate: float, games: float) -> tuple[float, float]:
    """95 % interval of a probability, from the part of so many independent games (Wilson, 1927)."""
    centre = (rate + _Z**2 / (2 * games)) / (1 + _Z**2 / games)
    half = math.sqrt(rate * (1 - rate) / games + _Z**2 / (4 * games**2)) * _Z / (1 + _Z**2 / games)
    return max(0.0, centre - half), min(1.0, centre + half)
