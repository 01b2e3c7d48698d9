"""What a style of Armada's scripted player has numbers for, and in which stances it differs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The columns of `styles.STYLES`. Goals are costs on the map: the lower, the sooner gone for.
(
    GARRISON,  # bands that hold a post
    CENTRE_GOAL,  # the Centre
    POST_GOAL,  # another post
    CITY_GOAL,  # a city of an enemy lair
    LAND_GOAL,  # a central territory
    HOME_GOAL,  # a lost territory of the own lair, while that is hardly held
    HOME_LATER_GOAL,  # and else
    RETAKE_GOAL,  # a city of the own lair that an enemy owns
    PARTNER_GOAL,  # one of the own player's other colour
    PARTNER_POST_GOAL,  # a post of that colour, which has the Centre
    BREAK_GOAL,  # a territory of an enemy who has claimed victory
    BREAK_POST_GOAL,  # a post of his
    NEARLY_GOAL,  # a city that an enemy owns who is one short of ADA-27, or beyond
    MAN_GOAL,  # an own post with fewer bands than hold it
    MAN_VICTORY_GOAL,  # the same in victory
    MAN_CITY_GOAL,  # an own city of an enemy lair with fewer bands than hold it
    DEFEND_GOAL,  # a territory of the own lair, without bands beside an enemy's
    ABANDONED_GOAL,  # gold that lies without bands, to who needs it
    CITY_GARRISON,  # bands that hold a city of an enemy lair
    HOME_GARRISON,  # bands that hold a city of the own lair
    HUNGRY,  # bands in the reserve with which gold is worth carrying home
    STEP,  # cost of a border
    EMBARK,  # of boarding a ship
    BLOCKED,  # of sailing where a ship is
    DISCOVER,  # of exploring first
    FIGHT,  # of fighting first
    FIGHT_BAND,  # and for each defender, in quarters
    TAKE,  # the highest cost of what is entered before all else
    TAKE_WORTH,  # what that is worth
    PASSING,  # bands that go where nothing comes nearer
    MOVE_WORTH,  # what coming nearer is worth
    MOVE_BANDS,  # and for each band that does
    IN_REACH,  # and where the goal may be reached in this turn
    JOIN_WORTH,  # what joining others is worth, for a band alone
    TREASURE_WORTH,  # what carrying gold home is worth
    SAIL_WORTH,  # what a voyage is worth
    SAIL_BANDS,  # and for each band on it
    FERRY_WORTH,  # what fetching bands is worth
    LAUNCH_WORTH,  # what a launch is worth
    LAUNCH_BANDS,  # and for each band that waits for it
    ODDS,  # that a fight must have: twice the attackers less the defenders
    MOST_ODDS,  # above which they make it worth no more
    NEAR,  # the highest cost of what is fought for as a goal
    FIGHT_GOAL,  # what a fight for a goal is worth
    FIGHT_OTHER,  # what another is worth
    EXPLORE_WORTH,  # what exploring is worth
    EXPLORE_COST,  # less the cost, in quarters
    CONVERT_WORTH,  # what converting gold is worth
    ENROL_WORTH,  # what enrolment is worth
    AT_SHIPS,  # bands beside each ship at first
) = range(50)
FAR = 120  # the cost of what is no goal, and of where none can be reached from

# A style has a row for each table (2, 3, 4 players, each without and with cards) and each stance
# that a colour may take.
TABLES = 6
STANCES = 5
(
    PLAIN,  # none of those below; else the last of them
    CLOSE,  # all but one of the enemy cities asked for are its own
    EARLY,  # in the first rounds
    AHEAD,  # in victory
    ALARMED,  # an enemy has claimed victory
) = range(STANCES)
EARLY_ROUNDS = 2

Style = NDArray[np.int64]  # (columns,), a row of `styles.STYLES`
Numbers = dict[int, int | tuple[int, ...]]  # by column: the same in all stances, or each
