"""Ratings: player strengths estimated from game results, with 95 % intervals.

The model is Luce's choice model, the first stage of the Plackett-Luce model: a side wins with a
probability proportional to `exp(strength + seat)`. The strength of a side is the mean strength of
its players, and `seat` is the value of its place at the table. A shared victory is split among the
winning sides. A weak prior adds a tenth of a drawn game at every table, so that the ratings of
players that won or lost every game are finite.

The games of a deal are not independent, because they share the luck of the deal. The bootstrap
(Efron, 1979) therefore resamples whole deals. The standard error of a rating is the spread of its
resampled values. If one side won nearly every game, the deals hardly differ and this spread is
meaningless. The bootstrap's error is therefore mixed with the likelihood's error, which assumes
independent games. The less information the games contain, the more the likelihood's error weighs.
The mixture is used only if it lengthens the interval.

An interval contains all ratings whose profile likelihood is above a threshold. The threshold
follows from Student's distribution for the number of deals, and from the ratio of the error to the
likelihood's error. So an interval is asymmetric if the likelihood is asymmetric. If the games do
not limit a rating, its interval ends 5000 points from the rating.
`scripts/checks/rating_coverage.py` measures the coverage of these intervals. (Small pilot studies
also tried percentile and bootstrap-t intervals. Their coverage was lower where one player wins
nearly all games. The packages choix and openskill were not tried: according to their documentation,
neither models seats and deals.)

The ratings depend only on the summed victory shares of each side, for each deal and table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number

Floats = NDArray[np.float64]

ELO = 400 / math.log(10)  # Elo points of one unit of strength
DRAWN = 0.1  # number of drawn games that the prior adds to every table
RESAMPLES = 1000  # default number of bootstrap resamples
MOST_RESAMPLES = 10**6
LEAST_DEALS = 2  # minimum number of deals; one deal does not show how much deals differ
LEVEL = 0.95  # coverage of the intervals
_RIDGE = 1e-6  # weight of a penalty that fixes the mean strength, but not strength differences
# Newton's method: maximum number of steps, then longest step and precision in units of strength.
_STEPS, _LONGEST_STEP, _CLOSE = 100, 2.0, 1e-7
_WIDEST = 5000 / ELO  # maximum distance of an interval's end from the rating, in units of strength
_DOUBT = 4.0  # information (1 / variance) at which the two errors are weighted equally, see `trust`
_CLOSE_END = 1e-4  # precision of an interval's end, in units of strength
AT_ONCE = 1 << 25  # maximum number of floats in an array; larger arrays are processed in portions
_LEAST_SLOPE, _LEAST_CHANCE = 1e-6, 1e-300  # lower bounds of a divisor and a logarithm's argument


class Tally(NamedTuple):
    """The results of a tournament, in the form that ratings need.

    A *table* is one way to seat the players. If a deal was not played at a table, the shares for
    this deal and this table are 0.

    Attributes:
        members: each player's share of each side's strength, (tables, sides, players).
        shares: summed victory shares, (deals, tables, sides). Their sum over the sides is the
            number of games.
    """

    members: Floats
    shares: Floats

    @property
    def games(self) -> Floats:
        """Number of games, (deals, tables)."""
        return np.asarray(self.shares.sum(axis=2))


class Estimates(NamedTuple):
    """Values with their 95 % intervals and standard errors, as arrays of equal shape."""

    value: Floats
    low: Floats
    high: Floats
    error: Floats  # standard errors

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Mask of the values whose interval does not contain 0."""
        return (self.low > 0) | (self.high < 0)


@dataclass(frozen=True)
class Ratings:
    """Ratings of a tournament, in Elo points.

    Attributes:
        players: ratings relative to the anchor, (players,). The anchor has exactly 0.
        differences: rating of the row's player minus rating of the column's, (players, players).
        seats: value of each place relative to the mean of all places, (sides,).
    """

    players: Estimates
    differences: Estimates
    seats: Estimates


