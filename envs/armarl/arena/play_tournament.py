"""Play tournaments in parallel, and resume tournaments that were interrupted.

Deal `k` of a tournament is the same for every lineup, and every lineup plays it in all its
arrangements. Only different deals are independent, so ratings are bootstrapped over the deals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from armarl.arena.tournament import DEALS_AT_ONCE, GameResult, Tournament
from armarl.arena.tournament_folder import ArenaError, Digests, Store
from armarl.common.messages import brief, printable
from armarl.common.numbers import MOST_SEED, whole_number
from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.matches.match import Entrants, Sitting, as_game, check_list
from armarl.matches.playing import play_tables, shares_of_victory, workers_for
from armarl.players.protocol import Player, digest_of
from armarl.players.registry import PlayerLike
from armarl.roster.make_player import make_player
from armarl.workers.jobs import Workers, check_workers
from armarl.workers.spread import spread

MOST_DEALS = 10**7  # maximum number of deals in a tournament


class _Job(NamedTuple):
    """The part of a tournament that one worker plays: some deals of a lineup at some tables."""

    game: str
    options: dict[str, Any]
    sitting: Sitting
    digests: Digests
    lineup: int
    number: int  # index of the sitting among the sittings of the lineup
    seed: int
    first: int
    last: int
    record: bool


def play_tournament(
    game: Game | str,
    players: Sequence[PlayerLike],
    deals: int = 100,
    *,
    kind: str = "round-robin",
    mixed: bool = False,
    every: bool = False,
    seed: int = 0,
    workers: Workers = 1,
    folder: str | Path | None = None,
    records: bool = True,
    progress: Callable[[int, int], None] | None = None,
    enough: Callable[[Tournament], bool] | None = None,
) -> Tournament:
    """Play a tournament, or the missing games of a tournament in a folder.

    Args:
        game: a game, or a game's name for its default options.
        players: specifications, paths or `Player` objects, 2 to 100. A player may be in the list
            twice.
        deals: number of deals that each lineup plays in all its arrangements, 1 to 10 million.
        kind: "round-robin" (every group of players meets), "ladder" (only neighbours in the list
            meet) or "field" (the first player meets the others), see `lineups.lineups`.
        mixed: whether partners may be different players, see `lineups.lineups`.
        every: whether to play all arrangements even for 4 places, see `lineups.tables`.
        seed: the seed, 0 to 2**63 - 1. The same seed repeats the tournament exactly.
        workers: number of processes, or a cluster.
        folder: folder for results and records. If it already contains this tournament, the
            tournament is resumed. Without a folder, nothing is saved.
        records: whether to save a record of every game in the folder.
        progress: function that is called with the number of finished games and of all games.
        enough: function that takes the tournament so far and returns whether to stop. It is called
            whenever all lineups have played the same deals.

    Returns:
        The tournament with all its results, those that the folder had before included.

    Raises:
        TypeError: `game` is not a game, `players` is not a list, a number is not an integer, or
            `mixed` or `every` is not a bool.
        ValueError: a number is out of range, the kind is unknown, or a player is unknown or was
            made for another variant.
        IllegalActionError: a player chose an illegal action.
        ArenaError: the folder contains another tournament, a training run, or games of another
            policy under a player's name; or the folder is damaged or in use; or a policy's file was
            replaced during the tournament. The class is a RuntimeError.
        RuntimeError: a worker process was killed, or the cluster does not answer.
        OSError: a file cannot be written.

    Example:
        >>> from armarl import play_tournament
        >>> tournament = play_tournament("armadora", ["random", "greedy"], deals=2)
        >>> tournament.players, len(tournament.games)
        (('random', 'greedy'), 4)
    """
    game = as_game(game)
    check_list(players)
    whole_number("deals", deals, 1, MOST_DEALS)
    whole_number("seed", seed, 0, MOST_SEED)
    for name, given in (("mixed", mixed), ("every", every)):
        if type(given) is not bool:
            raise TypeError(f"{name} must be True or False, not {brief(repr(given), 60)}")
    if folder == "":
        raise ValueError("a folder needs a name; use . for the current folder")
    check_workers(workers)
    made = [make_player(player, game) for player in players]
    workers = workers_for(made, workers)
    names = _distinct([printable(player.name) for player in made])
    digests = _digests(names, made)
    planned = Tournament(game, names, kind, mixed, every, seed, ())
    with Store(folder, planned, digests) as store:
        entrants = Entrants(players, names, game, workers)
        jobs = _jobs(planned, entrants, digests, deals, store, records and folder is not None)
        keys = {
            (job.lineup, deal, table)
            for job in jobs
            for deal in range(job.first, job.last)
            for table in job.sitting.seatings
        }
        whole = len(store.games.keys() | keys)
        playing = spread(_play_job, jobs, workers)
        for number, (results, texts) in enumerate(playing, 1):
            store.add(results, texts)
            if progress:
                progress(len(store.games), whole)
            level = number == len(jobs) or jobs[number].first > jobs[number - 1].first
            if enough and level and enough(store.tournament()):
                playing.close()
                break
        return store.tournament()


def _jobs(
    planned: Tournament,
    entrants: Entrants,
    digests: Digests,
    deals: int,
    store: Store,
    record: bool,
) -> list[_Job]:
    """Return the jobs with missing games, by deal, so that a stopped tournament is balanced."""
    game, jobs = planned.game, []
    options = {"players": game.players, **game.options}
    at_once = entrants.deals_at_once(DEALS_AT_ONCE)
    for lineup, group in enumerate(planned.lineups()):
        for number, sitting in enumerate(entrants.sittings(planned.tables(group), (lineup,))):
            for first in range(0, deals, at_once):
                last = min(first + at_once, deals)
                if not store.has(lineup, first, last, sitting.seatings):
                    who = (sitting, digests, lineup, number)
                    jobs.append(_Job(game.name, options, *who, planned.seed, first, last, record))
    return sorted(jobs, key=lambda job: (job.first, job.lineup, job.number))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names. Add a number to each name that has already occurred."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name} #{number}" for number in range(2, len(names) + 2))
        found.append(next(one for one in chain([name], numbered) if one not in found))
    return tuple(found)


def _digests(names: Sequence[str], players: Sequence[Player]) -> Digests:
    """Return the digest of each player's weights by name. Players without weights are left out."""
    found = zip(names, map(digest_of, players), strict=True)
    return {name: digest for name, digest in found if digest is not None}


