"""Measure the coverage of the arena's intervals in simulated tournaments with known true ratings.

    python scripts/checks/rating_coverage.py --tournaments 10000

Each tournament is simulated in a *world*. A world has players with strengths, places (seats) of
unequal value, shared victories, and the luck of deals. A deal favours some places in all its games,
and also some players. The true rating is the model's rating over infinitely many deals, estimated
from a very large sample. A 95 % interval should contain the true rating in 95 of 100 tournaments,
and should be too high as often as too low. The lopsided worlds have few games, and one side wins
nearly all of them. In these worlds the intervals should contain the true rating in at least 95 of
100 tournaments.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarl.arena.lineups import lineups, members, tables
from armarl.arena.ratings import ELO, Estimates, Tally, rate
from armarl.core.game import Game
from armarl.games.make_game import make_game

Floats = NDArray[np.float64]
# LUCK and TASTE are the standard deviations of a deal's luck for places and for players, in units
# of strength. SHARED is the probability of a shared victory.
LUCK, TASTE, SHARED = 0.6, 0.5, 0.05
SAMPLE, PARTS = 10_000, 40  # for true ratings: number of deals per sample, and number of samples
DEALS = (30, 60, 120)  # deals per tournament: the tournaments use these numbers in rotation
FEW_DEALS = (5, 7, 10)  # the same for the lopsided worlds


@dataclass(frozen=True)
class World:
    """The true strengths of players and places in simulated tournaments, in Elo points."""

    name: str
    game: Game
    players: tuple[float, ...]
    places: tuple[float, ...]
    kind: str = "round-robin"
    mixed: bool = False
    deals: tuple[int, ...] = DEALS  # deals per tournament: the tournaments use them in rotation

    def members(self) -> Floats:
        groups = lineups(len(self.players), self.game, self.kind, self.mixed)
        seatings = [table for group in groups for table in tables(group, self.game, self.mixed)]
        return members(seatings, self.game, len(self.players))

    def simulate(self, deals: int, rng: np.random.Generator) -> Tally:
        """Simulate a tournament in which every table plays every deal once."""
        who = self.members()
        luck = LUCK * rng.normal(size=(deals, 1, who.shape[1]))
        taste = (
            TASTE * rng.normal(size=(deals, len(self.players))) @ who.reshape(-1, who.shape[2]).T
        )
        strengths = who @ (np.array(self.players) / ELO) + np.array(self.places) / ELO
        scores = strengths + luck + taste.reshape(deals, *strengths.shape)
        scores += rng.gumbel(size=scores.shape)  # so wins have the probabilities of Luce's model
        shares = (scores == scores.max(axis=2, keepdims=True)).astype(float)
        shares[rng.random(shares.shape[:2]) < SHARED] = 1 / shares.shape[2]
        return Tally(who, shares)


_GAMES = {players: make_game("armadora", players=players) for players in (2, 3, 4)}
WORLDS = (
    World("2 players, a duel", _GAMES[2], (0, 100), (40, 0)),
    World("2 players, 4 entrants", _GAMES[2], (0, 300, 360, 500), (50, 0)),
    World("2 players, a ladder of 4", _GAMES[2], (0, 150, 250, 400), (50, 0), "ladder"),
    World("2 players, one against 3", _GAMES[2], (200, 0, 100, 300), (50, 0), "field"),
    World("2 players, a copy", _GAMES[2], (0, 150, 150), (30, 0)),
    World("2 players, far apart", _GAMES[2], (0, 400, 800), (30, 0)),
    World("3 players", _GAMES[3], (0, 130, 250), (50, 0, -30)),
    World("3 players, 4 entrants", _GAMES[3], (0, 150, 180, 400), (50, 0, -30)),
    World("3 players, A A B and A B B", _GAMES[3], (0, 120), (50, 0, -30)),
    World("4 players in teams", _GAMES[4], (0, 150, 250), (40, 0)),
    World("4 players, mixed teams", _GAMES[4], (0, 150, 250, 450), (40, 0), mixed=True),
    World("4 players", make_game("armada", players=4), (0, 150, 180, 350), (50, 20, -20, 0)),
)
LOPSIDED = (  # few games, nearly all won by one player or place
    World("2 players, 600 apart", _GAMES[2], (0, 600), (30, 0), deals=FEW_DEALS),
    World("2 players, 300 apart", _GAMES[2], (0, 300), (30, 0), deals=FEW_DEALS),
    World("2 players, 600 between 3", _GAMES[2], (0, 600, 700), (30, 0), deals=FEW_DEALS),
    World("2 players, a place of 400", _GAMES[2], (0, 50), (400, 0), deals=FEW_DEALS),
    World("3 players, 600 between", _GAMES[3], (0, 100, 600), (50, 0, -30), deals=FEW_DEALS),
    World("4 players in teams, 600", _GAMES[4], (0, 600), (40, 0), deals=FEW_DEALS),
)


def truth(world: World) -> tuple[Floats, Floats]:
    """Return the players' true rating differences, and the places' true values minus their mean."""
    rng = np.random.default_rng(0)
    total = sum(world.simulate(SAMPLE, rng).shares.sum(axis=0) for _ in range(PARTS))
    shares = np.stack([total / 2, total / 2])  # `rate` needs two deals; the intervals are not used
    found = rate(Tally(world.members(), shares), resamples=2)
    return found.differences.value, found.seats.value


@dataclass
class Count:
    """The number of intervals, and how many of them are above or below the true value."""

    intervals: int = 0
    above: int = 0
    below: int = 0

    def add(self, found: Estimates, true: Floats, which: NDArray[np.bool_]) -> None:
        self.intervals += int(which.sum())
        self.above += int((found.low > true)[which].sum())
        self.below += int((found.high < true)[which].sum())

    @property
    def held(self) -> float:
        return 1 - (self.above + self.below) / self.intervals

    def __str__(self) -> str:
        above, below = self.above / self.intervals, self.below / self.intervals
        return f"{100 * self.held:6.2f} %  ({100 * above:.2f} above, {100 * below:.2f} below)"


def cover(
    world: World, tournaments: int, resamples: int, seed: int, deals: tuple[int, ...] = DEALS
) -> tuple[Count, Count]:
    """Return the counts for the intervals of rating differences, and for those of place values."""
    players, places = truth(world)
    rng = np.random.default_rng(seed)
    pairs = np.triu(np.ones(players.shape, bool), 1)
    worths = np.ones(len(places), bool)
    worths[1:] = len(places) > 2  # two places have the values x and -x, so only x counts
    counts = Count(), Count()
    for number in range(tournaments):
        tally = world.simulate(deals[number % len(deals)], rng)
        found = rate(tally, resamples=resamples, seed=number)
        counts[0].add(found.differences, players, pairs)
        counts[1].add(found.seats, places, worths)
    return counts


def cover_all(worlds: tuple[World, ...], each: int, resamples: int, seed: int, name: str) -> Count:
    """Print each world's counts, and their total with the label `name`. Return the total."""
    print(f"{'world':<30}{'differences of players':<34}worths of places")
    total = Count()
    for world in worlds:
        counts = cover(world, each, resamples, seed, world.deals)
        print(f"{world.name:<30}{counts[0]!s:<34}{counts[1]}", flush=True)
        for count in counts:
            total.intervals += count.intervals
            total.above += count.above
            total.below += count.below
    print(f"{name:<30}{total}  of {total.intervals:,} intervals\n")
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tournaments", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=400, help="resamples of each bootstrap")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.monotonic()
    each = -(-options.tournaments // len(WORLDS))
    given = (each, options.resamples, options.seed)
    print(f"{each * len(WORLDS):,} tournaments of {', '.join(map(str, DEALS))} deals in turn")
    total = cover_all(WORLDS, *given, "all")
    deals = ", ".join(map(str, FEW_DEALS))
    print(f"{each * len(LOPSIDED):,} lopsided tournaments of {deals} deals in turn")
    lopsided = cover_all(LOPSIDED, *given, "all that are lopsided")
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if 0.94 <= total.held <= 0.96 and lopsided.held >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
