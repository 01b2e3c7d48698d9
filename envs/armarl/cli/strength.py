"""The commands `evaluate` and `arena`: matches and tournaments between players."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from armarl.cli.shared_options import (
    FIRST_GAMES,
    game_of,
    recording,
    show_progress,
    write_json,
    write_page,
)
from armarl.common.messages import tell

if TYPE_CHECKING:
    from armarl.arena.panel import PanelResult
    from armarl.arena.stopping import Verdict
    from armarl.arena.tournament import Tournament
    from armarl.core.game import Game
    from armarl.matches.match import MatchResult
    from armarl.workers.jobs import Workers


def evaluate(options: argparse.Namespace) -> int:
    """Print the win rates of players against each other, or of one player against the panel."""
    from itertools import combinations

    from armarl.matches.match import play_match
    from armarl.roster.make_player import make_player
    from armarl.workers.spread import workers_at

    game, workers = game_of(options, options.players), workers_at(options.ray, options.workers)
    with recording(options.records, options.html) as records:
        if len(options.players) == 1:
            return _evaluate_by_panel(options, game, workers, records)
        for player in options.players:  # a wrong player should fail here, not in a later match
            make_player(player, game)
        together = min(len(options.players), len(set(game.sides)))
        results = []
        try:
            for players in combinations(options.players, together):
                result = play_match(
                    game, players, options.games, options.seed, workers, show_progress, records
                )
                results.append(result)
                tell(_table(game, result))
        finally:  # save the finished matches even if a player fails in a later match
            if options.json and results:
                write_json(options.json, [result.as_dict() for result in results])
        _tell_shares(workers)
    return 0


def _evaluate_by_panel(
    options: argparse.Namespace, game: Game, workers: Workers, records: Path | None
) -> int:
    from armarl.arena.panel import play_panel

    result = play_panel(
        game, options.players[0], options.games, options.seed, workers, show_progress, records
    )
    tell(_panel_table(game, result))
    _tell_shares(workers)
    if options.json:
        write_json(options.json, result.as_dict())
    return 0


def arena(options: argparse.Namespace) -> int:
    """Play a tournament, or read the records of games, and print the ratings."""
    if options.rate:
        return _rate(options)
    from armarl.arena.play_tournament import play_tournament
    from armarl.arena.ratings import LEAST_DEALS
    from armarl.arena.report import write_report
    from armarl.arena.summary import stronger, summarise
    from armarl.matches.records import read_records
    from armarl.workers.spread import workers_at

    if not options.players:
        raise ValueError("name players, or rate the players of recorded games with --rate")
    if options.deals < LEAST_DEALS:
        raise ValueError(
            f"ratings need at least {LEAST_DEALS} deals to estimate how much deals differ; "
            f"--deals is {options.deals}"
        )
    game, workers = game_of(options, options.players), workers_at(options.ray, options.workers)
    if options.html is not None and (options.folder is None or not options.records):
        raise ValueError(
            "--html needs game records in a folder: give --folder, and leave out --no-records"
        )
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
        progress=show_progress,
        enough=None if options.stronger is None else decided,
    )
    summary = summarise(tournament)
    tell(summary.table())
    if options.stronger is not None:
        tell(_verdict(tournament.players, stronger(tournament, elo1=options.stronger)))
    if options.folder is not None:
        tell(f"written: {write_report(summary, options.folder)}")
    if options.html is not None:
        files = sorted((options.folder / "records").glob("*.txt"))
        records = chain.from_iterable(map(read_records, files))
        write_page(options.html, islice(records, FIRST_GAMES))
    _tell_shares(workers)
    return 0


def _rate(options: argparse.Namespace) -> int:
    """Print the ratings of the players and people in recorded games, one table per variant."""
    from armarl.arena.recorded import recorded_tournaments
    from armarl.arena.summary import summarise
    from armarl.matches.records import read_finished

    for name in ("players", "folder", "html", "stronger"):
        if getattr(options, name):
            raise ValueError(f"--rate plays no games, but only reads records: leave out {name}")
    records = chain.from_iterable(map(read_finished, options.rate))
    tournaments = recorded_tournaments(records)
    if not tournaments:
        raise ValueError("these files contain no game that was played to its end")
    for tournament in tournaments:
        try:
            tell(summarise(tournament).table())
        except ValueError as error:  # too few deals
            tell(f"{tournament.game.name}, {tournament.game.players} players: {error}\n")
    return 0


def _verdict(players: Sequence[str], verdict: Verdict) -> str:
    said = {True: "is stronger than", False: "is not stronger than", None: "may be as strong as"}
    after = f"after {verdict.deals} deals" + (", undecided" if verdict.decided is None else "")
    return (
        f"{players[0]} {said[verdict.decided]} {players[1]}, {after}: score "
        f"{100 * verdict.score:.1f} %, log likelihood ratio {verdict.ratio:.2f} "
        f"(decides at {verdict.low:.2f} and {verdict.high:.2f})"
    )


def _tell_shares(workers: Workers) -> None:
    """Print to stderr the number of jobs that each worker of a cluster did, and their time."""
    for worker, share in sorted(getattr(workers, "shares", {}).items()):
        tell(f"{worker}: {share.jobs} jobs in {share.seconds:.1f} s", to=sys.stderr)


def _panel_table(game: Game, result: PanelResult) -> str:
    """Format a player's matches against the panel as an aligned table."""
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
    """Format the result of a match as an aligned table."""
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
