"""Ratings: how strong players are, by the games that they won, with intervals that hold.

Who wins a game is modelled as Luce's choice, the first stage of Plackett and Luce: side `k` wins
with a probability in proportion to `exp(strength + seat)`, where the strength is the mean of those
who play for the side and `seat` is what the place is worth. A shared victory counts in parts. A
weak prior, centred on equality, keeps ratings finite where somebody has won or lost everything.

The games of a deal are not independent: its luck falls on all of them. So deals are what is drawn
in the bootstrap, and an interval is a bootstrap-t one (Efron, 1981): the spread of `(estimate of
the resample - estimate) / standard error of the resample`, whose standard errors are the
sandwich's with deals as clusters (Huber, 1967; Liang and Zeger, 1986).

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
PRIOR_ELO = 1500.0  # standard deviation, about the mean of all, of a player's rating before a game
SEAT_PRIOR_ELO = 400.0  # likewise of a seat's worth, about 0
RESAMPLES = 1000
LEVEL = 0.95
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
        prior: (parameters, parameters), the precision of the prior.
    """

    design: Floats
    products: Floats
    prior: Floats


def _model(members: Floats) -> _Model:
    tables, sides, players = members.shape
    seats = np.broadcast_to(np.eye(sides), (tables, sides, sides))
    design = np.concatenate([members, seats], axis=2)
    rows = design.reshape(tables * sides, -1)
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    prior = np.zeros((players + sides,) * 2)
    # Only differences count, so the means are held, which no estimate notices.
    prior[:players, :players] = np.eye(players) * (ELO / PRIOR_ELO) ** 2
    prior[players:, players:] = np.eye(sides) * (ELO / SEAT_PRIOR_ELO) ** 2
    return _Model(design, products, prior)


def _fit(
    model: _Model, totals: Floats, start: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """The likeliest parameters of many tallies at once, by Newton's method.

    Args:
        totals: (batch, tables, sides) sums of shares of victory.
        start: (parameters,) where to begin.

    Returns:
        Parameters (batch, parameters), the inverse of minus the second derivatives there (batch,
        parameters, parameters), and the probabilities (batch, tables, sides).
    """
    size = model.design.shape[2]
    rows = model.design.reshape(-1, size)
    games = totals.sum(axis=2, keepdims=True)
    strengths = np.tile(np.zeros(size) if start is None else start, (len(totals), 1))
    for _ in range(_STEPS):
        chances = _chances(model, strengths)
        surplus = (totals - games * chances).reshape(len(totals), -1)
        slope = surplus @ rows - strengths @ model.prior
        bend = _information(model, games * chances, chances)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        strengths += step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))
        if longest.max() < _CLOSE:
            break
    chances = _chances(model, strengths)
    bend = _information(model, games * chances, chances)
    return strengths, np.asarray(np.linalg.inv(bend)), chances


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
    return np.asarray(whole - spread + model.prior)


def _errors(
    model: _Model, tally: Tally, weights: Floats, inverse: Floats, chances: Floats, rows: Floats
) -> Floats:
    """Standard errors of contrasts, by the sandwich over deals, in many resamples at once.

    Args:
        weights: (batch, deals) how often each deal is in the resample.
        inverse, chances: of the resample's estimate (see `_fit`).
        rows: (contrasts, parameters).
    """
    deals = len(tally.shares)
    wins = tally.shares.reshape(deals, -1) @ model.design.reshape(-1, model.design.shape[2])
    expected = tally.games @ np.einsum("btk,tkp->btp", chances, model.design)
    pulls = (wins - expected) @ (inverse @ rows.T)  # of each deal on each contrast
    played = weights.sum(axis=1)[:, None]
    means = np.einsum("bd,bdc->bc", weights, pulls) / played
    squares = np.einsum("bd,bdc->bc", weights, (pulls - means[:, None, :]) ** 2)
    return np.asarray(np.sqrt(squares * played / (played - 1)))


def _bootstrapped(tally: Tally, rows: Floats, resamples: int, seed: int) -> Estimates:
    """Estimates of contrasts with their intervals, in Elo points."""
    played = tally.shares.any(axis=(1, 2))
    tally = Tally(tally.members, tally.shares[played])
    deals = len(tally.shares)
    model = _model(tally.members)
    flat = tally.shares.reshape(deals, -1)
    every = np.ones((1, deals))
    strengths, inverse, chances = _fit(model, tally.shares.sum(axis=0)[None])
    value = (strengths @ rows.T)[0]
    error = _errors(model, tally, every, inverse, chances, rows)[0]
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(deals, np.full(deals, 1 / deals), resamples).astype(float)
    totals = (weights @ flat).reshape(-1, *tally.shares.shape[1:])
    again, inverse, chances = _fit(model, totals, strengths[0])
    errors = _errors(model, tally, weights, inverse, chances, rows)
    least = error / 10  # a resample of equal deals has no spread, and would say anything
    spread = (again @ rows.T - value) / np.maximum(errors, np.maximum(least, 1e-12))
    tail = (1 - LEVEL) / 2
    below, above = np.quantile(spread, [tail, 1 - tail], axis=0, method="weibull")
    return Estimates(
        *(ELO * x for x in (value, value - above * error, value - below * error, error))
    )
