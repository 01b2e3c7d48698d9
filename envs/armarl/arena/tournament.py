"""A tournament as data: its settings and the results of its games."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armarl.arena.lineups import Lineup, lineups, members, tables
from armarl.arena.ratings import Tally
from armarl.core.game import Game

# Number of deals in a job that plays all tables. Never change this number: the rounding of a
# network's outputs depends on the batch size, and a seed must repeat a tournament exactly.
DEALS_AT_ONCE = 16
# `tally` accepts this many (deal, table) pairs however few games there are. With more games, it
# accepts more pairs.
_LEAST_CELLS = 1 << 20


@dataclass(frozen=True)
class GameResult:
    """One game of a tournament.

    Attributes:
        lineup: number of the lineup.
        deal: number of the deal.
        table: number of the entrant in each seat.
        shares: each side's share of the victory. If the game was cut short, the shares are equal.
        actions: number of actions played.
        cut: whether the rules cut the game short.
    """

    lineup: int
    deal: int
    table: Lineup
    shares: tuple[float, ...]
    actions: int
    cut: bool


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament, and its results so far.

    Attributes:
        game: the variant.
        players: the entrants' names, all different.
        kind: see `lineups.lineups`.
        mixed: see `lineups.lineups`.
        every: see `lineups.tables`.
        seed: seed of the deals and of the players' random numbers.
        games: the results so far, sorted by lineup, then deal, then table.

    Example:
        >>> from armarl import play_tournament
        >>> tournament = play_tournament("armadora", ["random", "greedy"], deals=2)
        >>> tournament.lineups(), tournament.tables((0, 1))
        ([(0, 1)], [(0, 1), (1, 0)])
        >>> len(tournament.games)
        4
    """

    game: Game
    players: tuple[str, ...]
    kind: str
    mixed: bool
    every: bool
    seed: int
    games: tuple[GameResult, ...]

    def lineups(self) -> list[Lineup]:
        """Return the lineups: the groups of entrants that meet, as numbers of players.

        Raises:
            ValueError: as in `lineups.lineups`.
        """
        return lineups(len(self.players), self.game, self.kind, self.mixed)

    def tables(self, lineup: Lineup) -> list[Lineup]:
        """Return the arrangements in which a lineup plays every deal.

        Each is a tuple with the number of the player in each seat.
        """
        return tables(lineup, self.game, self.mixed, self.every)

    def tally(self) -> Tally:
        """Return the results in the form that ratings need. Deals may be incomplete.

        Raises:
            ValueError: nearly all results are missing, so the games are not those of a tournament.
        """
        seatings = sorted({game.table for game in self.games})
        numbers = {table: number for number, table in enumerate(seatings)}
        sides = len(set(self.game.sides))
        deals = 1 + max((game.deal for game in self.games), default=-1)
        if deals * len(seatings) > max(
            _LEAST_CELLS, (most_at_once(self.game) + 1) * len(self.games)
        ):
            raise ValueError(
                f"these {len(self.games):,} games do not form a tournament: every table must play "
                f"every deal, but there are {deals:,} deals and {len(seatings):,} tables"
            )
        shares = np.zeros((deals, len(seatings), sides))
        for game in self.games:
            shares[game.deal, numbers[game.table]] += game.shares
        return Tally(members(seatings, self.game, len(self.players)), shares)


def most_at_once(game: Game) -> int:
    """Return the maximum number of deals per job."""
    return DEALS_AT_ONCE * len(set(game.sides))
