"""The outcome of a tournament: ratings, scores of pairs, cycles, places and game lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.arena.ratings import (
    AT_ONCE,
    RESAMPLES,
    Estimates,
    Floats,
    Ratings,
    Tally,
    portions,
    rate,
)
from armarl.arena.stopping import Verdict, is_stronger
from armarl.arena.tournament import Tournament
from armarl.common.csv_table import csv_text
from armarl.matches.standings import wilson_interval

ANCHOR = "random"  # the player with rating 0; without this player, the first player has rating 0


@dataclass(frozen=True)
class Summary:
    """A tournament's outcome.

    Attributes:
        tournament: the tournament.
        anchor: number of the player with rating 0.
        ratings: the ratings of the players, and the values of places.
        games: number of games of each player, (players,).
        scores: share of victories of the row's player against the column's player,
            (players, players). NaN for players that have not met.
        cycles: tuples of players in which each player beats the next, and the last beats the
            first. "Beats" means that the 95 % interval of the score is above one half.
        places: each place's share of the victories, (sides,).
        lengths: number of actions of each game, (games,).
        cut: number of games that the rules cut short, without a winner.
    """

    tournament: Tournament
    anchor: int
    ratings: Ratings
    games: NDArray[np.int64]
    scores: Estimates
    cycles: tuple[tuple[int, ...], ...]
    places: Estimates
    lengths: NDArray[np.int64]
    cut: int

    def order(self) -> list[int]:
        """Return the numbers of the players, strongest first."""
        return [int(i) for i in np.argsort(-self.ratings.players.value, kind="stable")]

    def next_below(self) -> list[tuple[int, int | None]]:
        """Return pairs of a player and the next weaker player (or None), strongest first."""
        order = self.order()
        return list(zip(order, [*order[1:], None], strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON types, without the individual games."""
        names = self.tournament.players
        return {
            "variant": self.tournament.game.variant,
            "kind": self.tournament.kind,
            "mixed": self.tournament.mixed,
            "seed": self.tournament.seed,
            "deals": 1 + max(game.deal for game in self.tournament.games),
            "games": len(self.tournament.games),
            "anchor": names[self.anchor],
            "players": [
                {"player": names[i], **_entry(self.ratings.players, i), "games": int(self.games[i])}
                for i in self.order()
            ],
            "differences": [
                {"player": names[i], "other": names[j], **_entry(self.ratings.differences, (i, j))}
                for i in self.order()
                for j in self.order()
                if i != j
            ],
            "pairs": [
                {"player": names[i], "other": names[j], **_entry(self.scores, (i, j))}
                for i in self.order()
                for j in self.order()
                if i != j and not np.isnan(self.scores.value[i, j])
            ],
            "cycles": [[names[i] for i in cycle] for cycle in self.cycles],
            "places": [
                {"place": k, "elo": _entry(self.ratings.seats, k), "wins": _entry(self.places, k)}
                for k in range(len(self.places.value))
            ],
            "actions": {
                "mean": float(self.lengths.mean()),
                "least": int(self.lengths.min()),
                "most": int(self.lengths.max()),
            },
            "cut_short": self.cut,
        }

    def csv(self) -> str:
        """Return the ratings as CSV, with a header and one line per player."""
        rows = self.as_dict()["players"]
        return csv_text(list(rows[0]), (list(row.values()) for row in rows))

    def table(self) -> str:
        """Return the summary as text with aligned columns."""
        t, names = self.tournament, self.tournament.players
        options = ", ".join(f"{name}={value}" for name, value in t.game.options.items())
        width = max(len(name) for name in names) + 2
        lines = [
            f"{t.game.name}, {t.game.players} players, {options}; {t.kind}, seed {t.seed}: "
            f"{len(t.games)} games, {self.lengths.mean():.0f} actions a game, {self.cut} cut short",
            "",
            f"{'player':<{width}}{'Elo':>7}  {'95 % interval':<18}{'games':>7}  over the next",
        ]
        for i, other in self.next_below():
            e = _entry(self.ratings.players, i)
            interval = "anchor" if i == self.anchor else f"{e['low']:z.0f} to {e['high']:z.0f}"
            line = f"{names[i]:<{width}}{e['value']:>z7.0f}  {interval:<18}{self.games[i]:>7}"
            lines.append(line if other is None else f"{line}  {self.difference(i, other)}")
        lines += ["", "victories of row against column, in %", self._matrix(width), ""]
        for cycle in self.cycles:
            lines.append("cycle: " + " beats ".join(names[i] for i in (*cycle, cycle[0])))
        first, share = _entry(self.ratings.seats, 0), _entry(self.places, 0)
        lines.append(
            f"the first place is worth {first['value']:+z.0f} Elo "
            f"({first['low']:+z.0f} to {first['high']:+z.0f}); it wins {100 * share['value']:.1f} "
            f"% ({100 * share['low']:.1f} to {100 * share['high']:.1f} %)"
        )
        return "\n".join(lines) + "\n"

    def difference(self, player: int, other: int) -> str:
        """Return the rating difference of two players as text, such as `+89 (+46 to +135)`."""
        e = _entry(self.ratings.differences, (player, other))
        return f"{e['value']:+z.0f} ({e['low']:+z.0f} to {e['high']:+z.0f})"

    def _matrix(self, width: int) -> str:
        names, order = self.tournament.players, self.order()
        lines = [" " * width + "".join(f"{n + 1:>6}" for n in range(len(order)))]
        for n, i in enumerate(order):
            cells = (self.scores.value[i, j] if i != j else np.nan for j in order)
            texts = ("" if np.isnan(cell) else f"{100 * cell:.1f}" for cell in cells)
            label = f"{n + 1:>2} {names[i]}"
            lines.append(f"{label:<{width}}" + "".join(f"{text:>6}" for text in texts))
        return "\n".join(lines)


