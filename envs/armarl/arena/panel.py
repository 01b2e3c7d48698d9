"""The panel: a fixed, varied set of opponents for measuring players.

One opponent is not enough. A policy can memorise how to beat a deterministic opponent, and a player
that beats one opponent may lose to a weaker one. The panel has weak and strong players, with and
without randomness. Some members are *held out*: never train against them, only measure against
them. A game can add members (`PANEL` and `HELD_OUT` in its `rivals` module).
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

PLAIN = ("random", "greedy", "greedy:noise=0.2")  # in the panel of every game
VARIED = ("random:patient", "greedy:first_random=1")  # only for games with a `rivals` module
PLAIN_HELD_OUT = ("greedy:noise=0.5",)
VARIED_HELD_OUT = ("greedy:first_random=2",)


@dataclass(frozen=True)
class Member:
    """A member of a panel: a player's specification, and whether training must not use it."""

    player: str
    held_out: bool = False


@dataclass(frozen=True)
class PanelResult:
    """A player's results against the panel. `as_dict` returns them as plain JSON types.

    Attributes:
        matches: the match against each member, in the order of `members`.
        members: the members of the panel.
        score: the mean win rate against all members, and the two ends of its 95 % interval.
        held_out: the mean win rate against the held-out members, and the two ends of its 95 %
            interval.
    """

    matches: tuple[MatchResult, ...]
    members: tuple[Member, ...]
    score: tuple[float, float, float]
    held_out: tuple[float, float, float]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        names = ("win_rate", "low", "high")
        return {
            "score": dict(zip(names, self.score, strict=True)),
            "held_out": dict(zip(names, self.held_out, strict=True)),
            "members": [asdict(member) for member in self.members],
            "matches": [match.as_dict() for match in self.matches],
        }


def panel(game: Game) -> tuple[Member, ...]:
    """Return the members of a game's panel, held-out members last.

    Example:
        >>> from armarl import make_game
        >>> panel(make_game("armadora"))[0]
        Member(player='random', held_out=False)
    """
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
        game: a game, or a game's name for its default options.
        player: the player to measure.
        games: number of games against each member. It is rounded up so that every deal is played
            in every rotation of the seats.
        seed: the seed. The same seed repeats the result exactly. The match against member `k` has
            the seed `seed + k`.
        workers: as in `play_match`.
        progress: as in `play_match`. The counts start again with each match.
        records: as in `play_match`. The records of all matches are appended to the same file.

    Returns:
        The matches, the members, and the mean win rates against all members and against the
        held-out members, each with a 95 % interval.

    Raises:
        TypeError, ValueError, IllegalActionError, OSError, RuntimeError: as in `play_match`. A seed
            that is too large for the last member raises ValueError before the first game.

    Example:
        >>> from armarl import play_panel
        >>> result = play_panel("armadora", "greedy", games=2)
        >>> [member.player for member in result.members][:3]
        ['random', 'greedy', 'greedy:noise=0.2']
        >>> mean, low, high = result.score
        >>> low <= mean <= high
        True
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
    """Return the mean win rate of independent matches, and the ends of its 95 % interval."""
    mean = sum(standing.win_rate for standing in standings) / len(standings)
    below = math.hypot(*(standing.win_rate - standing.low for standing in standings))
    above = math.hypot(*(standing.high - standing.win_rate for standing in standings))
    return mean, max(0.0, mean - below / len(standings)), min(1.0, mean + above / len(standings))
