"""Armada (Philippe des Pallières and Patrice Pillet): a pirate game for 2 to 4 players."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

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
from armarl.games.armada.chart.checks import shortened
from armarl.games.armada.chart.loading import Chart, load_chart
from armarl.games.armada.dice import Dice, load_dice
from armarl.games.armada.drawing.picture import picture
from armarl.games.armada.evaluation import evaluate
from armarl.games.armada.knowledge import conceal, determinise
from armarl.games.armada.observation import observation_table, observe
from armarl.games.armada.rivals import progress
from armarl.games.armada.rules import apply
from armarl.games.armada.rules.scoring import REWARD_NAMES, returns
from armarl.games.armada.scripted.distance_maps import SCRATCH
from armarl.games.armada.scripted.greedy import greedy
from armarl.games.armada.state import (
    ALL_CARDS,
    COUPS,
    FIXED,
    FOUR,
    MAX_PLACES,
    MORE_COUPS,
    RAID_COUPS,
)
from armarl.games.armada.text.describe import describe
from armarl.games.armada.text.drawing import draw
from armarl.games.armada.text.explain import explain
from armarl.games.armada.text.positions import states_from
from armarl.games.armada.text.sum_up import sum_up
from armarl.games.armada.text.tell import tell
from armarl.games.armada.validity.valid import FAULTS, valid

VERSION = 2
EARLIER = (1,)  # versions whose policies can still play: only rules have changed since then
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

OPTION_FIELDS = ("chart", "players", "cards", "enrolment", "max_turns", "places")

MAX_TURNS = 400  # most games between players that try to win end within a hundred turns
MOST_TURNS = 10**6


def make(
    players: int = 2,
    cards: bool = False,
    enrolment: bool = False,
    max_turns: int = MAX_TURNS,
    chart: str | Path | Mapping[str, Any] | Chart | None = None,
    dice: str | Path | Mapping[str, Any] | Dice | None = None,
) -> Game:
    """Return the Armada game with these options.

    Equal options return the same `Game` object while it is in the cache of 64 games.

    Args:
        players: number of players, 2 to 4. With two, each plays two colours. With three, one lair
            is nobody's.
        cards: play with the cards of the third edition (ADA-32 to ADA-36).
        enrolment: allow enrolment, which gives bands for the lairs and central territories that a
            colour holds (ADA-31).
        max_turns: number of turns, of all colours together, after which the game is cut short, 1
            to MOST_TURNS (ADA-30).
        chart: a chart to use instead of the standard one, in any form that
            `armarl.games.armada.chart.loading.load_chart` accepts. A chart with the places and
            borders of the standard one is replaced by it, with its map.
        dice: dice to use instead of the standard ones, in any form that
            `armarl.games.armada.dice.load_dice` accepts.

    Raises:
        ValueError: an option has the wrong type or is out of range, the chart breaks ADA-1 to ADA-5
            (ChartError), or the dice break ADA-7 (DiceError).
        OSError: the file of the chart or of the dice does not exist or cannot be read.

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
    board, thrown = load_chart(chart), load_dice(dice)
    if board == load_chart():  # the same places and borders, perhaps without a map
        board = load_chart()
    numbers = int(players), bool(cards), bool(enrolment), int(max_turns)
    return _make(*numbers, board, board.text, thrown)


def restore(**options: Any) -> Game:
    """Return the game with options that were read from a record or policy file.

    Like `make`, but the chart and the dice must be given by their content, not by a path, so no
    other file is opened.

    Raises:
        ValueError: as for `make`, or the chart or the dice are not given by their content.
    """
    for name in ("chart", "dice"):
        source = options.get(name)
        text = isinstance(source, str) and "\n" in source
        if source is not None and not isinstance(source, Mapping) and not text:
            raise ValueError(
                f"a saved file must contain the {name} itself in the option {name} (several lines "
                f"of text, or a mapping), not {shortened(source)}"
            )
    return make(**options)


