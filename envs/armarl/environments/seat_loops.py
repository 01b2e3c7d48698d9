"""The compiled loops of games in which one seat learns while players hold the others.

Written as those of `armarl.loops`; `armarl.seat_batch` runs them.
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
    write_masks,
)
from armarl.core.verbs import ILLEGAL, PLAYING, verbs

LEARNER = -1  # in place of the number of a player: the seat that learns is to move


class SeatGames(NamedTuple):
    """Games in which one seat learns, with all that a step from decision to decision touches."""

    states: States  # (n,)
    seats: Int64s  # (n,) the learner's
    lineups: Int64s  # (n, players) who sits so many seats after the learner; LEARNER for himself
    is_random: NDArray[np.uint8]  # by number of the player: compiled loops make his choices
    chance: Chance  # (n,)
    over: NDArray[np.bool_]  # (n,) the game is over, and not opened again yet
    legal: Int8s  # (n, actions) masks of the learner's decisions, as shown last
    ends: Int8s  # (n,) how the last step left each game
    waiting: Int64s  # (n,) the number of the player who is to move, or LEARNER
    rewards: Float64s  # (n,) the learner's
    kind: int  # number of the reward
    masks: Int8s  # (2 * threads, actions) scratch
    returns: Float64s  # (2 * threads, players) scratch


class Openings(NamedTuple):
    """Games of a batch to open."""

    batch: SeatGames
    games: Int64s  # (k,) which of them
    reseed: bool  # all chance begins anew from `seeds`; else it goes on
    seeds: Int64s  # (k,)
    seat: int  # the learner's, or -1 to draw it


def open_game(openings: Openings, i: int, thread: int) -> None:
    """Start a new game, and give the learner his seat."""
    batch, game = openings.batch, openings.games[i]
    s = batch.states[game]
    if openings.reseed:
        seed(s, openings.seeds[i])
        seed_chance(batch.chance, game, openings.seeds[i])
    verbs.start(s)
    seat = openings.seat
    batch.seats[game] = (
        seat if seat >= 0 else np.int64(uniform(batch.chance, game) * batch.lineups.shape[1])
    )


class Advances(NamedTuple):
    """Games of a batch in which players are to act."""

    batch: SeatGames
    games: Int64s  # (k,)


def advance(advances: Advances, i: int, thread: int) -> None:
    """Let random players act until another player is to move, or the game is over."""
    advance_game(advances.batch, advances.games[i], thread)


def advance_game(batch: SeatGames, game: int, thread: int) -> None:
    """`waiting` is then who is to move: LEARNER as well when the game is over."""
    s, lineup, mask = batch.states[game], batch.lineups[game], batch.masks[own(thread)]
    batch.waiting[game] = LEARNER
    while verbs.status(s) == PLAYING:
        player = lineup[(verbs.to_move(s) - batch.seats[game]) % lineup.size]
        if player == LEARNER or batch.is_random[player] == 0:
            batch.waiting[game] = player
            return
        verbs.legal(s, mask)
        verbs.apply(s, pick(mask, uniform(batch.chance, game)))


class Answers(NamedTuple):
    """The learner's actions."""

    batch: SeatGames
    actions: Int64s  # (n,)


def answer(answers: Answers, i: int, thread: int) -> None:
    """Play the learner's action if the game is not over, and let random players follow.

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
        verbs.apply(batch.states[i], action)
        advance_game(batch, i, thread)


def settle(batch: SeatGames, i: int, thread: int) -> None:
    """The learner's reward, and in `ends` how the step left the game."""
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
    """Where the learner's views go."""

    batch: SeatGames
    observations: Float32s  # (n, size) written
    masks: Int8s  # (n, actions) written


def view_learner(views: LearnerViews, i: int, thread: int) -> None:
    """The learner's observation and mask, which is 0 where the game is over."""
    batch = views.batch
    s = batch.states[i]
    verbs.observe(s, batch.seats[i], views.observations[i])
    write_masks(s, batch.over[i], batch.legal[i], views.masks[i])
