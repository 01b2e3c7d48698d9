"""Columns of the style table of Armada's scripted player, and the stances it distinguishes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The columns of `styles.STYLES`. Goals are costs on the map. The player goes for lower costs first.
(
    GARRISON,  # bands needed to hold a post
    CENTRE_GOAL,  # goal: the Centre
    POST_GOAL,  # goal: another post
    CITY_GOAL,  # goal: a city of an enemy lair
    LAND_GOAL,  # goal: a central territory
    HOME_GOAL,  # goal: a lost territory of the colour's own lair, if at most 4 there are owned
    HOME_LATER_GOAL,  # the same if more are owned
    RETAKE_GOAL,  # goal: a city of the colour's own lair that an enemy owns
    PARTNER_GOAL,  # goal: a city in the lair of the player's other colour
    PARTNER_POST_GOAL,  # goal: a post of that colour while the acting colour has the Centre
    BREAK_GOAL,  # goal: a territory of an enemy that has claimed victory
    BREAK_POST_GOAL,  # goal: a post of such an enemy
    NEARLY_GOAL,  # goal: a city whose enemy owner is at most one city short of ADA-27
    MAN_GOAL,  # goal: an own post with too few bands to hold it
    MAN_VICTORY_GOAL,  # the same in victory
    MAN_CITY_GOAL,  # goal: an own city in an enemy lair with too few bands to hold it
    DEFEND_GOAL,  # goal: a territory of the colour's own lair without bands, next to an enemy's
    ABANDONED_GOAL,  # goal: unguarded gold, if the colour needs gold
    CITY_GARRISON,  # bands needed to hold a city of an enemy lair
    HOME_GARRISON,  # bands needed to hold a city of the colour's own lair
    HUNGRY,  # bands in the reserve from which carrying gold home is worthwhile
    STEP,  # cost of crossing a border
    EMBARK,  # cost of boarding a ship
    BLOCKED,  # cost of sailing to a square with a ship
    DISCOVER,  # cost of exploring first
    FIGHT,  # cost of fighting first
    FIGHT_BAND,  # additional cost per defender, in quarters
    TAKE,  # highest cost of a place that is entered before all else
    TAKE_WORTH,  # worth of entering it
    PASSING,  # bands that move without coming nearer to a goal
    MOVE_WORTH,  # worth of coming nearer to a goal
    MOVE_BANDS,  # additional worth per band that does
    IN_REACH,  # additional worth if the goal is in reach this turn
    JOIN_WORTH,  # worth of joining others, for a single band
    TREASURE_WORTH,  # worth of carrying gold home
    SAIL_WORTH,  # worth of a voyage
    SAIL_BANDS,  # additional worth per band on it
    FERRY_WORTH,  # worth of fetching bands
    LAUNCH_WORTH,  # worth of a launch
    LAUNCH_BANDS,  # additional worth per band that waits for it
    ODDS,  # odds needed for a fight: defenders that it is likely to defeat, less those there
    MOST_ODDS,  # odds above which a fight's worth no longer grows
    NEAR,  # highest cost of a goal that is fought for as a goal
    FIGHT_GOAL,  # worth of a fight for a goal
    FIGHT_OTHER,  # worth of another fight
    EXPLORE_WORTH,  # worth of exploring
    EXPLORE_COST,  # reduction by the cost, in quarters
    CONVERT_WORTH,  # worth of converting gold
    ENROL_WORTH,  # worth of enrolment
    AT_SHIPS,  # bands next to each ship at the start
) = range(50)
FAR = 120  # cost of non-goals, and of places without a way to a goal

# A style has one row per table (2, 3, 4 players, each without and with cards) and per stance that a
# colour may take.
TABLES = 6
STANCES = 5
(
    PLAIN,  # none of those below applies; if several do, the last one counts
    CLOSE,  # the colour owns all but one of the enemy cities it needs
    EARLY,  # during the first rounds
    AHEAD,  # the colour is in victory
    ALARMED,  # an enemy has claimed victory
) = range(STANCES)
EARLY_ROUNDS = 2

Style = NDArray[np.int64]  # int64 (columns,), a row of `styles.STYLES`
Numbers = dict[int, int | tuple[int, ...]]  # per column: one number, or one per stance
