"""The compiled loops that every face runs, written once for every game.

A *body* says what happens to game `i` of a batch. The batch is a NamedTuple of arrays that come
from the caller; nothing is allocated. `Game.run` has threads range over the games
(`armarl.threads`); a GPU kernel calls the same body with its own thread's `i`. `verbs` stands for
the verbs of the game that a body is compiled for (`armarl.binding`).

Where a batch has `games`, body `i` works on state `games[i]` and row `i` of what stands beside it.
Where it has scratch, `rows[own(thread)]` is the row that no other thread touches. Of `WrittenRows`
body `i` writes the whole of row `i`, and reads nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import draw, pick, seed, seed_chance, uniform
from armarl.compiler.types import Mask, Observation, Returns, State, States
from armarl.compiler.work_sharing import Body
from armarl.core.verbs import CUT_SHORT, ENDED, ILLEGAL, PLAYING, verbs

Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Chance = NDArray[np.uint64]  # (batch,) one stream of random numbers for each game
WrittenRows = NDArray[Any]  # a row for each game: a GPU lays them out in a way of its own

# What `play_one` returns in place of a seat.
HAS_ENDED, WAS_CUT_SHORT, WAS_ILLEGAL = -ENDED, -CUT_SHORT, -ILLEGAL
ILLEGAL_REWARD = -1.0


def own(thread: int) -> int:
    """The number of the row of scratch that no other thread touches.

    Those between stay unused, since cores share cache lines.
    """
    return 2 * thread


# --- one game, for the faces that play one -------------------------------------------------------


def deal_one(states: States, i: int, number: int, reseed: bool) -> int:
    """Start a new game in `states[i]`; with `reseed`, from the seed `number`. The seat to move."""
    s = states[i]
    if reseed:
        seed(s, number)
    verbs.start(s)
    return verbs.to_move(s)


def play_one(states: States, i: int, action: int, mask: Mask, rewards: Returns, kind: int) -> int:
    """Play `action` in `states[i]` if it is legal; `mask` is scratch.

    Returns the seat to move, or HAS_ENDED or WAS_CUT_SHORT (`rewards`, float64 (players,), then
    holds the returns), or WAS_ILLEGAL, which leaves the state as it was.
    """
    s = states[i]
    verbs.legal(s, mask)
    if action < 0 or action >= mask.size or mask[action] == 0:
        return WAS_ILLEGAL
    verbs.apply(s, action)
    ended = verbs.status(s)
    if ended:
        verbs.returns(s, kind, rewards)
        return -ended
    return verbs.to_move(s)


def view_one(states: States, i: int, seat: int, observation: Observation, mask: Mask) -> None:
    """Observation and mask of a seat in `states[i]`; the mask is 0 for whoever is not to move."""
    s = states[i]
    verbs.observe(s, seat, observation)
    if verbs.status(s) == PLAYING and verbs.to_move(s) == seat:
        verbs.legal(s, mask)
    else:
        mask[:] = 0


# --- many games: the verbs one by one ------------------------------------------------------------


class Deals(NamedTuple):
    """New games from seeds."""

    states: States
    games: Int64s  # (n,) which of the states
    seeds: Int64s  # (n,)


def deal(batch: Deals, i: int, thread: int) -> None:
    """Start a new game from its seed."""
    s = batch.states[batch.games[i]]
    seed(s, batch.seeds[i])
    verbs.start(s)


class Starts(NamedTuple):
    """New games whose generators go on."""

    states: States
    games: Int64s  # (n,)


def start(batch: Starts, i: int, thread: int) -> None:
    """Start a new game from the state's own generator."""
    verbs.start(batch.states[batch.games[i]])


class Actions(NamedTuple):
    """Legal actions to play."""

    states: States
    games: Int64s  # (n,)
    actions: Int64s  # (n,)


def apply(batch: Actions, i: int, thread: int) -> None:
    """Play a legal action."""
    verbs.apply(batch.states[batch.games[i]], batch.actions[i])


class Judgements(NamedTuple):
    """Actions to be judged before any of them is played."""

    states: States
    games: Int64s  # (n,)
    actions: Int64s  # (n,) any numbers
    masks: Int8s  # (2 * threads, actions) scratch
    allowed: Int8s  # (n,) written: 1 for a legal action, else 0


def judge(batch: Judgements, i: int, thread: int) -> None:
    """Whether an action is legal."""
    mask, action = batch.masks[own(thread)], batch.actions[i]
    verbs.legal(batch.states[batch.games[i]], mask)
    batch.allowed[i] = 0
    if 0 <= action < mask.size:
        batch.allowed[i] = mask[action]


class Inspections(NamedTuple):
    """States from outside."""

    states: States  # (n,)
    blank: States  # (1,) the variant's options
    faults: Int64s  # (n,) written: 0, or the number of the law that a state breaks


