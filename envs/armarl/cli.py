"""The command line: train, sweep, evaluate, arena, play, replay, info, exploitability, compile."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armarl.arena.panel import PanelResult
    from armarl.arena.stopping import Verdict
    from armarl.game import Game
    from armarl.matches import MatchResult
    from armarl.workers import Workers


_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(arguments)
    sys.path.append(str(Path.cwd()))  # last: for players of one's own, module:Class
    try:
        return int(options.run(options))
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        print(f"armarl {options.command}: {error}", file=sys.stderr)
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
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if settings:
        options.settings = [*options.settings, *settings]
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="armarl", description=__doc__)
    parser.add_argument("--version", action="version", version=f"armarl {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a policy from a configuration")
    train.add_argument(
        "config", nargs="?", type=Path, help="a YAML file, or a shipped one, such as armadora-quick"
    )
    train.add_argument("settings", nargs="*", metavar="key=value", help="such as ppo.epochs=3")
    train.add_argument("--run", dest="folder", type=Path, help="folder of the run (runs/NAME)")
    train.add_argument("--resume", type=Path, metavar="FOLDER", help="go on with a stopped run")
    train.add_argument(
        "--against",
        metavar="PLAYER",
        help="against this player alone, who stays as he is: a trained best response to him",
    )
    train.set_defaults(run=_train)

    sweep = commands.add_parser("sweep", help="train with settings that Optuna searches for")
    sweep.add_argument("config", type=Path, help="a YAML file, or a shipped one")
    sweep.add_argument(
        "settings",
        nargs="*",
        metavar="key=values",
        help="ppo.learning_rate=1e-4..3e-3:log, ppo.epochs=1..4, network.widths=[64],[128,64]; "
        "key=value stays as it is",
    )
    sweep.add_argument("--trials", type=int, default=20, help="in all (20)")
    sweep.add_argument("--folder", type=Path, help="of the sweep (runs/sweep-NAME); it goes on")
    sweep.set_defaults(run=_sweep)

    evaluate = commands.add_parser(
        "evaluate", help="win rates of players, or of one against the panel"
    )
    evaluate.add_argument(
        "players", nargs="+", help="such as greedy, armadora-2p or a path; see docs/arena.md"
    )
    evaluate.add_argument("--games", type=int, default=1000)
    evaluate.add_argument("--json", type=Path, help="also write the result to this file")
    evaluate.add_argument("--records", type=Path, help="add every game's record to this file")
    evaluate.set_defaults(run=_evaluate)

    arena = commands.add_parser("arena", help="play a tournament; rate the players")
    arena.add_argument("players", nargs="+", help="such as random greedy armadora-2p")
    arena.add_argument("--deals", type=int, default=100, help="each in all arrangements of seats")
    arena.add_argument("--kind", default="round-robin", help="round-robin, ladder or field")
    arena.add_argument("--mixed", action="store_true", help="partners are different players")
    arena.add_argument("--every", action="store_true", help="all 24 arrangements of 4 players")
    arena.add_argument("--folder", type=Path, help="keep results, records and report; go on there")
    arena.add_argument("--no-records", dest="records", action="store_false")
    arena.add_argument(
        "--stronger",
        type=float,
        metavar="ELO",
        help="of two players: stop when it is clear whether the first is so much stronger",
    )
    arena.set_defaults(run=_arena)

    play = commands.add_parser("play", help="play at this terminal")
    play.add_argument("opponents", nargs="*", default=["greedy"], help="clockwise from you")
    play.add_argument("--seat", type=int, default=0, help="yours; seat 0 begins")
    play.add_argument("--record", type=Path, help="add the game's record to this file")
    play.add_argument("--think", action="store_true", help="tell what the opponents think")
    play.set_defaults(run=_play)

    replay = commands.add_parser("replay", help="check recorded games, and tell them")
    replay.add_argument("records", type=Path, help="a file of records")
    replay.add_argument("--draw", action="store_true", help="the board after every action")
    replay.set_defaults(run=_replay)

    info = commands.add_parser("info", help="describe a game, or a saved policy")
    info.add_argument("subject", help="a game's name, or a saved policy's path or name")
    info.add_argument("--json", action="store_true", help="of a policy: all that its file says")
    info.set_defaults(run=_info)

    exploit = commands.add_parser(
        "exploitability", help="what could be won from players, exactly, in a small game"
    )
    exploit.add_argument("players", nargs="*", help="such as random, greedy or a path")
    exploit.add_argument(
        "--draws", type=int, default=8, help="random numbers with which a player is asked (8)"
    )
    exploit.add_argument(
        "--solve", type=int, default=0, metavar="N", help="also solve the game: N steps of CFR+"
    )
    exploit.add_argument("--json", type=Path, help="also write the result to this file")
    exploit.set_defaults(run=_exploitability)

    compile_ = commands.add_parser(
        "compile", help="compile the rules now, for images and clusters, and not at the first step"
    )
    compile_.add_argument("games", nargs="*", metavar="game", help="all if none is named")
    compile_.set_defaults(run=_compile)

    for command in (evaluate, arena):
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
    train.add_argument(
        "--ray", metavar="ADDRESS", help="the setting ray: a cluster, which plays the shards"
    )
    for command in (evaluate, arena, play, info, exploit):
        command.add_argument("--game", help="default: the saved policy's game, or armadora")
        command.add_argument(
            "-o",
            "--option",
            action="append",
            default=[],
            metavar="name=value",
            help="an option of the game, such as players=3 or advanced=true",
        )
    for command in (evaluate, arena, play):
        command.add_argument("--seed", type=int, default=0, help="repeats the games exactly")
    return parser


# --- the commands ---------------------------------------------------------------------------------


def _train(options: argparse.Namespace) -> int:
    train = _training().train
    settings = options.settings
    if options.ray is not None:
        settings = [f"ray={json.dumps(options.ray)}", *settings]
    if options.against is not None:
        if options.resume is not None:
            raise ValueError("a resumed run keeps its opponents: leave out --against")
        settings = [*_against(options.against), *settings]
    return int(train(options.config, settings, options.folder, options.resume))


def _sweep(options: argparse.Namespace) -> int:
    return int(_training().sweep(options.config, options.settings, options.folder, options.trials))


def _training() -> Any:
    """The commands of the distribution's other package.

    Raises:
        ImportError: what they need is not installed.
    """
    try:
        from armarl_training import command
    except ImportError as error:
        raise ImportError(
            f"training needs more packages ({error}): pip install 'armarl[train]'"
        ) from error
    return command


def _against(player: str) -> list[str]:
    """Settings of a run whose every game is against one player, who is its measure, too."""
    return [
        f"opponents.players={json.dumps({player: 1})}",
        "opponents.share=1",
        "opponents.earlier=0",
        f"evaluation.opponents={json.dumps([player])}",
    ]


def _evaluate(options: argparse.Namespace) -> int:
    from itertools import combinations

    from armarl.matches import play_match
    from armarl.workers import workers_at

    if options.json and not options.json.resolve().parent.is_dir():
        raise ValueError(
            f"there is no folder {options.json.parent} to write {options.json.name} to"
        )
    game, workers = _game(options, options.players), workers_at(options.ray, options.workers)
    if len(options.players) == 1:
        return _evaluate_by_panel(options, game, workers)
    together = min(len(options.players), len(set(game.sides)))
    results = []
    for players in combinations(options.players, together):
        result = play_match(
            game,
            players,
            options.games,
            options.seed,
            workers,
            _show_progress,
            options.records,
        )
        results.append(result)
        print(_table(game, result))
    _tell_shares(workers)
    if options.json:
        text = json.dumps([result.as_dict() for result in results], indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _evaluate_by_panel(options: argparse.Namespace, game: Game, workers: Workers) -> int:
    from armarl.arena.panel import play_panel

    result = play_panel(
        game,
        options.players[0],
        options.games,
        options.seed,
        workers,
        _show_progress,
        options.records,
    )
    print(_panel_table(game, result))
    _tell_shares(workers)
    if options.json:
        text = json.dumps(result.as_dict(), indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _arena(options: argparse.Namespace) -> int:
    from armarl.arena.report import write_report
    from armarl.arena.summary import stronger, summarise
    from armarl.arena.tournament import Tournament, play_tournament
    from armarl.workers import workers_at

    game, workers = _game(options, options.players), workers_at(options.ray, options.workers)
    if options.stronger is not None and len(options.players) != 2:
        raise ValueError(f"--stronger compares 2 players, not {len(options.players)}")

    def decided(tournament: Tournament) -> bool:
        return stronger(tournament, elo1=options.stronger).decided is not None

    tournament = play_tournament(
        game,
        options.players,
        options.deals,
        kind=options.kind,
        mixed=options.mixed,
        every=options.every,
        seed=options.seed,
        workers=workers,
        folder=options.folder,
        records=options.records,
        progress=_show_progress,
        enough=None if options.stronger is None else decided,
    )
    summary = summarise(tournament)
    print(summary.table())
    if options.stronger is not None:
        print(_verdict(tournament.players, stronger(tournament, elo1=options.stronger)))
    if options.folder is not None:
        print(f"written: {write_report(summary, options.folder)}")
    _tell_shares(workers)
    return 0


def _verdict(players: Sequence[str], verdict: Verdict) -> str:
    said = {True: "is stronger than", False: "is not stronger than", None: "may be as strong as"}
    after = f"after {verdict.deals} deals" + (", undecided" if verdict.decided is None else "")
    return (
        f"{players[0]} {said[verdict.decided]} {players[1]}, {after}: score "
        f"{100 * verdict.score:.1f} %, log likelihood ratio {verdict.ratio:.2f} "
        f"(decides at {verdict.low:.2f} and {verdict.high:.2f})"
    )


def _play(options: argparse.Namespace) -> int:
    from armarl.terminal import play_at_terminal

    game = _game(options, options.opponents)
    play_at_terminal(
        game, options.opponents, options.seat, options.seed, options.record, options.think
    )
    return 0


def _replay(options: argparse.Namespace) -> int:
    from armarl.arena.records import read_records

    for number, record in enumerate(read_records(options.records), 1):
        game = record.game
        returns = " ".join(f"{value:g}" for value in record.returns)
        print(f"game {number}: {game.name}, {', '.join(record.players)}")
        for seat, action, state in zip(
            record.seats, record.actions, record.states[1:], strict=True
        ):
            print(f"player {seat}: {game.actions.text(action)}")
            if options.draw:
                print(game.draw(state))
        print(f"{record.ending} after {len(record.actions)} actions, returns {returns}\n")
    return 0


def _info(options: argparse.Namespace) -> int:
    from armarl.catalogue import game_names
    from armarl.game import make_game

    if options.subject in game_names():
        if options.json:
            raise ValueError(f"--json is for saved policies, and {options.subject} is a game")
        game = make_game(options.subject, **_options(options.option))
        print(f"# {game.name}, version {game.version}: {game.players} players, {game.options}\n")
        print(f"## Actions ({len(game.actions)})\n\n{game.actions.markdown()}\n")
        print(f"## Observation ({game.observation.size})\n\n{game.observation.markdown()}")
        return 0
    try:
        print(_about_policy(options.subject, options.json))
    except FileNotFoundError as error:
        names = ", ".join(game_names())
        raise ValueError(
            f"{options.subject!r} is neither a game ({names}) nor a saved policy: {error}"
        ) from error
    return 0


def _about_policy(name: str, raw: bool) -> str:
    """A saved policy's card, or all that its file says."""
    from armarl.cards import read_card
    from armarl.policies import read_policy_metadata

    return json.dumps(read_policy_metadata(name), indent=2) if raw else read_card(name).text()


