"""The columns and the stances of the style array of Armada's scripted player.

A style is one way of playing. Its numbers are its rows of the array `styles.STYLES`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The columns of `styles.STYLES`. The number in a goal's column is the cost of the goal on the map
# (see `distance_maps`). The player prefers goals with lower costs. A worth is a score or part of a
# score. The player chooses the action with the highest score.
(
    GARRISON,  # bands needed to hold a post
    CENTRE_GOAL,  # goal: the Centre
    POST_GOAL,  # goal: another post
    CITY_GOAL,  # goal: a city of an enemy lair
    LAND_GOAL,  # goal: a central territory
    HOME_GOAL,  # goal: a lost territory of the colour's own lair, while it owns at most 4 there
    HOME_LATER_GOAL,  # as HOME_GOAL, while the colour owns more than 4 territories there
    RETAKE_GOAL,  # goal: a city of the colour's own lair that an enemy owns
    PARTNER_GOAL,  # goal: an enemy's city in the lair of the player's other colour
    PARTNER_POST_GOAL,  # goal: the player's other colour's post, if the acting one has the Centre
    BREAK_GOAL,  # goal: a territory of an enemy that has claimed victory
    BREAK_POST_GOAL,  # goal: a post of an enemy that has claimed victory
    NEARLY_GOAL,  # goal: a city that counts for an enemy who needs at most one more city (ADA-27)
    MAN_GOAL,  # goal: a post of the colour with too few bands to hold it
    MAN_VICTORY_GOAL,  # as MAN_GOAL, if the colour is in victory
    MAN_CITY_GOAL,  # goal: a city of the colour in an enemy lair with too few bands to hold it
    DEFEND_GOAL,  # goal: a territory of the colour in its lair, without bands, next to enemy bands
    ABANDONED_GOAL,  # goal: unguarded gold, if the colour needs gold
    CITY_GARRISON,  # bands needed to hold a city of an enemy lair
    HOME_GARRISON,  # bands needed to hold a city of the colour's own lair
    HUNGRY,  # gold is carried home only if the reserve has at least this many bands
    STEP,  # cost of crossing a border
    EMBARK,  # additional cost of boarding a ship
    BLOCKED,  # additional cost of sailing to a square with a ship
    DISCOVER,  # additional cost of a place that must be explored first
    FIGHT,  # additional cost of a place with defenders
    FIGHT_BAND,  # additional cost per defender, in quarters
    TAKE,  # highest cost at which taking a territory is worth TAKE_WORTH
    TAKE_WORTH,  # worth of taking a territory of at most the cost TAKE; its cost is subtracted
    PASSING,  # maximum number of bands in a move that does not come nearer to a goal
    MOVE_WORTH,  # worth of a move that comes nearer to a goal
    MOVE_BANDS,  # additional worth per band of a move that comes nearer to a goal
    IN_REACH,  # additional worth of a move nearer to a goal that can be reached in this turn
    JOIN_WORTH,  # worth of moving a single band to other bands
    TREASURE_WORTH,  # worth of carrying gold home
    SAIL_WORTH,  # worth of sailing nearer to a goal
    SAIL_BANDS,  # additional worth per band aboard
    FERRY_WORTH,  # worth of sailing nearer to bands that wait for a ship
    LAUNCH_WORTH,  # worth of a launch
    LAUNCH_BANDS,  # additional worth per band that waits for a ship
    ODDS,  # odds needed for a fight: expected number of defeated defenders minus defenders
    MOST_ODDS,  # odds above which a fight's worth no longer grows
    NEAR,  # maximum cost of a place where a fight counts as a fight for a goal
    FIGHT_GOAL,  # worth of a fight for a goal
    FIGHT_OTHER,  # worth of any other fight
    EXPLORE_WORTH,  # worth of exploring
    EXPLORE_COST,  # reduction of EXPLORE_WORTH per unit of cost, in quarters
    CONVERT_WORTH,  # worth of converting gold
    ENROL_WORTH,  # worth of enrolment
    AT_SHIPS,  # bands put on each territory with a ship at the start
) = range(50)
FAR = 120  # cost of non-goals, and of places without a way to a goal

# A style has one row per variant and stance. A variant here is a number of players (2, 3 or 4),
# with or without cards. A stance is a situation of the acting colour.
TABLES = 6  # number of variants
STANCES = 5
(
    PLAIN,  # none of the stances below applies; if several apply, the last of them counts
    CLOSE,  # the colour owns all but one of the enemy cities that it needs
    EARLY,  # during the first rounds
    AHEAD,  # the colour is in victory
    ALARMED,  # an enemy has claimed victory
) = range(STANCES)
EARLY_ROUNDS = 2

Style = NDArray[np.int64]  # a row of `styles.STYLES`, int64, shape (columns,)
Numbers = dict[int, int | tuple[int, ...]]  # per column: a number for all stances, or one for each