def _refuse_replaced(job: _Job, players: Sequence[Player]) -> None:
    """Raise ArenaError if the weights of a policy have changed since the tournament began."""
    for name, holder in {
        pair
        for table in job.sitting.tables
        for pair in zip(table.names, table.holders, strict=True)
    }:
        if job.digests.get(name) != digest_of(players[holder]):
            raise ArenaError(
                f"{name} was replaced during the tournament. A rewritten file is another player: "
                "use a copy of the file that does not change"
            )


def _play_job(job: _Job) -> tuple[list[GameResult], list[str]]:
    """Play a job's games in lockstep. Return their results, and their records if requested."""
    game, sitting = make_game(job.game, **job.options), job.sitting
    players = sitting.new_players(game)
    _refuse_replaced(job, players)
    deals = job.seed, job.first, job.last
    games = play_tables(game, players, *deals, sitting.tables, record=job.record)
    shares = shares_of_victory(game, games.returns)
    shares[games.cut] = 1 / shares.shape[-1]
    results = [
        GameResult(
            job.lineup,
            job.first + deal,
            table,
            tuple(shares[deal, number].tolist()),
            int(games.lengths[deal, number]),
            bool(games.cut[deal, number]),
        )
        for number, table in enumerate(sitting.seatings)
        for deal in range(job.last - job.first)
    ]
    return results, games.records.T.ravel().tolist()
