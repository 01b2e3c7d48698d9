"""Matches between players, with seats rotated over the same deals.

Every deal is played once per rotation of the players around the seats, so the luck of the deal and
of the seat is the same for all players. A game depends only on the seed and its number. The same
seed therefore repeats a match exactly, with any number of worker processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import MOST_SEED, whole_number
from armarl.core.game import Game, check_game
from armarl.core.verbs import CUT_SHORT
from armarl.games.make_game import make_game
from armarl.matches.records import Recorder, append_records, prepare_records
from armarl.matches.standings import Standing, _standings
from armarl.players.protocol import Player, choose_legally, everybody
from armarl.players.registry import PlayerLike
from armarl.players.simple_players import HumanPlayer
from armarl.roster.make_player import make_player
from armarl.workers.jobs import Workers, check_workers
from armarl.workers.spread import spread

# Networks repeat their arithmetic exactly only with a fixed batch size, so this never changes.
DEALS_AT_ONCE = 64
MOST_GAMES = 10**8


@dataclass(frozen=True)
class MatchResult:
    """The outcome of a match.

    Attributes:
        variant: the game's name, version and options, and the hashes of its tables.
        seed: the seed of the match.
        deals: number of deals.
        games: number of games. Each deal is played once per rotation.
        mean_actions: mean number of actions per game.
        standings: result of each player, in the order they were given.

    Example:
        >>> import armarl
        >>> result = armarl.play_match("armadora", ["random", "random"], games=10, seed=1)
        >>> result.games, result.deals, sorted(result.as_dict())[:3]
        (10, 5, ['deals', 'games', 'mean_actions'])
    """

    variant: dict[str, Any]
    seed: int
    deals: int
    games: int
    mean_actions: float
    standings: tuple[Standing, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        return asdict(self)


def as_game(game: Game | str) -> Game:
    """Return a game unchanged, or make it from its name with default options.

    Raises:
        TypeError: `game` is neither a game nor a name.
        ValueError: no game has that name.
    """
    return make_game(game) if isinstance(game, str) else check_game(game, or_name=True)


def seatings(entrants: int, game: Game) -> list[list[int]]:
    """Return the seating of each rotation: a list with the entrant number of every seat.

    Each side plays for one entrant, so partners play for the same one. With fewer entrants than
    sides, the last entrant holds the remaining sides. The entrants rotate around the sides.
    """
    sides = len(set(game.sides))
    return [
        [min((side + turn) % sides, entrants - 1) for side in game.sides] for turn in range(sides)
    ]


def play_match(
    game: Game | str,
    players: Sequence[PlayerLike],
    games: int = 1000,
    seed: int = 0,
    workers: Workers = 1,
    progress: Callable[[int, int], None] | None = None,
    records: str | Path | None = None,
) -> MatchResult:
    """Play a match and return its result.

    Args:
        game: the game, or the name of a game to play with default options.
        players: list of players, from 2 up to the number of sides: specifications, paths or
            `Player` objects. With fewer players than sides, the last one holds the remaining sides
            (A, B, B).
        games: number of games, 1 to MOST_GAMES. It is rounded up so that every deal is played in
            every rotation.
        seed: seed of the match, 0 to MOST_SEED. The same seed repeats the match exactly.
        workers: number of processes, or a cluster. With more than 1, `Player` objects must be
            picklable.
        progress: function called with (games done, games in all).
        records: file to which the record of every game is appended (see `matches.records`).

    Returns:
        The result, with a standing for each player.

    Raises:
        TypeError: a number is not an integer, `game` is not a game, or `players` is not a list.
        ValueError: the number of players, games or workers is out of range, the seed is out of
            range, or the records file holds something else.
        IllegalActionError: a player chose an illegal action.
        OSError: the records cannot be written.

    Example:
        >>> import armarl
        >>> result = armarl.play_match("armadora", ["greedy", "random"], games=20, seed=1)
        >>> result.games, [standing.player for standing in result.standings]
        (20, ['greedy', 'random'])
    """
    game = as_game(game)
    if isinstance(players, str | Path):
        raise TypeError(f"players must be a list, such as [{str(players)!r}, 'random']")
    _check_entrants(game, len(players))
    whole_number("games", games, 1, MOST_GAMES)
    whole_number("seed", seed, 0, MOST_SEED)
    check_workers(workers)
    made = [make_player(player, game) for player in players]
    names, workers = [player.name for player in made], workers_for(made, workers)
    if records is not None:
        prepare_records(records)
    sides = len(set(game.sides))
    deals = math.ceil(games / sides)
    entrants = sent(players, game, workers)
    options, keep = {"players": game.players, **game.options}, records is not None
    jobs = [
        (game.name, options, entrants, seed, first, last, keep)
        for first in range(0, deals, DEALS_AT_ONCE)
        for last in [min(first + DEALS_AT_ONCE, deals)]
    ]
    shares, rewards, lengths = [], [], []
    for share, reward, length, texts in spread(_play_deals, jobs, workers):
        if records is not None:
            append_records(records, texts)
        shares.append(share)
        rewards.append(reward)
        lengths.append(length)
        if progress:
            progress(sum(map(len, shares)) * sides, deals * sides)
    return MatchResult(
        variant=game.variant,
        seed=seed,
        deals=deals,
        games=deals * sides,
        mean_actions=float(np.concatenate(lengths).mean()),
        standings=_standings(
            names, np.concatenate(shares), np.concatenate(rewards), seatings(len(names), game)
        ),
    )


def _check_entrants(game: Game, entrants: int) -> None:
    """Raise ValueError if the game's sides cannot take this number of entrants."""
    sides = len(set(game.sides))
    if 2 <= entrants <= sides:
        return
    takes = f"2 to {sides} entrants" if sides > 2 else "2 entrants"
    teams = f": they play in {sides} teams, and an entrant holds all seats of its team"
    raise ValueError(
        f"a match of {game.name} with {game.players} players takes {takes}, not {entrants}"
        + (teams if sides < game.players else "")
    )


