"""Helpers for several commands: parse options, show progress, write JSON files and replays."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarl.common.files import check_replaceable, check_writable, read_bytes, write_text
from armarl.common.messages import brief, tell

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.matches.records import Record
    from armarl.replays.replay import Opinions

_MOST_RESULT = 1 << 26  # maximum size of an earlier result in bytes; most have a few kilobytes
FIRST_GAMES = 10  # number of games on the pages of matches and tournaments
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def game_of(options: argparse.Namespace, players: Sequence[str]) -> Game:
    """Return the requested game.

    Without `--game`, return the game of the first saved policy among the players, or the first game
    of the catalogue if no player is a saved policy. Options on the command line override the
    options of that policy's game.
    """
    from armarl.games.catalogue import game_names
    from armarl.games.make_game import make_game
    from armarl.players.player_specs import as_spec
    from armarl.policies.paths import policy_path
    from armarl.policies.saved_policy import policy_game

    given = options_of(options.option)
    for player in players if options.game is None else ():
        if path := policy_path(as_spec(player).base.name):
            game = policy_game(path)
            return make_game(game.name, **{"players": game.players, **game.options, **given})
    return make_game(options.game or game_names()[0], **given)


def options_of(texts: Sequence[str]) -> dict[str, Any]:
    """Parse game options of the form `name=value`. Convert true, false, none and integers."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"option {text!r} must be written name=value, like players=3")
        words = {"true": True, "false": False, "none": None}
        number = int(value) if _WHOLE_NUMBER.fullmatch(value) else value
        options[name] = words.get(value.lower(), number)
    return options


def folder(text: str) -> Path:
    """Parse a folder name given as an option.

    Raises:
        ArgumentTypeError: the name is empty, for example because a shell variable is not set. An
            empty path would mean the current folder.
    """
    if not text:
        raise argparse.ArgumentTypeError("a folder needs a name; use . for the current folder")
    return Path(text)


def elo_lead(text: str) -> float:
    """Parse a lead in Elo points given as an option.

    Raises:
        ArgumentTypeError: the text is not a number, or the lead is too large for a match to test.
    """
    from armarl.arena.stopping import MOST_ELO

    try:
        lead = float(text)
    except ValueError:
        lead = math.nan
    if not 0 < lead <= MOST_ELO:
        raise argparse.ArgumentTypeError(
            f"a lead in Elo points must be above 0 and at most {MOST_ELO:g}, not {brief(text)}"
        )
    return lead


def pace(text: str) -> float:
    """Parse the time between two actions, in seconds.

    Raises:
        ArgumentTypeError: the text is not a number from 0 to 3600.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"a pace must be 0 to 3600 seconds, not {brief(text)}")
    return seconds


def show_progress(done: int, whole: int, of: str = "games") -> None:
    """Print the progress to stderr, if stderr is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        end = "\r" if done < whole else "\r\x1b[K"
        tell(f"{done} of {whole} {of}", end=end, to=sys.stderr)


def check_outputs(options: argparse.Namespace) -> None:
    """Check the files that a command will write (`--json`, `--html`), before any work is done.

    Raises:
        ValueError: two options name the same file, or a result or page would replace something
            else.
        OSError: a file may not be read or written.
    """
    if isinstance(getattr(options, "json", None), Path):
        check_json(options.json)
    if getattr(options, "html", None) is not None:
        check_replaceable(options.html, "HTML")
    if options.command == "replay":  # this command reads the records
        return
    named: dict[Path, str] = {}
    for name in ("json", "html", "record", "records"):
        path = getattr(options, name, None)
        if isinstance(path, Path):
            if other := named.get(path.resolve()):
                raise ValueError(
                    f"--{other} and --{name} name the same file, {path}: name two files"
                )
            named[path.resolve()] = name


def check_json(path: Path) -> None:
    """Check that a result can be written to a file, before any work is done.

    Raises:
        ValueError: the file contains something other than JSON, for example a policy, or it is far
            larger than a result.
        OSError: the file may not be written.
    """
    check_writable(path)
    if path.is_file() and not _is_stream(path) and path.stat().st_size:
        try:
            json.loads(read_bytes(path, _MOST_RESULT))
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} exists and does not contain JSON, so the result does not replace it: "
                "name another file"
            ) from error


def write_json(path: Path, value: Any) -> None:
    """Write a result to a JSON file. An existing file is replaced only by a complete new one."""
    text = json.dumps(value, indent=2) + "\n"
    if _is_stream(path):
        with path.open("a", encoding="utf-8") as file:  # the stream may contain other output
            file.write(text)
    elif os.access(path.resolve().parent, os.W_OK):
        write_text(path.resolve(), text)
    else:  # the folder is not writable, so no temporary file can replace the old file
        path.write_text(text, encoding="utf-8")


def _is_stream(path: Path) -> bool:
    """Return whether a path is a stream or another special file, such as /dev/stdout or a pipe."""
    named = path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",))
    return named or (path.exists() and not path.is_file())


def write_page(
    path: Path,
    records: Iterable[Record],
    seat: int | None = None,
    thoughts: Sequence[Opinions] | None = None,
) -> None:
    """Write a replay as an HTML page, and print its path."""
    from armarl.replays.replay import Replay

    Replay(records, seat, thoughts).write(path)
    tell(f"written: {path}")


@contextmanager
def recording(records: Path | None, html: Path | None) -> Iterator[Path | None]:
    """Yield the file for game records, and at the end write the first recorded games as a page.

    Args:
        records: the file for records. None: a temporary file if there is a page, otherwise None.
        html: the file for the page, or None for no page.
    """
    if html is None:
        yield records
        return
    from armarl.matches.recording import prepare_records
    from armarl.matches.records import read_records

    with tempfile.TemporaryDirectory() as folder:
        path = records or Path(folder) / "records.txt"
        prepare_records(path)
        start = path.stat().st_size if path.exists() else 0
        yield path
        write_page(html, islice(read_records(path, start), FIRST_GAMES))
