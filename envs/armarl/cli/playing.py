"""The commands `play` and `watch`: one game at the terminal."""

from __future__ import annotations

import argparse
import secrets

from armarl.cli.shared_options import game_of


def play(options: argparse.Namespace) -> int:
    """Play a game at this terminal."""
    from armarl.cli.terminal import play_at_terminal

    game, seed = game_of(options, options.opponents), _seed(options)
    more = options.record, options.think, options.html
    play_at_terminal(game, options.opponents, options.seat, seed, *more)
    return 0


def watch(options: argparse.Namespace) -> int:
    """Let players play a game at this terminal."""
    from armarl.cli.terminal import watch_at_terminal

    game, seed = game_of(options, options.players), _seed(options)
    watch_at_terminal(game, options.players, seed, options.record, options.think, options.html)
    return 0


def _seed(options: argparse.Namespace) -> int:
    """The requested seed, or a short random one that is printed so that you can reuse it."""
    return secrets.randbelow(1_000_000) if options.seed is None else int(options.seed)
