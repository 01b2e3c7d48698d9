"""The layout of a state of Kuhn poker: one record, which holds everything."""

from __future__ import annotations

import numpy as np

from armarl.games.authoring import record_type

MAX_PLAYERS = 4
# What a player said last; a bet or a call has put a second chip into the pot.
NOTHING, CHECKED, BET, CALLED, FOLDED = range(5)
WORD_NAMES = ("nothing", "checked", "bet", "called", "folded")

# Fields of one width stand together, the widest first, and the record has no gaps.
STATE = record_type(
    [
        ("rng", np.uint64),
        ("players", np.int64),  # signed: in kernels signed and unsigned numbers must not meet
        ("card", np.uint8, MAX_PLAYERS + 1),  # of each seat, 1 the lowest; then the one left over
        ("word", np.uint8, MAX_PLAYERS),
        ("to_move", np.uint8),
        ("over", np.uint8),
        ("spare", np.uint8, 5),  # up to a whole word
    ]
)
