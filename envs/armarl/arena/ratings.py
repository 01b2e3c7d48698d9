"""Ratings: how strong players are, by the games that they won, with intervals that hold.

Who wins a game is modelled as Luce's choice, the first stage of Plackett and Luce: side `k` wins
with a probability in proportion to `exp(strength + seat)`, where the strength is the mean of those
who play for the side and `seat` is what the place is worth. A shared victory counts in parts. The
prior is weak: at every table a tenth of a game was drawn, so that ratings stay finite where
somebody has won or lost everything.

The games of a deal are not independent: its luck falls on all of them. So whole deals are what is
drawn in the bootstrap (Efron, 1979), and the standard error of a rating is the spread of the
ratings of the resamples. Where one side won nearly every game, the deals hardly differ, and that
spread says nothing. So the likelihood's own standard error, as of independent games, is mixed in
where it shortens nothing, the more the less the games tell. An interval holds all ratings whose
profile likelihood is not too low: by as much as Student's distribution for so many deals says, and
by the factor between the two errors. So it is lopsided where the games are, and nearly open, 5000
points wide, where nobody can tell. `scripts/checks/rating_coverage.py` shows that such intervals
hold. (Tried besides, in small pilots: percentiles and bootstrap-t, which held less often where
somebody wins nearly all. The packages choix and openskill were passed over without a trial: by
their documentation neither knows seats and deals.)

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
LEAST_DEALS = 2  # of one alone nothing tells how much deals differ
LEVEL = 0.95
_RIDGE = 1e-6  # holds the means of all, which no difference notices
_STEPS, _LONGEST_STEP, _CLOSE = 100, 2.0, 1e-7  # of Newton's method, in units of strength
_WIDEST = 5000 / ELO  # between an estimate and an end of its interval
_DOUBT = 4.0  # of the bootstrap: so much information counts for as much as it does
_CLOSE_END = 1e-4  # of an interval, in units of strength
AT_ONCE = 1 << 25  # floats of an array that is worked on in portions
_LEAST_SLOPE, _LEAST_CHANCE = 1e-6, 1e-300  # that are divided by, or have a logarithm


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
    """Ratings by maximum likelihood, with intervals that reckon with the luck of deals.

    Args:
        anchor: the player who has 0.
        resamples: of the bootstrap.
        seed: repeats the bootstrap exactly.

    Raises:
        ValueError: there are fewer than 2 deals: nothing tells how much they differ.
    """
    players, sides = tally.members.shape[2], tally.members.shape[1]
    if np.count_nonzero(tally.shares.any(axis=(1, 2))) < LEAST_DEALS:
        raise ValueError(f"ratings need at least {LEAST_DEALS} deals")
    contrasts = _contrasts(players, sides, anchor)
    found = _with_intervals(tally, contrasts, resamples, seed)
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
    """

    design: Floats

    @property
    def rows(self) -> Floats:
        """(tables * sides, parameters)."""
        return self.design.reshape(-1, self.design.shape[2])

    @property
    def portion(self) -> int:
        """How many tallies are fitted at once."""
        tables, sides, size = self.design.shape
        return int(max(1, AT_ONCE // (tables * sides * size + size * size)))


def _model(members: Floats) -> _Model:
    tables, sides, _ = members.shape
    seats = np.broadcast_to(np.eye(sides), (tables, sides, sides))
    return _Model(np.concatenate([members, seats], axis=2))


def portions(count: int, size: int) -> list[slice]:
    """What follows each other, so many at a time."""
    return [slice(first, first + size) for first in range(0, count, size)]


def _fit(model: _Model, totals: Floats, start: Floats | None = None) -> Floats:
    """The likeliest parameters of many tallies at once, by Newton's method: (batch, parameters).

    Args:
        totals: (batch, tables, sides) sums of shares of victory.
        start: (parameters,) where to begin.
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
    """The first derivatives of the log likelihood, and minus the second ones."""
    games = totals.sum(axis=2, keepdims=True)
    chances = _chances(model, strengths)
    surplus = (totals - games * chances).reshape(len(strengths), -1)
    slope = surplus @ model.rows - _RIDGE * strengths
    return slope, _information(model, games * chances, chances)


def _stepped(strengths: Floats, step: Floats) -> tuple[Floats, float]:
    """A step further, cut where it is too long, and the longest step of all."""
    longest = np.abs(step).max(axis=1, keepdims=True)
    cut = np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE))
    return strengths + step * cut, float(longest.max(initial=0))


def _chances(model: _Model, strengths: Floats) -> Floats:
    """Probabilities of each side to win, (batch, tables, sides)."""
    scores = (strengths @ model.rows.T).reshape(-1, *model.design.shape[:2])
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def _information(model: _Model, expected: Floats, chances: Floats) -> Floats:
    """Minus the second derivatives: the spread of the design's rows at each table, summed."""
    size, weights = model.design.shape[2], expected.reshape(len(expected), 1, -1)
    whole = (model.rows.T * weights) @ model.rows
    means = np.einsum("btk,tkp->btp", chances, model.design)
    spread = np.einsum("bt,btp,btq->bpq", expected.sum(axis=2), means, means, optimize=True)
    return np.asarray(whole - spread + _RIDGE * np.eye(size))


def _with_intervals(tally: Tally, rows: Floats, resamples: int, seed: int) -> Estimates:
    """Estimates of contrasts with their intervals, in Elo points."""
    shares = tally.shares[tally.shares.any(axis=(1, 2))]
    model, totals = _model(tally.members), shares.sum(axis=0)[None]
    best = _fit(model, totals)[0]
    independent = _independent_errors(model, totals, best, rows)
    spread = _bootstrapped_errors(model, shares, best, rows, resamples, seed)
    trust = 1 / (1 + _DOUBT * independent**2)  # in the bootstrap; none where few games tell
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
    """Standard errors of contrasts by the likelihood's bend, as if all games were independent."""
    _, bend = _slope_and_bend(model, totals + DRAWN / totals.shape[2], best[None])
    return np.asarray(np.sqrt((rows @ np.linalg.inv(bend[0]) * rows).sum(axis=1)))


def _bootstrapped_errors(
    model: _Model, shares: Floats, best: Floats, rows: Floats, resamples: int, seed: int
) -> Floats:
    """Standard errors of contrasts by the bootstrap over deals."""
    deals = len(shares)
    stream = np.random.SeedSequence(seed, spawn_key=(0,))  # no deal is drawn by it
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
    """How high contrasts can be, if the log likelihood may fall by so much below its best.

    The fall is convex in the contrast, so Newton's method finds the end, from above at the latest
    after its first step.
    """
    free = np.flatnonzero(rows.any(axis=1))  # the anchor is not
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
    """As `_highest`, of contrasts that are looked at together, none beyond `widest`."""
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
    """The likeliest parameters where a contrast of each has a given value.

    Returns:
        the parameters (batch, parameters), and how fast the log likelihood falls with the value.
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
    """Within how many standard errors Student's distribution lies with a probability of `level`."""
    angles = np.linspace(0, np.pi / 2, 20_001)[:-1]  # of which the tangents are the quantiles
    density = np.cos(angles) ** (freedom - 1)
    reached = np.cumsum((density[1:] + density[:-1]) / 2)
    angle = np.interp(level * reached[-1], reached, angles[1:])
    return float(np.tan(angle) * np.sqrt(freedom))
