"""The command line: train, sweep, evaluate, arena, play, watch, replay, info, exploitability,
compile."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from armarl.cli import playing, strength, studying, training
from armarl.cli.shared_options import check_json, elo_lead, folder
from armarl.common.messages import printable
from armarl.common.user_code import look_in


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what has no letters, or is none, is no error
            stream.reconfigure(errors="replace")
    try:
        look_in(Path.cwd())
        if isinstance(getattr(options, "json", None), Path):
            check_json(options.json)
        status = int(options.run(options))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # who reads, such as `head`, has read enough
        with Path(os.devnull).open("w") as nowhere:  # where Python flushes to at its end
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 141  # as a shell says of a program that ends so
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        said = "\n".join([f"armarl {options.command}: {error}", *getattr(error, "__notes__", ())])
        print(*map(printable, said.splitlines()), sep="\n", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        print("\nstopped", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; key=value may stand after the other options too, where argparse would not."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    settings = [text for text in rest if "=" in text and not text.startswith("-")]
    if rest and (not hasattr(options, "settings") or settings != rest):
        hint = ""
        if hasattr(options, "settings") and any(r.startswith(("-o", "--option")) for r in rest):
            hint = "; options of the game are settings here, as options.players=3"
        parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if settings:
        options.settings = [*options.settings, *settings]
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="armarl", description=__doc__)
    parser.add_argument("--version", action="version", version=f"armarl {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (words, options, function) in _COMMANDS.items():
        command = commands.add_parser(name, help=words)
        options(command)
        command.set_defaults(run=function)
    return parser


def _train(command: argparse.ArgumentParser) -> None:
    command.add_argument("config", nargs="?", help="a YAML file, or a shipped one: armadora-quick")
    command.add_argument(
        "settings", nargs="*", metavar="key=value", help="such as total_decisions=1e6"
    )
    command.add_argument("--run", dest="folder", type=folder, help="folder of the run (runs/NAME)")
    command.add_argument("--resume", type=folder, metavar="FOLDER", help="go on with a stopped run")
    command.add_argument(
        "--against",
        metavar="PLAYER",
        help="against this player alone, who stays as he is: a trained best response to him",
    )
    _code(command)
    command.add_argument(
        "--ray", metavar="ADDRESS", help="the setting ray: a cluster, which plays the shards"
    )


def _sweep(command: argparse.ArgumentParser) -> None:
    command.add_argument("config", type=Path, help="a YAML file, or a shipped one")
    command.add_argument(
        "settings",
        nargs="*",
        metavar="key=values",
        help="ppo.learning_rate=1e-4..3e-3:log, ppo.epochs=1..4, 'network.widths=[64],[128,64]'; "
        "key=value stays as it is",
    )
    command.add_argument("--trials", type=int, default=20, help="in all (20)")
    command.add_argument("--folder", type=folder, help="of the sweep (runs/sweep-NAME); it goes on")
    _code(command)


def _code(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--code",
        action="store_true",
        help="import players and learner that the configuration names as module:Class",
    )


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "players",
        nargs="+",
        help="such as greedy, armadora-2p or the path of a policy",
    )
    command.add_argument(
        "--games",
        type=int,
        default=1000,
        help="with each other, or with each of the panel (1000), in whole rotations of the seats",
    )
    command.add_argument("--json", type=Path, help="also write the result to this file")
    command.add_argument("--records", type=Path, help="add every game's record to this file")
    _many_games(command)


def _arena(command: argparse.ArgumentParser) -> None:
    command.add_argument("players", nargs="+", help="such as random greedy armadora-2p")
    command.add_argument(
        "--deals", type=int, default=100, help="each in all arrangements of seats (100)"
    )
    command.add_argument(
        "--kind", default="round-robin", help="round-robin (as it comes), ladder or field"
    )
    command.add_argument("--mixed", action="store_true", help="partners are different players")
    command.add_argument("--every", action="store_true", help="all 24 arrangements of 4 players")
    command.add_argument("--folder", type=folder, help="keep results, records, report; go on there")
    command.add_argument("--no-records", dest="records", action="store_false")
    command.add_argument(
        "--stronger",
        type=elo_lead,
        metavar="ELO",
        help="of two players: stop when it is clear whether the first is so much stronger",
    )
    _many_games(command)


def _many_games(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers",
        type=int,
        help="processes, or jobs at once of a cluster; default: all cores",
    )
    command.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a cluster of Ray: auto (that of this machine, or RAY_ADDRESS), local "
        "(start Ray here), host:port or ray://host:port",
    )
    command.add_argument("--seed", type=int, default=0, help="repeats the games exactly (0)")
    _game(command)


def _play(command: argparse.ArgumentParser) -> None:
    command.add_argument("opponents", nargs="*", default=["greedy"], help="clockwise from you")
    command.add_argument("--seat", type=int, default=0, help="yours; seat 0 begins")
    _one_game(command)


def _watch(command: argparse.ArgumentParser) -> None:
    command.add_argument("players", nargs="+", help="from seat 0 on; the last in all seats left")
    _one_game(command)


def _one_game(command: argparse.ArgumentParser) -> None:
    command.add_argument("--record", type=Path, help="add the game's record to this file")
    command.add_argument("--think", action="store_true", help="tell what players think")
    command.add_argument("--seed", type=int, help="of the deal (another one each time)")
    _game(command)


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("records", type=Path, help="a file of records")
    command.add_argument("--draw", action="store_true", help="the board after every action")


def _info(command: argparse.ArgumentParser) -> None:
    command.add_argument("subject", help="a game's name, or a saved policy's path or name")
    command.add_argument("--json", action="store_true", help="of a policy: all that its file says")
    _game(command)


def _exploitability(command: argparse.ArgumentParser) -> None:
    command.add_argument("players", nargs="*", help="such as random, greedy or a path")
    command.add_argument(
        "--draws", type=int, default=8, help="random numbers with which a player is asked (8)"
    )
    command.add_argument(
        "--solve", type=int, default=0, metavar="N", help="also solve the game: N steps of CFR+"
    )
    command.add_argument("--json", type=Path, help="also write the result to this file")
    _game(command)


def _game(command: argparse.ArgumentParser) -> None:
    command.add_argument("--game", help="default: the saved policy's game, or armadora")
    command.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="name=value",
        help="an option of the game, such as players=3 or advanced=true",
    )


def _compile(command: argparse.ArgumentParser) -> None:
    command.add_argument("games", nargs="*", metavar="game", help="all if none is named")


_COMMANDS = {  # what each does, its options, and who does it
    "train": ("train a policy from a configuration", _train, training.train),
    "sweep": ("train with settings that Optuna searches for", _sweep, training.sweep),
    "evaluate": (
        "win rates of players, or of one against the panel",
        _evaluate,
        strength.evaluate,
    ),
    "arena": ("play a tournament; rate the players", _arena, strength.arena),
    "play": ("play at this terminal", _play, playing.play),
    "watch": ("watch players play a game at this terminal", _watch, playing.watch),
    "replay": ("check recorded games, and tell them", _replay, playing.replay),
    "info": ("describe a game, or a saved policy", _info, studying.info),
    "exploitability": (
        "what could be won from players, exactly, in a small game",
        _exploitability,
        studying.exploit,
    ),
    "compile": (
        "compile the rules now, for images and clusters, and not at the first step",
        _compile,
        studying.compile_games,
    ),
}


def _version() -> str:
    from importlib.metadata import version

    return version("armarl")


if __name__ == "__main__":
    sys.exit(main())