def rate(tally: Tally, anchor: int = 0, resamples: int = RESAMPLES, seed: int = 0) -> Ratings:
    """Estimate ratings by maximum likelihood, with intervals that allow for the luck of deals.

    Args:
        tally: the results.
        anchor: number of the player whose rating is 0.
        resamples: number of bootstrap resamples, 2 to 1 million.
        seed: seed of the bootstrap.

    Raises:
        TypeError: `resamples` is not an integer.
        ValueError: `resamples` is out of range, or there are fewer than 2 deals. One deal does not
            show how much deals differ.
    """
    whole_number("resamples", resamples, 2, MOST_RESAMPLES)  # one resample has no spread
    players, sides = tally.members.shape[2], tally.members.shape[1]
    deals = np.count_nonzero(tally.shares.any(axis=(1, 2)))
    if deals < LEAST_DEALS:
        raise ValueError(f"ratings need results of at least {LEAST_DEALS} deals, not {deals}")
    contrasts = _contrasts(players, sides, anchor)
    found = _with_intervals(tally, contrasts, resamples, seed)
    pairs = players * (players - 1) // 2
    differences = _square(_part(found, players, players + pairs), players)
    return Ratings(_part(found, 0, players), differences, _part(found, players + pairs, None))


def likeliest(tally: Tally, anchor: int = 0) -> Floats:
    """Return the most likely ratings in Elo points relative to the anchor, (players,)."""
    players = tally.members.shape[2]
    strengths = _fit(_model(tally.members), tally.shares.sum(axis=0)[None])[0, :players]
    return np.asarray(ELO * (strengths - strengths[anchor]))


def _contrasts(players: int, sides: int, anchor: int) -> Floats:
    """Return all contrasts (linear combinations of the parameters), (contrasts, parameters).

    The contrasts are the ratings relative to the anchor, the differences of pairs, and the seats'
    values relative to their mean.
    """
    identity = np.eye(players + sides)
    rows = [identity[i] - identity[anchor] for i in range(players)]
    rows += [identity[i] - identity[j] for i, j in zip(*np.triu_indices(players, 1), strict=True)]
    mean = identity[players:].mean(axis=0)
    rows += [identity[players + k] - mean for k in range(sides)]
    return np.array(rows)


def _part(found: Estimates, first: int, last: int | None) -> Estimates:
    return Estimates(*(column[first:last] for column in found))


