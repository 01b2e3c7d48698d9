"""Armada (Philippe des Pallières and Patrice Pillet): a pirate game for 2 to 4 players."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import is_whole
from armarl.core.game import Game
from armarl.core.verbs import Verbs
from armarl.games.armada.actions import (
    TERRITORIES,
    action_table,
    city_places,
    directed_borders,
    families,
    post_places,
)
from armarl.games.armada.chart.loading import Chart, ChartError, content_only, load_chart
from armarl.games.armada.drawing.picture import picture
from armarl.games.armada.evaluation import evaluate
from armarl.games.armada.knowledge import conceal, determinise
from armarl.games.armada.observation import observation_table, observe
from armarl.games.armada.rivals import progress
from armarl.games.armada.rules import apply
from armarl.games.armada.rules.scoring import REWARD_NAMES, returns
from armarl.games.armada.scripted.greedy import greedy
from armarl.games.armada.state import (
    ALL_CARDS,
    COUPS,
    MAX_BORDERS,
    MAX_PLACES,
    MAX_SQUARES,
    MORE_COUPS,
    RAID_COUPS,
    STATE,
)
from armarl.games.armada.text.describe import describe
from armarl.games.armada.text.drawing import draw
from armarl.games.armada.text.explain import explain
from armarl.games.armada.validity.valid import FAULTS, valid

VERSION = 1
VERBS = Verbs(
    start=apply.start,
    legal=apply.legal,
    apply=apply.apply,
    status=apply.status,
    to_move=apply.to_move,
    turn_of=apply.turn_of,
    observe=observe,
    returns=returns,
    conceal=conceal,
    determinise=determinise,
    greedy=greedy,
    evaluate=evaluate,
    valid=valid,
    progress=progress,
)

# The chart is left out: two charts with the same sizes differ only in where borders lead.
OPTION_FIELDS = ("players", "cards", "enrolment", "max_turns", "places", "first", "launches")

MAX_TURNS = 400  # most games between players that try to win end within a hundred turns
MOST_TURNS = 10**6


def make(
    players: int = 2,
    cards: bool = False,
    enrolment: bool = False,
    max_turns: int = MAX_TURNS,
    chart: str | Path | Mapping[str, Any] | Chart | None = None,
) -> Game:
    """Return the Armada game with these options.

    Equal options return the same `Game` object while it is in the cache of 64 games.

    Args:
        players: number of players, 2 to 4. With two, each plays two colours. With three, one lair
            is nobody's.
        cards: play with the cards of the third edition (ADA-32 to ADA-36).
        enrolment: allow enrolment, which gives bands for lairs and central territories held
            (ADA-31).
        max_turns: number of colour turns after which the game is truncated, 1 to MOST_TURNS
            (ADA-30).
        chart: a chart to use instead of the standard one, in any form that
            `armarl.games.armada.chart.loading.load_chart` accepts.

    Raises:
        ValueError: an option has the wrong type or is out of range, or the chart breaks ADA-1 to
            ADA-4 (ChartError).
        OSError: the chart file does not exist or cannot be read.

    Example:
        >>> from armarl.games.armada import make
        >>> game = make(players=3, cards=True)
        >>> game.players, len(game.actions)
        (3, 1805)
        >>> game.options["cards"], game.options["max_turns"]
        (True, 400)
    """
    if not is_whole(players) or players not in (2, 3, 4):
        raise ValueError(f"Armada is for 2, 3 or 4 players, not {players!r}")
    for name, value in (("cards", cards), ("enrolment", enrolment)):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, not {value!r}")
    if not is_whole(max_turns) or not 1 <= max_turns <= MOST_TURNS:
        raise ValueError(
            f"max_turns must be a whole number from 1 to {MOST_TURNS}, not {max_turns!r}"
        )
    checked = load_chart(chart)
    return _make(int(players), bool(cards), bool(enrolment), int(max_turns), checked)


def restore(**options: Any) -> Game:
    """Return the game of options read from a file.

    Like `make`, but the chart must be the content of a chart, not a path, so no other file is
    opened.

    Raises:
        ValueError: as for `make`, or the chart is not the content of a chart (ChartError).
    """
    return make(**{**options, "chart": content_only(options.get("chart"))})


@lru_cache(maxsize=64)
def _make(players: int, cards: bool, enrolment: bool, max_turns: int, chart: Chart) -> Game:
    return Game(
        name="armada",
        version=VERSION,
        players=players,
        options={
            "cards": cards,
            "enrolment": enrolment,
            "max_turns": max_turns,
            "chart": None if chart == load_chart() else chart.text or chart.as_dict(),
        },
        sides=tuple(range(players)),
        actions=action_table(chart, cards, enrolment),
        observation=observation_table(chart, players, max_turns, cards),
        rewards=REWARD_NAMES,
        max_actions=_longest_game(max_turns),
        blank=_blank(players, cards, enrolment, max_turns, chart),
        verbs=VERBS,
        make=make,
        _describe=describe,
        _draw=draw,
        _picture=picture,
        _explain=explain,
        option_fields=OPTION_FIELDS,
        faults=FAULTS,
        attributes={"chart": chart},
    )


def _blank(players: int, cards: bool, enrolment: bool, max_turns: int, chart: Chart) -> Any:
    """Return a state record with the options and the chart data that the compiled rules need."""
    blank = np.zeros((), apply.STATE)
    blank["players"], blank["cards"], blank["enrolment"] = players, cards, enrolment
    blank["max_turns"] = max_turns
    sizes = [family.size for family in families(chart, cards, enrolment)]
    blank["first"] = np.cumsum([0, *sizes])
    _fill_borders(blank, chart)
    blank["places"] = len(chart.places)
    blank["cities"], blank["posts"] = city_places(chart), post_places(chart)
    blank["launches"] = _launches(chart)
    return blank[()]


def _launches(chart: Chart) -> NDArray[np.int64]:
    """Return the number of each city's first launch, followed by the total."""
    launches = np.cumsum([0, *(len(chart.coast(city)) for city in city_places(chart))])
    most = np.iinfo(STATE["launches"].base).max
    if launches[-1] > most:
        raise ChartError(
            f"the chart has {launches[-1]} launches (pairs of a city and a contiguous sea square); "
            f"at most {most} are supported"
        )
    return launches


