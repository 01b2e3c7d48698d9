"""Rollouts by the scripted player; used by `critic_lookahead` and `search.rollouts`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import uniform
from armarl.compiler.types import Int
from armarl.core.verbs import PLAYING, verbs

SIMULATED, SPARE = range(2)  # indices in `states`
ALMOST_ONE = 1.0 - 2.0**-40


def play_turns(
    states: NDArray[np.void],
    mask: NDArray[np.int8],
    owner: int,
    seat: int,
    style: float,
    others: float,
    turns: int,
    longest: int,
    chance: NDArray[np.uint64],
    game: int,
) -> None:
    """Let scripted players continue until `critic_lookahead` turns or the game have ended.

    The first turn is `owner`'s. `seat` plays in one style, all others in another.
    """
    s, left = states[SIMULATED], turns
    for _ in range(longest):
        if left == 0 or verbs.status(s) != PLAYING:
            return
        if verbs.turn_of(s) != owner:
            owner = verbs.turn_of(s)
            left -= 1
            if left == 0:
                return
        own = verbs.to_move(s) == seat
        verbs.apply(s, scripted_action(states, mask, style if own else others, chance, game))


def scripted_action(
    states: NDArray[np.void],
    mask: NDArray[np.int8],
    style: float,
    chance: NDArray[np.uint64],
    game: int,
) -> Int:
    """The scripted choice in a style; its draw must not be rounded up to the next style's."""
    draw = min(style + uniform(chance, game), style + ALMOST_ONE)
    return verbs.greedy(states[SIMULATED], draw, mask, states[SPARE:])
