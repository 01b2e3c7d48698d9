"""Matches between players. Each deal is played several times, with the players' seats rotated.

Every deal is played once per rotation of the players around the seats, so the luck of the deal and
of the seat is the same for all players. A game depends only on the seed of the match and the number
of the game. The same seed therefore repeats a match exactly, with any number of worker processes. A
player that could remember earlier games never plays a deal twice (see `matches.playing`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import MOST_SEED, whole_number
from armarl.core.game import Game, check_game
from armarl.games.make_game import make_game
from armarl.matches.playing import (
    Table,
    first_seats,
    play_tables,
    shares_of_victory,
    workers_for,
)
from armarl.matches.recording import append_records, prepare_records
from armarl.matches.standings import Standing, _standings
from armarl.players.protocol import Player
from armarl.players.registry import PlayerLike
from armarl.roster.make_player import make_player
from armarl.roster.memory import keeps_no_memory
from armarl.workers.jobs import Workers, check_workers
from armarl.workers.spread import spread

# Number of deals in a job that plays all rotations. A job that plays only one rotation has more
# deals, so that it has the same number of games. The rounding of a network's outputs depends on the
# batch size, and a seed must repeat a match exactly, so never change this number.
DEALS_AT_ONCE = 64
MOST_GAMES = 10**8  # maximum number of games in a match


@dataclass(frozen=True)
class MatchResult:
    """The outcome of a match.

    Attributes:
        variant: the game's name, version, number of players and options, and the hashes of its
            action table and observation table.
        seed: the seed of the match.
        deals: number of deals.
        games: number of games. Each deal is played once per rotation.
        mean_actions: mean number of actions per game.
        standings: result of each player, in the order of the argument `players`.

    Example:
        >>> import armarl
        >>> result = armarl.play_match("armadora", ["random", "random"], games=10, seed=1)
        >>> result.games, result.deals, sorted(result.as_dict())[:3]
        (10, 5, ['deals', 'games', 'mean_actions'])
    """

    variant: dict[str, Any]
    seed: int
    deals: int
    games: int
    mean_actions: float
    standings: tuple[Standing, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        return asdict(self)


def as_game(game: Game | str) -> Game:
    """Return a game unchanged, or make a game with default options from its name.

    Raises:
        TypeError: `game` is neither a game nor a name.
        ValueError: no game has that name.
    """
    return make_game(game) if isinstance(game, str) else check_game(game, or_name=True)


def seatings(entrants: int, game: Game) -> list[list[int]]:
    """Return the seating of each rotation: a list with the entrant number of every seat.

    The entrants are the players in the match's list, numbered from 0. Each side belongs to one
    entrant, so one entrant has all seats of a team. If there are fewer entrants than sides, the
    last entrant has the remaining sides. The entrants rotate around the sides.
    """
    sides = len(set(game.sides))
    return [
        [min((side + turn) % sides, entrants - 1) for side in game.sides] for turn in range(sides)
    ]


def play_match(
    game: Game | str,
    players: Sequence[PlayerLike],
    games: int = 1000,
    seed: int = 0,
    workers: Workers = 1,
    progress: Callable[[int, int], None] | None = None,
    records: str | Path | None = None,
) -> MatchResult:
    """Play a match and return its result.

    Args:
        game: the game, or the name of a game to play with default options.
        players: list of specifications, paths or `Player` objects, from 2 players up to the number
            of sides. If there are fewer players than sides, the last player has the remaining sides
            (A, B, B). From a specification, a new player is made for each seat and rotation, so
            that no player remembers a deal from another seat. (Players of this package that keep no
            memory are made once.) A `Player` object plays the same deal from several seats, so pass
            an object only if you trust it not to use what it remembers.
        games: number of games, 1 to 100 million. It is rounded up so that every deal is played in
            every rotation.
        seed: seed of the match, 0 to 2**63 - 1. The same seed repeats the match exactly.
        workers: number of processes, or a cluster. With more than 1, `Player` objects must be
            picklable. If a person plays, there is one process.
        progress: function that is called with the number of finished games and of all games.
        records: file to which the record of every game is appended (see `matches.records`).

    Returns:
        The result, with a standing for each player.

    Raises:
        TypeError: a number is not an integer, `game` is not a game, or `players` is not a list.
        ValueError: the number of players, games or workers is out of range, the seed is out of
            range, a player is unknown or was made for another variant, or the file for records
            contains something else.
        IllegalActionError: a player chose an illegal action.
        RuntimeError: a worker process was killed, or the cluster does not answer.
        OSError: the records cannot be written.

    Example:
        >>> import armarl
        >>> result = armarl.play_match("armadora", ["greedy", "random"], games=20, seed=1)
        >>> result.games, [standing.player for standing in result.standings]
        (20, ['greedy', 'random'])
    """
    game = as_game(game)
    check_list(players)
    _check_entrants(game, len(players))
    whole_number("games", games, 1, MOST_GAMES)
    whole_number("seed", seed, 0, MOST_SEED)
    check_workers(workers)
    made = [make_player(player, game) for player in players]
    names, workers = [player.name for player in made], workers_for(made, workers)
    if records is not None:
        prepare_records(records)
    sides = len(set(game.sides))
    deals, rotations = math.ceil(games / sides), seatings(len(players), game)
    entrants = Entrants(players, names, game, workers)
    jobs = _jobs(game, entrants, rotations, seed, deals, records is not None)
    parts: list[_Played] = []
    played, done = [], 0
    for part in spread(_play_job, jobs, workers):
        parts.append(part)
        done += part.lengths.size
        if sum(part.lengths.shape[1] for part in parts) == sides:  # the deals have all rotations
            played.append(_Played(*(np.hstack(column) for column in zip(*parts, strict=True))))
            if records is not None:
                append_records(records, played[-1].records.ravel().tolist())
            parts = []
        if progress:
            progress(done, deals * sides)
    shares, rewards, lengths, _ = (np.concatenate(column) for column in zip(*played, strict=True))
    return MatchResult(
        variant=game.variant,
        seed=seed,
        deals=deals,
        games=deals * sides,
        mean_actions=float(lengths.mean()),
        standings=_standings(names, shares, rewards, rotations),
    )


def check_list(players: object) -> None:
    """Raise a TypeError if the players of a match or tournament are one name or path."""
    if isinstance(players, str | Path):
        raise TypeError(f"players must be a list, such as [{str(players)!r}, 'random']")


def _check_entrants(game: Game, entrants: int) -> None:
    """Raise ValueError unless there are at least 2 entrants, and at most one for each side."""
    sides = len(set(game.sides))
    if 2 <= entrants <= sides:
        return
    takes = f"2 to {sides} entrants" if sides > 2 else "2 entrants"
    teams = f": there are {sides} teams, and an entrant has all seats of its team"
    raise ValueError(
        f"a match of {game.name} with {game.players} players takes {takes}, not {entrants}"
        + (teams if sides < game.players else "")
    )


class Sitting(NamedTuple):
    """Tables that are played at the same time, and their players."""

    players: list[PlayerLike]
    tables: list[Table]
    seatings: list[tuple[int, ...]]  # the entrant in each seat of each table
    copies: bool  # whether each job copies the player objects, because jobs may share them

    def new_players(self, game: Game) -> list[Player]:
        """Return the players of one job.

        Only `Player` objects that the caller passed may also play in other jobs.
        """
        made = [make_player(player, game) for player in self.players]
        return deepcopy(made) if self.copies else made


class Entrants:
    """The players of a match or tournament, in the form that jobs need.

    Worker processes on this machine get the players as the caller passed them. The machines of a
    cluster cannot read this machine's files, so they get player objects that contain the weights of
    their policies, one object for each seat that an entrant has at a table.
    """

    def __init__(
        self, players: Sequence[PlayerLike], names: Sequence[str], game: Game, workers: Workers
    ) -> None:
        self._players, self._names, self._game = players, names, game
        self._local = isinstance(workers, int)
        self._together = all(map(keeps_no_memory, players))
        self._made: dict[tuple[int, int], Player] = {}

    def deals_at_once(self, deals: int) -> int:
        """Return the number of deals per job.

        Args:
            deals: the number for a job that plays all tables. For a job that plays only one table,
                the number is larger.
        """
        return deals if self._together else deals * len(set(self._game.sides))

    def sittings(
        self, seatings: Sequence[Sequence[int]], key: tuple[int, ...] = ()
    ) -> list[Sitting]:
        """Return the sittings for tables that play the same deals.

        There is one sitting for each table if an entrant could remember a deal (see
        `matches.playing`), otherwise one sitting for all tables.

        Args:
            seatings: the entrant in each seat of each table.
            key: the first numbers of every table's `key`. The table's number is added to them.
        """
        tables = [tuple(seating) for seating in seatings]
        keys = [(*key, number) for number in range(len(tables))]
        if not self._together:
            return [
                self._sitting(self._of_seats(table), [one], [tuple(range(len(table)))], [table])
                for one, table in zip(keys, tables, strict=True)
            ]
        own = sorted({entrant for table in tables for entrant in table})
        holders = [tuple(map(own.index, table)) for table in tables]
        return [self._sitting([self._sent(entrant) for entrant in own], keys, holders, tables)]

    def _sitting(
        self,
        players: list[PlayerLike],
        keys: list[tuple[int, ...]],
        holders: list[tuple[int, ...]],
        seatings: list[tuple[int, ...]],
    ) -> Sitting:
        names = [tuple(self._names[entrant] for entrant in table) for table in seatings]
        return Sitting(players, list(map(Table, keys, holders, names)), seatings, not self._local)

    def _of_seats(self, table: tuple[int, ...]) -> list[PlayerLike]:
        """Return a player for each seat of a table."""
        return [
            self._sent(entrant, table[:seat].count(entrant)) for seat, entrant in enumerate(table)
        ]

    def _sent(self, entrant: int, copy: int = 0) -> PlayerLike:
        if self._local:
            return self._players[entrant]
        if (entrant, copy) not in self._made:
            self._made[entrant, copy] = make_player(self._players[entrant], self._game)
        return self._made[entrant, copy]


class _Job(NamedTuple):
    """The part of a match that one worker plays: a range of deals in some rotations."""

    game: str
    options: dict[str, Any]
    sitting: Sitting
    seed: int
    first: int
    last: int
    record: bool


class _Played(NamedTuple):
    """The results of one job's games, or of several jobs that together cover all rotations."""

    shares: NDArray[np.float64]  # shares of victory, (deals, rotations, entrants); NaN if cut short
    rewards: NDArray[np.float64]  # mean returns, (deals, rotations, entrants)
    lengths: NDArray[np.int64]  # numbers of actions, (deals, rotations)
    records: NDArray[np.object_]  # texts of the records, (deals, rotations), or empty


