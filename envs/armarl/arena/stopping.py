"""A sequential test that decides whether a player is stronger than another, and when to stop.

This is a generalised sequential probability ratio test (GSPRT) on deals. The scores of a deal's
games are correlated, so the test uses the mean score of each deal. It does not assume that these
mean scores have a particular distribution. To compare two hypotheses about their mean, it compares
the most likely distributions with these two means (Van den Bergh, 2019; Fishtest uses this test for
pairs of chess games).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Limit of `elo0` and `elo1`. At a larger lead, the weaker player wins less than one game in ten
# thousand.
MOST_ELO = 2000.0
_LEAST_DEALS = 8  # minimum for a decision; fewer deals do not show how scores vary
_STEPS = 60  # number of bisection steps
# Weight of each of two pseudo-deals, with the scores 0 and 1. They keep these scores possible even
# if no real deal has them.
_SPARE = 1e-3


@dataclass(frozen=True)
class Verdict:
    """The state of the test whether player A is stronger than player B.

    Attributes:
        decided: True if the test decides for A, False if it decides against A, None if it needs
            more deals.
        ratio: log likelihood ratio of the leads `elo1` and `elo0`.
        low: the test decides against A if the ratio is at most `low`.
        high: the test decides for A if the ratio is at least `high`.
        deals: number of deals so far.
        score: A's mean score over these deals.
    """

    decided: bool | None
    ratio: float
    low: float
    high: float
    deals: int
    score: float


def is_stronger(
    scores: Sequence[float],
    elo0: float = 0.0,
    elo1: float = 20.0,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> Verdict:
    """Test whether player A is stronger than player B.

    Args:
        scores: A's mean score in each deal, in [0, 1], in the order of play.
        elo0: A's largest lead in Elo points under the hypothesis that A is not stronger.
        elo1: A's smallest lead in Elo points under the hypothesis that A is stronger.
        alpha: probability of deciding for A when its lead is `elo0`.
        beta: probability of deciding against A when its lead is `elo1`.

    Raises:
        ValueError: `elo1` is not above `elo0`, one of them is beyond MOST_ELO, or a probability
            is not between 0 and 0.5.

    Example:
        >>> is_stronger([0.5] * 4).decided is None
        True
        >>> is_stronger([1.0, 0.5] * 50).decided
        True
    """
    if not (abs(elo0) <= MOST_ELO and abs(elo1) <= MOST_ELO):  # also refuses NaN
        raise ValueError(
            f"elo0 and elo1 must be from {-MOST_ELO:g} to {MOST_ELO:g}, not {elo0} and {elo1}"
        )
    if not elo0 < elo1:
        raise ValueError(f"elo1 must be above elo0, but elo1 is {elo1} and elo0 is {elo0}")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha and beta must be between 0 and 0.5, not {alpha} and {beta}")
    low, high = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    deals = len(scores)
    mean = float(np.mean(scores)) if deals else 0.5
    if deals < _LEAST_DEALS:
        return Verdict(None, 0.0, low, high, deals, mean)
    ratio = log_likelihood_ratio(scores, expected_score(elo0), expected_score(elo1))
    decided = True if ratio >= high else False if ratio <= low else None
    return Verdict(decided, ratio, low, high, deals, mean)


def expected_score(elo: float) -> float:
    """Return the expected score for a lead in Elo points.

    Example:
        >>> expected_score(0), round(expected_score(400), 3)
        (0.5, 0.909)
    """
    return float(1 / (1 + 10 ** (-elo / 400)))


def log_likelihood_ratio(scores: Sequence[float], mean0: float, mean1: float) -> float:
    """Return the log likelihood ratio of the scores for the means `mean1` and `mean0`."""
    values, counts = np.unique(np.asarray([0.0, 1.0, *scores]), return_counts=True)
    weights = counts.astype(float)
    weights[[0, -1]] -= 1 - _SPARE
    likely = [_likeliest(values, weights / weights.sum(), mean) for mean in (mean0, mean1)]
    return float(weights @ np.log(likely[1] / likely[0]))


def _likeliest(values: Floats, part: Floats, mean: float) -> Floats:
    """Return the distribution on `values`, with mean `mean`, under which `part` is most likely.

    The distribution is `part / (1 + x (values - mean))`. `x` is found by bisection.

    Args:
        values: the possible scores.
        part: the observed fraction of each score.
        mean: the mean of the distribution.
    """
    gaps = values - mean
    low, high = -1 / gaps.max(), -1 / gaps.min()
    for _ in range(_STEPS):
        x = (low + high) / 2
        if (part * gaps / (1 + x * gaps)).sum() > 0:
            low = x
        else:
            high = x
    found = part / (1 + x * gaps)
    return np.asarray(found / found.sum())
