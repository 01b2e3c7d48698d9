"""The map as Armada's scripted player sees it: for every place, the cost to the nearest goal.

Costs are int8 arrays over the places; a low one is near or at something worth having.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.armada.actions import (
    ALL_CITIES,
    CENTRAL,
    TERRITORIES,
)
from armarl.armada.chart import CITIES
from armarl.armada.scoring import CITIES_ASKED, in_victory
from armarl.armada.state import (
    ALL_POSTS,
    CENTRE,
    FOUR,
    LAIR,
    LAIR_HELD,
    cities_owned,
    city_place,
    colours_playing,
    enemy_cities_owned,
    is_enemy,
    is_hostile,
    is_unexplored,
    owned_in,
    post_place,
    posts_owned,
    room,
    territories_of,
)
from armarl.armada.style_columns import (
    ABANDONED_GOAL,
    BLOCKED,
    BREAK_GOAL,
    BREAK_POST_GOAL,
    CENTRE_GOAL,
    CITY_GARRISON,
    CITY_GOAL,
    DEFEND_GOAL,
    DISCOVER,
    EMBARK,
    FAR,
    FIGHT,
    FIGHT_BAND,
    GARRISON,
    HOME_GOAL,
    HOME_LATER_GOAL,
    HUNGRY,
    LAND_GOAL,
    MAN_CITY_GOAL,
    MAN_GOAL,
    MAN_VICTORY_GOAL,
    NEARLY_GOAL,
    PARTNER_GOAL,
    PARTNER_POST_GOAL,
    POST_GOAL,
    RETAKE_GOAL,
    STEP,
    Style,
)
from armarl.bits import lowest
from armarl.compiled import inlined, kernel
from armarl.verbs import Int, State

STRANDED = 30  # cost of boarding where no ship is
PATIENCE = 12  # rounds after which garrisons are halved, and fought for at worse odds; and again
CARAVAN = 3  # bands that carry gold home


@kernel
def is_own(s: State, place: Int, colour: Int) -> Int:
    """Whether the colour owns a territory or crews a ship."""
    return s.owner[place] == colour


@kernel
def is_partners(s: State, place: Int, colour: Int) -> Int:
    """Whether the player's other colour holds a place."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and owner != colour and not is_enemy(s, colour, owner)


