"""Tournaments: played in parallel, saved line by line, and resumed after an interruption.

Deal `k` of a tournament is the same for every lineup, and every lineup plays it in all its
arrangements. Only the deals vary by chance, so ratings are bootstrapped over the deals.

A tournament's folder contains the settings in `settings.json`, one line per game in `games.jsonl`,
and the records of the games in `records/`. The same call resumes a tournament that was stopped. A
folder may come from a stranger: its contents are checked, and no file outside it is touched. The
settings also contain a digest of each player's weights, because the weights under a name or path
may change later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from armarl.arena.lineups import Lineup, lineups, members, tables
from armarl.arena.ratings import Tally
from armarl.common.files import (
    CONFIG_FILE,
    POLICY_FILE,
    append_whole,
    lock_folder,
    read_text,
    refuse_to_write_over,
    remove_temporaries,
    shorten,
    write_text,
)
from armarl.common.json_text import read_json, same_json
from armarl.common.messages import brief, printable
from armarl.common.numbers import MOST_SEED, whole_number
from armarl.core.game import Game
from armarl.games.make_game import make_game, restore_game
from armarl.matches.match import Entrants, Sitting, as_game
from armarl.matches.playing import play_tables, shares_of_victory, workers_for
from armarl.players.protocol import Player, digest_of
from armarl.players.registry import PlayerLike
from armarl.roster.make_player import make_player
from armarl.workers.jobs import Workers, check_workers
from armarl.workers.spread import spread

MOST_DEALS = 10**7  # maximum number of deals in a tournament
# Number of deals in a job that plays all tables. The number is fixed, because the rounding of a
# network's outputs depends on the batch size, and the same tournament must repeat exactly.
DEALS_AT_ONCE = 16
_LEAST_CELLS = 1 << 20  # `tally` accepts up to this number of (deal, table) pairs in any case
_SETTINGS, _GAMES, _RECORDS = "settings.json", "games.jsonl", "records"
REPORTS = ("summary.json", "ratings.csv", "report.html")
_DIGESTS = "digests"  # key in the settings
_MOST_SETTINGS, _MOST_GAMES = 1 << 20, 1 << 30  # maximum file sizes in bytes
Digests = dict[str, str]  # from a player's name to the digest of its weights, if it has any

# The exceptions that JSON of an unexpected form can raise.
_REFUSALS = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


class ArenaError(RuntimeError):
    """An error about a tournament's folder. The message says what to do."""


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
    """A tournament: its settings and its results so far.

    Attributes:
        game: the variant.
        players: the entrants' names, all different.
        kind: see `lineups.lineups`.
        mixed: see `lineups.lineups`.
        every: see `lineups.tables`.
        seed: seed of the deals and of the players' random numbers.
        games: the results so far, sorted by lineup, then deal, then table.

    Example:
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
        """Return the lineups: the groups of entrants that meet."""
        return lineups(len(self.players), self.game, self.kind, self.mixed)

    def tables(self, lineup: Lineup) -> list[Lineup]:
        """Return the arrangements of a lineup, which it plays in every deal."""
        return tables(lineup, self.game, self.mixed, self.every)

    def tally(self) -> Tally:
        """Return the results in the form that ratings need. Deals may be incomplete.

        Raises:
            ValueError: nearly all results are missing (nearly all deals at nearly all tables). A
                tournament cannot have such results.
        """
        seatings = sorted({game.table for game in self.games})
        numbers = {table: number for number, table in enumerate(seatings)}
        sides = len(set(self.game.sides))
        deals = 1 + max((game.deal for game in self.games), default=-1)
        if deals * len(seatings) > max(
            _LEAST_CELLS, (_most_at_once(self.game) + 1) * len(self.games)
        ):
            raise ValueError(
                f"these {len(self.games):,} games do not form a tournament: every table must play "
                f"every deal, but there are {deals:,} deals and {len(seatings):,} tables"
            )
        shares = np.zeros((deals, len(seatings), sides))
        for game in self.games:
            shares[game.deal, numbers[game.table]] += game.shares
        return Tally(members(seatings, self.game, len(self.players)), shares)


class _Job(NamedTuple):
    """The part of a tournament that one worker plays: some deals of a lineup at some tables."""

    game: str
    options: dict[str, Any]
    sitting: Sitting
    digests: Digests
    lineup: int
    number: int  # index of the `Sitting` (a group of tables) within the lineup
    seed: int
    first: int
    last: int
    record: bool


def play_tournament(
    game: Game | str,
    players: Sequence[PlayerLike],
    deals: int = 100,
    *,
    kind: str = "round-robin",
    mixed: bool = False,
    every: bool = False,
    seed: int = 0,
    workers: Workers = 1,
    folder: str | Path | None = None,
    records: bool = True,
    progress: Callable[[int, int], None] | None = None,
    enough: Callable[[Tournament], bool] | None = None,
) -> Tournament:
    """Play a tournament, or the missing games of a tournament that was stopped.

    Args:
        game: a game, or a game's name for its default options.
        players: specifications, paths or `Player`s. A player may take part twice.
        deals: number of deals that each lineup plays in all its arrangements.
        kind: "round-robin", "ladder" or "field", see `lineups.lineups`.
        mixed: whether partners may be different players.
        every: whether to play all arrangements even for 4 places.
        seed: the seed. The same seed repeats the tournament exactly.
        workers: number of processes, or a cluster.
        folder: folder for results and records. If it already contains this tournament, the
            tournament is resumed. Without a folder, nothing is saved.
        records: whether to save a record of every game in the folder.
        progress: function that is called with the number of finished games and of all games.
        enough: function that takes the tournament and returns whether to stop. It is called
            whenever all lineups have played the same deals.

    Raises:
        TypeError: `game` is not a game, or `mixed` or `every` is not a bool.
        ValueError: a number is out of range, or a player is unknown.
        ArenaError: the folder contains another tournament, a training run, or games of another
            policy under a player's name; or the folder is damaged; or a policy's file was replaced
            during the tournament.

    Example:
        >>> tournament = play_tournament("armadora", ["random", "greedy"], deals=2)
        >>> tournament.players, len(tournament.games)
        (('random', 'greedy'), 4)
    """
    game = as_game(game)
    whole_number("deals", deals, 1, MOST_DEALS)
    whole_number("seed", seed, 0, MOST_SEED)
    for name, given in (("mixed", mixed), ("every", every)):
        if type(given) is not bool:
            raise TypeError(f"{name} must be True or False, not {brief(repr(given), 60)}")
    if folder == "":
        raise ValueError("a folder needs a name; use . for the current folder")
    check_workers(workers)
    made = [make_player(player, game) for player in players]
    workers = workers_for(made, workers)
    names = _distinct([printable(player.name) for player in made])
    digests = _digests(names, made)
    planned = Tournament(game, names, kind, mixed, every, seed, ())
    with _Store(folder, planned, digests) as store:
        entrants = Entrants(players, names, game, workers)
        jobs = _jobs(planned, entrants, digests, deals, store, records and folder is not None)
        keys = {
            (job.lineup, deal, table)
            for job in jobs
            for deal in range(job.first, job.last)
            for table in job.sitting.seatings
        }
        whole = len(store.games.keys() | keys)
        playing = spread(_play_job, jobs, workers)
        for number, (results, texts) in enumerate(playing, 1):
            store.add(results, texts)
            if progress:
                progress(len(store.games), whole)
            level = number == len(jobs) or jobs[number].first > jobs[number - 1].first
            if enough and level and enough(store.tournament()):
                playing.close()
                break
        return store.tournament()


def _jobs(
    planned: Tournament,
    entrants: Entrants,
    digests: Digests,
    deals: int,
    store: _Store,
    record: bool,
) -> list[_Job]:
    """Return the jobs not played yet, sorted by deal, so that a stopped tournament is balanced."""
    game, jobs = planned.game, []
    options = {"players": game.players, **game.options}
    at_once = entrants.deals_at_once(DEALS_AT_ONCE)
    for lineup, group in enumerate(planned.lineups()):
        for number, sitting in enumerate(entrants.sittings(planned.tables(group), (lineup,))):
            for first in range(0, deals, at_once):
                last = min(first + at_once, deals)
                if not store.has(lineup, first, last, sitting.seatings):
                    who = (sitting, digests, lineup, number)
                    jobs.append(_Job(game.name, options, *who, planned.seed, first, last, record))
    return sorted(jobs, key=lambda job: (job.first, job.lineup, job.number))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names. Add a number to each name that has already occurred."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name} #{number}" for number in range(2, len(names) + 2))
        found.append(next(one for one in chain([name], numbered) if one not in found))
    return tuple(found)


def _digests(names: Sequence[str], players: Sequence[Player]) -> Digests:
    """Return the digest of each player's weights by name. Players without weights are left out."""
    found = zip(names, map(digest_of, players), strict=True)
    return {name: digest for name, digest in found if digest is not None}


