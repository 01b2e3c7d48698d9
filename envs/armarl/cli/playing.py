"""The commands `play`, `watch` and `replay`: one game at the terminal."""

from __future__ import annotations

import argparse
import secrets
import sys

from armarl.cli.shared_options import game_of
from armarl.common.messages import tell

_PACE = 1.0  # seconds between two actions of a game that is watched


def play(options: argparse.Namespace) -> int:
    """Play a game at this terminal."""
    from armarl.cli.terminal import play_at_terminal

    game, seed = game_of(options, options.opponents), _seed(options)
    play_at_terminal(game, options.opponents, options.seat, seed, options.record, options.think)
    return 0


def watch(options: argparse.Namespace) -> int:
    """Let players play a game at this terminal."""
    from armarl.cli.terminal import watch_at_terminal

    game, seed, pace = game_of(options, options.players), _seed(options), options.pace
    if pace is None:
        pace = _PACE if sys.stdout is not None and sys.stdout.isatty() else 0
    watch_at_terminal(game, options.players, seed, options.record, options.think, pace)
    return 0


def _seed(options: argparse.Namespace) -> int:
    """The requested seed, or a short random one that is printed so that you can reuse it."""
    return secrets.randbelow(1_000_000) if options.seed is None else int(options.seed)


def replay(options: argparse.Namespace) -> int:
    """Check recorded games and print them."""
    from armarl.cli.terminal import Board, told
    from armarl.matches.records import read_records
    from armarl.matches.telling import events

    number = 0
    for record in read_records(options.records):
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
            tell(told(seat, game.actions.text(action), events(game, before, after)))
            if options.draw and (drawing := board.drawn(record.states[i + 1 : i + 2])) is not None:
                tell(drawing)
        tell(f"{record.ending} after {len(record.actions)} actions, returns {returns}\n")
    if number == 0:
        tell(f"no games in {options.records}")
    return 0
