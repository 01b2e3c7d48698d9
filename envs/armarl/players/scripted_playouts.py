"""Rollouts by the scripted player, used by `critic_lookahead` and `search.rollouts`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import uniform
from armarl.compiler.types import Int, State, States
from armarl.core.verbs import PLAYING, Fixed, verbs

ALMOST_ONE = 1.0 - 2.0**-40  # maximum fractional part of a draw


def play_turns(
    s: State,
    mask: NDArray[np.int8],
    spare: States,
    owner: int,
    seat: int,
    style: float,
    others: float,
    turns: int,
    longest: int,
    chance: NDArray[np.uint64],
    game: int,
    fixed: Fixed,
) -> None:
    """Let scripted players continue until `turns` turns have ended or the game is over.

    The current turn, which belongs to `owner`, counts as the first. If `turns` is below 0, the
    players continue to the end of the game. They stop after `longest` actions at the latest. `seat`
    plays in the style `style`, and all other seats in the style `others`. `mask` and `spare` are
    working memory of the scripted player.
    """
    left = turns
    for _ in range(longest):
        if left == 0 or verbs.status(s) != PLAYING:
            return
        if verbs.turn_of(s) != owner:
            owner = verbs.turn_of(s)
            left -= 1
            if left == 0:
                return
        chosen = style if verbs.to_move(s) == seat else others
        verbs.apply(s, scripted_action(s, mask, spare, chosen, chance, game, fixed), *fixed)


def scripted_action(
    s: State,
    mask: NDArray[np.int8],
    spare: States,
    style: float,
    chance: NDArray[np.uint64],
    game: int,
    fixed: Fixed,
) -> Int:
    """Return the scripted choice in a style.

    The game's verb `greedy` takes the sum of the style's number and a random number. This sum must
    stay below the number of the next style.
    """
    draw = min(style + uniform(chance, game), style + ALMOST_ONE)
    return verbs.greedy(s, draw, mask, spare, *fixed)
