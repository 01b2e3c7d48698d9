"""The scores that the scripted player of Armada gives to actions. A higher score is better."""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import (
    ALL_CITIES,
    BUY,
    CENTRAL,
    CONVERT,
    DISCOVERY,
    ENROL,
    EXPLORE,
    GOLD,
    GOLD_MINE,
    LAUNCH,
    LEVY,
    MUTINY,
    PAY,
    PEEK,
    PLAY,
    RISE,
    SCUTTLE,
    SHIP,
    SHIPYARD,
    TERRITORIES,
)
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.dice import SIDES
from armarl.games.armada.rules.apply import family_of
from armarl.games.armada.rules.legal_orders import PLAIN_KINDS
from armarl.games.armada.rules.orders import city_of_launch
from armarl.games.armada.scripted.distance_maps import (
    defenders_of,
    garrison_of,
    gives_way,
    impatience,
    is_ferry,
    is_own,
    is_partners,
    is_treasure,
    ship_beside,
)
from armarl.games.armada.state import (
    ALL_POSTS,
    BIG_NATIVES_CARD,
    COMBAT_DIE,
    MORE_COUPS_CARD,
    NATIVES_CARD,
    NO_CLAIM,
    NOBODY,
    SHIP_ROOM,
    STRATEGIST_CARD,
    TRIBES,
    cities_owned,
    city_place,
    lair_of,
    post_place,
    posts_owned,
    room,
    territories_of,
)
from armarl.games.armada.style_columns import (
    CITY_GARRISON,
    CONVERT_WORTH,
    ENROL_WORTH,
    EXPLORE_COST,
    EXPLORE_WORTH,
    FAR,
    FERRY_WORTH,
    FIGHT_GOAL,
    FIGHT_OTHER,
    HOME_GARRISON,
    IN_REACH,
    JOIN_WORTH,
    LAUNCH_BANDS,
    LAUNCH_WORTH,
    MOST_ODDS,
    MOVE_BANDS,
    MOVE_WORTH,
    NEAR,
    ODDS,
    SAIL_BANDS,
    SAIL_WORTH,
    STEP,
    TAKE,
    TAKE_WORTH,
    TREASURE_WORTH,
    Style,
)

FERRYING = 3  # a place with this number of bands sends one as the crew of a ship that fetches bands


@kernel
def worth_of_other_action(
    s: State, style: Style, colour: Int, maps: State, action: Int, fixed: State
) -> Int:
    """Return the score of an action that is not a move, voyage or attack. `end` scores 0."""
    family = family_of(action, fixed)
    number = action - fixed.first[family]
    if family == LAUNCH:
        return _worth_of_launch(s, style, colour, maps, number, fixed)
    if family == EXPLORE:
        return _worth_of_exploring(style, maps, CENTRAL + number)
    if family == DISCOVERY:
        return _worth_of_exploring(style, maps, CENTRAL + number) + 2
    if family >= LEVY:
        return _worth_of_placing(s, style, colour, maps, family, number, fixed)
    if family == CONVERT:
        return style[CONVERT_WORTH]
    if family == GOLD:
        return number if maps.home[s.target] < maps.home[s.origin] else -number
    if family == SHIP:
        return -maps.cost[city_place(number, fixed)]
    return -1 if family == SCUTTLE else 0


@kernel
def _worth_of_placing(
    s: State, style: Style, colour: Int, maps: State, family: Any, number: Int, fixed: State
) -> Int:
    """Return the score of enrolling, buying, playing a card, or placing bands or tribes."""
    if family == LEVY:
        return -maps.cost[number]
    if family == ENROL:
        return style[ENROL_WORTH]
    if family == BUY:
        return 12
    if family == PAY:
        return 0 if number < TERRITORIES else 1
    if family == GOLD_MINE:
        return _worth_of_mine(s, colour, number, fixed)
    if family == SHIPYARD:
        return 20 - maps.cost[city_place(number, fixed)] // 4
    if family == MUTINY:
        return 78 + s.bands[TERRITORIES + number]
    if family == PLAY:
        return _worth_of_plain(s, colour, PLAIN_KINDS[number], fixed)
    if family == RISE:
        return _worth_of_rising(s, colour, CENTRAL + number, fixed)
    return 1 if (number == PEEK) == (s.coups[s.raid] > 7) else 0  # LOOK