def _square(upper: Estimates, players: int) -> Estimates:
    """Return the differences of pairs, given once per pair, as full antisymmetric matrices."""
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
    """The model of the win probabilities.

    Attributes:
        design: the design matrix, (tables, sides, parameters). The parameters are the players'
            strengths, then the values of the seats.
    """

    design: Floats

    @property
    def rows(self) -> Floats:
        """The design matrix as rows, (tables * sides, parameters)."""
        return self.design.reshape(-1, self.design.shape[2])

    @property
    def portion(self) -> int:
        """Maximum number of tallies to fit in one batch, so that the arrays stay small."""
        tables, sides, size = self.design.shape
        return int(max(1, AT_ONCE // (tables * sides * size + size * size)))


def _model(members: Floats) -> _Model:
    tables, sides, _ = members.shape
    seats = np.broadcast_to(np.eye(sides), (tables, sides, sides))
    return _Model(np.concatenate([members, seats], axis=2))


def portions(count: int, size: int) -> list[slice]:
    """Split `range(count)` into consecutive slices of at most `size`."""
    return [slice(first, first + size) for first in range(0, count, size)]


def _fit(model: _Model, totals: Floats, start: Floats | None = None) -> Floats:
    """Return the most likely parameters for many tallies, (batch, parameters), by Newton's method.

    Args:
        model: the model.
        totals: summed victory shares, (batch, tables, sides).
        start: initial parameters, (parameters,). None: all 0.
    """
    size = model.design.shape[2]
    totals = totals + DRAWN / totals.shape[2]
    strengths = np.tile(np.zeros(size) if start is None else start, (len(totals), 1))
    for _ in range(_STEPS):
        slope, bend = _slope_and_bend(model, totals, strengths)
        step = np.asarray(np.linalg.solve(bend, slope[:, :, None])[:, :, 0], np.float64)
        strengths, longest = _stepped(strengths, step)
        if longest < _CLOSE:
            break
    return strengths


def _slope_and_bend(model: _Model, totals: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Return the first derivatives of the log likelihood and the negated second derivatives."""
    games = totals.sum(axis=2, keepdims=True)
    chances = _chances(model, strengths)
    surplus = (totals - games * chances).reshape(len(strengths), -1)
    slope = surplus @ model.rows - _RIDGE * strengths
    return slope, _information(model, games * chances, chances)


def _stepped(strengths: Floats, step: Floats) -> tuple[Floats, float]:
    """Shorten long steps. Return the new strengths, and the longest step before the shortening."""
    longest = np.abs(step).max(axis=1, keepdims=True)
    cut = np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))
    return strengths + step * cut, float(longest.max(initial=0))


def _chances(model: _Model, strengths: Floats) -> Floats:
    """Return the win probability of each side, (batch, tables, sides)."""
    scores = (strengths @ model.rows.T).reshape(-1, *model.design.shape[:2])
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def _information(model: _Model, expected: Floats, chances: Floats) -> Floats:
    """Return the negated second derivatives of the log likelihood, (batch, parameters, parameters).

    They are the covariances of the design's rows, weighted by games and summed over the tables.
    """
    size, weights = model.design.shape[2], expected.reshape(len(expected), 1, -1)
    whole = (model.rows.T * weights) @ model.rows
    means = np.einsum("btk,tkp->btp", chances, model.design)
    spread = np.einsum("bt,btp,btq->bpq", expected.sum(axis=2), means, means, optimize=True)
    return np.asarray(whole - spread + _RIDGE * np.eye(size))


def _with_intervals(tally: Tally, rows: Floats, resamples: int, seed: int) -> Estimates:
    """Estimate contrasts with their intervals, in Elo points."""
    shares = tally.shares[tally.shares.any(axis=(1, 2))]
    model, totals = _model(tally.members), shares.sum(axis=0)[None]
    best = _fit(model, totals)[0]
    independent = _independent_errors(model, totals, best, rows)
    spread = _bootstrapped_errors(model, shares, best, rows, resamples, seed)
    # Weight of the bootstrap's error. It is near 0 if the games contain little information, for
    # example if one side won nearly all of them.
    trust = 1 / (1 + _DOUBT * independent**2)
    mixed = np.sqrt(trust * spread**2 + (1 - trust) * independent**2)
    error = np.maximum(spread, mixed)
    excess = np.divide(error, independent, out=np.ones_like(error), where=independent > 0)
    quantile = student_quantile(len(shares) - 1)
    drop = (quantile * excess) ** 2 / 2
    value, reach = rows @ best, quantile * error
    high = _highest(model, totals, best, rows, drop, value + reach)
    low = -_highest(model, totals, best, -rows, drop, reach - value)
    return Estimates(*(ELO * column for column in (value, low, high, error)))


def _independent_errors(model: _Model, totals: Floats, best: Floats, rows: Floats) -> Floats:
    """Return standard errors of contrasts from the likelihood's curvature.

    These errors assume that all games are independent.
    """
    _, bend = _slope_and_bend(model, totals + DRAWN / totals.shape[2], best[None])
    return np.asarray(np.sqrt((rows @ np.linalg.inv(bend[0]) * rows).sum(axis=1)))


def _bootstrapped_errors(
    model: _Model, shares: Floats, best: Floats, rows: Floats, resamples: int, seed: int
) -> Floats:
    """Return standard errors of contrasts from the bootstrap over deals."""
    deals = len(shares)
    stream = np.random.SeedSequence(seed, spawn_key=(0,))  # separate from the deals' streams
    rng = np.random.default_rng(stream)
    weights = rng.multinomial(deals, np.full(deals, 1 / deals), resamples).astype(float)
    fitted = []
    for part in portions(resamples, model.portion):
        totals = (weights[part] @ shares.reshape(deals, -1)).reshape(-1, *shares.shape[1:])
        fitted.append(_fit(model, totals, best))
    found = np.concatenate(fitted)
    spreads = [
        (found @ rows[part].T).std(axis=0, ddof=1)
        for part in portions(len(rows), max(1, AT_ONCE // resamples))
    ]
    return np.concatenate(spreads)


def _highest(
    model: _Model, totals: Floats, best: Floats, rows: Floats, drop: Floats, guess: Floats
) -> Floats:
    """Return the upper end of each contrast's interval.

    At this end, the log likelihood is lower than its maximum by `drop`. The decrease is a convex
    function of the contrast, so Newton's method converges. After its first step, Newton's method
    approaches the end from above.
    """
    free = np.flatnonzero(rows.any(axis=1))  # the row of the anchor's own rating is all zeros
    widest = rows @ best + _WIDEST
    ends = np.minimum(guess, widest)
    totals = totals + DRAWN / totals.shape[2]
    for part in portions(len(free), model.portion):
        some = free[part]
        ends[some] = _ends(model, totals, best, rows[some], drop[some], ends[some], widest[some])
    return ends


def _ends(
    model: _Model,
    totals: Floats,
    best: Floats,
    rows: Floats,
    drop: Floats,
    guess: Floats,
    widest: Floats,
) -> Floats:
    """Return the upper ends of some contrasts' intervals, at most `widest` (see `_highest`)."""
    most = _log_likelihood(model, totals, best[None])
    strengths, ends = np.tile(best, (len(rows), 1)), guess
    for _ in range(_STEPS):
        strengths, slopes = _fit_held(model, totals, rows, ends, strengths)
        fall = most - _log_likelihood(model, totals, strengths)
        before, step = ends, (drop - fall) / np.maximum(slopes, _LEAST_SLOPE)
        ends = np.minimum(ends + step, widest)
        if np.abs(ends - before).max() < _CLOSE_END:
            break
    return ends


def _fit_held(
    model: _Model, totals: Floats, rows: Floats, values: Floats, start: Floats
) -> tuple[Floats, Floats]:
    """Fit parameters under constraints: in fit `i`, the contrast `rows[i]` equals `values[i]`.

    Returns:
        The parameters, (batch, parameters), and the decrease of the log likelihood per unit of
        `values`.
    """
    strengths, pull = start, np.zeros(len(start))
    for _ in range(_STEPS):
        slope, bend = _slope_and_bend(model, totals, strengths)
        own, along = np.moveaxis(np.linalg.solve(bend, np.stack([slope, rows], axis=2)), 2, 0)
        missing = values - (rows * (strengths + own)).sum(axis=1)
        pull = missing / (rows * along).sum(axis=1)
        step = own + pull[:, None] * along
        strengths, longest = _stepped(strengths, step)
        if longest < _CLOSE:
            break
    return strengths, pull


def _log_likelihood(model: _Model, totals: Floats, strengths: Floats) -> Floats:
    chances = np.maximum(_chances(model, strengths), _LEAST_CHANCE)
    prior = _RIDGE / 2 * (strengths**2).sum(axis=1)
    return np.asarray((totals * np.log(chances)).sum(axis=(1, 2)) - prior)


def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """Return the number of standard errors within which Student's t has probability `level`."""
    angles = np.linspace(0, np.pi / 2, 20_001)[:-1]  # the quantiles are tangents of angles
    density = np.cos(angles) ** (freedom - 1)
    reached = np.cumsum((density[1:] + density[:-1]) / 2)
    angle = np.interp(level * reached[-1], reached, angles[1:])
    return float(np.tan(angle) * np.sqrt(freedom))
