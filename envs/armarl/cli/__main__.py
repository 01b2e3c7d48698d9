"""Train, evaluate and play the board games Armadora and Armada."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from armarl.cli import drawing, playing, replaying, rules, strength, studying, training
from armarl.cli.shared_options import check_outputs, elo_lead, folder, pace
from armarl.common.messages import tell
from armarl.common.user_code import look_in


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Args:
        arguments: the arguments without the program's name. None means those of the process.

    Example:
        >>> main(["exploitability"])  # prints the error to stderr
        1
    """
    options = _parse(arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # replace characters that the stream cannot encode
            stream.reconfigure(errors="replace")
    try:
        look_in(Path.cwd())
        check_outputs(options)
        status = int(options.run(options))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except (KeyboardInterrupt, EOFError):
        tell("\nstopped", to=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        with Path(os.devnull).open("w") as nowhere:  # Python flushes stdout again at exit
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 141  # the status that a shell reports for SIGPIPE
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        said = "\n".join([f"armarl {options.command}: {error}", *getattr(error, "__notes__", ())])
        tell(said, to=sys.stderr)
        return 1
    except Exception:  # an error in a user's code or in ArmaRL; `tell` makes its text safe to print
        tell(traceback.format_exc(), to=sys.stderr, end="")
        return 1


def _names_an_option(arguments: Sequence[str]) -> bool:
    """Return whether an argument such as --players or --cards=true names an option of a game."""
    from armarl.games.catalogue import option_names

    return any(text.lstrip("-").partition("=")[0] in option_names() for text in arguments)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments. Unlike in plain argparse, key=value may also follow other options."""
    parser = _parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        parser.print_help(sys.stderr)
        parser.exit(2)
    options, rest = parser.parse_known_args(arguments)
    settings = [text for text in rest if "=" in text and not text.startswith("-")]
    if rest and (not hasattr(options, "settings") or settings != rest):
        hint = ""
        if hasattr(options, "settings"):
            if any(r.startswith(("-o", "--option")) for r in rest):
                hint = "; this command takes game options as settings, such as options.players=3"
            else:
                hint = "; settings are written without hyphens, such as seed=3"
        elif hasattr(options, "option") and _names_an_option(rest):
            hint = "; game options are written with -o, such as -o players=3"
        parser.error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    if settings:
        options.settings = [*options.settings, *settings]
    return options


class _Parser(argparse.ArgumentParser):
    """A parser whose messages contain no control sequences, even if a file name contains some."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message:
            tell(message, to=file or sys.stderr, end="")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="armarl", description=__doc__)
    parser.add_argument("--version", action="version", version=f"armarl {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (words, options, function) in _COMMANDS.items():
        command = commands.add_parser(name, help=words)
        options(command)
        command.set_defaults(run=function)
    return parser


def _train(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "config", nargs="?", help="a YAML file or the name of a shipped one, e.g. armadora-quick"
    )
    command.add_argument(
        "settings",
        nargs="*",
        metavar="key=value",
        help="override a setting, e.g. total_decisions=1e6",
    )
    command.add_argument(
        "--run", dest="folder", type=folder, help="folder of the run (default: runs/NAME)"
    )
    command.add_argument("--resume", type=folder, metavar="FOLDER", help="resume a stopped run")
    command.add_argument(
        "--against",
        metavar="PLAYER",
        help="train only against this fixed player, to find a best response to it",
    )
    _code(command)
    command.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run the shards, and the matches at the end, on this Ray cluster (the same as the "
        "setting ray=ADDRESS)",
    )


def _sweep(command: argparse.ArgumentParser) -> None:
    command.add_argument("config", type=Path, help="a YAML file or the name of a shipped one")
    command.add_argument(
        "settings",
        nargs="*",
        metavar="key=values",
        help="ranges to search, e.g. ppo.learning_rate=1e-4..3e-3:log, ppo.epochs=1..4, "
        "'network.widths=[64],[128,64]'; a setting with one value, key=value, is fixed",
    )
    command.add_argument("--trials", type=int, default=20, help="total number of trials (20)")
    command.add_argument(
        "--folder",
        type=folder,
        help="folder of the sweep (default: runs/sweep-NAME); an existing sweep continues",
    )
    _code(command)


def _exploit(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "player", help="the player to respond to: a policy's name or path, a run, or any player"
    )
    command.add_argument(
        "--config",
        help="a YAML file or the name of a shipped one (default: the configuration of the player's "
        "policy, or a shipped one for its game)",
    )
    command.add_argument(
        "--start",
        metavar="POLICY",
        help="initial weights: self (the player's weights; the default with the configuration of "
        "its policy), scratch (random weights), or a policy's name or path",
    )
    budget = command.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=float, help="time of each run on one core (40)")
    budget.add_argument(
        "--decisions",
        type=int,
        help="decisions of each run, instead of a time; such a run can be repeated exactly",
    )
    command.add_argument(
        "--seeds", type=int, default=3, help="number of runs; the best of them counts (3)"
    )
    command.add_argument("--games", type=int, default=1000, help="games of each match (1000)")
    command.add_argument(
        "--folder",
        type=folder,
        help="folder of the results (default: runs/exploit-PLAYER); an existing search continues",
    )
    _code(command)
    _game(command)


def _code(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--code",
        action="store_true",
        help="import players, learners and rewards that the configuration names as module:name",
    )


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "players",
        nargs="+",
        help="player names such as greedy, ismcts:1000 or armadora-2p, paths of saved policies or "
        "runs, or module:Class for a class of your own",
    )
    command.add_argument(
        "--games",
        type=int,
        default=1000,
        help="games per match, or per panel member if one player is given (1000); rounded up so "
        "that every seating is played equally often",
    )
    command.add_argument("--json", type=Path, help="also write the result to this JSON file")
    command.add_argument("--records", type=Path, help="append every game's record to this file")
    _html(command, "the first 10 games")
    _many_games(command)