def judge_state(batch: Inspections, i: int, thread: int) -> None:
    """Whether a state is lawful."""
    batch.faults[i] = verbs.valid(batch.states[i], batch.blank[0])


class Statuses(NamedTuple):
    """How games stand."""

    states: States  # (n,)
    statuses: Int64s  # (n,) written: PLAYING, ENDED or CUT_SHORT
    seats: Int64s  # (n,) written: the seat to move


def read_status(batch: Statuses, i: int, thread: int) -> None:
    """Status and seat to move."""
    batch.statuses[i] = verbs.status(batch.states[i])
    batch.seats[i] = verbs.to_move(batch.states[i])


class Progresses(NamedTuple):
    """How far seats have come."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    progress: Int64s  # (n,) written


def read_progress(batch: Progresses, i: int, thread: int) -> None:
    """How far the seat has come."""
    batch.progress[i] = verbs.progress(batch.states[i], batch.seats[i])


class Owners(NamedTuple):
    """Whose turns it is."""

    states: States  # (n,)
    seats: Int64s  # (n,) written


def read_owner(batch: Owners, i: int, thread: int) -> None:
    """The seat whose turn it is."""
    batch.seats[i] = verbs.turn_of(batch.states[i])


class Outcomes(NamedTuple):
    """Returns of games that are over."""

    states: States
    games: Int64s  # (n,)
    kind: int  # number of the reward
    returns: Float64s  # (n, players) written


def read_returns(batch: Outcomes, i: int, thread: int) -> None:
    """The returns of all seats."""
    verbs.returns(batch.states[batch.games[i]], batch.kind, batch.returns[i])


class Views(NamedTuple):
    """What one seat of each game sees."""

    states: States  # (n,)
    seats: Int64s  # (n,)
    observations: WrittenRows  # float32 (n, size)
    masks: WrittenRows  # int8 (n, actions)


def view(batch: Views, i: int, thread: int) -> None:
    """Observation and mask of a seat; the mask is 0 for whoever is not to move."""
    view_one(batch.states, i, batch.seats[i], batch.observations[i], batch.masks[i])


class Masks(NamedTuple):
    """Masks of the seats to move."""

    states: States  # (n,)
    masks: WrittenRows  # int8 (n, actions)


def read_mask(batch: Masks, i: int, thread: int) -> None:
    """The mask of the seat to move."""
    verbs.legal(batch.states[i], batch.masks[i])


class Concealments(NamedTuple):
    """States from which what a seat is not shown is taken out."""

    states: States  # (n,) written
    seats: Int64s  # (n,)


def conceal(batch: Concealments, i: int, thread: int) -> None:
    """Take out what the seat is not shown."""
    verbs.conceal(batch.states[i], batch.seats[i])


class Determinisations(NamedTuple):
    """States in which what a seat is not shown is dealt anew."""

    states: States  # (n,) written
    seats: Int64s  # (n,)
    seeds: Int64s  # (n,)


def determinise(batch: Determinisations, i: int, thread: int) -> None:
    """Deal anew what the seat is not shown."""
    verbs.determinise(batch.states[i], batch.seats[i], batch.seeds[i])


# --- choices, and the chance of players and seats ------------------------------------------------


class Choices(NamedTuple):
    """Decisions of the seats to move."""

    states: States  # (n,)
    draws: Float64s  # (n,) in [0, 1); for a greedy choice plus a style's number, or below 0: none
    masks: Int8s  # (2 * threads, actions) scratch
    scratch: States  # (2 * threads, 1) records to try actions on
    actions: Int64s  # (n,) written


def choose_randomly(batch: Choices, i: int, thread: int) -> None:
    """The legal action at the draw's place in their list."""
    mask = batch.masks[own(thread)]
    verbs.legal(batch.states[i], mask)
    batch.actions[i] = pick(mask, batch.draws[i])


def choose_greedily(batch: Choices, i: int, thread: int) -> None:
    """The scripted choice, where one is asked for."""
    if batch.draws[i] < 0:
        return
    mask, scratch = batch.masks[own(thread)], batch.scratch[own(thread)]
    batch.actions[i] = verbs.greedy(batch.states[i], batch.draws[i], mask, scratch)


class Streams(NamedTuple):
    """Streams of chance to seed."""

    chance: Chance  # written
    games: Int64s  # (n,)
    seeds: Int64s  # (n,)


def seed_stream(batch: Streams, i: int, thread: int) -> None:
    """Set a game's stream of chance from its seed."""
    seed_chance(batch.chance, batch.games[i], batch.seeds[i])


class Picks(NamedTuple):
    """Random choices from masks."""

    masks: Int8s  # (n, actions)
    chance: Chance  # (n,)
    actions: Int64s  # (n,) written


def pick_action(batch: Picks, i: int, thread: int) -> None:
    """A random legal action; 0 where none is legal."""
    batch.actions[i] = pick(batch.masks[i], uniform(batch.chance, i))