def summarise(tournament: Tournament, resamples: int = RESAMPLES) -> Summary:
    """Summarise the games of a tournament that have been played so far.

    Args:
        tournament: the tournament.
        resamples: number of bootstrap resamples for the intervals, 2 to 1 million (Efron, 1979).

    Returns:
        The summary: ratings, scores of pairs, cycles, values of places and lengths of games. Its
        methods `table`, `csv` and `as_dict` convert it.

    Raises:
        TypeError: `resamples` is not an integer.
        ValueError: `resamples` is out of range, fewer than 2 deals have been played, or the games
            do not form a tournament (`Tournament.tally`).

    Example:
        >>> from armarl import play_tournament, summarise
        >>> summary = summarise(play_tournament("armadora", ["random", "greedy"], deals=4))
        >>> [summary.tournament.players[i] for i in summary.order()]
        ['greedy', 'random']
    """
    tally, games, count = tournament.tally(), tournament.games, len(tournament.players)
    anchor = tournament.players.index(ANCHOR) if ANCHOR in tournament.players else 0
    ratings = rate(tally, anchor, resamples, tournament.seed)
    scores = _scores(tally)
    sat = Counter(player for game in games for player in set(game.table))
    places = (tally.shares.sum(axis=1), tally.games.sum(axis=1)[:, None])
    return Summary(
        tournament=tournament,
        anchor=anchor,
        ratings=ratings,
        games=np.array([sat[player] for player in range(count)]),
        scores=scores,
        cycles=_cycles(scores.low > 0.5),
        places=_parts(lambda: [places], len(tally.shares)),
        lengths=np.array([game.actions for game in games]),
        cut=sum(game.cut for game in games),
    )


def stronger(tournament: Tournament, **options: float) -> Verdict:
    """Test whether the first player is stronger than the second.

    The test uses only the deals in which one of the two won or shared a victory against the other.

    Args:
        tournament: the tournament.
        options: keyword arguments of `stopping.is_stronger`.

    Raises:
        ValueError: as in `Tournament.tally` and `stopping.is_stronger`.

    Example:
        >>> from armarl import play_tournament
        >>> stronger(play_tournament("armadora", ["greedy", "random"], deals=100)).decided
        True
    """
    won, other = _won(tournament.tally())[:, [0, 1], [1, 0]].T
    both = won + other > 0
    return is_stronger((won[both] / (won + other)[both]).tolist(), **options)