def _most_at_once(game: Game) -> int:
    """Return the maximum number of deals per job."""
    return DEALS_AT_ONCE * len(set(game.sides))


def _refuse_replaced(job: _Job, players: Sequence[Player]) -> None:
    """Raise ArenaError if a policy has changed since the tournament began."""
    for name, holder in {
        pair
        for table in job.sitting.tables
        for pair in zip(table.names, table.holders, strict=True)
    }:
        if job.digests.get(name) != digest_of(players[holder]):
            raise ArenaError(
                f"{name} was replaced during the tournament. A rewritten file is another player: "
                "use a copy of the file that does not change"
            )


def _play_job(job: _Job) -> tuple[list[GameResult], list[str]]:
    """Play a job's games in lockstep. Return their results, and their records if requested."""
    game, sitting = make_game(job.game, **job.options), job.sitting
    players = sitting.new_players(game)
    _refuse_replaced(job, players)
    deals = job.seed, job.first, job.last
    games = play_tables(game, players, *deals, sitting.tables, record=job.record)
    shares = shares_of_victory(game, games.returns)
    shares[games.cut] = 1 / shares.shape[-1]
    results = [
        GameResult(
            job.lineup,
            job.first + deal,
            table,
            tuple(shares[deal, number].tolist()),
            int(games.lengths[deal, number]),
            bool(games.cut[deal, number]),
        )
        for number, table in enumerate(sitting.seatings)
        for deal in range(job.last - job.first)
    ]
    return results, games.records.T.ravel().tolist()


