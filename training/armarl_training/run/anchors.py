"""Anchors: the fixed opponents that measure a policy at every checkpoint of its training."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from armarl.arena.lineups import members
from armarl.arena.ratings import Tally, likeliest
from armarl.core.game import Game
from armarl.matches.match import MatchResult, play_match, seatings
from armarl.players.registry import PlayerLike
from armarl_training.common.kept_policies import as_kept
from armarl_training.config.sections import EvaluationConfig


class Measured(NamedTuple):
    """The measured strength of a policy.

    Attributes:
        rates: win rate against each anchor, in [0, 1], by player specification.
        rating: rating in Elo points above the first anchor, see `armarl.arena.ratings`. It also
            uses the matches of the anchors against each other. If one anchor always loses, the
            rating is therefore more informative than the win rates.
    """

    rates: dict[str, float]
    rating: float


class Anchors:
    """The opponents of the evaluation. Every measurement plays short matches on the same deals.

    Attributes:
        terms: the settings of the measurement. Results with different terms cannot be compared.
    """

    def __init__(self, game: Game, settings: EvaluationConfig, folder: Path) -> None:
        """Create the anchors of the evaluation settings. `folder` contains copies of policies."""
        kept = {"opponents", "progress_games", "seed"}
        self.terms = settings.model_dump(mode="json", include=kept)
        self._game, self._names = game, settings.opponents
        self._games, self._seed, self._folder = settings.progress_games, settings.seed, folder
        self._among: list[MatchResult] | None = None

    def measure(self, player: PlayerLike) -> Measured:
        """Play against each anchor. The first call also plays the anchors against each other."""
        anchors = [as_kept(self._folder, name) for name in self._names]
        if self._among is None:
            self._among = [self._match(*pair) for pair in combinations(anchors, 2)]
        matches = [self._match(player, anchor) for anchor in anchors]
        rates = [match.standings[0].win_rate for match in matches]
        return Measured(
            dict(zip(self._names, rates, strict=True)), self._rating([*matches, *self._among])
        )

    def _match(self, first: PlayerLike, second: PlayerLike) -> MatchResult:
        return play_match(self._game, [first, second], self._games, self._seed)

    def _rating(self, matches: list[MatchResult]) -> float:
        """Return the player's rating minus the first anchor's, from the matches of all pairs.

        The player is entrant 0, and the first anchor is entrant 1.
        """
        entrants = len(self._names) + 1
        tables, shares = [], []
        for pair, match in zip(combinations(range(entrants), 2), matches, strict=True):
            for table in seatings(2, self._game):
                tables.append(tuple(pair[number] for number in table))
                shares.append(self._shares(table, match))
        tally = Tally(members(tables, self._game, entrants), np.array([shares]))
        return float(-likeliest(tally)[1])

    def _shares(self, table: list[int], match: MatchResult) -> list[float]:
        """Return the number of games that each side wins, if all seatings have the same results."""
        holders = dict(zip(self._game.sides, table, strict=True))  # the entrant of each side
        held = list(holders.values())
        games = match.deals
        return [
            games * match.standings[holders[side]].win_rate / held.count(holders[side])
            for side in sorted(holders)
        ]
