"""The folder of a tournament, from which a stopped tournament can be resumed.

The folder contains the settings in `settings.json`, one line per game in `games.jsonl`, and the
records of the games in `records/`. A folder may come from a stranger: its contents are checked, and
no file outside the folder is touched. The settings also contain a digest of each player's weights,
because the weights under a name or path may change later.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from armarl.arena.lineups import Lineup
from armarl.arena.tournament import GameResult, Tournament, most_at_once
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
from armarl.games.make_game import restore_game

_SETTINGS, _GAMES, _RECORDS = "settings.json", "games.jsonl", "records"
REPORTS = ("summary.json", "ratings.csv", "report.html")
_DIGESTS = "digests"  # key of the digests in the settings
_MOST_SETTINGS, _MOST_GAMES = 1 << 20, 1 << 30  # maximum file sizes in bytes
Digests = dict[str, str]  # from a player's name to the digest of its weights, if it has any

# The exceptions that are raised when JSON does not have the expected form.
_REFUSALS = (ValueError, TypeError, LookupError, OverflowError, RecursionError)


class ArenaError(RuntimeError):
    """An error about a tournament's folder. The message says what to do.

    Example:
        >>> import tempfile
        >>> from armarl import ArenaError, read_tournament
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     try:
        ...         read_tournament(folder)
        ...     except ArenaError as error:
        ...         print(str(error).replace(folder, "FOLDER"))
        FOLDER contains no tournament: it has no settings.json
    """


class Store:
    """The results of a tournament, in memory and, if there is a folder, on disk."""

    def __init__(self, folder: str | Path | None, planned: Tournament, digests: Digests) -> None:
        self.games: dict[tuple[int, int, Lineup], GameResult] = {}
        self._planned, self._digests = planned, digests
        self._folder = None if folder is None else Path(folder)
        self._lock: IO[str] | None = None

    def __enter__(self) -> Store:
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

        If an earlier call of `play_tournament` requested fewer deals, the job may have played some
        stored games again. Their new results may differ, because the batch had another size (see
        `DEALS_AT_ONCE`), so the stored results are kept. Records are written before results, so
        that no result lacks its record.
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
    """Write the settings of a new tournament, or check that the folder has the same settings.

    Raises:
        ArenaError: the settings are damaged or belong to another tournament, or the folder lacks
            settings but contains other files of a tournament.
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
    """Raise ArenaError if other weights have already played under the name of a player."""
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
    """Read the games in a folder. With `mend`, remove an incomplete last line from their file.

    Raises:
        ArenaError: the file is damaged, a line is not a result of the tournament, or two lines have
            different results of the same game.
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
            result = _result(line, seatings, len(lines) + most_at_once(planned.game), planned.game)
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
    """Parse and check the line of a game's result.

    The number of the deal must be below `deals`, because deals are played in order.

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
    """Read a tournament from its folder, even while it is being played. Write nothing.

    Args:
        folder: the folder of `play_tournament`.

    Raises:
        ArenaError: the folder contains no tournament, or its tournament is damaged or of another
            version. The class is a RuntimeError.

    Example:
        >>> import tempfile
        >>> from armarl import play_tournament, read_tournament
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