def _exploitability(options: argparse.Namespace) -> int:
    from armarl.exploitability import GameTree, exploitability
    from armarl.players import make_player

    if not options.players and options.solve < 1:
        raise ValueError("name players, or solve the game with --solve 1000")
    if options.draws < 1:
        raise ValueError(f"--draws must be 1 or more, not {options.draws}")
    tree = GameTree(_game(options, options.players))
    plays = {
        name: tree.play_of(make_player(name, tree.game), options.draws) for name in options.players
    }
    if options.solve > 0:
        plays[f"CFR+ after {options.solve} iterations"] = tree.solve(options.solve)
    results = {name: exploitability(tree, play) for name, play in plays.items()}
    print(f"{tree.game.name} {dict(tree.game.options)}: {tree.histories:,} histories")
    print(f"{'player':<32}{'value':>9}{'best response as 0, as 1':>28}{'exploitability':>17}")
    for name, found in results.items():
        first, second = found.best_responses
        print(
            f"{name:<32}{found.value:>9.4f}{first:>19.4f}{second:>9.4f}{found.exploitability:>17.4f}"
        )
    if options.json:
        players = {name: result._asdict() for name, result in results.items()}
        text = json.dumps({"variant": tree.game.variant, "players": players}, indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def _compile(options: argparse.Namespace) -> int:
    from armarl.catalogue import game_names
    from armarl.game import make_game
    from armarl.ready import compile_game

    for name in options.games or game_names():
        for what, seconds in compile_game(make_game(name)):
            print(f"{name}: {what} ready after {seconds:.1f} s", flush=True)
    return 0


# --- reading and writing --------------------------------------------------------------------------


def _game(options: argparse.Namespace, players: Sequence[str]) -> Game:
    """The game asked for; by default the one that the first saved policy plays."""
    from armarl.catalogue import game_names
    from armarl.game import make_game
    from armarl.players import as_spec, policy_path
    from armarl.policies import policy_game

    if options.game is None and not options.option:
        for player in players:
            if path := policy_path(as_spec(player)):
                return policy_game(path)
    return make_game(options.game or game_names()[0], **_options(options.option))


def _tell_shares(workers: Workers) -> None:
    """What each worker of a cluster has done."""
    for worker, share in sorted(getattr(workers, "shares", {}).items()):
        print(f"{worker}: {share.jobs} jobs in {share.seconds:.1f} s", file=sys.stderr)


def _version() -> str:
    from importlib.metadata import version

    return version("armarl")


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """Game options written `name=value`; true, false and numbers are read as such."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"option {text!r} should be written name=value, like players=3")
        words = {"true": True, "false": False, "none": None}
        number = int(value) if _WHOLE_NUMBER.fullmatch(value) else value
        options[name] = words.get(value.lower(), number)
    return options


def _show_progress(done: int, games: int) -> None:
    if sys.stderr.isatty():
        end = "\r" if done < games else "\r\x1b[K"
        print(f"{done} of {games} games", end=end, file=sys.stderr, flush=True)


def _panel_table(game: Game, result: PanelResult) -> str:
    """A player's matches with the panel as an aligned table."""
    options = ", ".join(f"{name}={value}" for name, value in game.options.items())
    first = result.matches[0]
    lines = [
        f"{game.name}, {game.players} players, {options}; {first.standings[0].player} against the "
        f"panel, {first.games} games with each, seeds {first.seed} to {result.matches[-1].seed}",
        f"{'against':<40}{'win rate':>9}  {'95 % interval':<16}{'fair':>6}{'cut short':>11}",
    ]
    for member, match in zip(result.members, result.matches, strict=True):
        s = match.standings[0]
        name = member.player + (" (held out)" if member.held_out else "")
        interval = f"{100 * s.low:.1f} - {100 * s.high:.1f} %"
        lines.append(
            f"{name:<40}{100 * s.win_rate:>7.1f} %  {interval:<16}{100 * s.fair:>4.0f} %"
            f"{s.cut_short:>11}"
        )
    for name, (mean, low, high) in (("panel", result.score), ("held out", result.held_out)):
        interval = f"{100 * low:.1f} - {100 * high:.1f} %"
        lines.append(f"{name + ', the mean':<40}{100 * mean:>7.1f} %  {interval}")
    return "\n".join(lines) + "\n"


def _table(game: Game, result: MatchResult) -> str:
    """The result of a match as an aligned table."""
    options = ", ".join(f"{name}={value}" for name, value in game.options.items())
    lines = [
        f"{game.name}, {game.players} players, {options}; seed {result.seed}: "
        f"{result.games} games, {result.deals} deals in {result.games // result.deals} rotations, "
        f"{result.mean_actions:.0f} actions a game",
        f"{'player':<28}{'win rate':>9}  {'95 % interval':<16}{'fair':>6}"
        f"{'won':>7}{'shared':>8}{'lost':>7}{'cut short':>11}",
    ]
    for s in result.standings:
        interval = f"{100 * s.low:.1f} - {100 * s.high:.1f} %"
        lines.append(
            f"{s.player:<28}{100 * s.win_rate:>7.1f} %  {interval:<16}{100 * s.fair:>4.0f} %"
            f"{s.wins:>7}{s.shared:>8}{s.losses:>7}{s.cut_short:>11}"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
