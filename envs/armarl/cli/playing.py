"""The commands `play`, `watch` and `replay`: one game at the terminal."""

from __future__ import annotations

import argparse
import secrets

from armarl.cli.shared_options import game_of
from armarl.common.messages import tell


def play(options: argparse.Namespace) -> int:
    """Play a game at this terminal, or in a browser."""
    if options.web:
        return _play_in_browser(options)
    from armarl.cli.terminal import play_at_terminal

    game, seed = game_of(options, options.opponents), _seed(options)
    play_at_terminal(game, options.opponents, options.seat, seed, options.record, options.think)
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

    game, seed = game_of(options, options.players), _seed(options)
    watch_at_terminal(game, options.players, seed, options.record, options.think)
    return 0


def _seed(options: argparse.Namespace) -> int:
    """The requested seed, or a short random one that is printed so that you can reuse it."""
    return secrets.randbelow(1_000_000) if options.seed is None else int(options.seed)


def replay(options: argparse.Namespace) -> int:
    """Check recorded games and print them."""
    from armarl.matches.records import read_records

    number = 0
    for record in read_records(options.records):
        number += 1
        game = record.game
        returns = " ".join(f"{value:g}" for value in record.returns)
        tell(f"game {number}: {game.name}")
        for seat, player in enumerate(record.players):
            tell(f"player {seat}: {player}")
        if options.draw:
            tell(game.draw(record.states[0]))
        for seat, action, state in zip(
            record.seats, record.actions, record.states[1:], strict=True
        ):
            tell(f"player {seat}: {game.actions.text(action)}")
            if options.draw:
                tell(game.draw(state))
        tell(f"{record.ending} after {len(record.actions)} actions, returns {returns}\n")
    if number == 0:
        tell(f"no games in {options.records}")
    return 0