# --- the folder -----------------------------------------------------------------------------------


class _Store:
    """The results of a tournament, in memory and, with a folder, on disk."""

    def __init__(self, folder: str | Path | None, planned: Tournament, digests: Digests) -> None:
        self.games: dict[tuple[int, int, Lineup], GameResult] = {}
        self._planned, self._digests = planned, digests
        self._folder = None if folder is None else Path(folder)
        self._lock: IO[str] | None = None

    def __enter__(self) -> _Store:
        if self._folder is None:
            return self
        _make_folder(self._folder)
        self._lock = lock_folder(self._folder, ArenaError)
        try:
            _settle(self._folder / _SETTINGS, self._planned, self._digests)
            self.games = _read_games(self._folder, self._planned, mend=True)
            remove_temporaries(self._folder)
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def has(self, lineup: int, first: int, last: int, seatings: Sequence[Lineup]) -> bool:
        """Return whether all games of a job are stored."""
        deals = range(first, last)
        return all((lineup, deal, table) in self.games for table in seatings for deal in deals)

    def add(self, results: list[GameResult], texts: list[str]) -> None:
        """Store the games of a job that are not stored yet.

        If an earlier call requested fewer deals, the job may have played some stored games again.
        Their new results may differ, because the batch had another size (see `DEALS_AT_ONCE`).
        Records are written before results, so that no result lacks its record.
        """
        keys = [(result.lineup, result.deal, result.table) for result in results]
        new = [i for i, key in enumerate(keys) if key not in self.games]
        self.games |= {keys[i]: results[i] for i in new}
        if self._folder is None:
            return
        for table, at_table in groupby(new if texts else [], lambda i: results[i].table):
            games = list(at_table)
            first = results[games[0]]
            name = f"{first.lineup:04d}-{first.deal:06d}-{'-'.join(map(str, table))}.txt"
            (self._folder / _RECORDS).mkdir(exist_ok=True)
            write_text(self._folder / _RECORDS / name, "".join(texts[i] for i in games))
        lines = "".join(json.dumps(asdict(results[i])) + "\n" for i in new)
        append_whole(self._folder / _GAMES, lines.encode(), ours=True)

    def tournament(self) -> Tournament:
        """Return the tournament with all stored results."""
        return _with_games(self._planned, self.games)


