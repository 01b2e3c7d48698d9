"""Tournaments: played in parallel, kept line by line, and gone on with after a kill.

Deal `k` of a tournament is the same for every lineup, and every lineup plays it in all its
arrangements; the deals are what differs by chance, and what ratings are bootstrapped over.

With a folder, `settings.json` says what is played, and `games.jsonl` has a line for each game, in
whole lines; `records/` has the games themselves. The same call goes on where it was stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armarl.arena.lineups import Lineup, lineups, members, tables
from armarl.arena.ratings import Tally
from armarl.arena.records import Recorder
from armarl.game import Game, make_game, restore_game
from armarl.matches import deal_seeds, in_processes, play_games, shares_of_victory
from armarl.players import PlayerLike, make_player

DEALS_AT_ONCE = 16  # of a job; part of the repeatable arithmetic of networks
_SETTINGS, _GAMES, _RECORDS = "settings.json", "games.jsonl", "records"


class ArenaError(RuntimeError):
    """A tournament's folder that cannot be used so; the message says what would be right."""


@dataclass(frozen=True)
class GameResult:
    """One game of a tournament.

    Attributes:
        lineup: number of the lineup.
        deal: number of the deal.
        table: number of the entrant in each seat.
        shares: of the victory, by side; of a game that was cut short, equal ones.
        actions: how many were played.
        cut: whether it was cut short.
    """

    lineup: int
    deal: int
    table: Lineup
    shares: tuple[float, ...]
    actions: int
    cut: bool


@dataclass(frozen=True)
class Tournament:
    """A tournament: what is played, and what has been played of it.

    Attributes:
        game: the variant.
        players: the entrants' names, all different.
        kind, mixed, every: see `lineups.lineups` and `lineups.tables`.
        seed: of the deals and of the players' chance.
        games: the results so far, in the order of lineups, deals and tables.
    """

    game: Game
    players: tuple[str, ...]
    kind: str
    mixed: bool
    every: bool
    seed: int
    games: tuple[GameResult, ...]

    def lineups(self) -> list[Lineup]:
        """Who meets whom."""
        return lineups(len(self.players), self.game, self.kind, self.mixed)

    def tally(self) -> Tally:
        """What ratings are made from; of a deal under way, what has been played of it."""
        seatings = sorted({game.table for game in self.games})
        numbers = {table: number for number, table in enumerate(seatings)}
        sides = len(set(self.game.sides))
        deals = 1 + max((game.deal for game in self.games), default=-1)
        shares = np.zeros((deals, len(seatings), sides))
        for game in self.games:
            shares[game.deal, numbers[game.table]] += game.shares
        return Tally(members(seatings, self.game, len(self.players)), shares)


class _Job(NamedTuple):
    """Some deals of a lineup, in all its arrangements."""

    game: str
    options: dict[str, Any]
    players: dict[int, PlayerLike]  # those of the lineup, by their numbers
    names: tuple[str, ...]
    lineup: int
    tables: list[Lineup]
    seed: int
    first: int
    last: int
    record: bool


def play_tournament(
    game: Game,
    players: Sequence[PlayerLike],
    deals: int = 100,
    *,
    kind: str = "round-robin",
    mixed: bool = False,
    every: bool = False,
    seed: int = 0,
    workers: int = 1,
    folder: str | Path | None = None,
    records: bool = True,
    progress: Callable[[int, int], None] | None = None,
    enough: Callable[[Tournament], bool] | None = None,
) -> Tournament:
    """Play a tournament, or what is left of it.

    Args:
        players: specifications, paths or `Player`s; a player may take part twice.
        deals: each lineup plays so many, in all its arrangements.
        kind: "round-robin", "ladder" or "field".
        mixed: partners may be different players.
        every: all arrangements, for 4 places too.
        seed: repeats the tournament exactly.
        workers: processes.
        folder: where results and records are kept; a tournament that is there is gone on with.
            Without one nothing is kept.
        records: whether every game is kept as a record, in the folder.
        progress: called with (games done, games in all).
        enough: asked whenever all lineups have played the same deals, whether that will do.

    Raises:
        ValueError: numbers out of range, or no such players.
        ArenaError: the folder holds another tournament, or is damaged.
    """
    if deals < 1 or workers < 1:
        raise ValueError("a tournament takes at least 1 deal and 1 worker")
    names = _distinct([make_player(player, game).name for player in players])
    groups = lineups(len(players), game, kind, mixed)
    store = _Store(
        folder, game, names, {"kind": kind, "mixed": mixed, "every": every, "seed": seed}
    )
    options = {"players": game.players, **game.options}
    jobs = []
    for number, group in enumerate(groups):
        sitting = {i: players[i] for i in group}
        seatings = tables(group, game, mixed, every)
        for first in range(0, deals, DEALS_AT_ONCE):
            last = min(first + DEALS_AT_ONCE, deals)
            if not store.has(number, first, last, seatings):
                keep = records and folder is not None
                where = (number, seatings, seed, first, last, keep)
                jobs.append(_Job(game.name, options, sitting, names, *where))
    # Deal by deal rather than lineup by lineup: stopped at any time, all have played alike.
    jobs.sort(key=lambda job: (job.first, job.lineup))
    left = sum((job.last - job.first) * len(job.tables) for job in jobs)
    whole = len(store.games) + left

    def so_far() -> Tournament:
        return Tournament(game, names, kind, mixed, every, seed, store.in_order())

    playing = in_processes(_play_job, jobs, workers)
    for number, (results, texts) in enumerate(playing, 1):
        store.add(results, texts)
        if progress:
            progress(len(store.games), whole)
        level = number == len(jobs) or jobs[number].first > jobs[number - 1].first
        if enough and level and enough(so_far()):
            playing.close()
            break
    return so_far()


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names with a number behind those that are there more than once."""
    found: list[str] = []
    for name in names:
        number = 1 + sum(other.split(" #")[0] == name for other in found)
        found.append(name if number == 1 else f"{name} #{number}")
    return tuple(found)


def _play_job(job: _Job) -> tuple[list[GameResult], list[str]]:
    """Play a job's games in lockstep; their results and, if they are wanted, their records."""
    game = make_game(job.game, **job.options)
    players = {number: make_player(player, game) for number, player in job.players.items()}
    count = len(job.tables)
    seeds = np.repeat(deal_seeds(job.seed, job.first, job.last), count)
    entrants = np.tile(np.array(job.tables), (job.last - job.first, 1))
    names = [[job.names[entrant] for entrant in table] for table in entrants]
    recorder = Recorder(game, names, seeds) if job.record else None
    returns, lengths, cut = play_games(game, players, entrants, seeds, recorder)
    shares = shares_of_victory(game, returns)
    shares[cut] = 1 / shares.shape[1]
    results = [
        GameResult(
            job.lineup,
            job.first + i // count,
            job.tables[i % count],
            tuple(shares[i].tolist()),
            int(lengths[i]),
            bool(cut[i]),
        )
        for i in range(len(seeds))
    ]
    return results, recorder.texts() if recorder else []