def _jobs(
    game: Game, entrants: Entrants, rotations: list[list[int]], seed: int, deals: int, record: bool
) -> list[_Job]:
    options = {"players": game.players, **game.options}
    at_once, sittings = entrants.deals_at_once(DEALS_AT_ONCE), entrants.sittings(rotations)
    return [
        _Job(game.name, options, sitting, seed, first, min(first + at_once, deals), record)
        for first in range(0, deals, at_once)
        for sitting in sittings
    ]


def _play_job(job: _Job) -> _Played:
    game, sitting = make_game(job.game, **job.options), job.sitting
    players = sitting.new_players(game)
    deals = job.seed, job.first, job.last
    games = play_tables(game, players, *deals, sitting.tables, record=job.record)
    shares, rewards = _by_entrant(game, games.returns, sitting.seatings)
    shares[games.cut] = np.nan
    return _Played(shares, rewards, games.lengths, games.records)


def _by_entrant(
    game: Game, returns: NDArray[np.float64], seatings: list[tuple[int, ...]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each entrant's shares of victory and mean returns, both (deals, tables, entrants)."""
    sides = first_seats(game)
    entrants = np.arange(np.max(seatings) + 1)
    sitting = np.array(seatings)[:, sides, None] == entrants  # (tables, sides, entrants)
    shares = np.einsum("dts,tse->dte", shares_of_victory(game, returns), sitting)
    rewards = np.einsum("dts,tse->dte", returns[..., sides], sitting) / sitting.sum(axis=1)
    return shares, rewards
