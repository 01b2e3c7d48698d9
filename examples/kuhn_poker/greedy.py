"""A scripted player of Kuhn poker. It never bluffs."""

from __future__ import annotations

import numpy as np

from armarl.games.authoring import Mask, State, States, kernel
from kuhn_poker.actions import BET_CHIP, CALL, CHECK, FOLD
from kuhn_poker.rules import bettor


@kernel
def greedy(s: State, draw: float, mask: Mask, scratch: States) -> int:
    """Bet or call with a card above the middle one, or with the middle one if `draw` < 0.5."""
    above = 2 * np.int64(s.card[s.to_move]) - np.int64(s.players) - 2
    confident = above > 0 or (above == 0 and draw < 0.5)
    if bettor(s) >= 0:
        return CALL if confident else FOLD
    return BET_CHIP if confident else CHECK
