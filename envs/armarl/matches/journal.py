"""`Journal`: a game whose record is written to disk after every decision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from armarl.common.files import append_whole, read_bytes, shorten, write_text
from armarl.compiler.types import State, States
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.matches.recording import Recorder
from armarl.matches.records import RecordError, read_unfinished

_ONLY = np.zeros(1, np.int64)  # index of the game in a batch of one
_MOST_BYTES = 1 << 25  # maximum bytes of a record; a custom chart may be half of it
_ENDINGS = (b"end ", b"cut ", b"stopped")


class Journal:
    """A game that writes every decision to disk before anybody sees the decision.

    The file is a record of the game so far. When the game is over, the record is complete and
    `read_records` can read it. A process that was killed leaves at most one incomplete line, which
    `resume` removes.

    Attributes:
        game: the variant.
        names: a name for each seat.
        states: all states, beginning with the state after the deal, each as an array of shape (1,).
        actions: action ids, in order.
        seats: the seat that played each action.
        ending: "end", "cut" or "stopped". Empty while the game is being played.
    """

    def __init__(
        self, path: Path, recorder: Recorder, names: Sequence[str], states: Sequence[States]
    ) -> None:
        """Create a journal. Call `begin` or `resume` instead of this constructor."""
        self._path, self._recorder = path, recorder
        self.game: Game = recorder.game
        self.names, self.states = tuple(names), list(states)
        self.actions: list[int] = []
        self.seats: list[int] = []
        self.ending = ""
        self._look()

    @classmethod
    def begin(cls, path: Path, game: Game, names: Sequence[str], seed: int) -> Journal:
        """Deal a game and write the beginning of its record.

        Raises:
            OSError: the file cannot be written.
        """
        recorder, states = Recorder(game, [names], np.array([seed])), game.new_states(seed)
        recorder.dealt(states)
        write_text(path, _text(recorder.lines[0]))
        return cls(path, recorder, names, [states])

    @classmethod
    def resume(cls, path: Path) -> Journal:
        """Resume a game from the complete lines of its file.

        Raises:
            OSError: the file cannot be read or written.
            RecordError: the file is not a record, or the game in it breaks the rules.
        """
        try:
            content = read_bytes(path, _MOST_BYTES)
        except ValueError as error:
            raise RecordError(f"{path} is not a record of a game: {error}") from error
        whole = content[: content.rfind(b"\n") + 1]
        last = whole.rfind(b"\n", 0, len(whole) - 1) + 1
        if whole[last:].startswith(_ENDINGS):  # the last line of the record, `sum`, is missing
            whole = whole[:last]
        if len(whole) < len(content):
            shorten(path, len(whole))
        record = read_unfinished(path)
        states = [record.states[i : i + 1].copy() for i in range(len(record.states))]
        journal = cls(path, Recorder.resumed(record), record.players, states)
        journal.actions, journal.seats = list(record.actions), list(record.seats)
        journal.ending = record.ending
        if not record.ending and not journal.is_playing:
            journal.stop()
        return journal

    @property
    def state(self) -> State:
        """The state after the last action."""
        return self.states[-1][0]

    @property
    def is_playing(self) -> bool:
        """Whether the rules have not ended the game yet. True even if the game was stopped."""
        return self._is_playing

    @property
    def to_move(self) -> int | None:
        """The seat to move, or None if the game is over or was stopped."""
        return self._mover if self._is_playing and not self.ending else None

    def _look(self) -> None:
        """Set `is_playing` and the seat to move according to the last state."""
        statuses, seats = self.game.statuses(self.states[-1])
        self._is_playing, self._mover = bool(statuses[0] == PLAYING), int(seats[0])

    def play(self, action: int) -> None:
        """Play a legal action of the seat to move. The action is on disk when the method returns.

        Raises:
            IllegalActionError: the action is illegal.
            OSError: the disk is full or not writable. The game is unchanged.
        """
        seat = self.to_move
        assert seat is not None, "the game is over"
        after, lines = self.states[-1].copy(), self._recorder.lines[0]
        self.game.apply(after, _ONLY, np.array([action]))
        self._recorder.played(after, _ONLY, np.array([seat]), np.array([action]))
        try:
            append_whole(self._path, _text(lines[-1:]).encode(), ours=True)
        except OSError:
            self._recorder.undone(self.state)
            raise
        self.states.append(after)
        self.actions.append(action)
        self.seats.append(seat)
        self._look()
        if not self.is_playing:
            self.stop()

    def undo(self) -> None:
        """Undo the last action, and remove it from the file."""
        line = self._recorder.lines[0][-1]
        shorten(self._path, self._path.stat().st_size - len(_text([line]).encode()))
        for history in (self.states, self.actions, self.seats):
            del history[-1]
        self._recorder.undone(self.state)
        self._look()

    def stop(self) -> None:
        """Finish the record. A game that the rules have not ended counts as stopped.

        Raises:
            OSError: the disk is full or not writable. If the rules have ended the game, `resume`
                finishes the record later.
        """
        self._recorder.ended(self.states[-1])
        ending = self._recorder.lines[0][-2:]
        try:
            append_whole(self._path, _text(ending).encode(), ours=True)
        except OSError:
            del self._recorder.lines[0][-2:]
            raise
        self.ending = ending[0].split()[0]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
