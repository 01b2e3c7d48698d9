"""Hidden information in Armadora (ARM-31 to ARM-34): concealing and determinising states.

After the end, only the random number generator is hidden (ARM-36). Observations are an exception:
they still show only the values that the seat knew before the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import lowest
from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import random_below, seed
from armarl.compiler.types import Int, State
from armarl.games.armadora.actions import VALUES
from armarl.games.armadora.state import OVER, WARRIORS, all_warriors


@kernel
def known_squares(s: State, seat: Int) -> Int:
    """Return the squares whose Warrior's value a seat may see (ARM-31 to ARM-33).

    Without `peek` a value that the Mage has read is visible only until the player acts again.
    """
    squares = s.face_up
    if s.peek:
        squares |= s.warriors[seat] | s.read[seat]
    if s.looking_at[seat] > 0:
        squares |= 1 << np.int64(s.looking_at[seat] - 1)
    return squares


@kernel
def conceal(s: State, seat: Int) -> None:
    """Remove from `s` all information hidden from a seat.

    Hidden values become 0, and other hands become empty.
    """
    s.rng = 0
    if s.stage == OVER:
        return  # ARM-36
    hidden = all_warriors(s) & ~known_squares(s, seat)
    while hidden:
        s.value[lowest(hidden)] = 0
        hidden &= hidden - 1
    for player in range(s.players):
        if player != seat:
            s.hand[player, :] = 0


@kernel
def unseen(s: State, player: Int, v: Int, known: Int) -> Int:
    """Return the number of a player's Warriors of value v + 1 that are not on `known` squares."""
    n = np.int64(WARRIORS[s.board, s.players, v])
    held = s.warriors[player] & known
    while held:
        n -= s.value[lowest(held)] == v + 1
        held &= held - 1
    return n


@kernel
def determinise(s: State, seat: Int, number: Int) -> None:
    """Replace all information hidden from a seat by a random deal that agrees with its knowledge.

    `s` may be a concealed state. `number` (int64) seeds both the deal and the state's random number
    generator.
    """
    seed(s, number)
    if s.stage == OVER:
        return  # ARM-36
    known = known_squares(s, seat)
    hidden = all_warriors(s) & ~known
    for player in range(s.players):
        if player != seat:
            for v in range(VALUES):
                s.hand[player, v] = unseen(s, player, v, known)
            _deal_hidden(s, player, s.hand[player], hidden)
    if s.warriors[seat] & hidden:
        _deal_own_hidden(s, seat, known, hidden)


@kernel
def _deal_hidden(s: State, player: Int, pool: Any, hidden: Int) -> None:
    """Put random Warriors from `pool` (the number of each value) on a player's hidden squares."""
    total = 0
    for v in range(VALUES):
        total += pool[v]
    left = s.warriors[player] & hidden
    while left:
        draw = random_below(s, total)
        v = 0
        while draw >= pool[v]:
            draw -= pool[v]
            v += 1
        pool[v] -= 1
        total -= 1
        s.value[lowest(left)] = v + 1
        left &= left - 1


@kernel
def _deal_own_hidden(s: State, seat: Int, known: Int, hidden: Int) -> None:
    """Deal values to the seat's own Warriors that it may not look at again (without `peek`)."""
    hand = s.hand[seat]
    for v in range(VALUES):  # the hand temporarily holds the pool of hidden Warriors
        hand[v] = unseen(s, seat, v, known) - hand[v]
    _deal_hidden(s, seat, hand, hidden)
    for v in range(VALUES):
        hand[v] = unseen(s, seat, v, known | hidden)
