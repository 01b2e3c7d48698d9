"""The styles of Armadora's scripted player: amounts of gold, added to the values of actions."""

from __future__ import annotations

import numpy as np

# The columns of STYLES.
(
    WALLS,  # added to a palisade's value in the comparison with a Warrior's value
    BIG,  # added to a Warrior's value, for each point above 1
) = range(2)
GREEDY_STYLES = ("balanced", "builder", "settler", "bold", "hoarder")
HELD_OUT_STYLE = "hoarder"  # no policy is trained against this style
STYLES = np.array([[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [0.0, 0.3], [0.0, -0.3]])
