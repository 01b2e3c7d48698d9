"""`Table`: one game with people and players in its seats. This module does not use HTTP.

A *player* is always a program. A *board* is a picture of a position. An *audience* is a viewer for
whom the server draws the game: a seat, an onlooker, or, after the end, anyone who sees everything.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armarl.common.files import write_text
from armarl.common.messages import brief, tell
from armarl.core.game import Game
from armarl.core.pictures.picture import Picture
from armarl.games.catalogue import game_entry
from armarl.matches.journal import Journal
from armarl.matches.records import Record, read_unfinished
from armarl.players.protocol import Player, choose_legally
from armarl.web.refusals import RefusedError
from armarl.web.study import Study
from armarl.web.table_files import About, read_about, record_path, write_about
from armarl.web.window import EVERYTHING, ONLOOKER, Window, board, guide, meaning, signs

_LETTERS = "ABCDEFGHIJKLMNOP"  # letters of the seats in names, as in Armadora's drawings
_MOST_NAME = 24  # maximum number of characters in a person's name
_MOST_BOARDS = 12  # maximum number of stored boards

MakePlayer = Callable[[str, Game], Player]


@dataclass
class Table:
    """A game that people and players play. All methods may be called from any thread.

    Attributes:
        name: the name of the table and of its two files.
        about: the facts that the record of the game does not contain.
        trouble: a text about the error of the player to move if it failed, otherwise None.
    """

    name: str
    about: About
    _folder: Path
    _journal: Journal
    _make_player: MakePlayer
    trouble: str | None = None
    _players: dict[int | tuple[int, str], Player] = field(default_factory=dict)
    _study: Study | None = None
    _boards: dict[str, Picture] = field(default_factory=dict)
    _windows: dict[int, Window] = field(default_factory=dict)  # by audience
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def begin(
        cls,
        folder: Path,
        name: str,
        game: Game,
        players: Sequence[str | None],
        names: Sequence[str],
        keys: Sequence[Sequence[int]],
        deal: int,
        make_player: MakePlayer,
    ) -> Table:
        """Deal a game.

        Args:
            folder: the folder for the table's two files.
            name: the name of the files.
            game: the variant.
            players: for each seat the specification of its player, or None for a person.
            names: a name for each seat.
            keys: for each key to create, its seats.
            deal: the seed of the deal.
            make_player: a function that makes a player from its specification.

        Raises:
            OSError: the files cannot be written.
        """
        shown = [
            brief(given, _MOST_NAME) or f"Player {_LETTERS[k]}" for k, given in enumerate(names)
        ]
        words = {secrets.token_urlsafe(16): list(seats) for seats in keys}
        about = About(list(players), words, deal, secrets.randbits(62))
        write_about(folder, name, about)
        journal = Journal.begin(record_path(folder, name), game, shown, deal)
        return cls(name, about, folder, journal, make_player)

    @classmethod
    def keep(cls, folder: Path, name: str, record: Record, make_player: MakePlayer) -> Table:
        """Make a table from a finished game or a position, for onlookers only.

        Raises:
            OSError: the files cannot be written.
        """
        players: list[str | None] = [None] * record.game.players
        write_about(folder, name, About(players, {secrets.token_urlsafe(16): []}, 0, 0))
        write_text(record_path(folder, name), str(record))
        return cls.resume(folder, name, make_player)

    @classmethod
    def resume(cls, folder: Path, name: str, make_player: MakePlayer) -> Table:
        """Continue a game from its files.

        Raises:
            OSError, ValueError: the files cannot be read, or are not the files of a table.
        """
        about, journal = read_about(folder, name), Journal.resume(record_path(folder, name))
        if len(about.players) != journal.game.players:
            raise ValueError(f"{name}: the table and its record have different numbers of seats")
        if about.resigned is not None and not journal.ending:
            journal.stop()
        return cls(name, about, folder, journal, make_player)

    # --- public information ----------------------------------------------------------------------

    @property
    def game(self) -> Game:
        return self._journal.game

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of people and players, as in the record."""
        return self._journal.names

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each seat. Equal names are made different by the letters of the seats."""
        own = self.own_names
        return tuple(
            name if own.count(name) == 1 else f"{name} {_LETTERS[seat]}"
            for seat, name in enumerate(own)
        )

    @property
    def is_over(self) -> bool:
        return bool(self._journal.ending)

    @property
    def version(self) -> str:
        """A text that changes whenever a decision is made or taken back, and when the game ends."""
        return f"{len(self._journal.seats)}.{self.about.undone}{'.over' * self.is_over}"

    @property
    def to_move(self) -> int | None:
        """The seat to move, or None if the game is over."""
        return self._journal.to_move

    @property
    def player_to_move(self) -> int | None:
        """The seat to move if a player plays it and has not failed, otherwise None."""
        seat = self.to_move
        return None if seat is None or self.trouble or self.about.players[seat] is None else seat

    def setup(self, key: str) -> dict[str, Any]:
        """Return the data of a visitor's page that do not change during the game."""
        game, found = self.game, guide(self.game)
        states = [
            game.concealed(self._journal.states[0], np.array([s])) for s in range(game.players)
        ]
        entry = game_entry(game.name)
        return {
            "game": entry.title,
            "name": game.name,
            "options": {"players": game.players, **_plain(game.options)},
            "summary": entry.summary,
            "notation": entry.notation,
            "names": self.names,
            "sides": game.sides,
            "people": [player is None for player in self.about.players],
            "seats": self.about.keys[key],
            "secrets": len({state.tobytes() for state in states}) > 1,
            "families": [family.meaning for family in game.actions.families],
            "places": [*found.cells(game), *found.edges(game)] if found else [],
            "how": getattr(found, "HOW_TO_PLAY", ()),
            "legend": signs(game),
            "rules": bool(entry.page("rules.md")),
        }

    def view(
        self, audience: int, number: int | None = None, have: str = "", since: int = 0
    ) -> dict[str, Any]:
        """Return a position as an audience sees it.

        Args:
            audience: a seat, ONLOOKER or EVERYTHING. EVERYTHING is refused until the game is over.
            number: the number of decisions before the position, or None for the newest position.
            have: the name of a board that the page already has. Only the changes from this board
                are returned.
            since: the number of the first decision to describe in words.

        Raises:
            RefusedError: the audience may not see the position, or the position does not exist.
        """
        with self._lock:
            journal, last = self._journal, len(self._journal.actions)
            if not ONLOOKER <= audience < self.game.players and not (
                audience == EVERYTHING and self.is_over
            ):
                raise RefusedError("the whole game is shown only when it is over")
            number = last if number is None else number
            if not 0 <= number <= last:
                raise RefusedError(f"the game has only {last} decisions, not {number}")
            window = self._window(audience)
            mover = journal.to_move
            seen = {
                "version": self.version,
                "number": number,
                "last": last,
                "audience": audience,
                "mover": mover,
                "over": self._ending(),
                "result": self._result(window),
                "trouble": self.trouble,
                "next": self.about.next is not None,
                "news": window.news(since, number),
                **self._board(window, number, have),
            }
            if number == last and mover == audience and audience >= 0:
                seen |= window.choices()
            if number == last:
                seen["undo"] = self._may_undo(audience)
            return seen

    def _board(self, window: Window, number: int, have: str) -> dict[str, Any]:
        """Return the board of a position as JSON types, with the board's name.

        If the page already has the board `have`, only the changes from that board are returned. But
        a board of another audience is never used, because the changes could reveal its secrets.
        """
        if not self.game.has_picture:
            return window.text(number)
        boards, own = self._boards, f"{window.audience}."
        name = f"{own}{number}.{self.about.undone}"
        before = boards.get(have) if have.startswith(own) else None
        if name not in boards:
            boards[name] = window.picture(number)
        found = board(boards[name], before)
        while len(boards) > _MOST_BOARDS:
            del boards[next(iter(boards))]
        return {"board": name, "base": None if "sheet" in found else have, **found}

    def _window(self, audience: int) -> Window:
        if audience not in self._windows:
            self._windows[audience] = Window(self._journal, audience, self.names)
        return self._windows[audience]

    def _ending(self) -> str | None:
        """Return one sentence about the end of the game, or None if the game is not over."""
        journal = self._journal
        if not journal.ending:
            return None
        if (seat := self.about.resigned) is not None:
            return f"{self.names[seat]} has resigned."
        if journal.ending == "stopped" and not journal.actions:
            mover = journal.game.statuses(journal.states[-1])[1][0]
            return f"A position: {self.names[mover]} is to move."
        if journal.ending == "stopped":
            return "The game was stopped."
        returns = journal.game.returns(journal.states[-1], np.zeros(1, np.int64))[0]
        best = [self.names[k] for k in range(len(returns)) if returns[k] == returns.max()]
        if journal.ending == "cut":
            return "The game was cut short. Nobody has won."
        if len(best) == len(returns):
            return "Nobody has won alone: all share the victory."
        return f"{' and '.join(best)} won."

    def _result(self, window: Window) -> Sequence[str]:
        """Return sentences with the details of the game's result, or none if there is no result."""
        journal = self._journal
        if not journal.ending or journal.ending == "stopped" or not journal.actions:
            return []
        last = len(journal.actions)
        told: Sequence[str] = window.news(last - 1, last)[0]["result"]
        return told

    # --- people's actions ------------------------------------------------------------------------

    def act(self, seat: int, version: str, text: str) -> None:
        """Play an action of a person. The action is on disk when this method returns.

        Raises:
            RefusedError: it is not the seat's turn, the action is illegal, or `version` is not the
                table's current version. Because of this check, an action that is sent twice is
                played only once.
            OSError: the disk is full or not writable. Nothing was played.
        """
        with self._lock:
            self._check_turn(seat, version)
            try:
                action = self.game.actions.id(text)
            except ValueError as error:
                raise RefusedError(str(error)) from error
            if not self.game.legal_masks(self._journal.states[-1])[0, action]:
                raise RefusedError(self._window(seat).why(action))
            self._journal.play(action)

    def undo(self, seat: int, version: str) -> None:
        """Take a person's last action back.

        Raises:
            RefusedError: `version` is not the table's current version, the game is over, another
                player has acted since, or the action has revealed something.
            OSError: the disk is full or not writable.
        """
        with self._lock:
            self._check_version(version)
            if not self._may_undo(seat):
                raise RefusedError(
                    "an action can be taken back only if nobody else has acted since and it has "
                    "revealed nothing: no die, no card, no hidden value"
                )
            self.about.undone += 1
            write_about(self._folder, self.name, self.about)
            self._journal.undo()
            self._windows.clear()
            self.trouble = None

    def _may_undo(self, seat: int) -> bool:
        journal = self._journal
        return (
            seat >= 0
            and not journal.ending
            and bool(journal.seats)
            and journal.seats[-1] == seat
            and self.about.players[seat] is None
            and not self._window(seat).has_revealed()
        )

    def resign(self, seat: int, version: str) -> None:
        """End the game because a person gives up. The record says that the game was stopped.

        Raises:
            RefusedError: `version` is not the table's current version, or the game is over.
            OSError: the disk is full or not writable.
        """
        with self._lock:
            self._check_version(version)
            if self.is_over:
                raise RefusedError("the game is over")
            self.about.resigned = seat
            write_about(self._folder, self.name, self.about)
            self._journal.stop()

    def go_on_at(self, name: str) -> None:
        """Record the name of the table at which the same people play again."""
        with self._lock:
            self.about.next = name
            write_about(self._folder, self.name, self.about)

    def _check_version(self, version: str) -> None:
        if version != self.version:
            raise RefusedError("the game has changed since: look at the new position")

    def _check_turn(self, seat: int, version: str) -> None:
        self._check_version(version)
        if self.is_over:
            raise RefusedError("the game is over")
        if (mover := self._journal.to_move) != seat:
            name = "nobody" if mover is None else self.names[mover]
            raise RefusedError(f"{name} is to move, not {self.names[seat]}")

    # --- people's questions ----------------------------------------------------------------------

    def why(self, seat: int, places: Sequence[str]) -> list[str]:
        """Return the reasons why the seat to move has no legal action on these places."""
        with self._lock:
            self._check_turn(seat, self.version)
            return self._window(seat).why_here(places)

    def answer(self, seat: int, text: str) -> str:
        """Return the answer to a text that a person has typed: a query, or an illegal action.

        `moves` lists the legal actions, `moves c4` the legal actions with the word `c4`, and `last`
        the last decisions. `where c4` describes a place, `board` draws the position as text, and
        `help` explains the notation.
        """
        with self._lock:
            query, _, word = text.strip().partition(" ")
            game, journal, window = self.game, self._journal, self._window(seat)
            to_move = journal.to_move == seat
            if query == "moves":
                legal = [found[0] for found in window.choices()["actions"]] if to_move else []
                named = [found for found in legal if not word or word in found.split()[1:]]
                return ", ".join(named) or "no legal action"
            if query == "last":
                news = window.news(len(journal.actions) - 6, len(journal.actions))
                return "\n".join(_sentence(item) for item in news) or "nothing yet"
            if query == "board":
                return window.drawn()
            if query == "where":
                return window.where(word) or f"there is no place {brief(word, 40)}"
            if query in ("help", "?"):
                rows = [f"{f.texts()[0]}: {f.meaning}" for f in game.actions.families if f.size]
                return "\n".join([game_entry(game.name).notation, *rows]).strip()
            try:
                action = game.actions.id(text)
            except ValueError as error:
                return str(error)
            return window.why(action) if to_move else f"`{text.strip()}`: {meaning(game, action)}"

    def opinion(self, seat: int, player: str) -> dict[str, Any]:
        """Return a player's choice and thoughts, as a hint for the person to move.

        Every seat has its own player objects for hints, because a shared object could remember the
        view of another seat.

        Raises:
            RefusedError: it is not the person's turn, or the player failed.
        """
        with self._lock:
            self._check_turn(seat, self.version)
            window = self._window(seat)
            states = self._journal.states[-1]
        try:
            own = seat, player
            adviser = self._players.get(own) or self._make_player(player, self.game)
            self._players[own] = adviser
            return window.opinion(adviser, states)
        except Exception as error:  # a player may raise anything
            raise RefusedError(self._failed(player, error)) from error

    def study(self) -> Study:
        """Return the study of the finished game: its replay with players' thoughts.

        Raises:
            RefusedError: the game is not over.
            OSError, ValueError: the record of the game cannot be read.
        """
        with self._lock:
            if not self.is_over:
                raise RefusedError("there is no replay before the game is over")
            if self._study is None:
                self._study = Study(read_unfinished(record_path(self._folder, self.name)))
            return self._study

    def think_over(self, player: str, stopped: threading.Event) -> None:
        """Let a player think about the finished game. Call `study().begin` first."""
        study = self.study()
        try:
            study.think(player, lambda: self._make_player(player, self.game), stopped)
        except RefusedError as error:
            study.trouble = str(error)
        except Exception as error:  # a player may raise anything
            study.trouble = self._failed(player, error)

    # --- players' actions ------------------------------------------------------------------------

    def let_player_move(self) -> bool:
        """Let the player to move choose and play an action. Return whether an action was played.

        The table is not locked while the player thinks. If a person takes an action back in this
        time, the player's choice is dropped. If the player fails, the game stays unchanged, and
        `trouble` describes the error.

        Raises:
            OSError: the disk is full or not writable. Nothing was played.
        """
        with self._lock:
            seat, version = self.player_to_move, self.version
            if seat is None:
                return False
            states, number = self._journal.states[-1], len(self._journal.actions)
        spec = self.about.players[seat]
        assert spec is not None
        try:
            if seat not in self._players:
                self._players[seat] = self._make_player(spec, self.game)
            seats = np.array([seat])
            draws = np.random.default_rng([self.about.chance, number]).random(1)
            shown = self.game.concealed(states, seats)
            action = int(choose_legally(self._players[seat], self.game, shown, seats, draws)[0])
        except Exception as error:  # a player may raise anything
            with self._lock:
                if self.version == version:
                    self.trouble = self._failed(spec, error)
            return False
        with self._lock:
            if self.version != version:
                return False
            self._journal.play(action)
            return True

    def _failed(self, player: str, error: Exception) -> str:
        """Print a player's error to stderr, and return a text about the error for the pages.

        The returned text does not quote the error's message, because it may contain secrets.
        """
        tell(f"table {self.name}: the player {player} failed: {type(error).__name__}: {error}")
        return f"the player {player} failed ({type(error).__name__}); the server's log says more"

    def retry(self, version: str) -> None:
        """Let a player that has failed try again.

        Raises:
            RefusedError: `version` is not the table's current version.
        """
        with self._lock:
            self._check_version(version)
            self.trouble = None
            self._players.clear()


def _sentence(item: dict[str, Any]) -> str:
    return f"`{item['text']}`: {' '.join(item['words'])}"


def _plain(options: Any) -> dict[str, Any]:
    """Return the options that are bools, integers or strings. A custom chart is left out."""
    return {key: value for key, value in options.items() if isinstance(value, bool | int | str)}
