"""`House`: all tables of one folder, the keys of their visitors, and the players for them.

A key is a secret text in a page's address. It tells the server who the visitor is.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from armarl.arena.policy_card import read_card
from armarl.common.files import LOCK, lock_folder, open_to_read
from armarl.common.messages import brief, tell
from armarl.core.game import Game
from armarl.games.catalogue import entries, game_entry
from armarl.games.make_game import restore_game
from armarl.matches.records import Record, RecordError, read_record
from armarl.players.player_specs import as_spec
from armarl.players.protocol import Player
from armarl.players.registry import shipped_policies
from armarl.policies.saved_policy import policy_game
from armarl.roster.make_player import make_player
from armarl.web.refusals import RefusedError
from armarl.web.table import Table
from armarl.web.table_files import About, read_about

MOST_TABLES = 2000
_MOST_SEATS = 16
_BUILT_IN = {  # players for every game, with descriptions for the page
    "random": "plays at random",
    "greedy": "the game's scripted player",
    "grave:1000": "searches with 1,000 playouts per decision",
    "ismcts:1000": "searches with 1,000 playouts per decision, by another method",
}


class FolderInUseError(RuntimeError):
    """An error: another server uses the folder."""


class Visitor(NamedTuple):
    """The owner of a key.

    Attributes:
        table: the name of the table, or None for the host, the person who may open tables.
        key: the key.
    """

    table: str | None
    key: str


class Person(NamedTuple):
    """A person for a seat. With `own_key` the person gets a separate key. All others share one."""

    name: str
    own_key: bool = False


class House:
    """All tables of one folder. All methods may be called from any thread.

    Attributes:
        host: the key of the host, the person who may open tables.
    """

    def __init__(self, folder: Path, named: Sequence[str] = (), given: Game | None = None) -> None:
        """Open a folder, or create it if it does not exist.

        Args:
            folder: the folder. Its permissions exclude other users, because it contains the keys of
                all tables.
            named: specifications of further players for the tables, from the command line. Players
                of all kinds are allowed.
            given: the variant from the command line. It may have options that cannot be entered on
                a page, such as a chart.

        Raises:
            FolderInUseError: another server uses the folder.
            OSError: the folder cannot be created or read.
        """
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        self._lock_file = lock_folder(folder, FolderInUseError)
        self.host = secrets.token_urlsafe(16)
        self._folder, self._named, self._given = folder, tuple(named), given
        self._tables: dict[str, Table] = {}
        self._visitors: dict[bytes, Visitor] = {_digest(self.host): Visitor(None, self.host)}
        self._abouts: dict[str, About] = {}
        self._lock, self._opening = threading.Lock(), threading.Lock()
        for path in sorted(folder.glob("*.json")):
            if path.stem != LOCK and path.with_suffix(".txt").exists():
                try:
                    self._know(path.stem, read_about(folder, path.stem))
                except (OSError, ValueError) as error:
                    tell(f"{path} is skipped: {error}")

    def close(self) -> None:
        """Release the folder, so that another server can use it."""
        self._lock_file.close()

    def _know(self, name: str, about: About) -> None:
        self._abouts[name] = about
        for key in about.keys:
            self._visitors[_digest(key)] = Visitor(name, key)

    def visitor(self, key: str) -> Visitor | None:
        """Return the visitor with this key, or None.

        The look-up uses the hash of the key, so its duration reveals nothing about any key.
        """
        return self._visitors.get(_digest(key))

    def opened(self, name: str) -> Table | None:
        """Return a table if it is already loaded, otherwise None."""
        return self._tables.get(name)

    def table(self, name: str) -> Table:
        """Return a table. If it is not loaded yet, read its files.

        Raises:
            OSError, ValueError: the files cannot be read, or are damaged.
        """
        with self._opening:
            if name not in self._tables:
                self._tables[name] = Table.resume(self._folder, name, self._make_player)
                self._abouts[name] = self._tables[name].about
            return self._tables[name]

    # --- games and players -----------------------------------------------------------------------

    def offers(self) -> list[dict[str, Any]]:
        """Return every game's data for the host's page, such as its options and instructions."""
        found = []
        for entry in entries():
            make = entry.load().make
            known = inspect.signature(make).parameters.values()
            guide = entry.part("guide")
            options = {p.name: p.default for p in known if isinstance(p.default, bool | int | str)}
            found.append(
                {
                    "name": entry.name,
                    "title": entry.title,
                    "summary": entry.summary,
                    "players": entry.players,
                    "options": {k: v for k, v in options.items() if k != "players"},
                    "words": getattr(guide, "OPTIONS", {}),
                    "choices": getattr(guide, "CHOICES", {}),
                    "how": getattr(guide, "HOW_TO_PLAY", ()),
                    "example": getattr(guide, "EXAMPLE", {"game": entry.name}),
                    "rules": bool(entry.page("rules.md")),
                }
            )
        return found

    def rules(self, name: str) -> str:
        """Return the page with the numbered rules of a game, as Markdown.

        Raises:
            RefusedError: there is no such game.
        """
        try:
            return game_entry(name).page("rules.md")
        except ValueError as error:
            raise RefusedError(str(error)) from error

    def players(self, game: Game) -> list[tuple[str, str]]:
        """Return the players for tables of a variant, as pairs of specification and description.

        The players with measured win rates (see `_ranked`) come first, the strongest at the top.
        Then come the players from the command line, and last the other built-in players.
        """
        ranked = dict(_ranked(game))
        rest = dict.fromkeys(self._named, "named on the command line")
        rest |= {spec: f"{words}; not measured here" for spec, words in _BUILT_IN.items()}
        return list((ranked | {s: w for s, w in rest.items() if s not in ranked}).items())

    def _make_player(self, spec: str, game: Game) -> Player:
        """Make a player if `players` lists it.

        Raises:
            RefusedError: `players` does not list the player.
        """
        if spec not in dict(self.players(game)):
            raise RefusedError(
                f"the player {spec} is not available; name it in the command that starts the server"
            )
        return make_player(spec, game, code=spec in self._named)

    def _try_player(self, spec: str, game: Game) -> None:
        """Raise RefusedError if a player cannot be made for a variant."""
        try:
            self._make_player(spec, game)
        except RefusedError:
            raise
        except Exception as error:  # a user's player class may raise anything
            raise RefusedError(f"{spec} cannot play this: {error}") from error

    def game(self, name: str | None, options: Mapping[str, Any]) -> Game:
        """Return a variant, or the variant from the command line if the name is None.

        This method never opens a file, whatever the options are.

        Raises:
            RefusedError: the game or an option does not exist, or an option's value is invalid.
        """
        if name is None:
            if self._given is None:
                raise RefusedError("the request must name a game")
            return self._given
        try:
            return restore_game(name, options)
        except (ValueError, TypeError, OSError) as error:
            raise RefusedError(str(error)) from error

    def given(self) -> dict[str, Any] | None:
        """Return the game and the players from the command line, or None if no game was given."""
        if self._given is None:
            return None
        options = {"players": self._given.players, **self._given.options}
        plain = {k: v for k, v in options.items() if isinstance(v, bool | int | str)}
        whole = all(v is None or k in plain for k, v in options.items())
        return {
            "name": self._given.name if whole else None,
            "title": game_entry(self._given.name).title,
            "options": plain,
            "players": self._named,
        }

    # --- tables ----------------------------------------------------------------------------------

    def open_table(
        self, game: Game, seats: Sequence[str | Person], deal: int | None = None
    ) -> Table:
        """Open a table and deal its game.

        Args:
            game: the variant.
            seats: for each seat a person, or the specification of a player.
            deal: the seed of the deal. None draws a random seed.

        Raises:
            RefusedError: the number of seats is wrong, a player is not listed in `players` or
                cannot play the variant, or there are too many tables.
            OSError: the files cannot be written.
        """
        if len(seats) != game.players:
            raise RefusedError(
                f"the game has {game.players} seats, but {len(seats)} people and players were given"
            )
        for spec in {seat for seat in seats if not isinstance(seat, Person)}:
            self._try_player(spec, game)
        here = [k for k, s in enumerate(seats) if isinstance(s, Person) and not s.own_key]
        own = [[k] for k, s in enumerate(seats) if isinstance(s, Person) and s.own_key]
        players = [None if isinstance(seat, Person) else seat for seat in seats]
        names = [seat.name if isinstance(seat, Person) else seat for seat in seats]
        keys = [*([here] if here else []), *own, []]
        return self._begin(game, players, names, keys, deal)

    def _begin(
        self,
        game: Game,
        players: Sequence[str | None],
        names: Sequence[str],
        keys: Sequence[Sequence[int]],
        deal: int | None,
    ) -> Table:
        with self._lock:
            self._check_number()
            name = secrets.token_hex(5)
            # A small seed could be found by trial, and with it all hidden information.
            seed = secrets.randbits(63) if deal is None else deal
            table = Table.begin(
                *(self._folder, name, game, players, names, keys, seed, self._make_player)
            )
            self._tables[name] = table
            self._know(name, table.about)
            return table

    def keep(self, record: Record) -> Table:
        """Make a table from a finished game or a position, so that people can look at it.

        The same record always gives the same table.

        Raises:
            RefusedError: there are too many tables.
            OSError: the files cannot be written.
        """
        name = hashlib.sha256(str(record).encode()).hexdigest()[:10]
        with self._lock:
            if name not in self._abouts:
                self._check_number()
                table = Table.keep(self._folder, name, record, self._make_player)
                self._tables[name] = table
                self._know(name, table.about)
        return self.table(name)

    def keep_text(self, text: str) -> Table:
        """Call `keep` with a text: a record, or the description of a position as JSON.

        Raises:
            RefusedError: the text is neither of these, its game or position breaks a rule, or there
                are too many tables.
            OSError: the files cannot be written.
        """
        try:
            return self.keep(read_record(text))
        except RecordError as error:
            raise RefusedError(str(error)) from error

    def _check_number(self) -> None:
        if len(self._abouts) >= MOST_TABLES:
            raise RefusedError(
                f"the folder contains {MOST_TABLES} games, the maximum: name another folder"
            )

    def play_again(self, table: Table, same_deal: bool, move_on: bool) -> Table:
        """Deal a new game to the same people and players. Later calls return the same new table.

        Args:
            table: the table of a game that is over.
            same_deal: whether to repeat the deal of this game.
            move_on: whether everybody moves to the next seat.

        Raises:
            RefusedError: the game is not over, or there are too many tables.
            OSError, ValueError: the files of the new table cannot be written or read.
        """
        if table.about.next is not None:
            return self.table(table.about.next)
        if not table.is_over:
            raise RefusedError("finish this game first, or resign")
        n, about = table.game.players, table.about
        came = [(seat - move_on) % n for seat in range(n)]  # for each new seat, the previous seat
        again = self._begin(
            table.game,
            [about.players[seat] for seat in came],
            [table.own_names[seat] for seat in came],
            [[(seat + move_on) % n for seat in seats] for seats in about.keys.values()],
            about.deal if same_deal else None,
        )
        table.go_on_at(again.name)
        return again

    def next_key(self, table: Table, key: str) -> str | None:
        """Return the same person's key at the next table, or None if there is no next table."""
        if table.about.next is None:
            return None
        return list(self.table(table.about.next).about.keys)[list(table.about.keys).index(key)]

    def list_tables(self) -> list[dict[str, Any]]:
        """Return all tables, the newest first, with the keys of their seats."""
        with self._lock:
            known = dict(self._abouts)
        found = []
        for name, about in known.items():
            keys = [[key, seats] for key, seats in about.keys.items()]
            with suppress(OSError, ValueError):  # when somebody has removed or replaced the record
                found.append({"keys": keys, **_headline(self._folder / f"{name}.txt")})
        return sorted(found, key=lambda one: -one["time"])


