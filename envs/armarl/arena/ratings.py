"""Ratings: how strong players are, by the games that they won, with intervals that hold.

Who wins a game is modelled as Luce's choice, the first stage of Plackett and Luce: side `k` wins
with a probability in proportion to `exp(strength + seat)`, where the strength is the mean of those
who play for the side and `seat` is what the place is worth. A shared victory counts in parts. The
prior is weak: at every table a tenth of a game was drawn, so that ratings stay finite where
somebody has won or lost everything.

The games of a deal are not independent: its luck falls on all of them. So whole deals are what is
drawn in the bootstrap (Efron, 1979), and the standard error of a rating is the spread of the
ratings of the resamples. An interval reaches as many standard errors to both sides as Student's
distribution has it for so many deals; `scripts/rating_coverage.py` shows that such intervals hold.
(Tried besides, in small pilots: percentiles and bootstrap-t, which held less often where somebody
wins nearly all. The packages choix and openskill were passed over without a trial: by their
documentation neither knows seats and deals.)

Everything depends on few numbers: by deal and table, the sum of the shares of victory of each side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ELO = 400 / math.log(10)  # Elo points of one unit of strength
DRAWN = 0.1  # games at every table that were shared by all: the prior
RESAMPLES = 1000
LEVEL = 0.95
_STREAM = 95  # so that no games are drawn by the numbers that draw their deals again
_RIDGE = 1e-6  # holds the means of all, which no difference notices
_STEPS, _LONGEST_STEP, _CLOSE = 100, 2.0, 1e-7  # of Newton's method, in units of strength


class Tally(NamedTuple):
    """What a tournament's games amount to.

    A *table* is one way to seat players. Where a deal was not played at a table, all is 0.

    Attributes:
        members: (tables, sides, players) the part of each side's strength that a player is.
        shares: (deals, tables, sides) sums of the shares of victory; over the sides they add up
            to the number of games.
    """

    members: Floats
    shares: Floats

    @property
    def games(self) -> Floats:
        """(deals, tables) the number of games."""
        return np.asarray(self.shares.sum(axis=2))


class Estimates(NamedTuple):
    """Numbers with their intervals of 95 %; arrays of one shape."""

    value: Floats
    low: Floats
    high: Floats
    error: Floats  # standard errors

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Where 0 lies outside the interval."""
        return (self.low > 0) | (self.high < 0)


@dataclass(frozen=True)
class Ratings:
    """Ratings of a tournament, in Elo points.

    Attributes:
        players: (players,) over the anchor's, who has 0 for certain.
        differences: (players, players) of the row's player over the column's.
        seats: (sides,) what the place is worth, over the mean of the places.
    """

    players: Estimates
    differences: Estimates
    seats: Estimates


def rate(tally: Tally, anchor: int = 0, resamples: int = RESAMPLES, seed: int = 0) -> Ratings:
    """Ratings by maximum likelihood, with intervals by the bootstrap over deals.

    Args:
        anchor: the player who has 0.
        resamples: of the bootstrap.
        seed: repeats the bootstrap exactly.

    Raises:
        ValueError: there are fewer than 2 deals: nothing tells how much they differ.
    """
    players, sides = tally.members.shape[2], tally.members.shape[1]
    if np.count_nonzero(tally.shares.any(axis=(1, 2))) < 2:
        raise ValueError("ratings need at least 2 deals")
    contrasts = _contrasts(players, sides, anchor)
    found = _bootstrapped(tally, contrasts, resamples, seed)
    pairs = players * (players - 1) // 2
    differences = _square(_part(found, players, players + pairs), players)
    return Ratings(_part(found, 0, players), differences, _part(found, players + pairs, None))


def likeliest(tally: Tally, anchor: int = 0) -> Floats:
    """Ratings in Elo points over the anchor's, (players,), without intervals."""
    players = tally.members.shape[2]
    strengths = _fit(_model(tally.members), tally.shares.sum(axis=0)[None])[0, :players]
    return np.asarray(ELO * (strengths - strengths[anchor]))


def _contrasts(players: int, sides: int, anchor: int) -> Floats:
    """Rows over all parameters: ratings over the anchor's, differences of pairs, seats."""
    identity = np.eye(players + sides)
    rows = [identity[i] - identity[anchor] for i in range(players)]
    rows += [identity[i] - identity[j] for i, j in zip(*np.triu_indices(players, 1), strict=True)]
    mean = identity[players:].mean(axis=0)
    rows += [identity[players + k] - mean for k in range(sides)]
    return np.array(rows)


