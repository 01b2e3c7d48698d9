"""The command `replay`, which checks recorded games and prints or shows them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from armarl.cli.playing import serve_pages
from armarl.cli.shared_options import show_progress, write_page
from armarl.common.messages import brief, printable, tell

if TYPE_CHECKING:
    from armarl.matches.records import Record
    from armarl.replays.replay import Opinions

MOST_GAMES = (
    100  # maximum number of games on a page; a page of four Armada games has about a megabyte
)


def replay(options: argparse.Namespace) -> int:
    """Check recorded games and print them, write them as a page, or open them in a browser."""
    from armarl.matches.records import read_records

    if sum((options.html is not None, options.web, options.draw)) > 1:
        raise ValueError(
            "choose one of --draw (the terminal), --html (a file) and --web (pages in a browser)"
        )
    first, end = _chosen(options.games)
    records = islice(read_records(options.records), first, end)
    if options.html is None:
        for name in ("seat", "think"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name} needs a page: name the page's file with --html")
        if options.web:
            return serve_pages(options, records=_some(records, options.records))
        return _print(options, records, first)
    found, thoughts = _some(records, options.records), None
    if options.think:
        thoughts = [_thoughts(record, options.think) for record in found]
    write_page(options.html, found, options.seat, thoughts)
    return 0


def _some(records: Iterable[Record], path: Path) -> list[Record]:
    """Return the records for a page. Raise ValueError if there are none or too many."""
    found = list(islice(records, MOST_GAMES + 1))
    if not found:
        raise ValueError(_none_in(path))
    if len(found) > MOST_GAMES:
        raise ValueError(
            f"a page can contain at most {MOST_GAMES} games: choose some, such as --games 1-20"
        )
    return found


def _none_in(path: Path) -> str:
    return f"{printable(str(path))} has no games, or none in the range of --games"


def _chosen(text: str | None) -> tuple[int, int | None]:
    """Parse a range such as 3 or 1-20. Return its start, from 0, and its end (None: no end)."""
    if text is None:
        return 0, None
    found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise ValueError(f"--games must be a number or a range, 3 or 1-20, not {brief(text, 40)}")
    return first - 1, last


def _print(options: argparse.Namespace, records: Iterable[Record], first: int) -> int:
    from armarl.cli.board import Board, told

    number = first
    for record in records:
        number += 1
        game = record.game
        returns = " ".join(f"{value:g}" for value in record.returns)
        tell(f"game {number}: {game.name}")
        for seat, player in enumerate(record.players):
            tell(f"player {seat}: {player}")
        board = Board(game, None)
        if options.draw:
            tell(board.drawn(record.states[:1]))
        for i, (seat, action) in enumerate(zip(record.seats, record.actions, strict=True)):
            before, after = record.states[i : i + 2]
            words = game.tell(after, (seat, action), before=before).words
            tell(told(seat, game.actions.text(action), words))
            if options.draw and (drawing := board.drawn(record.states[i + 1 : i + 2])) is not None:
                tell(drawing)
        tell(f"{record.ending} after {len(record.actions)} actions, returns {returns}\n")
    if number == first:
        if options.games is not None:
            raise ValueError(_none_in(options.records))
        tell(f"no games in {options.records}")
    return 0


def _thoughts(record: Record, players: Sequence[str]) -> Opinions:
    """Return players' thoughts on every position of a game, and show the progress."""
    from armarl.replays.thoughts import thoughts_of
    from armarl.roster.make_player import make_player

    made = [make_player(player, record.game) for player in players]
    progress = partial(show_progress, of="positions")
    return {
        player: thoughts_of(record, one, progress)
        for player, one in zip(players, made, strict=True)
    }
