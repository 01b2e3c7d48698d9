"""The styles of Armada's scripted player: what it goes for, how it guards and when it fights.

`ways` knows what costs are, and `greedy` what an action is worth; all their numbers are here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# The columns of STYLES. Goals are costs on the map: the lower, the sooner gone for.
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

# A style has a row for each number of players and each stance that a colour may take.
TABLES = 2  # with two players, and with more
STANCES = 5
(
    PLAIN,  # none of those below; else the last of them
    CLOSE,  # all but one of the enemy cities asked for are its own
    EARLY,  # in the first rounds
    AHEAD,  # in victory
    ALARMED,  # an enemy has claimed victory
) = range(STANCES)
EARLY_ROUNDS = 2

Numbers = Mapping[int, int | tuple[int, ...]]  # by column: the same in all stances, or each

CONQUEROR: Numbers = {
    GARRISON: 2,
    CENTRE_GOAL: 14,
    POST_GOAL: 14,
    CITY_GOAL: 0,
    LAND_GOAL: 26,
    HOME_GOAL: 4,
    HOME_LATER_GOAL: 14,
    RETAKE_GOAL: FAR,
    PARTNER_GOAL: FAR,
    PARTNER_POST_GOAL: 4,
    BREAK_GOAL: 6,
    BREAK_POST_GOAL: 0,
    NEARLY_GOAL: FAR,
    MAN_GOAL: 10,
    MAN_VICTORY_GOAL: 3,
    MAN_CITY_GOAL: FAR,
    DEFEND_GOAL: FAR,
    ABANDONED_GOAL: 10,
    CITY_GARRISON: 0,
    HOME_GARRISON: 0,
    HUNGRY: 25,
    STEP: 2,
    EMBARK: 4,
    BLOCKED: 3,
    DISCOVER: 2,
    FIGHT: 2,
    FIGHT_BAND: 4,
    TAKE: 8,
    TAKE_WORTH: 100,
    PASSING: 1,
    MOVE_WORTH: 20,
    MOVE_BANDS: 2,
    IN_REACH: 0,
    JOIN_WORTH: 6,
    TREASURE_WORTH: 40,
    SAIL_WORTH: 10,
    SAIL_BANDS: 1,
    FERRY_WORTH: 28,
    LAUNCH_WORTH: 18,
    LAUNCH_BANDS: 2,
    ODDS: 1,
    MOST_ODDS: 20,
    NEAR: 10,
    FIGHT_GOAL: 100,
    FIGHT_OTHER: 70,
    EXPLORE_WORTH: 90,
    EXPLORE_COST: 2,
    CONVERT_WORTH: 70,
    ENROL_WORTH: 75,
    AT_SHIPS: 9,
}
_CALM: Numbers = {TAKE: 24, FIGHT_GOAL: 60, FIGHT_OTHER: 30}
_BALANCED: Numbers = _CALM | {
    GARRISON: 3,
    CENTRE_GOAL: 0,
    POST_GOAL: 4,
    CITY_GOAL: 20,
    LAND_GOAL: 24,
    ODDS: 2,
}
# By name, what each does otherwise than the conqueror: at all tables, or at each.
_STYLES: Mapping[str, Numbers | tuple[Numbers, Numbers]] = {
    "conqueror": {},
    "raider": _CALM | {CITY_GOAL: 2},
    "balanced": _BALANCED,
    "explorer": _BALANCED | {GARRISON: 2, CENTRE_GOAL: 2, POST_GOAL: 6, LAND_GOAL: 6},
    "builder": _BALANCED | {GARRISON: 5, HUNGRY: 10, ODDS: 3},
    "brawler": _BALANCED | {GARRISON: 2, CITY_GOAL: 16, ODDS: 1, FIGHT_GOAL: 120, FIGHT_OTHER: 90},
}
GREEDY_STYLES = tuple(_STYLES)
HELD_OUT_STYLE = "brawler"  # never trained against


def rows_of(style: Numbers) -> list[list[int]]:
    """The rows of a style at one table, in the order of the stances; what is not said of it is the
    conqueror's.
    """
    numbers = {**CONQUEROR, **style}
    found = []
    for stance in range(STANCES):
        chosen = (numbers[column] for column in sorted(numbers))
        found.append([one if isinstance(one, int) else one[stance] for one in chosen])
    return found


def _tables(style: Numbers | tuple[Numbers, Numbers]) -> tuple[Numbers, Numbers]:
    """What a style does at each table."""
    return style if isinstance(style, tuple) else (style, style)


STYLES = np.array(
    [row for style in _STYLES.values() for table in _tables(style) for row in rows_of(table)]
)
"""int64 (styles * tables * stances, columns): the rows of each style follow each other."""
