"""The styles of Armadora's scripted player: amounts of gold that it adds to values of actions."""

from __future__ import annotations

import numpy as np

# The columns of STYLES.
(
    WALLS,  # added to the value of a palisade when it is compared with placing a Warrior
    BIG,  # added to the value of placing a Warrior, for each of its points above 1
) = range(2)
GREEDY_STYLES = ("balanced", "builder", "settler", "bold", "hoarder")
HELD_OUT_STYLE = "hoarder"  # no policy is trained against this style
STYLES = np.array([[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [0.0, 0.3], [0.0, -0.3]])