@lru_cache(maxsize=64)
def _make(
    players: int,
    cards: bool,
    enrolment: bool,
    max_turns: int,
    chart: Chart,
    text: str | None,
    dice: Dice,
) -> Game:
    """Make a game. `text`, the chart's, tells charts apart that are equal but for their maps."""
    options: dict[str, Any] = {
        "cards": cards,
        "enrolment": enrolment,
        "max_turns": max_turns,
        "chart": None if chart == load_chart() else text or chart.as_dict(),
    }
    # Omit the standard dice: the options then equal those in files older than the option `dice`.
    if dice != load_dice():
        options |= {"dice": dice.as_dict()}
    fixed = _fixed(cards, enrolment, chart, dice)
    return Game(
        name="armada",
        version=VERSION,
        players=players,
        options=options,
        sides=tuple(range(players)),
        actions=action_table(chart, cards, enrolment),
        observation=observation_table(chart, dice, players, max_turns, cards),
        rewards=REWARD_NAMES,
        max_actions=_longest_game(max_turns),
        blank=_blank(players, cards, enrolment, max_turns, len(chart.places), fixed),
        fixed=fixed,
        scratch=SCRATCH,
        verbs=VERBS,
        make=make,
        _describe=describe,
        _draw=draw,
        _picture=picture,
        _tell=tell,
        _sum_up=sum_up,
        _states_from=states_from,
        _explain=explain,
        option_fields=OPTION_FIELDS,
        faults=FAULTS,
        attributes={"chart": chart, "dice": dice},
        earlier=EARLIER,
    )


def _blank(
    players: int, cards: bool, enrolment: bool, max_turns: int, places: int, fixed: Any
) -> Any:
    """Return a state record that contains only the options and a hash of the record `fixed`."""
    blank = np.zeros((), apply.STATE)
    blank["players"], blank["cards"], blank["enrolment"] = players, cards, enrolment
    blank["max_turns"], blank["places"] = max_turns, places
    blank["chart"] = int.from_bytes(sha256(fixed.tobytes()).digest()[:8], "little")
    return blank[()]


def _fixed(cards: bool, enrolment: bool, chart: Chart, dice: Dice) -> Any:
    """Return the record of the chart, the dice and the action ids, for the compiled rules."""
    fixed = np.zeros((), FIXED)
    sizes = [family.size for family in families(chart, cards, enrolment)]
    fixed["first"] = np.cumsum([0, *sizes])
    _fill_borders(fixed, chart)
    fixed["cities"], fixed["posts"] = city_places(chart), post_places(chart)
    for lair in range(FOUR):
        fixed["city_sets"][lair] = sum(1 << city for city in chart.cities[lair])
    fixed["post_set"] = sum(1 << post for post in post_places(chart))
    fixed["launches"] = np.cumsum([0, *(len(chart.coast(city)) for city in city_places(chart))])
    fixed["farthest"], fixed["faces"] = chart.farthest, dice.faces
    return fixed[()]


def _fill_borders(fixed: Any, chart: Chart) -> None:
    """Write the chart's borders into `fixed`, as a list and as sets.

    The list has every border in both directions, the borders to land first. `fixed` also gets, for
    each place, the indices of its first border to land and of its first border to sea.
    """
    to_land, to_sea = directed_borders(chart)
    borders = np.array(to_land + to_sea)
    fixed["border_to"][: len(borders)] = borders[:, 1]
    places = np.arange(MAX_PLACES + 1)
    fixed["land_borders"] = np.searchsorted([a for a, _ in to_land], places)
    fixed["sea_borders"] = len(to_land) + np.searchsorted([a for a, _ in to_sea], places)
    for place, land in to_land:
        fixed["land_near"][place] |= np.int64(1) << land
    for place, square in to_sea:
        fixed["sea_near"][place] |= np.int64(1) << square - TERRITORIES


def _longest_game(max_turns: int) -> int:
    """Return a generous upper bound on the number of decisions in a game (ADA-15, ADA-30).

    An order of one coup takes at most three decisions, plus three raid questions after it.
    Enrolling takes eleven more. Playing, buying or declining a card takes fewer than ten.
    """
    preliminary = 4 * (2 + 6)
    turn = 6 * int(COUPS + MORE_COUPS) + 12
    raids = 4 * (6 * int(RAID_COUPS + MORE_COUPS) + 12)
    return preliminary + max_turns * turn + raids + 10 * ALL_CARDS
