"""What several commands share: the game that is asked for, progress, and results in a file."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarl.common.files import check_writable, write_text
from armarl.common.messages import brief

if TYPE_CHECKING:
    from armarl.core.game import Game

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def game_of(options: argparse.Namespace, players: Sequence[str]) -> Game:
    """The game asked for; by default the one that the first saved policy plays, with what
    options are given besides."""
    from armarl.games.catalogue import game_names
    from armarl.games.make_game import make_game, restore_game
    from armarl.players.player_specs import as_spec
    from armarl.policies.paths import policy_path
    from armarl.policies.saved_policy import policy_game

    given = options_of(options.option)
    for player in players if options.game is None else ():
        if path := policy_path(as_spec(player).base.name):
            game = policy_game(path)
            return restore_game(game.name, {"players": game.players, **game.options, **given})
    return make_game(options.game or game_names()[0], **given)


def options_of(texts: Sequence[str]) -> dict[str, Any]:
    """Game options written `name=value`; true, false and numbers are read as such."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"option {text!r} should be written name=value, like players=3")
        words = {"true": True, "false": False, "none": None}
        number = int(value) if _WHOLE_NUMBER.fullmatch(value) else value
        options[name] = words.get(value.lower(), number)
    return options


def folder(text: str) -> Path:
    """A folder, as an option names it.

    Raises:
        ArgumentTypeError: the name is empty, as of a shell's variable that is not set; it would
            be the current folder.
    """
    if not text:
        raise argparse.ArgumentTypeError("a folder has a name, or is . for the current one")
    return Path(text)


def elo_lead(text: str) -> float:
    """A lead in Elo points, as an option gives it.

    Raises:
        ArgumentTypeError: it is no number, or one that no match could tell.
    """
    from armarl.arena.stopping import MOST_ELO

    try:
        lead = float(text)
    except ValueError:
        lead = math.nan
    if not 0 < lead <= MOST_ELO:
        raise argparse.ArgumentTypeError(
            f"a lead in Elo points is above 0 and up to {MOST_ELO:g}, not {brief(text)}"
        )
    return lead


def show_progress(done: int, games: int) -> None:
    """Say how many games are done, on a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        end = "\r" if done < games else "\r\x1b[K"
        print(f"{done} of {games} games", end=end, file=sys.stderr, flush=True)


def check_json(path: Path) -> None:
    """See that a result can be written to a file, before anything is done for it.

    Raises:
        ValueError: the file holds something else than JSON, a policy for instance.
        OSError: it may not be written.
    """
    check_writable(path)
    if path.is_file() and not _is_stream(path) and path.stat().st_size:
        try:
            json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} holds something else than JSON, which the result would take the place "
                "of: name another file"
            ) from error


def write_json(path: Path, value: Any) -> None:
    """Write a result to a file, for programs to read; what it held before stays till then."""
    text = json.dumps(value, indent=2) + "\n"
    if _is_stream(path):
        with path.open("a", encoding="utf-8") as file:  # where it leads may hold more than this
            file.write(text)
    elif os.access(path.resolve().parent, os.W_OK):
        write_text(path.resolve(), text)
    else:  # no other file can take its place
        path.write_text(text, encoding="utf-8")


def _is_stream(path: Path) -> bool:
    """Whether a name stands for what is open already, or no file: `/dev/stdout`, a pipe."""
    named = path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",))
    return named or (path.exists() and not path.is_file())
