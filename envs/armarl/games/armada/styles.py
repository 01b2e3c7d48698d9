"""Styles of Armada's scripted player: its goals, its garrisons and its readiness to fight.

The module `distance_maps` computes the costs of places, `action_scores` computes the scores of
actions, and `greedy` chooses the action. The numbers that they use are here, except those of the
style admiral. `style_columns` explains the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from armarl.games.armada import admiral
from armarl.games.armada import style_columns as column
from armarl.games.armada.style_columns import Numbers

CONQUEROR: Numbers = {
    column.GARRISON: 2,
    column.CENTRE_GOAL: 14,
    column.POST_GOAL: 14,
    column.CITY_GOAL: 0,
    column.LAND_GOAL: 26,
    column.HOME_GOAL: 4,
    column.HOME_LATER_GOAL: 14,
    column.RETAKE_GOAL: column.FAR,
    column.PARTNER_GOAL: column.FAR,
    column.PARTNER_POST_GOAL: 4,
    column.BREAK_GOAL: 6,
    column.BREAK_POST_GOAL: 0,
    column.NEARLY_GOAL: column.FAR,
    column.MAN_GOAL: 10,
    column.MAN_VICTORY_GOAL: 3,
    column.MAN_CITY_GOAL: column.FAR,
    column.DEFEND_GOAL: column.FAR,
    column.ABANDONED_GOAL: 10,
    column.CITY_GARRISON: 0,
    column.HOME_GARRISON: 0,
    column.HUNGRY: 25,
    column.STEP: 2,
    column.EMBARK: 4,
    column.BLOCKED: 3,
    column.DISCOVER: 2,
    column.FIGHT: 2,
    column.FIGHT_BAND: 4,
    column.TAKE: 8,
    column.TAKE_WORTH: 100,
    column.PASSING: 1,
    column.MOVE_WORTH: 20,
    column.MOVE_BANDS: 2,
    column.IN_REACH: 0,
    column.JOIN_WORTH: 6,
    column.TREASURE_WORTH: 40,
    column.SAIL_WORTH: 10,
    column.SAIL_BANDS: 1,
    column.FERRY_WORTH: 28,
    column.LAUNCH_WORTH: 18,
    column.LAUNCH_BANDS: 2,
    column.ODDS: 1,
    column.MOST_ODDS: 20,
    column.NEAR: 10,
    column.FIGHT_GOAL: 100,
    column.FIGHT_OTHER: 70,
    column.EXPLORE_WORTH: 90,
    column.EXPLORE_COST: 2,
    column.CONVERT_WORTH: 70,
    column.ENROL_WORTH: 75,
    column.AT_SHIPS: 9,
}
_CALM: Numbers = {column.TAKE: 24, column.FIGHT_GOAL: 60, column.FIGHT_OTHER: 30}
_BALANCED: Numbers = _CALM | {
    column.GARRISON: 3,
    column.CENTRE_GOAL: 0,
    column.POST_GOAL: 4,
    column.CITY_GOAL: 20,
    column.LAND_GOAL: 24,
    column.ODDS: 2,
}
# The differences of each style from the conqueror: one entry for all variants, or one per variant.
# The variants are: 2 players without cards, 2 with cards, then the same for 3 and 4 players.
_STYLES: Mapping[str, tuple[Numbers, ...]] = {
    "conqueror": ({},),
    "raider": (_CALM | {column.CITY_GOAL: 2},),
    "balanced": (_BALANCED,),
    "explorer": (
        _BALANCED
        | {column.GARRISON: 2, column.CENTRE_GOAL: 2, column.POST_GOAL: 6, column.LAND_GOAL: 6},
    ),
    "builder": (_BALANCED | {column.GARRISON: 5, column.HUNGRY: 10, column.ODDS: 3},),
    "brawler": (
        _BALANCED
        | {
            column.GARRISON: 2,
            column.CITY_GOAL: 16,
            column.ODDS: 1,
            column.FIGHT_GOAL: 120,
            column.FIGHT_OTHER: 90,
        },
    ),
    "admiral": admiral.AT_TABLES,
}
GREEDY_STYLES = tuple(_STYLES)
HELD_OUT_STYLE = "brawler"  # no policy is trained against this style


def _rows(style: Numbers) -> list[list[int]]:
    """Return the rows of a style for one variant, in the order of the stances.

    Columns that the style does not set have the conqueror's numbers.
    """
    numbers = {**CONQUEROR, **style}
    found = []
    for stance in range(column.STANCES):
        chosen = (numbers[column] for column in sorted(numbers))
        found.append([one if isinstance(one, int) else one[stance] for one in chosen])
    return found


STYLES = np.array([row for style in _STYLES.values() for table in style for row in _rows(table)])
"""The numbers of all styles, int64, shape (rows, columns). The rows are sorted by style, then by
variant, then by stance."""


def _first_rows() -> Iterator[list[int]]:
    """Yield, for each style, the index in STYLES of the first row of each variant."""
    first = 0
    for style in _STYLES.values():
        ways = len(style)  # 1 if all variants share their rows, else the number of variants
        yield [first + table % ways * column.STANCES for table in range(column.TABLES)]
        first += ways * column.STANCES


FIRST_ROWS = np.array(list(_first_rows()))
"""The index in STYLES of the first row of each style and variant, int64, shape (styles, variants).
The row is that of the first stance."""
