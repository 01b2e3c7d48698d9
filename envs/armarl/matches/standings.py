"""The results of each player in a match: win rates with 95 % intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.959964  # 95 % of a normal distribution is within this many standard deviations of its mean


@dataclass(frozen=True)
class Standing:
    """The result of one player in a match.

    Attributes:
        player: the player's name.
        games: number of games.
        wins: number of games that its side won alone.
        shared: number of games in which its side shared the victory.
        losses: number of games that it lost.
        cut_short: number of games that the rules cut short. Nobody gets a share of the victory.
        win_rate: mean share of victory. A draw of two sides counts as one half for each.
        low: lower end of the 95 % interval of `win_rate` (Wilson, 1927). The interval allows for
            games of the same deal, which are not independent (Kish, 1965).
        high: upper end of the 95 % interval of `win_rate`.
        fair: expected win rate if all players are equally strong: the fraction of the sides that
            the player has.
        reward: mean return with the reward "win", in [-1, 1].

    Example:
        >>> import armarl
        >>> result = armarl.play_match("armadora", ["random", "random"], games=10, seed=1)
        >>> first = result.standings[0]
        >>> first.player, first.games, first.wins + first.shared + first.losses, first.fair
        ('random', 10, 10, 0.5)
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
    """Return the 95 % interval of the mean of `share`, which has the shape (deals, rotations).

    Games of the same deal are not independent. If their results are correlated, the number of games
    is divided by the design effect (Kish, 1965), which is estimated from the spread between deals.
    """
    games, mean = share.size, float(share.mean())
    spread = mean * (1 - mean)
    if len(share) > 1 and spread > 0:
        between = float(share.mean(axis=1).var(ddof=1)) * share.shape[1]
        games /= max(1.0, between / spread)
    return wilson_interval(mean, games)


def wilson_interval(rate: float, games: float) -> tuple[float, float]:
    """Return the 95 % interval of a probability (Wilson, 1927).

    Args:
        rate: fraction of games won.
        games: number of independent games.
    """
    centre = (rate + _Z**2 / (2 * games)) / (1 + _Z**2 / games)
    half = math.sqrt(rate * (1 - rate) / games + _Z**2 / (4 * games**2)) * _Z / (1 + _Z**2 / games)
    return max(0.0, centre - half), min(1.0, centre + half)
