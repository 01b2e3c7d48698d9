"""The commands `play` and `watch`: one game at the terminal, or pages in a browser."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from armarl.cli.shared_options import game_of

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.matches.records import Record

_PACE = 1.0  # seconds between two actions of a watched game
# The options of `play` that `--web` does not take, each with the reason.
_NOT_WITH_WEB = {
    "record": "the server writes every game's record to --folder",
    "html": "the page of a finished game shows its replay",
    "think": "the page of a finished game shows the players' thoughts",
    "seat": "choose your seat on the page",
    "seed": "the server draws the seed of every game",
}


def play(options: argparse.Namespace) -> int:
    """Play a game at this terminal, or in a browser."""
    if options.web:
        for name, reason in _NOT_WITH_WEB.items():
            given = getattr(options, name)
            if given is not None and given is not False:  # 0 is a seat and a seed
                raise ValueError(f"leave out --{name} with --web: {reason}")
        return serve_pages(options, options.opponents, game_of(options, options.opponents))
    from armarl.cli.terminal import play_at_terminal

    game, seed = game_of(options, options.opponents), _seed(options)
    more = options.record, options.think, options.html
    play_at_terminal(game, options.opponents, options.seat or 0, seed, *more)
    return 0


def serve_pages(
    options: argparse.Namespace,
    players: Sequence[str] = (),
    game: Game | None = None,
    records: Iterable[Record] = (),
) -> int:
    """Serve the web pages on which people start and play games, until Ctrl-C.

    Args:
        options: the command's options, of which `--folder`, `--host`, `--port` and `--name` are
            used.
        players: specifications of players that the page offers in addition to its own list. They
            may be of any kind.
        game: the variant that the page shows first.
        records: finished games that the page shows.
    """
    try:
        from armarl.web.server import serve
    except ImportError as error:
        raise ImportError("pages need Starlette and uvicorn: pip install 'armarl[web]'") from error
    from armarl.web.house import House, check_named

    if game is not None:
        check_named(players, game)
    house = House(options.folder, players, game)
    try:
        for record in records:
            house.keep(record)
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
    """Return the requested seed, or else a random one that is short enough to type again."""
    return secrets.randbelow(1_000_000) if options.seed is None else int(options.seed)
