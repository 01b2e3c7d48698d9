"""Game records: text from which a game is replayed exactly, without seeds.

    armarl-record 1
    variant {"game": "armadora", "version": 0, "players": 2, ...}
    player 0 greedy
    player 1 random
    deal | 1f83d9abfb41bd6b | gold b1 6 e1 3 ... | 0c9d58a1f7e2
    0 W3 c4 | 66c58e4c6d3e
    1 attack G5 C3 | 9b05688c2b3e6c1f | combat 2 combat -1 | 51b2a0c0ffee
    end 1 -1
    sum 5be0cd19137e2179...

Every line of an action has the seat, the action in notation, and after the last bar the beginning
of the SHA-256 hash of the whole state after the action. If the action involved chance, there are
two columns before the hash. The first is the state of the random number generator before the
action, in hexadecimal, from which the rules draw the same results again. The second has these
results in the game's notation, or `-` if the game has no notation for them. The last line but one
begins with `end`, `cut` (cut short by the rules) or `stopped` (by a person). After `end` or `cut`
come the returns of the seats. The last line is `sum`, with the SHA-256 hash of all lines before it.

A file may contain many records. Reading a record replays it. An illegal action, a state or chance
result that differs from the replay, and a missing or extra line raise an error with the line
number. A record runs no code and names no files.

Instead of records, a file may contain one position in JSON, as `Game.describe` returns it. It is
read as a record without actions.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import append_whole, check_writable, open_to_change, open_to_read
from armarl.common.json_text import read_json, same_json
from armarl.common.messages import brief
from armarl.common.numbers import whole_number
from armarl.compiler.randomness import seed
from armarl.compiler.types import State, States
from armarl.core import batch_loops
from armarl.core.game import Game
from armarl.core.pictures.picture import Picture
from armarl.core.verbs import CUT_SHORT, PLAYING
from armarl.games.catalogue import game_entry
from armarl.games.make_game import restore_game

HEAD = "armarl-record 1"  # the first line of a record
_BAR = " | "  # separates the columns of a line
_ONLY = np.zeros(1, np.int64)  # index of the only game
_DIGITS = 12  # number of digits of a state's hash; the sum at the end protects the whole record
_LONGEST_LINE = 20_000  # maximum length of a line in bytes, except for the variant's line
_LONGEST_VARIANT = 1 << 24  # maximum length of the variant's line; it may contain a custom chart
_MOST_POSITION = 1 << 22  # maximum size of a position in bytes; it may contain a custom chart too
_LONGEST_REASON = 600  # maximum number of characters in an error's reason
_LAST_RECORD = 1 << 25  # number of bytes at a file's end that are searched for the last record
_WORDS = (b"variant ", b"player ", b"deal | ", b"end ", b"cut ", b"stopped", b"sum ")
_SUM = re.compile(rb"^sum [0-9a-f]{64}(?:\r?\n|\Z)", re.MULTILINE)


class RecordError(ValueError):
    """An error in a record: damage, missing lines, another version, or an illegal action."""


@dataclass(frozen=True)
class Record:
    """A game that was read from a record and replayed. `str` returns the text of the record.

    Attributes:
        game: the variant.
        players: names of the players, by seat.
        actions: action ids, in order.
        seats: the seat that played each action.
        ending: "end", "cut" or "stopped". Empty if the game is still being played.
        returns: returns of the seats (reward "win"), 0 if the game was stopped.
        states: all states, (actions + 1,), beginning with the deal.
        lines: the record's lines without line ends. For a position, its description in JSON.
    """

    game: Game
    players: tuple[str, ...]
    actions: tuple[int, ...]
    seats: tuple[int, ...]
    ending: str
    returns: tuple[float, ...]
    states: States
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    def picture(self, move: int | None = None, seat: int | None = None) -> Picture:
        """Return a drawing of a position, with the players' names and the last action.

        Args:
            move: number of actions before the position: 0 for the deal, None for the last position.
            seat: the seat whose view is drawn, or None for the whole position.

        Raises:
            TypeError, ValueError: the move or the seat does not exist, or the game has no drawing.
        """
        last = len(self.actions)
        move = last if move is None else whole_number("the move", move, 0, last)
        played = move > 0
        return self.game.picture(
            self.states[move],
            seat,
            before=self.states[move - 1] if played else None,
            last=(self.seats[move - 1], self.actions[move - 1]) if played else None,
            names=self.players,
        )


def position_record(game: Game, state: State, players: Sequence[str] | None = None) -> Record:
    """Return a position as a record without actions, for `Replay` and `think_over`.

    Its text is the description of the state as JSON, which `read_records` reads.

    Args:
        game: the variant.
        state: the position, such as one that `Game.state_from` returns.
        players: a name for each seat. None: "player 0", "player 1", ...

    Raises:
        TypeError: `state` is not a state of this game.
        ValueError: the state breaks a rule, or the number of names is wrong.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> position = position_record(game, game.state_from({"palisades": ["c3-c4"]}))
        >>> armarl.think_over(position, armarl.make_player("random", game))[0].probabilities.shape
        (1, 229)
    """
    states = np.full(1, state)
    game.check_states(states)
    names = [f"player {seat}" for seat in range(game.players)] if players is None else players
    if len(names) != game.players:
        raise ValueError(f"players must have {game.players} names, one per seat, not {len(names)}")
    over = bool(game.statuses(states)[0][0])
    returns = game.returns(states, np.zeros(1, np.int64))[0] if over else np.zeros(game.players)
    return Record(
        game=game,
        players=tuple(names),
        actions=(),
        seats=(),
        ending="end" if over else "stopped",
        returns=tuple(returns.tolist()),
        states=states,
        lines=(json.dumps(game.describe(states[0])),),
    )


# --- writing --------------------------------------------------------------------------------------


class Recorder:
    """A writer of records for games that are being played.

    Attributes:
        game: the variant.
        lines: the lines of each record so far, without line ends.
    """

    def __init__(
        self, game: Game, players: Sequence[Sequence[str]], seeds: NDArray[np.int64]
    ) -> None:
        """Begin the records of games, before the games are dealt.

        Args:
            game: the variant.
            players: names of the players in each game, by seat.
            seeds: seeds of the deals, (games,).
        """
        self.game = game
        self.lines = [_opening(game, names) for names in players]
        self._words = [_seeded_word(game, number) for number in seeds]

    @classmethod
    def resumed(cls, record: Record) -> Recorder:
        """Return a recorder that continues the record of an unfinished game."""
        recorder = cls(record.game, [], np.empty(0, np.int64))
        recorder.lines = [list(record.lines)]
        recorder._words = [record.states[-1]["rng"].tobytes()]
        return recorder

    def undone(self, state: State) -> None:
        """Remove the last action of the only game.

        Args:
            state: the state before this action.
        """
        self.lines[0].pop()
        self._words[0] = state["rng"].tobytes()

    def dealt(self, states: States) -> None:
        """Record that the games have been dealt."""
        for i, state in enumerate(states):
            words = [_word(self._words[i]), _results(self.game, state, dealt=True)]
            self.lines[i].append(_BAR.join(["deal", *words, _hash(state)]))
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
                columns += [_word(self._words[i]), _results(self.game, state, dealt=False)]
                self._words[i] = word
            self.lines[i].append(_BAR.join([*columns, _hash(state)]))

    def ended(self, states: States) -> None:
        """Finish the records. A game that is not over counts as stopped."""
        statuses = self.game.statuses(states)[0].tolist()
        for i, status in enumerate(statuses):
            lines = self.lines[i]
            lines.append(_ending(self.game, states[i : i + 1], status))
            lines.append(_sum(lines))

    def texts(self) -> list[str]:
        """Return the finished records."""
        return ["\n".join(lines) + "\n" for lines in self.lines]


def append_records(path: str | Path, texts: Sequence[str]) -> None:
    """Append records to a file that `prepare_records` has checked. Append all of them or none.

    Raises:
        OSError: the disk is full or not writable. The file is unchanged.
    """
    append_whole(Path(path), "".join(texts).encode())


def prepare_records(path: str | Path) -> None:
    """Check before a game that its record can be appended to a file.

    A process that was killed may have left an incomplete record at the end of the file. This
    function removes the incomplete record, because records after it could not be read. It removes
    nothing else: the incomplete record must follow a complete one, or begin the file, and must
    replay without errors.

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
    """Return whether the last line is a valid `sum` of the record that begins at the last HEAD."""
    lines = text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    head = HEAD.encode()
    if head not in lines:
        return False
    *record, told = lines[len(lines) - 1 - lines[::-1].index(head) :]
    return told == b"sum " + hashlib.sha256(b"\n".join(record)).hexdigest().encode()