def _fill_borders(blank: Any, chart: Chart) -> None:
    """Write the chart's borders into `blank`, as lists and as sets.

    The list has every border in both directions, borders to land first. Each place has the index
    of its first border to land and of its first border to sea.
    """
    to_land, to_sea = directed_borders(chart)
    borders = np.array(to_land + to_sea)
    if len(chart.sea) > MAX_SQUARES or len(borders) > MAX_BORDERS:
        raise ChartError(
            f"the chart has {len(chart.sea)} sea squares and {len(borders) // 2} borders; at most "
            f"{MAX_SQUARES} and {MAX_BORDERS // 2} are supported"
        )
    blank["border_to"][: len(borders)] = borders[:, 1]
    places = np.arange(MAX_PLACES + 1)
    blank["land_borders"] = np.searchsorted([a for a, _ in to_land], places)
    blank["sea_borders"] = len(to_land) + np.searchsorted([a for a, _ in to_sea], places)
    for place, land in to_land:
        blank["land_near"][place] |= np.int64(1) << land
    for place, square in to_sea:
        blank["sea_near"][place] |= np.int64(1) << square - TERRITORIES


def _longest_game(max_turns: int) -> int:
    """Return a generous upper bound on the number of decisions in a game (ADA-15, ADA-30).

    An order of one coup takes at most three decisions, plus three raid questions after it.
    Enrolling takes eleven more. Playing, buying or declining a card takes fewer than ten.
    """
    preliminary = 4 * (2 + 6)
    turn = 6 * int(COUPS + MORE_COUPS) + 12
    raids = 4 * (6 * int(RAID_COUPS + MORE_COUPS) + 12)
    return preliminary + max_turns * turn + raids + 10 * ALL_CARDS