def _make_folder(folder: Path) -> None:
    """Make the folder of a tournament if it does not exist.

    Raises:
        ArenaError: the path is a file, or the folder contains a training run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ArenaError(
            f"{folder} cannot be a tournament's folder because it is a file: name a folder"
        ) from error
    for name in (CONFIG_FILE, POLICY_FILE):
        if (folder / name).exists():
            raise ArenaError(
                f"{folder} is the folder of a training run (it contains {name}): name another "
                f"folder for the tournament, such as {folder / 'arena'}"
            )


def _with_games(
    planned: Tournament, games: dict[tuple[int, int, Lineup], GameResult]
) -> Tournament:
    return replace(planned, games=tuple(games[key] for key in sorted(games)))


def _settings_of(planned: Tournament) -> dict[str, Any]:
    chosen = {name: getattr(planned, name) for name in ("kind", "mixed", "every", "seed")}
    return {"variant": planned.game.variant, "players": list(planned.players), **chosen}


def _settle(path: Path, planned: Tournament, digests: Digests) -> None:
    """Write the settings to the folder, or check that the folder's settings are the same.

    Raises:
        ArenaError: the settings are damaged or belong to another tournament.
    """
    wanted = _settings_of(planned)
    try:
        found = read_json(read_text(path, _MOST_SETTINGS))
    except FileNotFoundError:
        ours = (_GAMES, _RECORDS, *REPORTS)
        refuse_to_write_over(path.parent, ours, f"no tournament ({_SETTINGS})", ArenaError)
        write_text(path, json.dumps({**wanted, _DIGESTS: digests}, indent=2) + "\n")
        return
    except _REFUSALS as error:
        raise ArenaError(f"{path} is damaged: {brief(error)}") from error
    for name, value in wanted.items():
        if not isinstance(found, dict) or not same_json(found.get(name), value):
            raise ArenaError(
                f"{path.parent} contains a tournament with a different setting {name!r}: name "
                "another folder"
            )
    if _DIGESTS in found:  # missing in folders of earlier versions
        _compare(path, found[_DIGESTS], digests)


def _compare(path: Path, found: Any, digests: Digests) -> None:
    """Raise ArenaError if other weights have already played under a player's name."""
    if not isinstance(found, dict):
        raise ArenaError(f"{path} is damaged: its {_DIGESTS} must be a JSON object")
    others = [name for name in {**found, **digests} if found.get(name) != digests.get(name)]
    if others:
        raise ArenaError(
            f"{path.parent} contains games of another player named {brief(others[0])}: the file of "
            "this player has been rewritten or moved since; name another folder for this tournament"
        )


def _read_games(
    folder: Path, planned: Tournament, *, mend: bool = False
) -> dict[tuple[int, int, Lineup], GameResult]:
    """Read the games in a folder. With `mend`, remove an incomplete last line from the file.

    Raises:
        ArenaError: a line is not a result of the tournament.
    """
    path, games = folder / _GAMES, dict[tuple[int, int, Lineup], GameResult]()
    try:
        text = read_text(path, _MOST_GAMES)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ArenaError(f"{path} is damaged: {error}") from error
    whole = text[: text.rfind("\n") + 1]
    if mend and len(whole) < len(text):
        shorten(path, len(whole.encode()))
    lines = whole.splitlines()
    seatings = [frozenset(planned.tables(group)) for group in planned.lineups()]
    for number, line in enumerate(lines, 1):
        try:
            result = _result(line, seatings, len(lines) + _most_at_once(planned.game), planned.game)
        except _REFUSALS as error:
            raise ArenaError(
                f"{path}, line {number}: this is not a game's result: {brief(repr(error))}"
            ) from error
        key = (result.lineup, result.deal, result.table)
        if games.setdefault(key, result) != result:  # earlier versions wrote some results twice
            raise ArenaError(
                f"{path}, line {number}: an earlier line has another result for the same game"
            )
    return games