def _is_half_a_record(path: Path, rest: bytes) -> bool:
    """Return whether `rest` is empty, or the beginning of a record without errors."""
    if HEAD.encode().startswith(rest.rstrip(b"\r\n")):
        return True
    try:
        _read(_Lines(path, io.BytesIO(rest)))
    except _CutError:
        return True
    except RecordError:
        return False
    return True


def _begins_a_line(raw: bytes) -> bool:
    """Return whether bytes without a line end can be the beginning of a record's line."""
    return raw[:1].isdigit() or any(word.startswith(raw[: len(word)]) for word in _WORDS)


class _CutError(RecordError):
    """An error in a record: the file ends before the record is complete."""


def _opening(game: Game, players: Sequence[str]) -> list[str]:
    names = [brief(name) for name in players]
    seats = [f"player {seat} {name}" for seat, name in enumerate(names)]
    return [HEAD, f"variant {json.dumps(game.variant)}", *seats]


def _seeded_word(game: Game, number: int) -> bytes:
    """Return the state of the random number generator after seeding, before the deal."""
    states = np.full(1, game.blank)
    seed(states[0], number)
    return bytes(states[0]["rng"].tobytes())


def _word(word: bytes) -> str:
    return word[::-1].hex()


def _results(game: Game, state: State, dealt: bool) -> str:
    """Return chance results in the game's notation, or `-` if the game has no notation for them."""
    module = game_entry(game.name).part("chance")
    return (module and module.chance_results(game, state, dealt)) or "-"