class Questions(NamedTuple):
    """What the players who are to move are asked."""

    states: States
    games: Int64s  # (n,)
    chance: Chance
    seen: States  # (n,) written: concealed copies
    movers: Int64s  # (n,) written: their seats
    draws: Float64s  # (n,) written: a random number for each


def ask(batch: Questions, i: int, thread: int) -> None:
    """A concealed copy, its seat and a random number."""
    game = batch.games[i]
    batch.movers[i] = verbs.to_move(batch.states[game])
    batch.draws[i] = draw(batch.chance, game)
    batch.seen[i] = batch.states[game]
    verbs.conceal(batch.seen[i], batch.movers[i])


class Playouts(NamedTuple):
    """Games to play to their end at random."""

    states: States  # (n,) written
    chance: Chance  # (n,)
    kind: int  # number of the reward
    masks: Int8s  # (2 * threads, actions) scratch
    returns: Float64s  # (n, players) written
    lengths: Int64s  # (n,) written: actions played


def play_out(batch: Playouts, i: int, thread: int) -> None:
    """Random play to the end: returns and number of actions."""
    s, mask = batch.states[i], batch.masks[own(thread)]
    length = 0
    while verbs.status(s) == PLAYING:
        verbs.legal(s, mask)
        verbs.apply(s, pick(mask, uniform(batch.chance, i)))
        length += 1
    batch.lengths[i] = length
    verbs.returns(s, batch.kind, batch.returns[i])


# --- self-play: one learner in all seats ---------------------------------------------------------


class Plays(NamedTuple):
    """Games in which an action is played, whoever is to move."""

    states: States  # (n,)
    actions: Int64s  # (n,) of whoever is to move
    kind: int  # number of the reward
    same_step: bool  # a game that ends starts anew at once
    over: Int8s  # (n,) how games ended that have not started anew; PLAYING for the others
    legal: Int8s  # (n, actions) masks of the states as they are; our own copy
    ends: Int8s  # (n,) written: how the step left each game
    rewards: Float64s  # (n, players) written
    finals: States  # (n,) written where `same_step` has ended a game: its last state


class Sights(NamedTuple):
    """Games that are shown to whoever is to move."""

    states: States  # (n,)
    over: Int8s  # (n,) as in `Plays`
    legal: Int8s  # (n, actions) written; our own copy
    seats: Int64s  # (n,) written: the seat to move
    observations: WrittenRows  # float32 (n, size)
    masks: WrittenRows  # int8 (n, actions), a copy of `legal` for the caller


class SelfPlay(NamedTuple):
    """Games whose seats are all the caller's: a step of them, and what it leaves."""

    plays: Plays
    sights: Sights


def take_turn(batch: Plays, i: int, thread: int) -> None:
    """Play one action, whoever is to move, and start a new game where one is over.

    A game that was over before starts anew without an action.
    """
    s = batch.states[i]
    for seat in range(batch.rewards.shape[1]):
        batch.rewards[i, seat] = 0
    if batch.over[i]:
        verbs.start(s)
        batch.ends[i] = batch.over[i] = PLAYING
        return
    end, action = np.int64(ILLEGAL), batch.actions[i]
    if action < 0 or action >= batch.legal.shape[1] or batch.legal[i, action] == 0:
        batch.rewards[i, verbs.to_move(s)] = ILLEGAL_REWARD
    else:
        verbs.apply(s, action)
        end = np.int64(verbs.status(s))
        if end:
            verbs.returns(s, batch.kind, batch.rewards[i])
    batch.ends[i] = end
    if end and batch.same_step:
        batch.finals[i] = s
        verbs.start(s)
    else:
        batch.over[i] = end


def write_masks(s: State, over: bool, legal: Mask, mask: Mask) -> None:
    """What is legal, nothing where the game is over: in our own copy and in the caller's."""
    if over:
        legal[:] = 0
    else:
        verbs.legal(s, legal)
    for action in range(mask.size):
        mask[action] = legal[action]


def view_mover(batch: Sights, i: int, thread: int) -> None:
    """The seat to move and its view; the mask is 0 where the game is over."""
    s = batch.states[i]
    seat = verbs.to_move(s)
    batch.seats[i] = seat
    verbs.observe(s, seat, batch.observations[i])
    write_masks(s, batch.over[i], batch.legal[i], batch.masks[i])


def step(batch: SelfPlay, i: int, thread: int) -> None:
    """`take_turn`, then `view_mover`, while the state is at hand."""
    take_turn(batch.plays, i, thread)
    view_mover(batch.sights, i, thread)


# Bodies with so little to do in a game that only large batches are worth several threads.
LIGHT: tuple[Body, ...] = (
    *(apply, read_status, read_owner, read_progress, seed_stream, pick_action),
)
