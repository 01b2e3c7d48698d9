"""The compiled loops that every face runs, written once for every game.

The names in the block below stand for the verbs of a game; `Game` compiles each loop with its own
verbs in their place (see `compiled.specialise`). Arrays come from the caller; nothing is allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armarl.randomness import seed

_open: Callable[..., Any] = NotImplemented  # the names that `specialise` fills in
start = legal = apply = status = to_move = observe = returns = conceal = determinise = greedy = (
    _open
)


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
        return -3
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
    if status(s) == 0 and to_move(s) == seat:
        legal(s, mask)
    else:
        mask[:] = 0


def deal_batch(states, indices, seeds):
    """Start new games in `states[indices]` from `seeds` (int64, one per index)."""
    for k in range(indices.size):
        s = states[indices[k]]
        seed(s, seeds[k])
        start(s)


def apply_batch(states, indices, actions):
    """Play legal `actions[k]` in `states[indices[k]]`."""
    for k in range(indices.size):
        apply(states[indices[k]], actions[k])


def status_batch(states, statuses, seats):
    """Status and seat to move of every state (int64 arrays of the batch's length)."""
    for i in range(states.size):
        statuses[i] = status(states[i])
        seats[i] = to_move(states[i])


def returns_batch(states, indices, kind, out):
    """Returns of the finished games `states[indices]` into `out`, float64 (indices, players)."""
    for k in range(indices.size):
        returns(states[indices[k]], kind, out[k])


def view_batch(states, seats, observations, masks):
    """Observations and masks of `seats[i]` in `states[i]`, into rows of the two arrays."""
    for i in range(states.size):
        s = states[i]
        observe(s, seats[i], observations[i])
        if status(s) == 0 and to_move(s) == seats[i]:
            legal(s, masks[i])
        else:
            masks[i, :] = 0


def legal_batch(states, masks):
    """Masks of the seats to move, into rows of `masks`."""
    for i in range(states.size):
        legal(states[i], masks[i])


def conceal_batch(states, seats):
    """Take out of every state what `seats[i]` is not shown."""
    for i in range(states.size):
        conceal(states[i], seats[i])


def determinise_batch(states, seats, seeds):
    """Deal anew, in every state, what `seats[i]` is not shown."""
    for i in range(states.size):
        determinise(states[i], seats[i], seeds[i])


def random_batch(states, draws, mask, actions):
    """For the seat to move in every state, the legal action at `draws[i]` of their list."""
    for i in range(states.size):
        legal(states[i], mask)
        n = 0
        for action in range(mask.size):
            n += mask[action]
        wanted = int(draws[i] * n)
        for action in range(mask.size):
            if mask[action]:
                if wanted == 0:
                    actions[i] = action
                    break
                wanted -= 1


def greedy_batch(states, draws, mask, scratch, actions):
    """The scripted choice of the seat to move in every state; `mask`, `scratch[0]` are scratch."""
    for i in range(states.size):
        actions[i] = greedy(states[i], draws[i], mask, scratch)
