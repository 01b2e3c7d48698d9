"""Functions that play deals at tables. A table is an assignment of players to seats.

The *sister games* of a game have the same deal but are played at other tables. A player that
remembers a game would know hidden cards in its sister games. So a player that could remember plays
no deal twice: each table is played separately, and every seat of a table gets a new player. The
exceptions are `Player` objects that the caller gives. They play several sister games, but one table
after another. At each table the deals have another order, and the players get other random numbers.

Players of this package that keep no memory (`armarl.roster.memory`) need no such separation. If all
players are of this kind, all tables are played at the same time, and one player has all seats of
its entrant, because large batches are faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.core.game import Game
from armarl.core.verbs import CUT_SHORT
from armarl.matches.recording import Recorder
from armarl.players.human import HumanPlayer
from armarl.players.protocol import Player, choose_legally, everybody
from armarl.workers.jobs import Workers


class Table(NamedTuple):
    """A table at which deals are played.

    Attributes:
        key: numbers that identify the table, to seed its random numbers.
        holders: the number of the player in each seat.
        names: the name of the player in each seat, for records.
    """

    key: tuple[int, ...]
    holders: tuple[int, ...]
    names: tuple[str, ...]


class Games(NamedTuple):
    """The results of finished games, by deal and table.

    Attributes:
        returns: the "win" returns, float64 (deals, tables, seats).
        lengths: the numbers of actions, int64 (deals, tables).
        cut: whether the rules cut a game short, bool (deals, tables).
        records: the texts of the records, object (deals, tables). Empty if none were requested.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    cut: NDArray[np.bool_]
    records: NDArray[np.object_]


def play_tables(
    game: Game,
    players: Sequence[Player],
    seed: int,
    first: int,
    last: int,
    tables: Sequence[Table],
    *,
    record: bool = False,
) -> Games:
    """Play deals `first` to `last - 1` of a match or tournament at all tables, in lockstep.

    Args:
        game: the game to play.
        players: the players.
        seed: seed of the match or tournament.
        first, last: number of the first deal, and one more than the number of the last deal.
        tables: the tables. Pass several tables only if no player keeps a memory.
        record: whether to return the records of the games.
    """
    deals = deal_seeds(seed, first, last)
    draws = np.stack([draw_seeds(seed, first, last, table.key) for table in tables], axis=1)
    # The order is random, so that a player cannot infer the deal from a game's index in the batch.
    order = np.argsort(draws, axis=None)
    deal, at = np.divmod(order, len(tables))
    names = [tables[number].names for number in at.tolist()]
    recorder = Recorder(game, names, deals[deal]) if record else None
    holders = np.array([table.holders for table in tables])[at]
    played = play_games(game, players, deals[deal], draws.ravel()[order], recorder, holders)
    place = np.argsort(order).reshape(draws.shape)
    returns, lengths, cut = played
    texts = np.array(recorder.texts(), object)[place] if recorder else np.empty(0, object)
    return Games(returns[place], lengths[place], cut[place], texts)


def play_games(
    game: Game,
    players: Sequence[Player],
    deals: NDArray[np.int64],
    draws: NDArray[np.int64],
    recorder: Recorder | None = None,
    holders: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Play games to their end, in lockstep.

    Args:
        game: the game to play.
        players: the players.
        deals: seeds of the deals, int64 (games,).
        draws: seeds of the players' random numbers, int64 (games,).
        recorder: the recorder of all deals and actions, or None.
        holders: the number of the player in each seat, int64 (games, seats). None: player `i` has
            seat `i`.

    Returns:
        The "win" returns (games, seats), the number of actions of each game, and a mask of the
        games that were cut short.
    """
    states = game.new_states(deals)
    chance = game.new_chance(draws)
    lengths = np.zeros(deals.size, np.int64)
    if holders is None:
        holders = np.broadcast_to(np.arange(game.players), (deals.size, game.players))
    if recorder:
        recorder.dealt(states)
    while True:
        statuses, seats = game.statuses(states)
        running = np.flatnonzero(statuses == 0)
        if running.size == 0:
            break
        movers = holders[running, seats[running]]
        for player in np.unique(movers):
            games = running[movers == player]
            questions = game.questions(states, games, chance)
            actions = choose_legally(players[player], game, *questions)
            game.play(states, games, actions)
            if recorder:
                recorder.played(states, games, questions[1], actions)
        lengths[running] += 1
    if recorder:
        recorder.ended(states)
    return game.returns(states, np.arange(deals.size)), lengths, statuses == CUT_SHORT


def deal_seeds(seed: int, first: int, last: int) -> NDArray[np.int64]:
    """Return one seed per deal. It depends only on `seed` and on the number of the deal."""
    return _seeds(seed, first, last, ())


def draw_seeds(seed: int, first: int, last: int, table: Sequence[int]) -> NDArray[np.int64]:
    """Return for each deal a seed for the players' random numbers at one table."""
    return _seeds(seed, first, last, tuple(table))


def _seeds(seed: int, first: int, last: int, key: tuple[int, ...]) -> NDArray[np.int64]:
    # Both parts have 32 bits. Otherwise two different seeds could give the same deals.
    high, low = divmod(seed, 1 << 32)
    streams = (
        np.random.SeedSequence([low, deal, high], spawn_key=key) for deal in range(first, last)
    )
    return np.array([s.generate_state(1, np.uint64)[0] >> np.uint64(1) for s in streams], np.int64)


def shares_of_victory(game: Game, returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares of victory (..., sides), computed from "win" returns (..., seats).

    Every side pays a stake of 1 / (sides - 1) and gets its share of all stakes. So the share of
    victory is (return * (sides - 1) + 1) / sides.
    """
    sides = len(set(game.sides))
    return np.asarray((returns[..., first_seats(game)] * (sides - 1) + 1) / sides)


def first_seats(game: Game) -> list[int]:
    """Return the first seat of each side."""
    return [game.sides.index(side) for side in range(len(set(game.sides)))]


def workers_for(players: Iterable[Player], workers: Workers) -> Workers:
    """Return `workers`, or 1 if a person plays, because only this process has the terminal."""
    asked = (one for player in players for one in everybody(player))
    return 1 if any(isinstance(one, HumanPlayer) for one in asked) else workers