@kernel
def claimed(s: State, place: Int, colour: Int) -> Int:
    """Whether an enemy who has claimed victory owns a place."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and s.claims[owner] == 1 and is_enemy(s, colour, owner)


@kernel
def set_goals(s: State, style: Style, colour: Int, cost: Any) -> None:
    """The cost of every goal, FAR elsewhere."""
    cost[:] = FAR
    for territory in range(CENTRAL, TERRITORIES):
        if not is_own(s, territory, colour) and not is_partners(s, territory, colour):
            cost[territory] = style[LAND_GOAL]
    _set_home_goals(s, style, colour, cost)
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        cost[place] = min(np.int64(cost[place]), _city_cost(s, style, place, city, colour))
    for post in range(ALL_POSTS):
        place = post_place(s, post)
        cost[place] = post_cost(s, style, place, post, colour)
    for territory in range(TERRITORIES):
        if claimed(s, territory, colour):
            cost[territory] = min(cost[territory], style[BREAK_GOAL])
        if s.reserve[colour] >= style[HUNGRY] and is_abandoned(s, territory):
            cost[territory] = min(cost[territory], style[ABANDONED_GOAL])


@kernel
def _set_home_goals(s: State, style: Style, colour: Int, cost: Any) -> None:
    """What is lost of the own lair, and what stands open there."""
    held = owned_in(territories_of(s, colour), colour) > LAIR_HELD
    lost = style[HOME_LATER_GOAL] if held else style[HOME_GOAL]
    for territory in range(colour * LAIR, (colour + 1) * LAIR):
        if is_own(s, territory, colour):
            if style[DEFEND_GOAL] < FAR and stands_open(s, territory, colour):
                cost[territory] = style[DEFEND_GOAL]
        elif not is_partners(s, territory, colour):
            cost[territory] = lost


@kernel
def _city_cost(s: State, style: Style, place: Int, city: Int, colour: Int) -> Int:
    """How near the goal a city is: to be taken, to be manned, or to be freed."""
    lair, owner = city // CITIES, np.int64(s.owner[place])
    if owner == colour:
        open_there = lair != colour and s.bands[place] < style[CITY_GARRISON]
        return style[MAN_CITY_GOAL] if open_there else FAR
    if is_partners(s, place, colour):
        return FAR
    if lair == colour:
        cost = style[RETAKE_GOAL]
    else:
        cost = style[CITY_GOAL if is_enemy(s, colour, lair) else PARTNER_GOAL]
    if style[NEARLY_GOAL] < cost and _nearly_wins(s, owner, lair):
        return style[NEARLY_GOAL]
    return cost


@kernel
def _nearly_wins(s: State, owner: Int, lair: Int) -> Int:
    """Whether a city of a lair is one of three or more with which its owner may win."""
    if not 0 <= owner < FOUR or not is_enemy(s, owner, lair):
        return False
    return enemy_cities_owned(s, territories_of(s, owner), owner) >= CITIES_ASKED - 1


@kernel
def post_cost(s: State, style: Style, place: Int, post: Int, colour: Int) -> Int:
    """How near the goal a post is: to be taken, to be manned, or done with."""
    if is_own(s, place, colour):
        if s.bands[place] >= garrison_of(s, style) or gives_way(s, colour):
            return FAR
        return style[MAN_VICTORY_GOAL] if in_victory(s, colour) else style[MAN_GOAL]
    if is_partners(s, place, colour):
        ours = s.owner[post_place(s, CENTRE)] == colour
        return style[PARTNER_POST_GOAL] if ours else FAR
    if claimed(s, place, colour):
        return style[BREAK_POST_GOAL]
    return style[CENTRE_GOAL] if post == CENTRE else style[POST_GOAL]


@kernel
def impatience(s: State) -> Int:
    """How many times patience has run out: the few bands that are left would guard for ever."""
    return max(np.int64(s.turn), 0) // (PATIENCE * colours_playing(s))


@kernel
def garrison_of(s: State, style: Style) -> Int:
    """Bands that hold a post."""
    return style[GARRISON] >> min(impatience(s), 8)


@kernel
def is_abandoned(s: State, territory: Int) -> Int:
    """Whether gold worth a voyage lies in a territory, with neither bands nor tribes."""
    return s.gold[territory] >= 2 and s.bands[territory] == 0 and s.tribes[territory] == 0


@kernel
def gives_way(s: State, colour: Int) -> Int:
    """Whether the posts are for the player's other colour, which has the Centre."""
    return is_partners(s, post_place(s, CENTRE), colour)