def _headline(path: Path) -> dict[str, Any]:
    """Return the entry of a record in the list of tables. The record is not replayed.

    Raises:
        OSError, ValueError: the record cannot be read.
    """
    with open_to_read(path) as file:
        head = file.read(1 << 16).decode("utf-8", "replace").split("\n")
        about = os.fstat(file.fileno())
        file.seek(max(0, about.st_size - 200))
        over = b"\nsum " in file.read(200)
    position = head[0].startswith("{")
    seats = [line for line in head if line.startswith("player ")][:_MOST_SEATS]
    names = [brief(line.partition(" ")[2].partition(" ")[2]) for line in seats]
    game = next((line for line in head if line.startswith(("variant ", "{"))), "")
    return {
        "file": path.name,
        "time": about.st_mtime,
        "game": brief(game.partition('"game": "')[2].partition('"')[0]),
        "names": names or ["a position"],
        "over": over or position,
    }


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


@lru_cache(maxsize=32)
def _ranked(game: Game) -> list[tuple[str, str]]:
    """Return the measured players for a variant with their strength, the strongest first.

    The strongest is the shipped policy that beats the largest number of other shipped policies. The
    others follow by its win rate against them, the lowest rate first. Players that are not on its
    policy card are left out.
    """
    rates: dict[str, dict[str, float]] = {}
    for name, path in shipped_policies().items():
        if name.startswith(game.name):
            its = policy_game(path)
            if (its.name, its.players, its.options) == (game.name, game.players, game.options):
                rates[name] = {m.opponent: m.standing.win_rate for m in read_card(name).strength}
    if not rates:
        return []

    def beaten(name: str) -> tuple[int, float]:
        return sum(rates[name].get(other, 0) > 0.5 for other in rates), rates[name].get("greedy", 0)

    best = max(rates, key=beaten)
    found = [(best, "the strongest, a trained policy")]
    known = dict.fromkeys(rates, "a trained policy") | _BUILT_IN
    for rate, spec in sorted((rates[best][spec], spec) for spec in known if spec in rates[best]):
        found.append((spec, f"{known[spec]}; {best} wins {100 * rate:.0f} % against it"))
    return found


def check_named(specs: Sequence[str], game: Game) -> None:
    """Check that the players from the command line can be made.

    Raises:
        ValueError, TypeError: a player cannot be made.
    """
    for spec in specs:
        make_player(as_spec(spec), game)
