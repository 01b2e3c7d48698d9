"""When to stop asking which of two players is stronger.

A generalised sequential probability ratio test (GSPRT) on deals: the scores of a deal's games vary
together, so what counts is the mean score of each deal, whatever its distribution. How much
likelier the scores are under one mean than under another is found by the distributions of greatest
likelihood with these means (Van den Bergh, 2019, as Fishtest uses it for pairs of chess games).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_ELO = 2000.0  # a lead beyond which the weaker one wins no game in ten thousand
_LEAST_DEALS = 8  # before them the scores' distribution is not known at all
_STEPS = 60  # of bisection
_SPARE = 1e-3  # deals put on every possible end, so that no score is impossible


@dataclass(frozen=True)
class Verdict:
    """What the test says so far.

    Attributes:
        decided: True: A is stronger, by `elo1`; False: he is not, by more than `elo0`; None: it is
            too early to say.
        ratio: the logarithm of the likelihood ratio, against which `low` and `high` decide.
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
    """Whether A is stronger than B, by A's mean score of each deal, in [0, 1], in order.

    Args:
        elo0: what A is stronger by, at most, if he is not.
        elo1: what he is stronger by, at least, if he is.
        alpha: the probability to say that he is where his strength is `elo0`.
        beta: the probability to say that he is not where it is `elo1`.

    Raises:
        ValueError: `elo1` is not above `elo0`, or they are beyond MOST_ELO, or a probability is not
            between 0 and a half.
    """
    if not (abs(elo0) <= MOST_ELO and abs(elo1) <= MOST_ELO):  # of NaN neither
        raise ValueError(f"elo0 and elo1 are up to {MOST_ELO:g}, not {elo0} and {elo1}")
    if not elo0 < elo1:
        raise ValueError(f"elo1 must be above elo0, not {elo1} and {elo0}")
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError("alpha and beta are probabilities between 0 and 0.5")
    low, high = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    deals = len(scores)
    mean = float(np.mean(scores)) if deals else 0.5
    if deals < _LEAST_DEALS:
        return Verdict(None, 0.0, low, high, deals, mean)
    ratio = log_likelihood_ratio(scores, expected_score(elo0), expected_score(elo1))
    decided = True if ratio >= high else False if ratio <= low else None
    return Verdict(decided, ratio, low, high, deals, mean)


def expected_score(elo: float) -> float:
    """The score that a lead in Elo points promises."""
    return float(1 / (1 + 10 ** (-elo / 400)))


def log_likelihood_ratio(scores: Sequence[float], mean0: float, mean1: float) -> float:
    """How much likelier the scores are with `mean1` than with `mean0`, as a logarithm."""
    values, counts = np.unique(np.asarray([0.0, 1.0, *scores]), return_counts=True)
    weights = counts.astype(float)
    weights[[0, -1]] -= 1 - _SPARE
    likely = [_likeliest(values, weights / weights.sum(), mean) for mean in (mean0, mean1)]
    return float(weights @ np.log(likely[1] / likely[0]))


def _likeliest(values: Floats, part: Floats, mean: float) -> Floats:
    """The distribution on `values` with this mean under which such parts are likeliest.

    It is `part / (1 + x (values - mean))`, and `x` is found by bisection.
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