def _play_deals(
    job: tuple[str, dict[str, Any], list[Any], int, int, int, bool],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Play deals `first` to `last - 1` of a match in all rotations, in lockstep.

    Returns:
        Shares of victory (deals, rotations, entrants), NaN in games that were cut short; returns of
        the same shape; lengths (deals, rotations); and the records, if requested.
    """
    name, options, specs, seed, first, last, record = job
    game = make_game(name, **options)
    players = [make_player(spec, game) for spec in specs]
    tables = np.array(seatings(len(players), game))  # (rotations, seats)
    deals, rotations = last - first, len(tables)
    seeds = np.repeat(deal_seeds(seed, first, last), rotations)
    entrants = np.tile(tables, (deals, 1))  # (games, seats)
    names = [[players[number].name for number in table] for table in entrants]
    recorder = Recorder(game, names, seeds) if record else None
    returns, lengths, cut_short = play_games(game, players, entrants, seeds, recorder)
    shares, rewards = _by_entrant(game, returns, entrants, len(players))
    shares[cut_short] = np.nan
    return (
        shares.reshape(deals, rotations, -1),
        rewards.reshape(deals, rotations, -1),
        lengths.reshape(deals, rotations),
        recorder.texts() if recorder else [],
    )


def deal_seeds(seed: int, first: int, last: int) -> NDArray[np.int64]:
    """Return one seed per deal. It does not depend on the chunk that the deal is played in."""
    high, low = divmod(seed, 1 << 32)  # 32 bits each, or two seeds could share deals
    streams = (np.random.SeedSequence([low, deal, high]) for deal in range(first, last))
    return np.array([s.generate_state(1, np.uint64)[0] >> np.uint64(1) for s in streams], np.int64)


def play_games(
    game: Game,
    players: Sequence[Player] | Mapping[int, Player],
    entrants: NDArray[np.int64],
    seeds: NDArray[np.int64],
    recorder: Recorder | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Play games to their end, in lockstep.

    Args:
        game: the game to play.
        players: players by number.
        entrants: (games, seats), the number of the player that holds each seat.
        seeds: (games,) seeds of the deal and of the random draws of the players.
        recorder: object that records all deals and actions, or None.

    Returns:
        The "win" returns (games, seats), the number of actions of each game, and a mask of the
        games that were cut short.
    """
    states = game.new_states(seeds)
    chance = game.new_chance(seeds)
    lengths = np.zeros(seeds.size, np.int64)
    if recorder:
        recorder.dealt(states)
    while True:
        statuses, seats = game.statuses(states)
        running = np.flatnonzero(statuses == 0)
        if running.size == 0:
            break
        movers = entrants[running, seats[running]]
        for number in np.unique(movers):
            games = running[movers == number]
            questions = game.questions(states, games, chance)
            actions = choose_legally(players[number], game, *questions)
            game.play(states, games, actions)
            if recorder:
                recorder.played(states, games, questions[1], actions)
        lengths[running] += 1
    if recorder:
        recorder.ended(states)
    return game.returns(states, np.arange(seeds.size)), lengths, statuses == CUT_SHORT


def _by_entrant(
    game: Game, returns: NDArray[np.float64], entrants: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shares of victory and mean returns of each entrant, both (games, entrants)."""
    first_seats = _first_seats(game)
    per_side = returns[:, first_seats]
    share = shares_of_victory(game, returns)
    sitting = entrants[:, first_seats, None] == np.arange(count)
    shares = (share[:, :, None] * sitting).sum(axis=1)
    rewards = (per_side[:, :, None] * sitting).sum(axis=1) / sitting.sum(axis=1)
    return shares, rewards


def shares_of_victory(game: Game, returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute shares of victory (games, sides) from "win" returns (games, seats).

    Every side stakes 1 / (sides - 1) and gets its share of the stakes, so the share of victory is
    (return * (sides - 1) + 1) / sides.
    """
    sides = len(set(game.sides))
    return np.asarray((returns[:, _first_seats(game)] * (sides - 1) + 1) / sides)


def _first_seats(game: Game) -> list[int]:
    """Return the first seat of each side."""
    return [game.sides.index(side) for side in range(len(set(game.sides)))]


def sent(players: Sequence[PlayerLike], game: Game, workers: Workers) -> list[PlayerLike]:
    """Return the players in the form that jobs carry them.

    Other machines cannot read the files of this one, so a cluster gets the player objects, with the
    weights of their policies.
    """
    if isinstance(workers, int):
        return list(players)
    return [make_player(player, game) for player in players]


def workers_for(players: Iterable[Player], workers: Workers) -> Workers:
    """Return `workers`, or 1 if a human plays, because the terminal belongs to this process."""
    asked = (one for player in players for one in everybody(player))
    return 1 if any(isinstance(one, HumanPlayer) for one in asked) else workers
