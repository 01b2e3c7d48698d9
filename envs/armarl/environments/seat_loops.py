"""Compiled loops for games in which one seat learns and players play the other seats.

The loops follow the conventions of `armarl.core.batch_loops`. `armarl.environments.seat_batch`
runs them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick, seed, seed_chance, uniform
from armarl.compiler.types import States
from armarl.core.batch_loops import (
    ILLEGAL_REWARD,
    Chance,
    Float32s,
    Float64s,
    Int8s,
    Int64s,
    own,
)
from armarl.core.verbs import ILLEGAL, PLAYING, Fixed, verbs

LEARNER = -1  # stands for the learner wherever a player's number is used


class SeatGames(NamedTuple):
    """Games in which one seat learns, with all arrays that a step reads or writes."""

    states: States  # (n,)
    seats: Int64s  # (n,) the learner's seat
    lineups: Int64s  # (n, players) player numbers, clockwise from the learner; LEARNER comes first
    is_random: NDArray[np.uint8]  # by player number: 1 if compiled loops choose for the player
    chance: Chance  # (n,) random number streams, for drawing the learner's seat and for players
    over: NDArray[np.bool_]  # (n,) the game is over and no new one has started yet
    legal: Int8s  # (n, actions) action masks of the learner, as last shown
    ends: Int8s  # (n,) status of each game after the last step
    waiting: Int64s  # (n,) number of the player to move, or LEARNER
    rewards: Float64s  # (n,) the learner's rewards
    kind: int  # the reward to compute, an index into `game.rewards`
    masks: Int8s  # (2 * threads, actions) scratch
    returns: Float64s  # (2 * threads, players) scratch


class Openings(NamedTuple):
    """The games of a batch that `open_game` starts."""

    batch: SeatGames
    games: Int64s  # (k,) the indices of the games to start
    reseed: bool  # whether `seeds` seed all random numbers; otherwise the generators continue
    seeds: Int64s  # (k,)
    seat: int  # the learner's seat, or -1 to draw it


def open_game(openings: Openings, i: int, thread: int, fixed: Fixed) -> None:
    """Start a new game and set the learner's seat."""
    batch, game = openings.batch, openings.games[i]
    s = batch.states[game]
    if openings.reseed:
        seed(s, openings.seeds[i])
        seed_chance(batch.chance, game, openings.seeds[i])
    verbs.start(s, *fixed)
    seat = openings.seat
    batch.seats[game] = (
        seat if seat >= 0 else np.int64(uniform(batch.chance, game) * batch.lineups.shape[1])
    )


class Advances(NamedTuple):
    """The games of a batch in which `advance` plays the actions of random players."""

    batch: SeatGames
    games: Int64s  # (k,)


def advance(advances: Advances, i: int, thread: int, fixed: Fixed) -> None:
    """Let random players act in a game until it is another player's turn or the game is over."""
    advance_game(advances.batch, advances.games[i], thread, fixed)


def advance_game(batch: SeatGames, game: int, thread: int, fixed: Fixed) -> None:
    """Advance one game. Write the next player to `waiting`, or LEARNER if the game is over."""
    s, lineup, mask = batch.states[game], batch.lineups[game], batch.masks[own(thread)]
    batch.waiting[game] = LEARNER
    while verbs.status(s) == PLAYING:
        player = lineup[(verbs.to_move(s) - batch.seats[game]) % lineup.size]
        if player == LEARNER or batch.is_random[player] == 0:
            batch.waiting[game] = player
            return
        verbs.legal(s, mask, *fixed)
        verbs.apply(s, pick(mask, uniform(batch.chance, game)), *fixed)


class Answers(NamedTuple):
    """The learner's actions."""

    batch: SeatGames
    actions: Int64s  # (n,)


def answer(answers: Answers, i: int, thread: int, fixed: Fixed) -> None:
    """Play the learner's action if the game is not over, then let random players act.

    An illegal action is not played.
    """
    batch, action = answers.batch, answers.actions[i]
    batch.waiting[i] = LEARNER
    batch.ends[i] = PLAYING
    if batch.over[i]:
        return
    if action < 0 or action >= batch.legal.shape[1] or batch.legal[i, action] == 0:
        batch.ends[i] = ILLEGAL
    else:
        verbs.apply(batch.states[i], action, *fixed)
        advance_game(batch, i, thread, fixed)


def settle(batch: SeatGames, i: int, thread: int) -> None:
    """Write the learner's reward to `rewards` and the game's status to `ends`."""
    batch.rewards[i] = 0
    if batch.over[i]:
        return
    if batch.ends[i] == ILLEGAL:
        batch.rewards[i] = ILLEGAL_REWARD
        return
    end = verbs.status(batch.states[i])
    batch.ends[i] = end
    if end:
        returns = batch.returns[own(thread)]
        verbs.returns(batch.states[i], batch.kind, returns)
        batch.rewards[i] = returns[batch.seats[i]]


class LearnerViews(NamedTuple):
    """Output arrays for the learner's views."""

    batch: SeatGames
    observations: Float32s  # (n, size) written
    masks: Int8s  # (n, actions) written


def view_learner(views: LearnerViews, i: int, thread: int, fixed: Fixed) -> None:
    """Write the learner's observation and mask. The mask is all 1 if the game is over."""
    batch = views.batch
    s = batch.states[i]
    verbs.observe(s, batch.seats[i], views.observations[i], *fixed)
    legal, mask = batch.legal[i], views.masks[i]
    if batch.over[i]:
        legal[:] = 1  # a game that is over ignores its action, so any action may be chosen
    else:
        verbs.legal(s, legal, *fixed)
    for action in range(mask.size):
        mask[action] = legal[action]
