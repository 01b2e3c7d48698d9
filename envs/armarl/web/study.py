"""`Study`: players' thoughts on a finished game, collected while people look at its replay.

Thoughts are a player's action probabilities and expected returns (`players.protocol.Thoughts`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from armarl.matches.records import Record
from armarl.players.protocol import Player, Thinker, Thoughts
from armarl.replays.replay import Replay
from armarl.replays.thoughts import deciders, thoughts_of
from armarl.web.refusals import RefusedError

MOST_PLAYERS = 6  # maximum number of players whose thoughts one replay shows


class Study:
    """A finished game and players' thoughts on it. All methods may be called from any thread.

    Attributes:
        trouble: a text about the error of the last player if it failed, otherwise an empty text.
    """

    def __init__(self, record: Record) -> None:
        self._record, self._lock = record, threading.Lock()
        self._opinions: dict[str, list[Thoughts | None]] = {}
        self._thinking: tuple[str, int] | None = None  # player, number of finished positions
        self._page: str | None = None
        self.trouble = ""

    def page(self) -> str:
        """Return the replay as HTML, with the thoughts that have been collected so far."""
        with self._lock:
            if self._page is None:
                self._page = Replay([self._record], None, [self._opinions]).html()
            return self._page

    def progress(self) -> dict[str, Any]:
        """Return the players that have finished, the player that is thinking, and its progress."""
        thinking = self._thinking
        return {
            "asked": list(self._opinions),
            "thinking": thinking and thinking[0],
            "done": thinking[1] if thinking else 0,
            "of": len(deciders(self._record)),
            "trouble": self.trouble,
        }

    def begin(self, name: str) -> None:
        """Record that a player is going to think about the game.

        Raises:
            RefusedError: another player is still thinking, or there are too many players.
        """
        with self._lock:
            if self._thinking is not None:
                raise RefusedError(f"{self._thinking[0]} is still thinking: wait for it")
            if len(self._opinions.keys() | {name}) > MOST_PLAYERS:
                raise RefusedError(f"a replay shows at most {MOST_PLAYERS} players side by side")
            self._thinking, self.trouble = (name, 0), ""

    def think(self, name: str, make: Callable[[], Player], stopped: threading.Event) -> None:
        """Let the player for which `begin` was called think about every position.

        Raises:
            RefusedError: the player does not report thoughts, or `stopped` was set.
        """
        try:
            player = make()
            if not isinstance(player, Thinker):
                raise RefusedError(f"{name} does not report thoughts; choose another player")

            def progress(done: int, _: int) -> None:
                self._thinking = name, done
                if stopped.is_set():
                    raise RefusedError("the server is stopping")

            found = thoughts_of(self._record, player, progress)
            with self._lock:
                self._opinions[name], self._page = found, None
        finally:
            self._thinking = None
