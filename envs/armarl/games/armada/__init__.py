"""Armada (Philippe des Pallières and Patrice Pillet): pirates, for 2 to 4 players."""

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

# The chart itself is left out: with these alike its borders only lead elsewhere.
OPTION_FIELDS = ("players", "cards", "enrolment", "max_turns", "places", "first", "launches")

MAX_TURNS = 400  # most games between players who want to win end before a hundred
MOST_TURNS = 10**6


def make(
    players: int = 2,
    cards: bool = False,
    enrolment: bool = False,
    max_turns: int = MAX_TURNS,
    chart: str | Path | Mapping[str, Any] | Chart | None = None,
) -> Game:
    """Armada for `players` (2 to 4; two play two colours each, with three one lair is nobody's).

    Args:
        cards: the cards of the third edition (ADA-32 to ADA-36).
        enrolment: bands for lairs and central territories held (ADA-31).
        max_turns: colour turns after which the game is cut short, 1 to MOST_TURNS (ADA-30).
        chart: another chart than ours, as `armarl.armada.chart.load_chart` takes it.

    Raises:
        ValueError: a value of the wrong kind or out of range, or a chart that breaks ADA-1 to
            ADA-4 (ChartError).
        OSError: there is no such chart file.
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
    """As `make`, of options that a file says: its chart must be a chart's content, not a path.

    Raises:
        ValueError: as `make`, or its chart is anything else (ChartError).
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
        _explain=explain,
        option_fields=OPTION_FIELDS,
        faults=FAULTS,
        attributes={"chart": chart},
    )


def _blank(players: int, cards: bool, enrolment: bool, max_turns: int, chart: Chart) -> Any:
    """A record that holds the options and what the compiled rules need of the chart."""
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
    """The number of each city's first launch, and of all."""
    launches = np.cumsum([0, *(len(chart.coast(city)) for city in city_places(chart))])
    most = np.iinfo(STATE["launches"].base).max
    if launches[-1] > most:
        raise ChartError(
            f"ships of the chart's cities can be launched to {launches[-1]} squares, counted for "
            f"each city; at most {most} can be played on"
        )
    return launches


def _fill_borders(blank: Any, chart: Chart) -> None:
    """The borders in both directions, those to land first, each place's first of both, and sets."""
    to_land, to_sea = directed_borders(chart)
    borders = np.array(to_land + to_sea)
    if len(chart.sea) > MAX_SQUARES or len(borders) > MAX_BORDERS:
        raise ChartError(
            f"the chart has {len(chart.sea)} sea squares and {len(borders) // 2} borders; at most "
            f"{MAX_SQUARES} and {MAX_BORDERS // 2} can be played on"
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
    """A bound on the decisions of a game, generous but finite (ADA-15, ADA-30).

    An order of one coup takes at most three decisions and three questions of raids after it;
    enrolling takes eleven more; each card is played, bought or declined with less than ten.
    """
    preliminary = 4 * (2 + 6)
    turn = 6 * int(COUPS + MORE_COUPS) + 12
    raids = 4 * (6 * int(RAID_COUPS + MORE_COUPS) + 12)
    return preliminary + max_turns * turn + raids + 10 * ALL_CARDS