# --- the folder -----------------------------------------------------------------------------------


class _Store:
    """The results of a tournament, in memory and, with a folder, on the disk."""

    def __init__(
        self, folder: str | Path | None, game: Game, names: Sequence[str], settings: dict[str, Any]
    ) -> None:
        self.games: dict[tuple[int, int, Lineup], GameResult] = {}
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        what = {"variant": game.variant, "players": list(names), **settings}
        path = self._folder / _SETTINGS
        if path.exists():
            _check_settings(path, what)
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write_whole(path, json.dumps(what, indent=2) + "\n")
        self._read()

    def has(self, lineup: int, first: int, last: int, seatings: list[Lineup]) -> bool:
        """Whether all games of a job are there."""
        deals = range(first, last)
        return all((lineup, deal, table) in self.games for deal in deals for table in seatings)

    def add(self, results: list[GameResult], texts: list[str]) -> None:
        """Keep the games of a job: the records first, so that no result lacks its game."""
        for result in results:
            self.games[result.lineup, result.deal, result.table] = result
        if self._folder is None:
            return
        if texts:
            first = results[0]
            name = f"{first.lineup:04d}-{first.deal:06d}.txt"
            (self._folder / _RECORDS).mkdir(exist_ok=True)
            _write_whole(self._folder / _RECORDS / name, "".join(texts))
        with (self._folder / _GAMES).open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(asdict(result)) + "\n" for result in results))
            file.flush()
            os.fsync(file.fileno())

    def in_order(self) -> tuple[GameResult, ...]:
        return tuple(self.games[key] for key in sorted(self.games))

    def _read(self) -> None:
        """Take up the games that are there; a last line that is not whole is taken away."""
        assert self._folder is not None
        path = self._folder / _GAMES
        if not path.exists():
            return
        raw = path.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            os.truncate(path, len(whole))
        for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), 1):
            try:
                data = json.loads(line)
                data |= {"table": tuple(data["table"]), "shares": tuple(data["shares"])}
                result = GameResult(**data)
                self.games[result.lineup, result.deal, result.table] = result
            except (ValueError, TypeError, KeyError) as error:
                raise ArenaError(f"{path}, line {number}: this is no game's result") from error


def _check_settings(path: Path, wanted: dict[str, Any]) -> None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ArenaError(f"{path} is damaged: {error}") from error
    for name, value in wanted.items():
        if not isinstance(found, dict) or found.get(name) != value:
            raise ArenaError(
                f"{path.parent} holds a tournament with other {name}: name another folder for this"
            )


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_tournament(folder: str | Path) -> Tournament:
    """A tournament as its folder has it.

    Raises:
        ArenaError: the folder holds none, or a damaged one, or one of another version.
    """
    path = Path(folder) / _SETTINGS
    if not path.is_file():
        raise ArenaError(f"{folder} holds no tournament: there is no {_SETTINGS} in it")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        variant, names = found["variant"], tuple(found["players"])
        game = restore_game(variant["game"], {"players": variant["players"], **variant["options"]})
        settings = {name: found[name] for name in ("kind", "mixed", "every", "seed")}
    except (ValueError, TypeError, KeyError) as error:
        raise ArenaError(f"{path} is damaged: {error}") from error
    store = _Store(folder, game, names, settings)
    return Tournament(game, names, games=store.in_order(), **settings)