def _part(found: Estimates, first: int, last: int | None) -> Estimates:
    return Estimates(*(column[first:last] for column in found))


def _square(upper: Estimates, players: int) -> Estimates:
    """The differences of pairs as full matrices; what lies below is what lies above, turned."""
    i, j = np.triu_indices(players, 1)
    value, low, high, error = np.zeros((4, players, players))
    value[i, j], low[i, j], high[i, j], error[i, j] = upper
    value[j, i], low[j, i], high[j, i], error[j, i] = (
        -upper.value,
        -upper.high,
        -upper.low,
        upper.error,
    )
    return Estimates(value, low, high, error)


# --- the likelihood -------------------------------------------------------------------------------


class _Model(NamedTuple):
    """The design: parameters are the players' strengths, then the seats' worths.

    Attributes:
        design: (tables, sides, parameters).
        products: (tables * sides, parameters ** 2), each row of the design with itself.
    """

    design: Floats
    products: Floats


def _model(members: Floats) -> _Model:
    tables, sides, _ = members.shape
    seats = np.broadcast_to(np.eye(sides), (tables, sides, sides))
    design = np.concatenate([members, seats], axis=2)
    rows = design.reshape(tables * sides, -1)
    return _Model(design, (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1))


def _fit(model: _Model, totals: Floats, start: Floats | None = None) -> Floats:
    """The likeliest parameters of many tallies at once, by Newton's method: (batch, parameters).

    Args:
        totals: (batch, tables, sides) sums of shares of victory.
        start: (parameters,) where to begin.
    """
    size = model.design.shape[2]
    rows = model.design.reshape(-1, size)
    totals = totals + DRAWN / totals.shape[2]
    games = totals.sum(axis=2, keepdims=True)
    strengths = np.tile(np.zeros(size) if start is None else start, (len(totals), 1))
    for _ in range(_STEPS):
        chances = _chances(model, strengths)
        surplus = (totals - games * chances).reshape(len(totals), -1)
        slope = surplus @ rows - _RIDGE * strengths
        bend = _information(model, games * chances, chances)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        strengths += step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))
        if longest.max() < _CLOSE:
            break
    return strengths


def _chances(model: _Model, strengths: Floats) -> Floats:
    """Probabilities of each side to win, (batch, tables, sides)."""
    size = model.design.shape[2]
    scores = (strengths @ model.design.reshape(-1, size).T).reshape(-1, *model.design.shape[:2])
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def _information(model: _Model, expected: Floats, chances: Floats) -> Floats:
    """Minus the second derivatives: the spread of the design's rows at each table, summed."""
    size = model.design.shape[2]
    whole = (expected.reshape(len(expected), -1) @ model.products).reshape(-1, size, size)
    means = np.einsum("btk,tkp->btp", chances, model.design)
    spread = np.einsum("bt,btp,btq->bpq", expected.sum(axis=2), means, means, optimize=True)
    return np.asarray(whole - spread + _RIDGE * np.eye(size))


def _bootstrapped(tally: Tally, rows: Floats, resamples: int, seed: int) -> Estimates:
    """Estimates of contrasts with their intervals, in Elo points."""
    shares = tally.shares[tally.shares.any(axis=(1, 2))]
    deals = len(shares)
    model = _model(tally.members)
    strengths = _fit(model, shares.sum(axis=0)[None])
    rng = np.random.default_rng([seed, _STREAM])
    weights = rng.multinomial(deals, np.full(deals, 1 / deals), resamples).astype(float)
    totals = (weights @ shares.reshape(deals, -1)).reshape(-1, *shares.shape[1:])
    again = _fit(model, totals, strengths[0]) @ rows.T
    value = ELO * (strengths @ rows.T)[0]
    error = ELO * again.std(axis=0, ddof=1)
    reach = error * student_quantile(deals - 1)
    return Estimates(value, value - reach, value + reach, error)


def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """Within how many standard errors Student's distribution lies with a probability of `level`."""
    angles = np.linspace(0, np.pi / 2, 20_001)[:-1]  # of which the tangents are the quantiles
    density = np.cos(angles) ** (freedom - 1)
    reached = np.cumsum((density[1:] + density[:-1]) / 2)
    angle = np.interp(level * reached[-1], reached, angles[1:])
    return float(np.tan(angle) * np.sqrt(freedom))