def _hash(state: State) -> str:
    return hashlib.sha256(state.tobytes()).hexdigest()[:_DIGITS]


def _ending(game: Game, states: States, status: int) -> str:
    if status == PLAYING:
        return "stopped"
    returns = " ".join(f"{value:.12g}" for value in game.returns(states, _ONLY)[0])
    return f"{'cut' if status == CUT_SHORT else 'end'} {returns}"


def _sum(lines: Sequence[str]) -> str:
    return f"sum {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


# --- reading --------------------------------------------------------------------------------------


def read_records(path: str | Path, start: int = 0) -> Iterator[Record]:
    """Yield the records of a file. Each record is replayed and checked.

    A file with the description of a position in JSON is one record without actions.

    Args:
        path: the file.
        start: index of the byte at which to begin. A record must begin at this byte. Error messages
            count lines from this byte.

    Raises:
        FileNotFoundError: the file does not exist.
        RecordError: a record cannot be read. The records before it have already been yielded.

    Example:
        >>> import os, tempfile
        >>> from armarl import play_match
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = play_match("armadora", ["greedy", "random"], games=2, records=path)
        ...     records = list(read_records(path))
        >>> records[0].players, records[0].ending
        (('greedy', 'random'), 'end')
    """
    path = Path(path)
    file = _opened(path)
    file.seek(start)
    if _is_description(file):
        yield _position(path, file)
        return
    lines = _Lines(path, file)
    while lines.next is not None:
        yield _read(lines)


def read_finished(path: str | Path) -> Iterator[Record]:
    """Yield the records of a file like `read_records`, but leave out an incomplete last record.

    The last record is incomplete while its game is being played.
    """
    try:
        yield from read_records(path)
    except _CutError:
        return


def read_unfinished(path: Path) -> Record:
    """Read the only record of a file. Its game may be unfinished.

    Raises:
        FileNotFoundError: the file does not exist.
        RecordError: the record cannot be read.
    """
    file = _opened(path)
    if _is_description(file):
        return _position(path, file)
    lines = _Lines(path, file)
    record = _read(lines, unfinished=True)
    if lines.next is not None:
        lines.refuse("the file must contain one record only", ahead=1)
    return record


def read_record(text: str) -> Record:
    """Read one record, or the description of a position, from a text such as `str(record)`.

    Raises:
        RecordError: the record cannot be read, or the text continues after it.
    """
    name, file = Path("the text"), io.BytesIO(text.encode())
    if _is_description(file):
        return _position(name, file)
    lines = _Lines(name, file)
    record = _read(lines)
    if lines.next is not None:
        lines.refuse("the text must contain one record only", ahead=1)
    return record


def _opened(path: Path) -> BinaryIO:
    """Open a file with records.

    Raises:
        FileNotFoundError: the file does not exist.
        RecordError: the path is not a file.
    """
    try:
        return open_to_read(path)
    except ValueError:
        raise RecordError(f"{path} is not a regular file") from None


