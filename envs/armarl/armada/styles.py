"""The styles of Armada's scripted player: what it goes for, how it guards and when it fights."""

from __future__ import annotations

import numpy as np

# The columns of STYLES. Goals are costs on the map (see `ways`): the lower, the sooner gone for.
(
    GARRISON,  # bands that hold a post
    CENTRE_GOAL,  # the Centre
    POST_GOAL,  # another post
    CITY_GOAL,  # a city of an enemy lair
    LAND_GOAL,  # a central territory
    TAKE,  # the highest cost of what is entered before all else
    HUNGRY,  # bands in the reserve with which gold is worth carrying home
    ODDS,  # that a fight must have: twice the attackers less the defenders
    ZEAL,  # added to the worth of a fight
) = range(9)
GREEDY_STYLES = ("conqueror", "raider", "balanced", "explorer", "builder", "brawler")
HELD_OUT_STYLE = "brawler"  # never trained against
STYLES = np.array(
    [
        [2, 14, 14, 0, 26, 8, 25, 1, 40],
        [2, 14, 14, 2, 26, 24, 25, 1, 0],
        [3, 0, 4, 20, 24, 24, 25, 2, 0],
        [2, 2, 6, 20, 6, 24, 25, 2, 0],
        [5, 0, 4, 20, 24, 24, 10, 3, 0],
        [2, 0, 4, 16, 24, 24, 25, 1, 60],
    ]
)