@kernel
def worth_of_move(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of a move. It is high for taking a territory or coming nearer to a goal."""
    to = np.int64(fixed.border_to[border])
    empty_ship = to >= TERRITORIES and s.bands[to] == 0
    if empty_ship and maps.ferry[to] < FAR and s.bands[place] == FERRYING:
        return 8  # one band crews a ship that fetches other bands
    if s.bands[place] <= garrison(s, style, place, colour, maps, fixed):
        return -1
    nearer = np.int64(maps.cost[place]) - maps.cost[to]
    if to < TERRITORIES and not is_own(s, to, colour) and maps.cost[to] <= style[TAKE]:
        return style[TAKE_WORTH] - maps.cost[to]
    if is_ferry(s, place, maps.ferry):
        return -1
    if is_treasure(s, style, place, colour, maps.home):
        ashore = place < TERRITORIES or to < TERRITORIES
        homewards = ashore and maps.home[to] < maps.home[place]
        return style[TREASURE_WORTH] + 2 * s.gold[place] if homewards else -1
    if nearer <= 0:
        joins = s.bands[place] == 1 and s.bands[to] > 0 and nearer >= -style[STEP]
        return style[JOIN_WORTH] if joins and to < TERRITORIES else -1
    bands = min(np.int64(s.bands[place]), room(s, to))
    worth = style[MOVE_WORTH] + nearer + style[MOVE_BANDS] * min(bands, SHIP_ROOM)
    in_reach = np.int64(maps.cost[to]) <= style[STEP] * s.coups[s.raid]
    return worth + (style[IN_REACH] if in_reach else 0)


@kernel
def _holds_post(s: State, place: Int, colour: Int, fixed: State) -> Int:
    """Return whether a place is a post that the colour owns."""
    for post in range(ALL_POSTS):
        if post_place(post, fixed) == place:
            return is_own(s, place, colour)
    return False


@kernel
def garrison(s: State, style: Style, place: Int, colour: Int, maps: State, fixed: State) -> Int:
    """Return the number of bands that should stay on a place."""
    if place < CENTRAL:
        return _garrison_of_city(s, style, place, colour, fixed)
    if not _holds_post(s, place, colour, fixed) or gives_way(s, colour, fixed):
        return 0
    return 1 if is_treasure(s, style, place, colour, maps.home) else garrison_of(s, style)


@kernel
def _garrison_of_city(s: State, style: Style, place: Int, colour: Int, fixed: State) -> Int:
    """Return the number of bands that should stay on a territory of a lair."""
    for city in range(ALL_CITIES):
        if city_place(city, fixed) == place and is_own(s, place, colour):
            at_home = city // CITIES == colour
            return style[HOME_GARRISON] if at_home else style[CITY_GARRISON]
    return 0


@kernel
def worth_of_sail(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of sailing, or -1 if the ship does not come nearer to its target.

    An almost empty ship sails to any waiting bands, a ship with gold to a place that converts gold,
    and any other ship to a goal. Of the ships that sail to a goal, those with more bands score
    higher.
    """
    to = np.int64(fixed.border_to[border])
    if is_ferry(s, place, maps.ferry):
        return style[FERRY_WORTH] if maps.ferry[to] < maps.ferry[place] else -1
    if is_treasure(s, style, place, colour, maps.home):
        return 30 + 2 * s.gold[place] if maps.home[to] < maps.home[place] else -1
    nearer = np.int64(maps.cost[place]) - maps.cost[to]
    return style[SAIL_WORTH] + nearer + style[SAIL_BANDS] * s.bands[place] if nearer > 0 else -1


@kernel
def _worth_of_exploring(style: Style, maps: State, territory: Int) -> Int:
    """Return the score of exploring a territory. It is higher near the goals."""
    return style[EXPLORE_WORTH] - maps.cost[territory] * style[EXPLORE_COST] // 4


@kernel
def _bands_around(s: State, colour: Int, place: Int, fixed: State) -> Int:
    """Return the number of bands that may attack a place from all places next to it."""
    bands = np.int64(0)
    for border in range(fixed.land_borders[place], fixed.land_borders[place + 1]):
        bands += _attackers(s, colour, np.int64(fixed.border_to[border]))
    for border in range(fixed.sea_borders[place], fixed.sea_borders[place + 1]):
        bands += _attackers(s, colour, np.int64(fixed.border_to[border]))
    return bands


@kernel
def _attackers(s: State, colour: Int, place: Int) -> Int:
    """Return the number of bands that may attack from a place (ADA-22)."""
    return np.int64(s.bands[place]) if is_own(s, place, colour) and s.bands[place] > 1 else 0


@kernel
def _defeated_by(attackers: Int, fixed: State) -> Int:
    """Return the expected number of defenders that attackers defeat, less a fifth for bad luck.

    A roll of the standard dice costs the attacker a third of a band on average and the defender
    five sixths of a band. With these dice, each attacker is expected to defeat two defenders.
    """
    hits: Int = np.int64(0)
    losses: Int = np.int64(0)
    for i in range(SIDES):
        face: Int = np.int64(fixed.faces[COMBAT_DIE, i])
        hits += max(face, 0)
        losses += max(-face, 0)
    return 4 * hits * attackers // (5 * max(losses, 1))


@kernel
def worth_of_attack(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of an attack.

    The score is negative at bad odds, and against tribes on a place that is neither near a goal nor
    nearer to one.
    """
    to = np.int64(fixed.border_to[border])
    attackers, defenders = np.int64(s.bands[place]), defenders_of(s, to)
    if impatience(s) > 0:
        attackers = _bands_around(s, colour, to, fixed)
    odds = _defeated_by(attackers, fixed) - defenders
    goal = maps.cost[to] < maps.cost[place] or maps.cost[to] <= style[NEAR]
    wanted = style[ODDS] - impatience(s)
    if odds < wanted or not (goal or s.bands[to] > 0):
        return -1
    worth = style[FIGHT_GOAL] if goal else style[FIGHT_OTHER]
    return worth + min(odds, style[MOST_ODDS]) - maps.cost[to] // 4


@kernel
def _worth_of_launch(
    s: State, style: Style, colour: Int, maps: State, number: Int, fixed: State
) -> Int:
    """Return the score of a launch. It grows with the number of bands that wait for a ship.

    Waiting bands are the colour's bands next to the target square that have no ship to board yet.
    """
    city = city_of_launch(number, fixed)
    place = city_place(city, fixed)
    square = np.int64(fixed.border_to[fixed.sea_borders[place] + number - fixed.launches[city]])
    waiting: Int = np.int64(0)
    for border in range(fixed.land_borders[square], fixed.land_borders[square + 1]):
        shore = np.int64(fixed.border_to[border])
        if is_own(s, shore, colour) and not ship_beside(s, shore, colour, fixed):
            waiting += s.bands[shore]
    if waiting < 2:
        return -1
    return (
        style[LAUNCH_WORTH]
        + style[LAUNCH_BANDS] * min(waiting, SHIP_ROOM)
        + (maps.cost[place] - maps.cost[square])
    )


@kernel
def _worth_of_mine(s: State, colour: Int, territory: Int, fixed: State) -> Int:
    """Return the score of a gold-mine on a territory. It is high where the gold can be converted.

    Gold can be converted in a city if the colour owns two cities of the city's lair, and in a post
    if it owns three posts.
    """
    owned = territories_of(s, colour)
    for city in range(ALL_CITIES):
        if city_place(city, fixed) == territory:
            return 80 if cities_owned(owned, lair_of(territory), fixed) >= 2 else 5
    if _holds_post(s, territory, colour, fixed) and posts_owned(owned, fixed) >= 3:
        return 85
    return -1


@kernel
def _worth_of_plain(s: State, colour: Int, card: Int, fixed: State) -> Int:
    """Return the score of playing a card whose action does not name a place."""
    if card == MORE_COUPS_CARD:
        return 60 if s.coups[s.raid] <= 2 else -1
    if card == STRATEGIST_CARD:
        return 14
    if card == NATIVES_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - Numba
        for post in range(ALL_POSTS):
            if _worth_of_rising(s, colour, post_place(post, fixed), fixed) > 0 and (
                s.bands[post_place(post, fixed)] == 0
            ):
                return 40
        return -1
    return 76


@kernel
def _worth_of_rising(s: State, colour: Int, territory: Int, fixed: State) -> Int:
    """Return the score of putting tribes on a territory. It is highest for an enemy's post."""
    owner = np.int64(s.owner[territory])
    if owner == colour or is_partners(s, territory, colour):
        return -50
    if owner == TRIBES or owner == NOBODY:  # noqa: SIM109
        return 0
    for post in range(ALL_POSTS):
        if post_place(post, fixed) == territory:
            return 40 if s.claims[owner] != NO_CLAIM else 20
    return 5
