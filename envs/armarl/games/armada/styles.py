"""Styles of Armada's scripted player: its goals, its garrisons and its readiness to fight.

`ways` computes costs, and `greedy` the worth of actions. All their numbers are here, except the
admiral's, and `style_columns` explains their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from armarl.games.armada import admiral
from armarl.games.armada.style_columns import (
    ABANDONED_GOAL,
    AT_SHIPS,
    BLOCKED,
    BREAK_GOAL,
    BREAK_POST_GOAL,
    CENTRE_GOAL,
    CITY_GARRISON,
    CITY_GOAL,
    CONVERT_WORTH,
    DEFEND_GOAL,
    DISCOVER,
    EMBARK,
    ENROL_WORTH,
    EXPLORE_COST,
    EXPLORE_WORTH,
    FAR,
    FERRY_WORTH,
    FIGHT,
    FIGHT_BAND,
    FIGHT_GOAL,
    FIGHT_OTHER,
    GARRISON,
    HOME_GARRISON,
    HOME_GOAL,
    HOME_LATER_GOAL,
    HUNGRY,
    IN_REACH,
    JOIN_WORTH,
    LAND_GOAL,
    LAUNCH_BANDS,
    LAUNCH_WORTH,
    MAN_CITY_GOAL,
    MAN_GOAL,
    MAN_VICTORY_GOAL,
    MOST_ODDS,
    MOVE_BANDS,
    MOVE_WORTH,
    NEAR,
    NEARLY_GOAL,
    ODDS,
    PARTNER_GOAL,
    PARTNER_POST_GOAL,
    PASSING,
    POST_GOAL,
    RETAKE_GOAL,
    SAIL_BANDS,
    SAIL_WORTH,
    STANCES,
    STEP,
    TABLES,
    TAKE,
    TAKE_WORTH,
    TREASURE_WORTH,
    Numbers,
)

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
# By name: the differences from the conqueror, at all tables or at each of `TABLES`.
_STYLES: Mapping[str, tuple[Numbers, ...]] = {
    "conqueror": ({},),
    "raider": (_CALM | {CITY_GOAL: 2},),
    "balanced": (_BALANCED,),
    "explorer": (_BALANCED | {GARRISON: 2, CENTRE_GOAL: 2, POST_GOAL: 6, LAND_GOAL: 6},),
    "builder": (_BALANCED | {GARRISON: 5, HUNGRY: 10, ODDS: 3},),
    "brawler": (
        _BALANCED | {GARRISON: 2, CITY_GOAL: 16, ODDS: 1, FIGHT_GOAL: 120, FIGHT_OTHER: 90},
    ),
    "admiral": admiral.AT_TABLES,
}
GREEDY_STYLES = tuple(_STYLES)
HELD_OUT_STYLE = "brawler"  # never train against it


def _rows(style: Numbers) -> list[list[int]]:
    """Return the rows of a style at one table, in the order of the stances.

    Columns that the style does not set are the conqueror's.
    """
    numbers = {**CONQUEROR, **style}
    found = []
    for stance in range(STANCES):
        chosen = (numbers[column] for column in sorted(numbers))
        found.append([one if isinstance(one, int) else one[stance] for one in chosen])
    return found


STYLES = np.array([row for style in _STYLES.values() for table in style for row in _rows(table)])
"""int64 (rows, columns): styles one after another, then their tables, then the stances."""


def _first_rows() -> Iterator[list[int]]:
    """Yield, for each style, the rows of STYLES at which its tables begin."""
    first = 0
    for style in _STYLES.values():
        ways = len(style)  # one for all tables, or one per table
        yield [first + table % ways * STANCES for table in range(TABLES)]
        first += ways * STANCES


FIRST_ROWS = np.array(list(_first_rows()))
"""int64 (styles, tables): row of the first stance."""