def _won(tally: Tally) -> Floats:
    """Return the victories of the row's player over the column's, (deals, players, players).

    The weight of a victory is the row player's share of the winning side, times the column player's
    share of the other sides.
    """
    rivals = tally.members.sum(axis=1, keepdims=True) - tally.members  # shares of the other sides
    won = np.einsum("dtk,tki,tkj->dij", tally.shares, tally.members, rivals, optimize=True)
    return np.asarray(won)


def _scores(tally: Tally) -> Estimates:
    """Estimate the share of victories of the row's player against the column's player.

    Only games in which the two players are on different sides count.
    """
    deals, players = len(tally.shares), tally.members.shape[2]

    def victories() -> Iterable[tuple[Floats, Floats]]:
        for part in portions(deals, max(1, AT_ONCE // players**2)):
            won = _won(tally._replace(shares=tally.shares[part]))
            yield won, won + won.transpose(0, 2, 1)

    scores = _parts(victories, deals)
    alone = np.eye(players, dtype=bool)
    return Estimates(*(np.where(alone, np.nan, column) for column in scores))


def _parts(victories: Callable[[], Iterable[tuple[Floats, Floats]]], deals: int) -> Estimates:
    """Estimate shares of victories over all deals, with Wilson intervals.

    The number of victories is divided by the design effect, because only deals are independent of
    each other.

    Args:
        victories: function that returns a new iterable at each call. Each item is for the next
            portion of the deals: an array with the victories won, and an array with all victories.
            The first axis of both arrays is the deals.
        deals: number of deals.
    """
    sums = [(won.sum(axis=0), of.sum(axis=0)) for won, of in victories()]
    whole = np.broadcast_to(sum(of for _, of in sums), sums[0][0].shape)
    value = np.full(whole.shape, np.nan)
    np.divide(sum(won for won, _ in sums), whole, out=value, where=whole > 0)
    squares = sum(((won - value * of) ** 2).sum(axis=0) for won, of in victories())
    spread = np.asarray(squares) * deals / max(deals - 1, 1)
    low, high, error = np.full((3, *value.shape), np.nan)
    for at in zip(*np.nonzero(whole > 0), strict=True):
        variance = spread[at] / whole[at] ** 2
        alone = value[at] * (1 - value[at])
        number = min(whole[at], alone / variance) if variance > 0 else whole[at]
        low[at], high[at] = wilson_interval(float(value[at]), float(max(number, 1e-9)))
        error[at] = np.sqrt(variance)
    return Estimates(value, low, high, error)


def _cycles(beats: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Return a shortest cycle through each player that is part of a cycle.

    Each cycle begins with its smallest player number and is returned only once.
    """
    found = set()
    for start in range(len(beats)):
        before: dict[int, int] = {}  # from each reached player to the player that was before it
        reached = [start]
        for last in reached:  # the list grows inside the loop
            if beats[last, start]:
                cycle = [last]
                while cycle[-1] != start:
                    cycle.append(before[cycle[-1]])
                cycle.reverse()
                i = cycle.index(min(cycle))
                found.add((*cycle[i:], *cycle[:i]))
                break
            new = [int(other) for other in np.flatnonzero(beats[last]) if other not in before]
            before |= dict.fromkeys(new, last)
            reached += new
    return tuple(sorted(found))


def _entry(estimates: Estimates, at: Any) -> dict[str, float]:
    """Return an estimate and its interval, rounded so that equal players differ by exactly 0."""
    columns = {"value": estimates.value, "low": estimates.low, "high": estimates.high}
    return {name: round(float(column[at]), 9) + 0.0 for name, column in columns.items()}
