"""The panel: the fixed, varied players against which everybody is measured.

One rival is not enough: a deterministic one can be learnt by heart, and who beats it may lose to
another that it beats. The panel has players that are weak and strong, with and without chance in
them, and some that are *held out*: they are for measuring alone, never for training against.
A game adds players of its own (`PANEL` and `HELD_OUT` in its `rivals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from armarl.common.numbers import MOST_SEED, whole_number
from armarl.core.game import Game
from armarl.games.catalogue import game_entry
from armarl.matches.match import MatchResult, as_game, play_match
from armarl.matches.standings import Standing
from armarl.players.registry import PlayerLike
from armarl.workers.jobs import Workers

PLAIN = ("random", "greedy", "greedy:noise=0.2")  # in every game
VARIED = ("random:patient", "greedy:first_random=1")  # where the game has `rivals`
PLAIN_HELD_OUT = ("greedy:noise=0.5",)
VARIED_HELD_OUT = ("greedy:first_random=2",)


@dataclass(frozen=True)
class Member:
    """A player of the panel, by specification; whether he is kept out of all training."""

    player: str
    held_out: bool = False


@dataclass(frozen=True)
class PanelResult:
    """How a player fared against the panel; `as_dict` gives it as plain JSON types.

    Attributes:
        matches: with each member, in order.
        score: the mean of the win rates, with its 95 % interval.
        held_out: the same over the members who are held out.
    """

    matches: tuple[MatchResult, ...]
    members: tuple[Member, ...]
    score: tuple[float, float, float]
    held_out: tuple[float, float, float]

    def as_dict(self) -> dict[str, Any]:
        names = ("win_rate", "low", "high")
        return {
            "score": dict(zip(names, self.score, strict=True)),
            "held_out": dict(zip(names, self.held_out, strict=True)),
            "members": [asdict(member) for member in self.members],
            "matches": [match.as_dict() for match in self.matches],
        }


def panel(game: Game) -> tuple[Member, ...]:
    """The members of a game's panel, those held out last."""
    rivals = game_entry(game.name).part("rivals")
    known, held_out = [*PLAIN], [*PLAIN_HELD_OUT]
    if rivals:
        known += [*VARIED, *getattr(rivals, "PANEL", ())]
        held_out += [*VARIED_HELD_OUT, *getattr(rivals, "HELD_OUT", ())]
    return (*map(Member, known), *(Member(player, held_out=True) for player in held_out))


def play_panel(
    game: Game | str,
    player: PlayerLike,
    games: int = 1000,
    seed: int = 0,
    workers: Workers = 1,
    progress: Callable[[int, int], None] | None = None,
    records: str | Path | None = None,
) -> PanelResult:
    """Measure a player against the panel of a game.

    Args:
        game: the variant, or the name of a game, which is played with default options.
        games: with each member; rounded up to whole deals.
        seed: repeats it exactly; member `k` is met with the seed `seed + k`.
        workers, progress, records: see `play_match`; progress is told of each match anew.

    Raises:
        TypeError, ValueError, OSError: as `play_match`; a seed so large that a member's would be
            none is refused before anything is played.
    """
    game = as_game(game)
    members = panel(game)
    whole_number("seed", seed, 0, MOST_SEED - len(members) + 1)
    matches = tuple(
        play_match(game, [player, member.player], games, seed + k, workers, progress, records)
        for k, member in enumerate(members)
    )
    standings = [match.standings[0] for match in matches]
    held_out = [standing for standing, m in zip(standings, members, strict=True) if m.held_out]
    return PanelResult(matches, members, _mean(standings), _mean(held_out))


def _mean(standings: list[Standing]) -> tuple[float, float, float]:
    """The mean win rate of matches that are independent of each other, and its interval."""
    mean = sum(standing.win_rate for standing in standings) / len(standings)
    below = math.hypot(*(standing.win_rate - standing.low for standing in standings))
    above = math.hypot(*(standing.high - standing.win_rate for standing in standings))
    return mean, max(0.0, mean - below / len(standings)), min(1.0, mean + above / len(standings))
