"""The commands `play` and `watch`: one game at the terminal."""

from __future__ import annotations

import argparse
import secrets
import sys

from armarl.cli.shared_options import game_of

_PACE = 1.0  # seconds between two actions of a game that is watched


def play(options: argparse.Namespace) -> int:
    """Play a game at this terminal, or in a browser."""
    if options.web:
        return _play_in_browser(options)
    from armarl.cli.terminal import play_at_terminal

    game, seed = game_of(options, options.opponents), _seed(options)
    more = options.record, options.think, options.html
    play_at_terminal(game, options.opponents, options.seat, seed, *more)
    return 0


def _play_in_browser(options: argparse.Namespace) -> int:
    """Serve the page at which games are opened."""
    try:
        from armarl.web.server import serve
    except ImportError as error:
        raise ImportError("pages need Starlette and uvicorn: pip install 'armarl[web]'") from error
    from armarl.web.house import House, check_named

    if options.record is not None:
        raise ValueError("with --web every game has a record in --folder; leave --record out")
    game = game_of(options, options.opponents)
    check_named(options.opponents, game)
    house = House(options.folder, options.opponents, game)
    try:
        serve(house, options.host, options.port, options.name)
    finally:
        house.close()
    return 0


def watch(options: argparse.Namespace) -> int:
    """Let players play a game at this terminal."""
    from armarl.cli.terminal import watch_at_terminal

    game, seed, pace = game_of(options, options.players), _seed(options), options.pace
    if pace is None:
        pace = _PACE if sys.stdout is not None and sys.stdout.isatty() else 0
    watch_at_terminal(
        game, options.players, seed, options.record, options.think, pace, options.html
    )
    return 0


def _seed(options: argparse.Namespace) -> int:
    """The requested seed, or a short random one that is printed so that you can reuse it."""
    return secrets.randbelow(1_000_000) if options.seed is None else int(options.seed)