def _is_description(file: BinaryIO) -> bool:
    """Return whether the rest of a file is JSON and not records."""
    start = file.tell()
    begins = file.read(1 << 10).lstrip()[:1]
    file.seek(start)
    return begins == b"{"


def _position(path: Path, file: BinaryIO) -> Record:
    """Read the position that a file describes, and close the file.

    Raises:
        RecordError: the description cannot be read, or breaks a rule.
    """
    try:
        with file:
            content = file.read(_MOST_POSITION + 1)
        if len(content) > _MOST_POSITION:
            raise ValueError(f"it has more than {_MOST_POSITION:,} bytes, the maximum")
        view = read_json(content.decode("utf-8"))
        options = {"players": view["players"], **view.get("options", {})}
        game = restore_game(view["game"], options)
        return position_record(game, game.state_from(view))
    except KeyError as error:
        reason = f"it lacks {error}"
    except (TypeError, ValueError, RecursionError, OSError) as error:
        reason = brief(error, _LONGEST_REASON)
    raise RecordError(f"{path} is not a description of a position: {reason}")


class _Lines:
    """A reader of a file's lines, which also keeps the lines of the current record."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file = path, file
        self.number = 0  # number of the last line that was taken
        self.taken: list[str] = []
        self.next: str | None = None
        self._look()

    def _look(self) -> None:
        raw = self._file.readline(_LONGEST_LINE)
        if not raw:
            self._file.close()
            self.next = None
            return
        if self.number == 0 and raw.rstrip(b"\r\n") != HEAD.encode():
            self.refuse(
                f"this is not a file with records: its first line must be `{HEAD}`, or the file "
                "must be the description of one position in JSON",
                ahead=1,
            )
        if raw.startswith(b"variant ") and not raw.endswith(b"\n"):
            raw += self._file.readline(_LONGEST_VARIANT - len(raw))
        if not raw.endswith(b"\n"):
            cut = not self._file.read(1) and _begins_a_line(raw)
            kind = _CutError if cut else RecordError
            self.refuse("the line is incomplete, or longer than any line of a record", 1, kind)
        try:
            self.next = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            self.refuse("the line is not UTF-8 text", ahead=1)
        if not self.next.isprintable():  # a terminal could execute such characters as commands
            self.refuse("the line has unprintable characters", ahead=1)

    def take(self, begins: str = "") -> str:
        """Take the next line, check that it starts with `begins`, and return the rest of it."""
        line = self.next
        if line is None:
            self.refuse("the record is incomplete: another line must follow", 1, _CutError)
        if not line.startswith(begins):
            wanted = f"the line must begin with `{begins.strip(' |')}`"
            self.refuse(f"{wanted}, not {line[:60]!r}", ahead=1)
        self.number += 1
        self.taken.append(line)
        self._look()
        return line[len(begins) :]

    def refuse(
        self, reason: str, ahead: int = 0, kind: type[RecordError] = RecordError
    ) -> NoReturn:
        """Raise a RecordError about the last line that was taken, or about the next (`ahead=1`)."""
        self._file.close()
        said = brief(reason, _LONGEST_REASON)  # the reason may quote the file
        raise kind(f"{self._path}, line {self.number + ahead}: {said}")


def _read(lines: _Lines, unfinished: bool = False) -> Record:
    """Read and replay the next record. With `unfinished`, it may end after any action."""
    lines.taken = []
    if lines.take(HEAD):
        lines.refuse(f"the line must be `{HEAD}` and nothing more")
    game = _game_of(lines)
    players = tuple(lines.take(f"player {seat} ") for seat in range(game.players))
    states = _deal(game, lines)
    history, actions, seats = [states[0].tobytes()], [], []
    while lines.next is not None and lines.next[:1].isdigit():
        seat, action = _play(game, states, lines)
        seats.append(seat)
        actions.append(action)
        history.append(states[0].tobytes())
    kind, returns = "", list[str]()
    if lines.next is not None or not unfinished:
        kind, *returns = _read_ending(game, states, lines).split()
    return Record(
        game=game,
        players=players,
        actions=tuple(actions),
        seats=tuple(seats),
        ending=kind,
        returns=tuple(map(float, returns)) if returns else (0.0,) * game.players,
        states=np.frombuffer(b"".join(history), states.dtype),
        lines=tuple(lines.taken),
    )


def _read_ending(game: Game, states: States, lines: _Lines) -> str:
    """Check the last two lines of a record. Return the first of them, such as `end 1 -1`."""
    ending = lines.take()
    if ending != _ending(game, states, int(game.statuses(states)[0][0])):
        lines.refuse(f"the replay does not end the game in this way: {ending[:60]!r}")
    right = _sum(lines.taken)
    if lines.take("sum ") != right.removeprefix("sum "):
        lines.refuse("the sum does not match the lines before it: one of them was changed")
    return ending


def _game_of(lines: _Lines) -> Game:
    """Make the variant that the record names. Refuse a variant of another version."""
    text = lines.take("variant ")
    try:
        variant: Any = read_json(text)
        if not isinstance(variant, dict) or not isinstance(variant.get("options"), dict):
            raise ValueError('it must be an object with a "game", "players" and "options"')
        game = restore_game(variant["game"], {"players": variant["players"], **variant["options"]})
    except (KeyError, TypeError, ValueError, RecursionError, OSError) as error:
        lines.refuse(f"the variant cannot be made: {brief(error)}")
    for key, known in game.variant.items():
        if not same_json(variant.get(key), known):
            made = brief(variant.get(key))
            lines.refuse(
                f"the record was made with {key} {made}, but this version of ArmaRL has "
                f"{brief(known)}"
            )
    return game


def _deal(game: Game, lines: _Lines) -> States:
    """Replay and check the deal."""
    columns = lines.take(f"deal{_BAR}").split(_BAR)
    if len(columns) != 3:
        lines.refuse(
            "a deal needs three columns (generator state, chance results and hash), "
            f"not {len(columns)}"
        )
    word, *rest = columns
    states = np.full(1, game.blank)
    _set_word(states, word, lines)
    game.run(batch_loops.start, 1, batch_loops.Starts(states, _ONLY))
    _compare(game, states[0], True, rest, lines)
    return states


def _play(game: Game, states: States, lines: _Lines) -> tuple[int, int]:
    """Check and play the action of the next line. Return the seat and the action."""
    move, *columns = lines.take().split(_BAR)
    seat, _, text = move.partition(" ")
    statuses, movers = game.statuses(states)
    if statuses[0] != PLAYING:
        lines.refuse("the game is already over")
    if seat != str(movers[0]):
        lines.refuse(f"seat {movers[0]} is to move, not {seat}")
    try:
        action = game.actions.id(text)
    except ValueError as error:
        lines.refuse(brief(error))
    if not game.legal_masks(states)[0, action]:
        lines.refuse(game.explain(states[0], action))
    if len(columns) not in (1, 3):
        lines.refuse(
            "after the action there must be one column (a hash) or three columns (generator state, "
            f"chance results and hash), not {len(columns)}"
        )
    if len(columns) == 3:
        _set_word(states, columns[0], lines)
    before = states[0]["rng"].tobytes()
    game.apply(states, _ONLY, np.array([action]))
    if (states[0]["rng"].tobytes() != before) != (len(columns) == 3):
        part = "no" if len(columns) == 3 else "a"
        lines.refuse(f"chance plays {part} part in `{text}`, but the columns say otherwise")
    _compare(game, states[0], False, columns[1:] or columns, lines)
    return int(movers[0]), action


def _set_word(states: States, text: str, lines: _Lines) -> None:
    """Set the state of the random number generator, given in hexadecimal."""
    size = states.dtype["rng"].itemsize
    if len(text) != 2 * size or not set(text) <= set("0123456789abcdef"):
        lines.refuse(
            f"the generator state must have {2 * size} hexadecimal digits, not {text[:40]!r}"
        )
    word = np.frombuffer(bytes.fromhex(text)[::-1], states.dtype["rng"].base)
    states["rng"][:] = word.reshape(states["rng"].shape)


def _compare(game: Game, state: State, dealt: bool, columns: list[str], lines: _Lines) -> None:
    """Check the chance results, if the line has them, and the hash of the state."""
    if len(columns) == 2 and columns[0] != (drawn := _results(game, state, dealt)):
        lines.refuse(
            f"chance gives {drawn[:200]!r} in the replay, but {columns[0][:200]!r} in the record"
        )
    if columns[-1] != _hash(state):
        lines.refuse("after this line, the state of the replay differs from the recorded state")