def _arena(command: argparse.ArgumentParser) -> None:
    command.add_argument("players", nargs="*", help="players, e.g. random greedy armadora-2p")
    command.add_argument(
        "--rate",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="play no games, but rate the players and people in these files of game records",
    )
    command.add_argument(
        "--deals",
        type=int,
        default=100,
        help="deals per lineup (default: 100); every deal is played in all seat arrangements, or "
        "with 4 different players in four of them",
    )
    command.add_argument(
        "--kind", default="round-robin", help="round-robin (the default), ladder or field"
    )
    command.add_argument("--mixed", action="store_true", help="make teams of different players")
    command.add_argument(
        "--every", action="store_true", help="play all 24 seat arrangements of 4 different players"
    )
    command.add_argument(
        "--folder",
        type=folder,
        help="write results, records (unless --no-records) and the report here; an existing "
        "tournament continues",
    )
    command.add_argument(
        "--no-records",
        dest="records",
        action="store_false",
        help="do not write the records of the games to the folder",
    )
    _html(command, "the first 10 games in the folder")
    command.add_argument(
        "--stronger",
        type=elo_lead,
        metavar="ELO",
        help="compare two players: stop as soon as it is clear whether the first is stronger by "
        "this many Elo points",
    )
    _many_games(command)


def _many_games(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workers",
        type=int,
        help="processes, or parallel jobs on a Ray cluster (default: all cores)",
    )
    command.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: auto (this machine's cluster, or RAY_ADDRESS), local "
        "(start Ray here), host:port or ray://host:port",
    )
    command.add_argument(
        "--seed", type=int, default=0, help="seed; the same seed repeats the games exactly (0)"
    )
    _game(command)


def _play(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "opponents",
        nargs="*",
        default=["greedy"],
        help="players clockwise from you (greedy); the last one takes all remaining seats",
    )
    command.add_argument("--seat", type=int, help="your seat (0); seat 0 begins")
    _one_game(command)
    _web(command, "play in a browser; choose everything else on the page")


def _web(command: argparse.ArgumentParser, words: str) -> None:
    command.add_argument("--web", action="store_true", help=words)
    command.add_argument(
        "--folder",
        type=folder,
        default=Path("runs/games"),
        help="with --web: the folder of all games; they continue after a restart (runs/games)",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="with --web: the address to listen on (127.0.0.1)"
    )
    command.add_argument("--port", type=int, default=8460, help="with --web: the port (8460)")
    command.add_argument(
        "--name",
        action="append",
        default=[],
        help="with --web: another host name of this machine that addresses may contain; may be "
        "repeated",
    )


def _watch(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "players", nargs="+", help="players from seat 0 on; the last one takes all remaining seats"
    )
    command.add_argument(
        "--pace",
        type=pace,
        metavar="SECONDS",
        help="time between two actions (1 at a terminal, otherwise 0); any key pauses the game, q "
        "ends it",
    )
    _one_game(command)


def _one_game(command: argparse.ArgumentParser) -> None:
    command.add_argument("--record", type=Path, help="append the game's record to this file")
    _html(command, "the game, with the players' thoughts,")
    command.add_argument(
        "--think",
        action="store_true",
        help="show the players' thoughts: the actions that they consider and the result that they "
        "expect",
    )
    command.add_argument("--seed", type=int, help="seed of the deal (default: a random one)")
    _game(command)