@kernel
def set_markets(s: State, colour: Int, home: Int) -> None:
    """Cost 0 where a colour may convert gold into bands (ADA-25), FAR elsewhere."""
    home[:] = FAR
    owned = territories_of(s, colour)
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        if is_own(s, place, colour) and cities_owned(s, owned, city // CITIES) >= 2:
            home[place] = 0
    for post in range(ALL_POSTS):
        if is_own(s, post_place(s, post), colour) and posts_owned(s, owned) >= 3:
            home[post_place(s, post)] = 0


@kernel
def owns_gold(s: State, colour: Int) -> Int:
    """Whether any gold lies with a colour, so that a way home is asked for at all."""
    for place in range(s.places):  # noqa: SIM110 - Numba
        if s.gold[place] > 0 and is_own(s, place, colour):
            return True
    return False


@kernel
def set_landings(s: State, colour: Int, cost: Any, ferry: Int) -> Int:
    """Cost 0 where bands wait on a coast for a ship, FAR elsewhere; whether any do."""
    ferry[:] = FAR
    any_wait = False
    for shore in range(TERRITORIES):
        waits = is_own(s, shore, colour) and s.bands[shore] >= CARAVAN and cost[shore] >= STRANDED
        if waits and not ship_beside(s, shore, colour):
            for border in range(s.sea_borders[shore], s.sea_borders[shore + 1]):
                ferry[s.border_to[border]] = 0
                any_wait = True
    return any_wait


@kernel
def is_ferry(s: State, place: Int, ferry: Int) -> Int:
    """Whether a ship with next to no crew should fetch bands."""
    return place >= TERRITORIES and s.bands[place] <= 2 and ferry[place] < FAR


@kernel
def is_treasure(s: State, style: Style, place: Int, colour: Int, home: Int) -> Int:
    """Whether what lies in a place should go where it becomes bands, with few bands."""
    if s.reserve[colour] < style[HUNGRY] or s.gold[place] < 2 or home[place] == 0:
        return False
    return s.bands[place] <= CARAVAN or place < TERRITORIES


@kernel
def spread_costs(s: State, tolls: Int, cost: Any) -> None:
    """Costs of all other places: of the cheapest way to a goal (Moore, 1959).

    The places from which a cheaper way may lead on are a set, in two words.
    """
    low: Int = np.int64(0)
    high: Int = np.int64(0)
    for place in range(s.places):
        if cost[place] < FAR:
            low, high = _with(low, high, place)
    while low | high:
        place = lowest(low) if low else 64 + lowest(high)
        if low:
            low &= low - 1
        else:
            high &= high - 1
        for border in range(s.land_borders[place], s.land_borders[place + 1]):
            if _cheapen(s, tolls, cost, border):
                low, high = _with(low, high, np.int64(s.border_to[border]))
        for border in range(s.sea_borders[place], s.sea_borders[place + 1]):
            if _cheapen(s, tolls, cost, border):
                low, high = _with(low, high, np.int64(s.border_to[border]))


@inlined
def _with(low: Int, high: Int, place: Int) -> tuple[Int, Int]:
    """A set of places in two words, and one more."""
    if place < 64:
        return low | (np.int64(1) << place), high
    return low, high | (np.int64(1) << (place - 64))


@inlined
def _cheapen(s: State, tolls: Int, cost: Any, border: Int) -> Int:
    """Go over a border, if that is cheaper than what is known; returns whether it is."""
    through = np.int64(cost[s.border_from[border]]) + tolls[border]
    if through >= cost[s.border_to[border]]:
        return False
    cost[s.border_to[border]] = through
    return True


@kernel
def set_tolls(s: State, style: Style, colour: Int, tolls: Int) -> None:
    """For every border the cost of coming over it, to the place that it goes *from*.

    All that come to a place pay for who is there; from land a ship has to be boarded, too.
    """
    for to in range(s.places):
        by_land = by_sea = entry_toll(s, style, to, colour)
        if to >= TERRITORIES:
            boarding = s.ship[to] == 1 or may_be_launched_to(s, to, colour)
            by_land += style[EMBARK] if boarding else STRANDED
            by_sea += style[BLOCKED] if s.ship[to] == 1 else 0
        tolls[s.land_borders[to] : s.land_borders[to + 1]] = min(by_land, FAR)
        tolls[s.sea_borders[to] : s.sea_borders[to + 1]] = min(by_sea, FAR)


@kernel
def entry_toll(s: State, style: Style, to: Int, colour: Int) -> Int:
    """The cost of going to a place: more where somebody has to be fought."""
    if is_partners(s, to, colour) and s.bands[to] > 0:
        return FAR
    if is_unexplored(s, to):
        return style[STEP] + style[DISCOVER]
    if is_hostile(s, to, colour):
        fight = style[FIGHT] + defenders_of(s, to) * style[FIGHT_BAND] // 4
        return style[STEP] + fight
    return style[STEP]


@kernel
def may_be_launched_to(s: State, square: Int, colour: Int) -> Int:
    """Whether an own ship stands on a city next to a square."""
    for border in range(s.land_borders[square], s.land_borders[square + 1]):
        shore = np.int64(s.border_to[border])
        if s.ship[shore] == 1 and is_own(s, shore, colour):
            return True
    return False


@kernel
def defenders_of(s: State, place: Int) -> Int:
    """Bands or tribes in a place."""
    tribes = np.int64(s.tribes[place]) if place < TERRITORIES else np.int64(0)
    return np.int64(s.bands[place]) + tribes


@kernel
def ship_beside(s: State, shore: Int, colour: Int) -> Int:
    """Whether bands on a coast can board a ship already."""
    for border in range(s.sea_borders[shore], s.sea_borders[shore + 1]):
        square = np.int64(s.border_to[border])
        others = s.bands[square] > 0 and s.owner[square] != colour
        if s.ship[square] == 1 and not others and room(s, square) > 2:
            return True
    return False


@kernel
def stands_open(s: State, territory: Int, colour: Int) -> Int:
    """Whether no bands are in a territory, and an enemy's next to it."""
    if s.bands[territory] > 0:
        return False
    for border in range(s.land_borders[territory], s.land_borders[territory + 1]):
        if _threatens(s, np.int64(s.border_to[border]), colour):
            return True
    for border in range(s.sea_borders[territory], s.sea_borders[territory + 1]):
        if _threatens(s, np.int64(s.border_to[border]), colour):
            return True
    return False


@kernel
def _threatens(s: State, place: Int, colour: Int) -> Int:
    """Whether a place holds an enemy's bands."""
    owner = np.int64(s.owner[place])
    return s.bands[place] > 0 and 0 <= owner < FOUR and is_enemy(s, colour, owner)
