"""Game records: texts from which games are replayed exactly, without seeds.

    armarl-record 1
    variant {"game": "armadora", "version": 0, "players": 2, ...}
    player 0 greedy
    player 1 random
    deal | 1f83d9abfb41bd6b | gold b1 6 e1 3 ... | 0c9d58a1f7e2
    0 W3 c4 | 66c58e4c6d3e
    1 attack G5 C3 | 9b05688c2b3e6c1f | combat 2 combat -1 | 51b2a0c0ffee
    end 1 -1
    sum 5be0cd19137e2179...

The line of an action has the seat, the action in notation, and after the last bar the beginning of
the SHA-256 hash of the whole state after the action. If the action involved chance, there are two
columns before the hash. The first is the state of the random number generator before the action, in
hexadecimal, from which the rules draw the same results again. The second has these results in the
game's notation, or `-` if the game has no notation for them. The line of the deal has the same
columns. The second-to-last line begins with `end`, `cut` (cut short by the rules) or `stopped` (by
a person). After `end` or `cut` come the returns of the seats. The last line is `sum`, with the
SHA-256 hash of all lines before it.

A file may contain many records. Reading a record replays it. An illegal action, a state or chance
result that differs from the replay, and a missing or extra line raise an error with the line
number. A record runs no code and names no files.

Instead of records, a file may contain one position in JSON, as `Game.describe` returns it. The
position is read as a record without actions.

The module `recording` writes records.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from armarl.common.files import open_to_read
from armarl.common.json_text import read_json, same_json
from armarl.common.messages import brief
from armarl.common.numbers import MOST_SEED, whole_number
from armarl.compiler.randomness import seed
from armarl.compiler.types import State, States
from armarl.core import batch_loops
from armarl.core.game import Game, check_game
from armarl.core.pictures.picture import Picture
from armarl.core.verbs import CUT_SHORT, PLAYING
from armarl.games.catalogue import game_entry
from armarl.games.make_game import restore_game

HEAD = "armarl-record 1"  # the first line of a record
BAR = " | "  # separates the columns of a line
ONLY_GAME = np.zeros(1, np.int64)  # index of the game in a batch of one
_DIGITS = 12  # digits of a state's hash; few are enough, because `sum` protects the record
_LONGEST_LINE = 20_000  # maximum length of a line in bytes, except for the variant's line
_LONGEST_VARIANT = 1 << 24  # maximum bytes of the variant's line; it may contain a custom chart
_MOST_POSITION = 1 << 22  # maximum bytes of a position; it may also contain a custom chart
_LONGEST_REASON = 600  # maximum number of characters in the reason that an error gives
_WORDS = (b"variant ", b"player ", b"deal | ", b"end ", b"cut ", b"stopped", b"sum ")


class RecordError(ValueError):
    """An error in a record: damage, missing lines, another version, or an illegal action.

    Example:
        >>> import os, tempfile
        >>> from armarl import RecordError, read_records
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     with open(path, "w", encoding="utf-8") as file:
        ...         _ = file.write("no record")
        ...     try:
        ...         list(read_records(path))
        ...     except RecordError as error:
        ...         print(str(error).replace(path, "FILE").partition(": its")[0])
        FILE, line 1: this is not a file with records
    """


@dataclass(frozen=True)
class Record:
    """A game that was read from a record and replayed. `str` returns the text of the record.

    Attributes:
        game: the variant.
        players: names of the players, by seat.
        actions: action ids, in order.
        seats: the seat that played each action.
        ending: "end", "cut" or "stopped". Empty if the game is still being played.
        returns: returns of the seats (reward "win"). 0 if the game was stopped or is in play.
        states: all states, (actions + 1,), beginning with the state after the deal.
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

    The text of the record is the description of the state as JSON, which `read_records` reads.

    Args:
        game: the variant.
        state: the position, such as one that `Game.state_from` returns.
        players: a name for each seat. None: "player 0", "player 1", ...

    Raises:
        TypeError: `game` is not a `Game`, or `state` is not a state of this game.
        ValueError: the state is of another variant or breaks a rule, or the number of names is
            wrong.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> position = armarl.position_record(game, game.state_from({"palisades": ["c3-c4"]}))
        >>> armarl.think_over(position, "random")[0].probabilities.shape
        (1, 229)
    """
    check_game(game)
    states = np.full(1, state)
    game.check_states(states)
    names = [f"player {seat}" for seat in range(game.players)] if players is None else players
    if len(names) != game.players:
        raise ValueError(f"players must list {game.players} names, one per seat, not {len(names)}")
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


def check_record(record: object) -> Record:
    """Return `record` if it is a `Record`.

    Raises:
        TypeError: `record` is something else, such as the path of a file.
    """
    if isinstance(record, Record):
        return record
    raise TypeError(
        'a record must be a Record, such as one of armarl.read_records("games.txt"), '
        f"not {brief(repr(record), 60)}"
    )


class CutError(RecordError):
    """An error in a record: the file ends before the record is complete."""


# --- the lines of a record ------------------------------------------------------------------------


def opening(game: Game, players: Sequence[str]) -> list[str]:
    """Return the first lines of a record: HEAD, the variant and the players."""
    names = [brief(name) for name in players]
    seats = [f"player {seat} {name}" for seat, name in enumerate(names)]
    return [HEAD, f"variant {json.dumps(game.variant)}", *seats]


def seeded_word(game: Game, number: int) -> bytes:
    """Return the state of the random number generator after seeding, before the deal."""
    states = np.full(1, game.blank)
    seed(states[0], number)
    return bytes(states[0]["rng"].tobytes())


def word_text(word: bytes) -> str:
    """Return a state of the random number generator in hexadecimal, the highest digit first."""
    return word[::-1].hex()


def chance_text(game: Game, state: State, dealt: bool) -> str:
    """Return the chance results of an action, or with `dealt` of the deal, in the game's notation.

    If the game has no notation for these results, return `-`.
    """
    module = game_entry(game.name).part("chance")
    return (module and module.chance_results(game, state, dealt)) or "-"


def state_hash(state: State) -> str:
    """Return the first `_DIGITS` hexadecimal digits of the SHA-256 hash of a state."""
    return hashlib.sha256(state.tobytes()).hexdigest()[:_DIGITS]


def ending_line(game: Game, states: States, status: int) -> str:
    """Return the second-to-last line of a record, such as `end 1 -1`."""
    if status == PLAYING:
        return "stopped"
    returns = " ".join(f"{value:.12g}" for value in game.returns(states, ONLY_GAME)[0])
    return f"{'cut' if status == CUT_SHORT else 'end'} {returns}"


def sum_line(lines: Sequence[str]) -> str:
    """Return the last line of a record, the hash of all lines before it."""
    return f"sum {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


# --- reading --------------------------------------------------------------------------------------


def read_records(path: str | Path, start: int = 0) -> Iterator[Record]:
    """Yield the records of a file. Each record is replayed and checked.

    A file with the description of a position in JSON is one record without actions. The file is
    opened when the first record is taken, so errors occur during the iteration.

    Args:
        path: the file.
        start: index of the first byte to read. A record must begin at this byte. Error messages
            count lines from this byte.

    Raises:
        TypeError: `start` is not an integer.
        ValueError: `start` is negative.
        FileNotFoundError: the file does not exist.
        RecordError: the path is not a file, or a record cannot be read. The records before it have
            already been yielded. The class is a ValueError.

    Example:
        >>> import os, tempfile
        >>> from armarl import play_match, read_records
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = play_match("armadora", ["greedy", "random"], games=2, records=path)
        ...     records = list(read_records(path))
        >>> records[0].players, records[0].ending
        (('greedy', 'random'), 'end')
    """
    path = Path(path)
    whole_number("start", start, 0, MOST_SEED)
    file = _opened(path)
    file.seek(start)
    if _is_description(file):
        yield _position(path, file)
        return
    lines = Lines(path, file)
    while lines.next is not None:
        yield read_next(lines)


def read_finished(path: str | Path) -> Iterator[Record]:
    """Yield the records of a file as `read_records` does, but ignore an incomplete last record.

    The last record is incomplete while its game is being played.
    """
    try:
        yield from read_records(path)
    except CutError:
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
    lines = Lines(path, file)
    record = read_next(lines, unfinished=True)
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
    lines = Lines(name, file)
    record = read_next(lines)
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
    """Return whether the rest of a file is a JSON object, not records."""
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


class Lines:
    """A reader of the lines of a file. `taken` contains the lines of the current record."""

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
            kind = CutError if cut else RecordError
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
            self.refuse("the record is incomplete: another line must follow", 1, CutError)
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


def read_next(lines: Lines, unfinished: bool = False) -> Record:
    """Read and replay the next record. With `unfinished`, the record may end after any action."""
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


def _read_ending(game: Game, states: States, lines: Lines) -> str:
    """Check the last two lines of a record. Return the first of them, such as `end 1 -1`."""
    ending = lines.take()
    if ending != ending_line(game, states, int(game.statuses(states)[0][0])):
        lines.refuse(f"the replay does not end the game in this way: {ending[:60]!r}")
    right = sum_line(lines.taken)
    if lines.take("sum ") != right.removeprefix("sum "):
        lines.refuse("the sum does not match the lines before it: one of them was changed")
    return ending


def _game_of(lines: Lines) -> Game:
    """Return the variant that the record names. Refuse a variant of another rules version."""
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


def _deal(game: Game, lines: Lines) -> States:
    """Replay and check the deal."""
    columns = lines.take(f"deal{BAR}").split(BAR)
    if len(columns) != 3:
        lines.refuse(
            "a deal needs three columns (generator state, chance results and hash), "
            f"not {len(columns)}"
        )
    word, *rest = columns
    states = np.full(1, game.blank)
    _set_word(states, word, lines)
    game.run(batch_loops.start, 1, batch_loops.Starts(states, ONLY_GAME))
    _compare(game, states[0], True, rest, lines)
    return states


def _play(game: Game, states: States, lines: Lines) -> tuple[int, int]:
    """Check and play the action of the next line. Return the seat and the action."""
    move, *columns = lines.take().split(BAR)
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
    game.apply(states, ONLY_GAME, np.array([action]))
    if (states[0]["rng"].tobytes() != before) != (len(columns) == 3):
        part = "no" if len(columns) == 3 else "a"
        lines.refuse(f"chance plays {part} part in `{text}`, but the columns say otherwise")
    _compare(game, states[0], False, columns[1:] or columns, lines)
    return int(movers[0]), action


def _set_word(states: States, text: str, lines: Lines) -> None:
    """Set the state of the random number generator, given in hexadecimal."""
    size = states.dtype["rng"].itemsize
    if len(text) != 2 * size or not set(text) <= set("0123456789abcdef"):
        lines.refuse(
            f"the generator state must have {2 * size} hexadecimal digits, not {text[:40]!r}"
        )
    word = np.frombuffer(bytes.fromhex(text)[::-1], states.dtype["rng"].base)
    states["rng"][:] = word.reshape(states["rng"].shape)


def _compare(game: Game, state: State, dealt: bool, columns: list[str], lines: Lines) -> None:
    """Check the chance results, if the line has them, and the hash of the state."""
    if len(columns) == 2 and columns[0] != (drawn := chance_text(game, state, dealt)):
        lines.refuse(
            f"chance gives {drawn[:200]!r} in the replay, but {columns[0][:200]!r} in the record"
        )
    if columns[-1] != state_hash(state):
        lines.refuse("after this line, the state of the replay differs from the recorded state")


def _begins_a_line(raw: bytes) -> bool:
    """Return whether bytes without a line end can be the beginning of a line of a record."""
    return raw[:1].isdigit() or any(word.startswith(raw[: len(word)]) for word in _WORDS)