def _replay(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "records",
        type=Path,
        help="a file of game records, or a JSON file of one position (from `describe`)",
    )
    command.add_argument(
        "--draw",
        action="store_true",
        help="draw the board after every action, or once a turn if it is tall",
    )
    _html(command, "the games")
    command.add_argument(
        "--seat", type=int, help="with --html: leave out everything that this seat may not know"
    )
    command.add_argument(
        "--games", metavar="N-M", help="use only these games of the file, such as 3 or 1-20 (all)"
    )
    command.add_argument(
        "--think",
        nargs="+",
        metavar="PLAYER",
        help="with --html: show these players' thoughts on every position side by side, and the "
        "moves after which the expected result fell most",
    )
    _web(command, "open the games in a browser; the page can show any player's thoughts on them")


def _html(command: argparse.ArgumentParser, games: str) -> None:
    command.add_argument(
        "--html", type=Path, metavar="FILE", help=f"write a replay of {games} as one HTML page"
    )


def _draw(command: argparse.ArgumentParser) -> None:
    command.add_argument("record", type=Path, help="a file of game records")
    command.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        help="the file to write; its name must end in .svg or .png",
    )
    command.add_argument(
        "--game", type=int, default=1, help="number of the game in the file, counted from 1 (1)"
    )
    command.add_argument(
        "--move",
        type=int,
        help="draw the position after this number of actions, 0 for the deal (default: the last)",
    )
    command.add_argument("--seat", type=int, help="draw only what this seat may see")
    command.add_argument(
        "--theme",
        default="light",
        help="light (the default), dark, or auto (only for SVG), which follows the setting of the "
        "reader's browser",
    )
    command.add_argument("--width", type=int, help="width of a PNG in pixels (1024)")


def _info(command: argparse.ArgumentParser) -> None:
    command.add_argument("subject", help="a game's name, or a saved policy's name or path")
    command.add_argument(
        "--json", action="store_true", help="print all of a saved policy's metadata as JSON"
    )
    command.add_argument("--game", help=argparse.SUPPRESS)  # refused: the subject names the game
    _options(command)


def _rules(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "subjects",
        nargs="*",
        metavar="game or rule",
        help="a game's name, for its rules in two minutes, or a rule's number, such as ARM-12",
    )
    command.add_argument("--all", action="store_true", help="print every numbered rule of a game")


def _exploitability(command: argparse.ArgumentParser) -> None:
    command.add_argument("players", nargs="*", help="players, e.g. random, greedy or a path")
    command.add_argument(
        "--draws",
        type=int,
        default=8,
        help="random numbers tried in each position to estimate a player's probabilities (8)",
    )
    command.add_argument(
        "--solve",
        type=int,
        default=0,
        metavar="N",
        help="also solve the game with N iterations of CFR+",
    )
    command.add_argument("--json", type=Path, help="also write the result to this JSON file")
    _game(command)


def _game(command: argparse.ArgumentParser) -> None:
    command.add_argument("--game", help="game (default: the saved policy's game, or armadora)")
    _options(command)


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="name=value",
        help="a game option, e.g. players=3 or advanced=true; may be repeated",
    )


def _compile(command: argparse.ArgumentParser) -> None:
    command.add_argument("games", nargs="*", metavar="game", help="games to compile (all)")
    command.add_argument(
        "--cpu",
        metavar="LEVEL",
        help="compile for all processors of this level (x86-64-v3, ...) instead of this machine's "
        "processor",
    )


_COMMANDS = {  # name: (help, options, function)
    "train": ("train a policy from a configuration", _train, training.train),
    "sweep": ("search for good training settings with Optuna", _sweep, training.sweep),
    "exploit": (
        "train a best response to a player, and measure its win rate",
        _exploit,
        training.exploit,
    ),
    "evaluate": (
        "measure win rates between players, or of one player against the panel",
        _evaluate,
        strength.evaluate,
    ),
    "arena": ("play a tournament and rate the players", _arena, strength.arena),
    "play": ("play a game at this terminal or in a browser", _play, playing.play),
    "watch": ("watch players play a game at this terminal", _watch, playing.watch),
    "replay": ("check recorded games, print them or make a page", _replay, replaying.replay),
    "draw": ("draw a position of a recorded game as SVG or PNG", _draw, drawing.draw),
    "rules": ("print a game's rules, or one rule by its number", _rules, rules.rules),
    "info": ("describe a game or a saved policy", _info, studying.info),
    "exploitability": (
        "compute the exact exploitability of players in a small game",
        _exploitability,
        studying.exploit,
    ),
    "compile": (
        "compile the rules now instead of at the first step, e.g. for container images",
        _compile,
        studying.compile_games,
    ),
}


def _version() -> str:
    from importlib.metadata import version

    return version("armarl")


if __name__ == "__main__":
    sys.exit(main())
