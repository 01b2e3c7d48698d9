"""The map as Armada's scripted player sees it: for every place, the cost to the nearest goal.

Costs are int8 arrays over the places; a low one is near or at something worth having.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import lowest
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import ALL_CITIES, CENTRAL, TERRITORIES
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.rules.scoring import CITIES_ASKED, in_victory
from armarl.games.armada.state import (
    ALL_POSTS,
    CENTRE,
    FOUR,
    LAIR,
    LAIR_HELD,
    SETS,
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
from armarl.games.armada.style_columns import (
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

STRANDED = 30  # cost of boarding where no ship is
PATIENCE = 12  # rounds after which garrisons are halved, and fought for at worse odds; and again
CARAVAN = 3  # bands that carry gold home
assert SETS > FAR  # there is a set for every cost


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
def set_markets(s: State, colour: Int, home: Any) -> None:
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
def set_landings(s: State, colour: Int, cost: Any, ferry: Any) -> Int:
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
def is_ferry(s: State, place: Int, ferry: Any) -> Int:
    """Whether a ship with next to no crew should fetch bands."""
    return place >= TERRITORIES and s.bands[place] <= 2 and ferry[place] < FAR


@kernel
def is_treasure(s: State, style: Style, place: Int, colour: Int, home: Any) -> Int:
    """Whether what lies in a place should go where it becomes bands, with few bands."""
    if s.reserve[colour] < style[HUNGRY] or s.gold[place] < 2 or home[place] == 0:
        return False
    return s.bands[place] <= CARAVAN or place < TERRITORIES


@kernel
def spread_costs(s: State, by_land: Any, by_sea: Any, cost: Any, land: Any, sea: Any) -> None:
    """Costs of all other places: of the cheapest way to a goal (Dijkstra, 1959; Dial, 1969).

    Args:
        land, sea: scratch, int64 (more than FAR,): the territories, and the squares, to which a
            way of each cost leads, as sets. The first such cost of a place is its own.
    """
    land[:] = 0
    sea[:] = 0
    for place in range(TERRITORIES):
        land[np.uint8(cost[place])] |= np.int64(1) << place
    for place in range(TERRITORIES, s.places):
        sea[np.uint8(cost[place])] |= np.int64(1) << (place - TERRITORIES)
    known_land, known_sea = np.int64(0), np.int64(0)
    for now in range(FAR):
        new_land, new_sea = land[now] & ~known_land, sea[now] & ~known_sea
        while new_land | new_sea:
            known_land |= new_land
            known_sea |= new_sea
            while new_land | new_sea:
                if new_land:
                    place = lowest(new_land)
                    new_land &= new_land - 1
                else:
                    place = TERRITORIES + lowest(new_sea)
                    new_sea &= new_sea - 1
                cost[place] = now
                land[min(now + np.int64(by_land[place]), FAR)] |= s.land_near[place]
                sea[min(now + np.int64(by_sea[place]), FAR)] |= s.sea_near[place]
            # Where a step costs nothing there are more.
            new_land, new_sea = land[now] & ~known_land, sea[now] & ~known_sea


@kernel
def set_tolls(s: State, style: Style, colour: Int, by_land: Any, by_sea: Any) -> None:
    """For every place the costs of coming to it, from land and from sea.

    All pay for who is there; from land a ship has to be boarded, too.
    """
    for to in range(s.places):
        land = sea = entry_toll(s, style, to, colour)
        if to >= TERRITORIES:
            land += style[EMBARK] if s.ship[to] == 1 else STRANDED
            sea += style[BLOCKED] if s.ship[to] == 1 else 0
        by_land[to], by_sea[to] = min(land, FAR), min(sea, FAR)
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        if s.ship[place] == 1 and is_own(s, place, colour):
            _set_tolls_of_launching(s, style, place, by_land, by_sea)


@kernel
def _set_tolls_of_launching(s: State, style: Style, city: Int, by_land: Any, by_sea: Any) -> None:
    """A ship on a city may be launched, and boarded then."""
    for border in range(s.sea_borders[city], s.sea_borders[city + 1]):
        square = np.int64(s.border_to[border])
        if s.ship[square] == 0:
            by_land[square] = min(by_sea[square] + style[EMBARK], FAR)


@inlined
def entry_toll(s: State, style: Style, to: Int, colour: Int) -> Int:
    """The cost of going to a place: more where somebody has to be fought."""
    if s.bands[to] > 0 and is_partners(s, to, colour):
        return FAR
    if is_unexplored(s, to):
        return style[STEP] + style[DISCOVER]
    if is_hostile(s, to, colour):
        fight = style[FIGHT] + defenders_of(s, to) * style[FIGHT_BAND] // 4
        return style[STEP] + fight
    return style[STEP]


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
