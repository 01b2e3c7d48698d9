"""The compiled loops that every face runs, written once for every game.

The names in the block below stand for the verbs of a game; `Game` compiles each loop with its own
verbs, and the loops above it, in their place (see `compiled.specialise`). Arrays come from the
caller; nothing is allocated.

Loops over many games take `first, last, thread`: the range of the games that they work on, and the
number of the thread, by which they choose their own row of whatever no two threads may share.
`shares.take_shares` calls them (see `threads.run`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armarl.randomness import pick, seed, seed_chance, uniform

_open: Callable[..., Any] = NotImplemented  # the names that `specialise` fills in
start = legal = apply = status = to_move = observe = returns = conceal = determinise = greedy = (
    _open
)

PLAYING, ENDED, CUT_SHORT, ILLEGAL = range(4)  # how a step left a game; the first three: statuses
LEARNER = -1  # in place of the number of a player: the seat that learns is to move
ILLEGAL_REWARD = -1.0
# Loops with so little to do in a game that only large batches are worth several threads.
LIGHT = frozenset(
    {"apply_batch", "status_batch", "seed_chance_batch", "pick_batch", "settle_batch"}
)


# --- one game ------------------------------------------------------------------------------------


def deal(states, i, number, reseed):
    """Start a new game in `states[i]`; with `reseed`, from the seed `number`."""
    s = states[i]
    if reseed:
        seed(s, number)
    start(s)
    return to_move(s)


def play(states, i, action, mask, rewards, kind):
    """Play `action` in `states[i]` if it is legal; `mask` is scratch.

    Returns the seat to move, or -1 when the game has ended (`rewards`, float64 of shape (players,),
    then holds the returns), -2 when it was cut short (likewise), -3 when the action is illegal.
    """
    s = states[i]
    legal(s, mask)
    if action < 0 or action >= mask.size or mask[action] == 0:
        return -ILLEGAL
    apply(s, action)
    ended = status(s)
    if ended:
        returns(s, kind, rewards)
        return -ended
    return to_move(s)


def view(states, i, seat, observation, mask):
    """Observation and mask of a seat in `states[i]`; the mask is 0 for whoever is not to move."""
    s = states[i]
    observe(s, seat, observation)
    if status(s) == PLAYING and to_move(s) == seat:
        legal(s, mask)
    else:
        mask[:] = 0


def own(rows, thread):
    """The row of scratch of a thread; those between stay unused, since cores share cache lines."""
    return rows[2 * thread]


# --- many games ----------------------------------------------------------------------------------


def deal_batch(first, last, thread, states, games, seeds):
    """Start new games in `states[games]` from `seeds` (int64, one per game)."""
    for k in range(first, last):
        s = states[games[k]]
        seed(s, seeds[k])
        start(s)


def apply_batch(first, last, thread, states, games, actions):
    """Play legal `actions[k]` in `states[games[k]]`."""
    for k in range(first, last):
        apply(states[games[k]], actions[k])


def status_batch(first, last, thread, states, statuses, seats):
    """Status and seat to move of every state (int64 arrays of the batch's length)."""
    for i in range(first, last):
        statuses[i] = status(states[i])
        seats[i] = to_move(states[i])


def returns_batch(first, last, thread, states, games, kind, out):
    """Returns of the finished games `states[games]` into `out`, float64 (games, players)."""
    for k in range(first, last):
        returns(states[games[k]], kind, out[k])


def view_batch(first, last, thread, states, seats, observations, masks):
    """Observations and masks of `seats[i]` in `states[i]`, into rows of the two arrays."""
    for i in range(first, last):
        view(states, i, seats[i], observations[i], masks[i])


def legal_batch(first, last, thread, states, masks):
    """Masks of the seats to move, into rows of `masks`."""
    for i in range(first, last):
        legal(states[i], masks[i])


def conceal_batch(first, last, thread, states, seats):
    """Take out of every state what `seats[i]` is not shown."""
    for i in range(first, last):
        conceal(states[i], seats[i])


def determinise_batch(first, last, thread, states, seats, seeds):
    """Deal anew, in every state, what `seats[i]` is not shown."""
    for i in range(first, last):
        determinise(states[i], seats[i], seeds[i])


def random_batch(first, last, thread, states, draws, masks, actions):
    """For the seat to move in every state, the legal action at `draws[i]` of their list."""
    mask = own(masks, thread)
    for i in range(first, last):
        legal(states[i], mask)
        actions[i] = pick(mask, draws[i])


def greedy_batch(first, last, thread, states, draws, masks, scratch, actions):
    """The scripted choice of the seat to move in every state."""
    for i in range(first, last):
        actions[i] = greedy(states[i], draws[i], own(masks, thread), own(scratch, thread))


# --- chance of players and seats -----------------------------------------------------------------


def seed_chance_batch(first, last, thread, chance, games, seeds):
    """Set the chance of `games` from `seeds` (int64, one per game)."""
    for k in range(first, last):
        seed_chance(chance, games[k], seeds[k])


def pick_batch(first, last, thread, masks, chance, actions):
    """A random legal action of each row of `masks`; 0 where none is legal."""
    for i in range(first, last):
        actions[i] = pick(masks[i], uniform(chance, i))


def playout_batch(first, last, thread, states, chance, kind, masks, returns_out, lengths):
    """Random play to the end of every game; its returns (games, players) and number of actions."""
    mask = own(masks, thread)
    for i in range(first, last):
        s = states[i]
        lengths[i] = 0
        while status(s) == PLAYING:
            legal(s, mask)
            apply(s, pick(mask, uniform(chance, i)))
            lengths[i] += 1
        returns(s, kind, returns_out[i])


# --- self-play: one learner in all seats ---------------------------------------------------------


def start_batch(first, last, thread, states, games):
    """Start new games in `states[games]`, whose generators go on."""
    for k in range(first, last):
        start(states[games[k]])


def turn_batch(
    first, last, thread, states, actions, kind, same_step, over, legal_now, ends, rewards, finals
):
    """Play one action in every game, whoever is to move, and start a new game where one is over.

    A game that was `over` before starts anew without an action. With `same_step` a game that ends
    now starts anew at once, and its last state goes into `finals`. `legal_now` holds the masks of
    the states as they are.
    """
    for i in range(first, last):
        s = states[i]
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0
        if over[i]:
            start(s)
            ends[i] = over[i] = PLAYING
            continue
        action = actions[i]
        if action < 0 or action >= legal_now.shape[1] or legal_now[i, action] == 0:
            ends[i] = ILLEGAL
            rewards[i, to_move(s)] = ILLEGAL_REWARD
        else:
            apply(s, action)
            ends[i] = status(s)
            if ends[i]:
                returns(s, kind, rewards[i])
        if ends[i] and same_step:
            finals[i] = s
            start(s)
        else:
            over[i] = ends[i]


def look_batch(first, last, thread, states, over, legal_now, seats, observations, masks):
    """Seat to move, its observation and its mask (0 where the game is over) in every game."""
    for i in range(first, last):
        s = states[i]
        seats[i] = to_move(s)
        observe(s, seats[i], observations[i])
        if over[i]:
            legal_now[i, :] = 0
        else:
            legal(s, legal_now[i])
        for action in range(masks.shape[1]):
            masks[i, action] = legal_now[i, action]


def step_batch(
    first,
    last,
    thread,
    states,
    actions,
    kind,
    same_step,
    over,
    legal_now,
    ends,
    rewards,
    finals,
    seats,
    observations,
    masks,
):
    """`turn_batch`, then `look_batch`, at one go."""
    turn_batch(
        first,
        last,
        thread,
        states,
        actions,
        kind,
        same_step,
        over,
        legal_now,
        ends,
        rewards,
        finals,
    )
    look_batch(first, last, thread, states, over, legal_now, seats, observations, masks)


# --- one seat learns, players hold the others ----------------------------------------------------


def advance(states, i, seat, lineup, is_random, chance, mask):
    """Let random players act until another player is to move, whose number is returned.

    `lineup[k]` is the number of the player `k` seats after the learner's. LEARNER is returned when
    the learner is to move, and when the game has ended.
    """
    s = states[i]
    while status(s) == PLAYING:
        player = lineup[(to_move(s) - seat) % lineup.size]
        if player == LEARNER or is_random[player] == 0:
            return player
        legal(s, mask)
        apply(s, pick(mask, uniform(chance, i)))
    return LEARNER


def advance_batch(
    first, last, thread, states, games, seats, lineups, is_random, chance, masks, waiting
):
    """`advance` in each of `games`; `waiting[i]` is then the player who is to move there."""
    for k in range(first, last):
        i = games[k]
        waiting[i] = advance(states, i, seats[i], lineups[i], is_random, chance, own(masks, thread))


def ask_batch(first, last, thread, states, games, chance, seen, movers, draws):
    """What the players who are to move in `games` get: concealed copies, seats, random numbers."""
    for k in range(first, last):
        i = games[k]
        movers[k] = to_move(states[i])
        draws[k] = uniform(chance, i)
        seen[k] = states[i]
        conceal(seen[k], movers[k])


def open_batch(first, last, thread, states, games, reseed, seeds, seat, seats, chance):
    """Start new games in `states[games]`; `seat` is the learner's, or -1 to draw it.

    With `reseed` all chance begins anew, from `seeds` (int64, one per game); else it goes on.
    """
    for k in range(first, last):
        i = games[k]
        s = states[i]
        if reseed:
            seed(s, seeds[k])
            seed_chance(chance, i, seeds[k])
        start(s)
        seats[i] = seat if seat >= 0 else np.int64(uniform(chance, i) * s.players)


def answer_batch(
    first,
    last,
    thread,
    states,
    actions,
    over,
    legal_now,
    seats,
    lineups,
    is_random,
    chance,
    masks,
    ends,
    waiting,
):
    """Play the learner's action in every game that is not over, and let random players follow."""
    for i in range(first, last):
        waiting[i] = LEARNER
        ends[i] = PLAYING
        if over[i]:
            continue
        action = actions[i]
        if action < 0 or action >= legal_now.shape[1] or legal_now[i, action] == 0:
            ends[i] = ILLEGAL
        else:
            apply(states[i], action)
            waiting[i] = advance(
                states, i, seats[i], lineups[i], is_random, chance, own(masks, thread)
            )


def settle_batch(first, last, thread, states, over, kind, seats, ends, scratch, rewards):
    """The learner's reward in every game, and in `ends` how the step left it.

    `scratch`, float64 (2 * threads, players), takes the returns of all seats.
    """
    for i in range(first, last):
        rewards[i] = 0
        if over[i]:
            continue
        if ends[i] == ILLEGAL:
            rewards[i] = ILLEGAL_REWARD
            continue
        ends[i] = status(states[i])
        if ends[i]:
            returns(states[i], kind, own(scratch, thread))
            rewards[i] = own(scratch, thread)[seats[i]]


def show_batch(first, last, thread, states, over, seats, legal_now, observations, masks):
    """The learner's observation and mask in every game; the mask is 0 where a game is over."""
    for i in range(first, last):
        observe(states[i], seats[i], observations[i])
        if over[i]:
            legal_now[i, :] = 0
        else:
            legal(states[i], legal_now[i])
        for action in range(masks.shape[1]):
            masks[i, action] = legal_now[i, action]
