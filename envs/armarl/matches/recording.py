"""Functions that write game records. The module `records` describes the format and reads it."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import append_whole, check_writable, open_to_change
from armarl.compiler.types import State, States
from armarl.core.game import Game
from armarl.matches.records import (
    BAR,
    HEAD,
    CutError,
    Lines,
    Record,
    RecordError,
    chance_text,
    ending_line,
    opening,
    read_next,
    seeded_word,
    state_hash,
    sum_line,
    word_text,
)

_LAST_RECORD = 1 << 25  # number of bytes at a file's end in which to search for its last record
_SUM = re.compile(rb"^sum [0-9a-f]{64}(?:\r?\n|\Z)", re.MULTILINE)


class Recorder:
    """A writer of the records of games while they are being played.

    Attributes:
        game: the variant.
        lines: the lines of each game's record so far, without line ends.
    """

    def __init__(
        self, game: Game, players: Sequence[Sequence[str]], seeds: NDArray[np.int64]
    ) -> None:
        """Begin the records of games. Call this constructor before the games are dealt.

        Args:
            game: the variant.
            players: names of the players in each game, by seat.
            seeds: seeds of the deals, (games,).
        """
        self.game = game
        self.lines = [opening(game, names) for names in players]
        self._words = [seeded_word(game, number) for number in seeds]

    @classmethod
    def resumed(cls, record: Record) -> Recorder:
        """Return a recorder that continues the record of one unfinished game."""
        recorder = cls(record.game, [], np.empty(0, np.int64))
        recorder.lines = [list(record.lines)]
        recorder._words = [record.states[-1]["rng"].tobytes()]
        return recorder

    def undone(self, state: State) -> None:
        """Remove the last action from the record of the only game.

        Args:
            state: the state before this action.
        """
        self.lines[0].pop()
        self._words[0] = state["rng"].tobytes()

    def dealt(self, states: States) -> None:
        """Record the deals of the games. `states` are the states after the deals."""
        for i, state in enumerate(states):
            words = [word_text(self._words[i]), chance_text(self.game, state, dealt=True)]
            self.lines[i].append(BAR.join(["deal", *words, state_hash(state)]))
            self._words[i] = state["rng"].tobytes()

    def played(
        self,
        states: States,
        games: NDArray[np.int64],
        seats: NDArray[np.int64],
        actions: NDArray[np.int64],
    ) -> None:
        """Record an action in some games: `seats[k]` played `actions[k]` in game `games[k]`.

        `states` are the states of all games after the actions.
        """
        for i, seat, action in zip(games.tolist(), seats.tolist(), actions.tolist(), strict=True):
            state, columns = states[i], [f"{seat} {self.game.actions.text(action)}"]
            if (word := state["rng"].tobytes()) != self._words[i]:
                columns += [word_text(self._words[i]), chance_text(self.game, state, dealt=False)]
                self._words[i] = word
            self.lines[i].append(BAR.join([*columns, state_hash(state)]))

    def ended(self, states: States) -> None:
        """Finish the records. A game that is not over counts as stopped."""
        statuses = self.game.statuses(states)[0].tolist()
        for i, status in enumerate(statuses):
            lines = self.lines[i]
            lines.append(ending_line(self.game, states[i : i + 1], status))
            lines.append(sum_line(lines))

    def texts(self) -> list[str]:
        """Return the finished records."""
        return ["\n".join(lines) + "\n" for lines in self.lines]


def append_records(path: str | Path, texts: Sequence[str]) -> None:
    """Append records to a file that `prepare_records` has checked: either all of them or none.

    Raises:
        OSError: the disk is full or not writable. The file is unchanged.
    """
    append_whole(Path(path), "".join(texts).encode())


def prepare_records(path: str | Path) -> None:
    """Check before a game is played that its record can be appended to a file.

    A process that was killed may have left an incomplete record at the end of the file. This
    function removes the incomplete record, because records after it could not be read. The function
    removes nothing else: the incomplete record must follow a complete record, or begin the file,
    and must replay without errors.

    Raises:
        ValueError: the folder does not exist, or the file contains something other than records.
        OSError: the file is not writable.
    """
    path = Path(path)
    check_writable(path)
    if not path.is_file():
        return
    with open_to_change(path) as file:
        first = file.read(len(HEAD))
        length = file.seek(0, os.SEEK_END)
        start = file.seek(max(0, length - _LAST_RECORD))
        tail = file.read()
        whole = max((found.end() for found in _SUM.finditer(tail)), default=0)
        ours = HEAD.encode().startswith(first) and (
            _ends_with_a_record(tail[:whole]) if whole else not start
        )
        if not ours or not _is_half_a_record(path, tail[whole:]):
            raise ValueError(
                f"{path} does not end with a record; for records, name a new file, or a file that "
                "ends with a record"
            )
        if start + whole < length:
            file.truncate(start + whole)
        if whole and tail[whole - 1 : whole] != b"\n":
            file.write(b"\n")


def _ends_with_a_record(text: bytes) -> bool:
    """Return whether a text ends with the lines of a record and their correct `sum`."""
    lines = text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    head = HEAD.encode()
    if head not in lines:
        return False
    *record, told = lines[len(lines) - 1 - lines[::-1].index(head) :]
    return told == b"sum " + hashlib.sha256(b"\n".join(record)).hexdigest().encode()


def _is_half_a_record(path: Path, rest: bytes) -> bool:
    """Return whether `rest` is empty or the beginning of a record, without errors so far."""
    if HEAD.encode().startswith(rest.rstrip(b"\r\n")):
        return True
    try:
        read_next(Lines(path, io.BytesIO(rest)))
    except CutError:
        return True
    except RecordError:
        return False
    return True
