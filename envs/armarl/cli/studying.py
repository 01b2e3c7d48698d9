"""The commands `info`, `exploitability` and `compile`: study and prepare games and policies."""

from __future__ import annotations

import argparse
import json

from armarl.cli.shared_options import game_of, options_of, write_json
from armarl.common.messages import brief, tell


def info(options: argparse.Namespace) -> int:
    """Describe a game or a saved policy."""
    from armarl.games.catalogue import game_names
    from armarl.games.make_game import make_game

    if options.game is not None:
        raise ValueError("info takes no --game: give a game's name or a saved policy instead")
    if options.subject in game_names():
        if options.json:
            raise ValueError(f"--json is for saved policies, but {options.subject} is a game")
        game = make_game(options.subject, **options_of(options.option))
        tell(
            f"# {game.name}, version {game.version}: {game.players} players, {dict(game.options)}\n"
        )
        tell(f"## Actions ({len(game.actions)})\n\n{game.actions.markdown()}\n")
        tell(f"## Observation ({game.observation.size})\n\n{game.observation.markdown()}")
        return 0
    if options.option:
        raise ValueError(
            f"-o {options.option[0]}: options are for a game, but {brief(options.subject)} is not "
            "a game (the card of a saved policy names the variant that the policy plays)"
        )
    try:
        tell(_about_policy(options.subject, options.json))
    except FileNotFoundError as error:
        names = ", ".join(game_names())
        raise ValueError(
            f"{options.subject!r} is neither a game ({names}) nor a saved policy: {error}"
        ) from error
    return 0


def _about_policy(name: str, raw: bool) -> str:
    """Return a saved policy's card, or with `raw` all of its metadata as JSON."""
    from armarl.arena.policy_card import read_card
    from armarl.arena.policy_card_text import card_text
    from armarl.policies.saved_policy import read_policy_metadata

    return json.dumps(read_policy_metadata(name), indent=2) if raw else card_text(read_card(name))


def exploit(options: argparse.Namespace) -> int:
    """Print the exact exploitability of players in a small game."""
    from armarl.analysis.exploitability import GameTree, exploitability
    from armarl.roster.make_player import make_player

    if not options.players and options.solve < 1:
        raise ValueError("name players, or solve the game with --solve 1000")
    if options.draws < 1:
        raise ValueError(f"--draws must be 1 or more, not {options.draws}")
    tree = GameTree(game_of(options, options.players))
    plays = {
        name: tree.play_of(make_player(name, tree.game), options.draws) for name in options.players
    }
    if options.solve > 0:
        plays[f"CFR+ after {options.solve} iterations"] = tree.solve(options.solve)
    results = {name: exploitability(tree, play) for name, play in plays.items()}
    tell(f"{tree.game.name} {dict(tree.game.options)}: {tree.histories:,} histories")
    tell(f"{'player':<32}{'value':>9}{'best response as 0, as 1':>28}{'exploitability':>17}")
    for name, found in results.items():
        first, second = found.best_responses
        tell(
            f"{name:<32}{found.value:>9.4f}{first:>19.4f}{second:>9.4f}{found.exploitability:>17.4f}"
        )
    if options.json:
        players = {name: result._asdict() for name, result in results.items()}
        write_json(options.json, {"variant": tree.game.variant, "players": players})
    return 0


def compile_games(options: argparse.Namespace) -> int:
    """Compile the rules of games into the kernel cache."""
    if options.cpu:
        from armarl.compiler.cpu_levels import compile_for

        compile_for(options.cpu)
    from armarl.cli.compile_games import compile_game
    from armarl.games.catalogue import game_names
    from armarl.games.make_game import make_game

    for name in options.games or game_names():
        for what, seconds in compile_game(make_game(name)):
            tell(f"{name}: {what} ready after {seconds:.1f} s")
    return 0