def _result(line: str, seatings: Sequence[frozenset[Lineup]], deals: int, game: Game) -> GameResult:
    """Parse and check a game's result.

    A deal's number must be below `deals`, because deals are played in order.

    Raises:
        ValueError, TypeError, LookupError: the line is not a valid result.
    """
    data = read_json(line)
    data |= {"table": tuple(data["table"]), "shares": tuple(data["shares"])}
    result = GameResult(**data)
    whole_number("lineup", result.lineup, 0, len(seatings) - 1)
    whole_number("deal", result.deal, 0, deals - 1)
    whole_number("actions", result.actions, 1, game.max_actions)
    if result.table not in seatings[result.lineup] or not all(type(i) is int for i in result.table):
        raise ValueError(f"table {result.table} is not an arrangement of lineup {result.lineup}")
    shares = [float(share) for share in result.shares if type(share) in (int, float)]
    winners = [share for share in shares if share != 0]
    fair = bool(winners) and all(abs(share - 1 / len(winners)) < 1e-6 for share in winners)
    if len(shares) != len(set(game.sides)) or not fair or type(result.cut) is not bool:
        raise ValueError(
            "shares must have a number for each side, equal for all winners, with the sum 1; and "
            "cut must be true or false"
        )
    if result.cut and len(winners) < len(shares):
        raise ValueError("all sides of a game that was cut short must have equal shares")
    return result


def read_tournament(folder: str | Path) -> Tournament:
    """Read a tournament from its folder, even while it is being played. Nothing is written.

    Raises:
        ArenaError: the folder contains no tournament, or its tournament is damaged or of another
            version.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     played = play_tournament("armadora", ["random", "greedy"], 2, folder=folder)
        ...     read_tournament(folder).games == played.games
        True
    """
    path = Path(folder) / _SETTINGS
    try:
        planned = _planned(read_json(read_text(path, _MOST_SETTINGS)))
    except FileNotFoundError as error:
        raise ArenaError(f"{folder} contains no tournament: it has no {_SETTINGS}") from error
    except _REFUSALS as error:
        raise ArenaError(f"{path} is damaged: {brief(error)}") from error
    return _with_games(planned, _read_games(Path(folder), planned))


def _planned(found: Any) -> Tournament:
    """Make a tournament without results from the contents of a settings file.

    Raises:
        ValueError, TypeError, LookupError: the settings are invalid, or of another version.
    """
    variant, players = found["variant"], found["players"]
    game = restore_game(variant["game"], {"players": variant["players"], **variant["options"]})
    if not same_json(variant, game.variant):
        raise ValueError(
            f"the settings are for another version of the game, but this is version {game.version}"
        )
    if not isinstance(players, list) or not all(
        isinstance(name, str) and name == printable(name) for name in players
    ):
        raise ValueError("players must be a list of printable names")
    if len(set(players)) < len(players):
        raise ValueError("two players have the same name; all names must differ")
    kind, mixed, every = found["kind"], found["mixed"], found["every"]
    if not isinstance(mixed, bool) or not isinstance(every, bool):
        raise TypeError(
            f"mixed and every must be true or false, not {brief(repr(mixed), 60)} and "
            f"{brief(repr(every), 60)}"
        )
    seed = whole_number("seed", found["seed"], 0, MOST_SEED)
    planned = Tournament(game, tuple(players), kind, mixed, every, seed, ())
    planned.lineups()
    return planned
