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
from armarl.armada.scoring import in_victory
from armarl.armada.state import (
    ALL_POSTS,
    CENTRE,
    FOUR,
    LAIR_HELD,
    cities_owned,
    city_place,
    colours_playing,
    is_enemy,
    is_hostile,
    is_unexplored,
    owned_in,
    post_place,
    posts_owned,
    room,
    territories_of,
)
from armarl.armada.styles import (
    CENTRE_GOAL,
    CITY_GOAL,
    GARRISON,
    HUNGRY,
    LAND_GOAL,
    POST_GOAL,
    STYLES,
)
from armarl.bits import lowest
from armarl.compiled import inlined, kernel
from armarl.verbs import Int, State

FAR = 120  # cost of a place from which no goal can be reached
STEP, EMBARK, DISCOVER = 2, 4, 2  # costs of a border, of boarding a ship, of exploring first
BLOCKED, STRANDED = 3, 30  # of sailing where a ship is, of boarding where none is
PATIENCE = 12  # rounds after which garrisons are halved, and fought for at worse odds; and again
ABANDONED = 10  # cost of gold that lies without bands, to who needs it
CARAVAN = 3  # bands that carry it


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
def set_goals(s: State, style: Int, colour: Int, cost: Any) -> None:
    """The cost of every goal, FAR elsewhere."""
    cost[:] = FAR
    for territory in range(CENTRAL, TERRITORIES):
        if not is_own(s, territory, colour) and not is_partners(s, territory, colour):
            cost[territory] = STYLES[style, LAND_GOAL]
    short_of_lair = owned_in(territories_of(s, colour), colour) <= LAIR_HELD
    for territory in range(colour * (CENTRAL // FOUR), (colour + 1) * (CENTRAL // FOUR)):
        if not is_own(s, territory, colour) and not is_partners(s, territory, colour):
            cost[territory] = 4 if short_of_lair else 14
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        if is_enemy(s, colour, city // CITIES) and not is_own(s, place, colour):
            partners = is_partners(s, place, colour)
            cost[place] = STYLES[style, CITY_GOAL] if not partners else FAR
    for post in range(ALL_POSTS):
        place = post_place(s, post)
        cost[place] = post_cost(s, style, place, post, colour)
    for territory in range(TERRITORIES):
        if claimed(s, territory, colour):
            cost[territory] = min(cost[territory], 6)
        if s.reserve[colour] >= STYLES[style, HUNGRY] and is_abandoned(s, territory):
            cost[territory] = min(cost[territory], ABANDONED)


@kernel
def post_cost(s: State, style: Int, place: Int, post: Int, colour: Int) -> Int:
    """How near the goal a post is: to be taken, to be manned, or done with."""
    if is_own(s, place, colour):
        if s.bands[place] >= garrison_of(s, style) or gives_way(s, colour):
            return FAR
        return 3 if in_victory(s, colour) else 10
    if is_partners(s, place, colour):
        return 4 if s.owner[post_place(s, CENTRE)] == colour else FAR
    if claimed(s, place, colour):
        return 0
    return STYLES[style, CENTRE_GOAL] if post == CENTRE else STYLES[style, POST_GOAL]


@kernel
def impatience(s: State) -> Int:
    """How many times patience has run out: the few bands that are left would guard for ever."""
    return max(np.int64(s.turn), 0) // (PATIENCE * colours_playing(s))


@kernel
def garrison_of(s: State, style: Int) -> Int:
    """Bands that hold a post."""
    return STYLES[style, GARRISON] >> min(impatience(s), 8)


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
def is_treasure(s: State, style: Int, place: Int, colour: Int, home: Int) -> Int:
    """Whether what lies in a place should go where it becomes bands, with few bands."""
    if s.reserve[colour] < STYLES[style, HUNGRY] or s.gold[place] < 2 or home[place] == 0:
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
def set_tolls(s: State, colour: Int, tolls: Int) -> None:
    """For every border the cost of coming over it, to the place that it goes *from*.

    All that come to a place pay for who is there; from land a ship has to be boarded, too.
    """
    for to in range(s.places):
        by_land = by_sea = entry_toll(s, to, colour)
        if to >= TERRITORIES:
            boarding = s.ship[to] == 1 or may_be_launched_to(s, to, colour)
            by_land += EMBARK if boarding else STRANDED
            by_sea += BLOCKED if s.ship[to] == 1 else 0
        tolls[s.land_borders[to] : s.land_borders[to + 1]] = min(by_land, FAR)
        tolls[s.sea_borders[to] : s.sea_borders[to + 1]] = min(by_sea, FAR)


@kernel
def entry_toll(s: State, to: Int, colour: Int) -> Int:
    """The cost of going to a place: more where somebody has to be fought."""
    if is_partners(s, to, colour) and s.bands[to] > 0:
        return FAR
    if is_unexplored(s, to):
        return STEP + DISCOVER
    if is_hostile(s, to, colour):
        return STEP + 2 + defenders_of(s, to)
    return STEP


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
