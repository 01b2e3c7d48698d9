"""The styles of Armadora's scripted player: what it adds to the worth of actions, in gold."""

from __future__ import annotations

import numpy as np

# The columns of STYLES.
(
    WALLS,  # to a palisade's, beside a Warrior's
    BIG,  # to that of a Warrior, for each point above 1
) = range(2)
GREEDY_STYLES = ("balanced", "builder", "settler", "bold", "hoarder")
HELD_OUT_STYLE = "hoarder"  # never trained against
STYLES = np.array([[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [0.0, 0.3], [0.0, -0.3]])
