"""The layout of a state of Kuhn poker: one record that contains the whole state."""

from __future__ import annotations

import numpy as np

from armarl.games.authoring import record_type

MAX_PLAYERS = 4
# A player's last word, that is, its last action. A bet or a call puts a second chip into the pot.
NOTHING, CHECKED, BET, CALLED, FOLDED = range(5)
WORD_NAMES = ("nothing", "checked", "bet", "called", "folded")

# Fields are ordered by width, the widest first, so that the record has no gaps.
STATE = record_type(
    [
        ("rng", np.uint64),  # the random number generator; every game needs `rng` and `players`
        ("players", np.int64),  # signed: kernels must not mix signed and unsigned integers
        ("card", np.uint8, MAX_PLAYERS + 1),  # 1 is lowest; one per seat, then the one left over
        ("word", np.uint8, MAX_PLAYERS),
        ("to_move", np.uint8),
        ("over", np.uint8),
        ("spare", np.uint8, 5),  # pads the record to a multiple of 8 bytes
    ]
)
