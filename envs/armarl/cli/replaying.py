"""The command `replay`, and the pages that other commands write."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from armarl.common.files import check_writable
from armarl.common.messages import brief, printable, tell

if TYPE_CHECKING:
    from armarl.matches.records import Record
    from armarl.players.protocol import Thoughts

MOST_GAMES = 100  # of one page; ten of Armada are some ten megabytes
FIRST_GAMES = 10  # of the pages of matches and tournaments


def replay(options: argparse.Namespace) -> int:
    """Check recorded games and print them, or write them as a page."""
    from armarl.matches.records import read_records

    first, end = _chosen(options.games)
    records = islice(read_records(options.records), first, end)
    if options.html is None:
        for name in ("seat", "think"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name} is for a page: name its file with --html")
        return _print(options, records, first)
    check_writable(options.html)
    found = list(islice(records, MOST_GAMES + 1))
    if not found:
        raise ValueError(f"there are no such games in {printable(str(options.records))}")
    if len(found) > MOST_GAMES:
        raise ValueError(f"a page holds up to {MOST_GAMES} games: choose some, as --games 1-20")
    thoughts = None
    if options.think:
        thoughts = [_thoughts(record, options.think) for record in found]
    write_page(options.html, found, options.seat, thoughts)
    return 0


def _chosen(text: str | None) -> tuple[int, int | None]:
    """Return the first game of a range such as 3 or 1-20, counted from 0, and the end."""
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
        tell(f"no games in {options.records}")
    return 0


def _thoughts(record: Record, players: Sequence[str]) -> list[Thoughts | None]:
    from armarl.replays.thoughts import think_over
    from armarl.roster.make_player import make_player

    if len(players) > record.game.players:
        raise ValueError(
            f"{record.game.players} seats take 1 to {record.game.players} players to think, "
            f"not {len(players)}"
        )
    seated = [*players, *[players[-1]] * (record.game.players - len(players))]
    return think_over(record, [make_player(player, record.game) for player in seated])


def write_page(
    path: Path,
    records: Iterable[Record],
    seat: int | None = None,
    thoughts: Sequence[Sequence[Thoughts | None]] | None = None,
) -> None:
    """Write a replay, and say so."""
    from armarl.replays.replay import Replay

    Replay(records, seat, thoughts).write(path)
    tell(f"written: {path}")


@contextmanager
def recording(records: Path | None, html: Path | None) -> Iterator[Path | None]:
    """Yield the file for the records of games, and write the first ones as a page at the end.

    Args:
        records: the file for records, or None.
        html: the page, or None.
    """
    if html is None:
        yield records
        return
    from armarl.matches.records import prepare_records, read_records

    check_writable(html)
    with tempfile.TemporaryDirectory() as folder:
        path = records or Path(folder) / "records.txt"
        prepare_records(path)
        start = path.stat().st_size if path.exists() else 0
        yield path
        write_page(html, islice(read_records(path, start), FIRST_GAMES))
