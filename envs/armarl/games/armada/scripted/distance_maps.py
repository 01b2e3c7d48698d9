"""The map of Armada's scripted player: the cost from every place to the nearest goal.

Costs are int8 arrays with an entry per place. A place with a low cost is a valuable goal or is
near one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import lowest
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.record_types import record_type
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import ALL_CITIES, CENTRAL, TERRITORIES
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.rules.legal_orders import ALL_LAND
from armarl.games.armada.rules.scoring import CITIES_ASKED, in_victory
from armarl.games.armada.state import (
    ALL_POSTS,
    CENTRE,
    FOUR,
    LAIR,
    LAIR_HELD,
    NO_CLAIM,
    NOBODY,
    PLACE_ROOM,
    cities_owned,
    city_place,
    colours_playing,
    enemy_cities_owned,
    has_ship,
    is_enemy,
    is_hostile,
    is_unexplored,
    owned_in,
    post_place,
    posts_owned,
    room,
    territories_of,
    tribes_on,
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

STRANDED = 30  # additional cost of a step from land to a square without a ship
PATIENCE = 12  # after every 12 rounds, garrisons are halved and worse odds are accepted
# A ship with at most this many bands may carry gold home. On a coast, at least this many bands wait
# for a ship.
CARAVAN = 3

# The fields are sorted by width, the widest first, so that the record has no gaps.
SCRATCH = record_type(
    [
        # For each cost, the set of territories and the set of squares with a path of that cost.
        ("land", np.int64, FAR + 1),
        ("sea", np.int64, FAR + 1),
        # For each place: the costs of the paths to a goal, to a place where gold can be converted,
        # and to waiting bands.
        ("cost", np.int8, PLACE_ROOM),
        ("home", np.int8, PLACE_ROOM),
        ("ferry", np.int8, PLACE_ROOM),
        # For each place: the costs of entering the place from land, and from sea.
        ("by_land", np.int8, PLACE_ROOM),
        ("by_sea", np.int8, PLACE_ROOM),
    ],
    needed=(),
)
"""The scratch record of the scripted player."""


@kernel
def is_own(s: State, place: Int, colour: Int) -> Int:
    """Return whether a place is a territory that the colour owns or a ship that it crews."""
    return s.owner[place] == colour


@kernel
def is_partners(s: State, place: Int, colour: Int) -> Int:
    """Return whether a place is a territory or ship of the player's other colour."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and owner != colour and not is_enemy(s, colour, owner)


@kernel
def claimed(s: State, place: Int, colour: Int) -> Int:
    """Return whether an enemy that has claimed victory owns a place."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and s.claims[owner] != NO_CLAIM and is_enemy(s, colour, owner)


@kernel
def enemies_claim(s: State, colour: Int) -> Int:
    """Return whether any enemy of a colour has claimed victory."""
    for other in range(FOUR):  # noqa: SIM110 - Numba
        if s.claims[other] != NO_CLAIM and is_enemy(s, colour, other):
            return True
    return False


@kernel
def set_goals(s: State, style: Style, colour: Int, cost: Any, fixed: State) -> None:
    """Write the cost of each goal to `cost`, and FAR at all other places."""
    cost[:] = FAR
    for territory in range(CENTRAL, TERRITORIES):
        if not is_own(s, territory, colour) and not is_partners(s, territory, colour):
            cost[territory] = style[LAND_GOAL]
    _set_home_goals(s, style, colour, cost, fixed)
    for city in range(ALL_CITIES):
        place = city_place(city, fixed)
        cost[place] = min(np.int64(cost[place]), _city_cost(s, style, place, city, colour, fixed))
    for post in range(ALL_POSTS):
        place = post_place(post, fixed)
        cost[place] = post_cost(s, style, place, post, colour, fixed)
    hungry = s.reserve[colour] >= style[HUNGRY]
    if not hungry and not enemies_claim(s, colour):
        return
    for territory in range(TERRITORIES):
        if claimed(s, territory, colour):
            cost[territory] = min(cost[territory], style[BREAK_GOAL])
        if hungry and is_abandoned(s, territory):
            cost[territory] = min(cost[territory], style[ABANDONED_GOAL])


@kernel
def _set_home_goals(s: State, style: Style, colour: Int, cost: Any, fixed: State) -> None:
    """Write the costs of the lost and of the undefended territories in the colour's own lair."""
    held = owned_in(territories_of(s, colour), colour) > LAIR_HELD
    lost = style[HOME_LATER_GOAL] if held else style[HOME_GOAL]
    for territory in range(colour * LAIR, (colour + 1) * LAIR):
        if is_own(s, territory, colour):
            if style[DEFEND_GOAL] < FAR and stands_open(s, territory, colour, fixed):
                cost[territory] = style[DEFEND_GOAL]
        elif not is_partners(s, territory, colour):
            cost[territory] = lost


@kernel
def _city_cost(s: State, style: Style, place: Int, city: Int, colour: Int, fixed: State) -> Int:
    """Return the goal cost of a city that should be taken, retaken or manned, else FAR."""
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
    if style[NEARLY_GOAL] < cost and _nearly_wins(s, owner, lair, fixed):
        return style[NEARLY_GOAL]
    return cost


@kernel
def _nearly_wins(s: State, owner: Int, lair: Int, fixed: State) -> Int:
    """ADA-27: return whether a city of `lair` counts for its owner, which needs at most one more.

    A city counts if its lair is an enemy's.
    """
    if not 0 <= owner < FOUR or not is_enemy(s, owner, lair):
        return False
    return enemy_cities_owned(s, territories_of(s, owner), owner, fixed) >= CITIES_ASKED - 1


@kernel
def post_cost(s: State, style: Style, place: Int, post: Int, colour: Int, fixed: State) -> Int:
    """Return the goal cost of a post that should be taken or manned, else FAR."""
    if is_own(s, place, colour):
        if s.bands[place] >= garrison_of(s, style) or gives_way(s, colour, fixed):
            return FAR
        return style[MAN_VICTORY_GOAL] if in_victory(s, colour, fixed) else style[MAN_GOAL]
    if is_partners(s, place, colour):
        ours = s.owner[post_place(CENTRE, fixed)] == colour
        return style[PARTNER_POST_GOAL] if ours else FAR
    if claimed(s, place, colour):
        return style[BREAK_POST_GOAL]
    return style[CENTRE_GOAL] if post == CENTRE else style[POST_GOAL]


@kernel
def impatience(s: State) -> Int:
    """Return how many times PATIENCE rounds have passed.

    Garrisons shrink with this number, so that the last bands do not guard posts forever.
    """
    return max(np.int64(s.turn), 0) // (PATIENCE * colours_playing(s))


@kernel
def garrison_of(s: State, style: Style) -> Int:
    """Return the number of bands that the style keeps on a post to hold it."""
    return style[GARRISON] >> min(impatience(s), 8)


@kernel
def is_abandoned(s: State, territory: Int) -> Int:
    """Return whether a territory has gold worth a voyage, and neither bands nor tribes."""
    return s.gold[territory] >= 2 and s.bands[territory] == 0 and tribes_on(s, territory) == 0


@kernel
def gives_way(s: State, colour: Int, fixed: State) -> Int:
    """Return whether the player's other colour has the Centre, so that posts are left to it."""
    return is_partners(s, post_place(CENTRE, fixed), colour)


@kernel
def set_markets(s: State, colour: Int, home: Any, fixed: State) -> None:
    """Write cost 0 where a colour may convert gold into bands (ADA-25), and FAR elsewhere."""
    home[:] = FAR
    owned = territories_of(s, colour)
    for city in range(ALL_CITIES):
        place = city_place(city, fixed)
        if is_own(s, place, colour) and cities_owned(owned, city // CITIES, fixed) >= 2:
            home[place] = 0
    for post in range(ALL_POSTS):
        if is_own(s, post_place(post, fixed), colour) and posts_owned(owned, fixed) >= 3:
            home[post_place(post, fixed)] = 0


@kernel
def set_landings(s: State, colour: Int, cost: Any, ferry: Any, fixed: State) -> Int:
    """Set `ferry` to 0 where a ship can fetch waiting bands, else to FAR.

    Return whether any bands are waiting.
    """
    ferry[:] = FAR
    waiting: Int = 0
    for shore in range(TERRITORIES):  # LLVM vectorises this loop
        waits = (s.owner[shore] == colour) & (s.bands[shore] >= CARAVAN) & (cost[shore] >= STRANDED)
        waiting |= np.int64(waits) << shore
    any_wait = False
    while waiting:
        shore = lowest(waiting)
        waiting &= waiting - 1
        if not ship_beside(s, shore, colour, fixed):
            for border in range(fixed.sea_borders[shore], fixed.sea_borders[shore + 1]):
                ferry[fixed.border_to[border]] = 0
                any_wait = True
    return any_wait


@kernel
def is_ferry(s: State, place: Int, ferry: Any) -> Int:
    """Return whether a ship with almost no crew should fetch bands."""
    return place >= TERRITORIES and s.bands[place] <= 2 and ferry[place] < FAR


@kernel
def is_treasure(s: State, style: Style, place: Int, colour: Int, home: Any) -> Int:
    """Return whether a few bands should carry a place's gold to a place that converts gold."""
    if s.reserve[colour] < style[HUNGRY] or s.gold[place] < 2 or home[place] == 0:
        return False
    return s.bands[place] <= CARAVAN or place < TERRITORIES


@inlined
def _below_far(cost: Any, first: Int) -> Int:
    """Return the set of places with a cost below FAR, among the 64 places from `first` on."""
    found: Int = 0
    for i in range(64):  # LLVM vectorises this loop
        found |= np.int64(cost[first + i] < FAR) << i
    return found


@kernel
def spread_costs(
    s: State, by_land: Any, by_sea: Any, cost: Any, land: Any, sea: Any, fixed: State
) -> None:
    """Write the cost of every place: the cost of its cheapest path to a goal.

    This is Dijkstra's algorithm with buckets (Dijkstra, 1959; Dial, 1969).

    Args:
        by_land: cost of entering each place from land.
        by_sea: cost of entering each place from sea.
        cost: costs of the goals, FAR elsewhere. The result is written here.
        land: scratch space, int64, shape (more than FAR,): for each cost, the set of territories
            with a path of that cost. The cost of a place is the lowest cost whose set contains it.
        sea: scratch space like `land`, for squares.
    """
    land[:] = 0
    sea[:] = 0
    goals = _below_far(cost, 0) & ALL_LAND
    while goals:
        place = lowest(goals)
        goals &= goals - 1
        land[np.uint8(cost[place])] |= np.int64(1) << place
    goals = _below_far(cost, TERRITORIES)
    while goals:
        place = lowest(goals)
        goals &= goals - 1
        sea[np.uint8(cost[TERRITORIES + place])] |= np.int64(1) << place
    known_land, known_sea, left = np.int64(0), np.int64(0), np.int64(s.places)
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
                left -= 1
                cost[place] = now
                land[min(now + np.int64(by_land[place]), FAR)] |= fixed.land_near[place]
                sea[min(now + np.int64(by_sea[place]), FAR)] |= fixed.sea_near[place]
            if left == 0:
                return
            # Places that are one step of cost 0 away also have the cost `now`.
            new_land, new_sea = land[now] & ~known_land, sea[now] & ~known_sea


@kernel
def set_tolls(s: State, style: Style, colour: Int, by_land: Any, by_sea: Any, fixed: State) -> None:
    """Write, for every place, the costs of entering it from land and from sea.

    Both costs include the fight against defenders. The cost from land includes boarding a ship.
    """
    # Most territories are explored and have no defenders, and most squares have no ship.
    by_land[:TERRITORIES] = style[STEP]
    by_land[TERRITORIES:] = min(style[STEP] + STRANDED, FAR)
    by_sea[:] = style[STEP]
    slow = _slow_territories(s, colour)
    while slow:
        to = lowest(slow)
        slow &= slow - 1
        by_land[to] = by_sea[to] = min(entry_toll(s, style, to, colour), FAR)
    ships = np.int64(s.ships[1])
    while ships:
        to = TERRITORIES + lowest(ships)
        ships &= ships - 1
        toll = entry_toll(s, style, to, colour)
        by_land[to], by_sea[to] = min(toll + style[EMBARK], FAR), min(toll + style[BLOCKED], FAR)
    for city in range(ALL_CITIES):
        place = city_place(city, fixed)
        if has_ship(s, place) and is_own(s, place, colour):
            _set_tolls_of_launching(s, style, place, by_land, by_sea, fixed)


@inlined
def _slow_territories(s: State, colour: Int) -> Int:
    """Return the set of territories that may cost more than STEP to enter.

    They are unexplored, or have tribes or bands of another colour.
    """
    slow: Int = 0
    for to in range(TERRITORIES):  # LLVM vectorises these loops
        slow |= np.int64((s.bands[to] > 0) & (s.owner[to] != colour)) << to
    for to in range(CENTRAL, TERRITORIES):
        slow |= np.int64((s.owner[to] == NOBODY) | (s.tribes[to - CENTRAL] > 0)) << to
    return slow


@kernel
def _set_tolls_of_launching(
    s: State, style: Style, city: Int, by_land: Any, by_sea: Any, fixed: State
) -> None:
    """Lower the costs of squares where a city's ship can be boarded after it is launched."""
    for border in range(fixed.sea_borders[city], fixed.sea_borders[city + 1]):
        square = np.int64(fixed.border_to[border])
        if not has_ship(s, square):
            by_land[square] = min(by_sea[square] + style[EMBARK], FAR)


@inlined
def entry_toll(s: State, style: Style, to: Int, colour: Int) -> Int:
    """Return the cost of entering a place. The cost is higher if there are defenders to fight."""
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
    """Return the number of bands or tribes in a place."""
    return np.int64(s.bands[place]) + tribes_on(s, place)


@kernel
def ship_beside(s: State, shore: Int, colour: Int, fixed: State) -> Int:
    """Return whether bands on a coast can already board a ship."""
    for border in range(fixed.sea_borders[shore], fixed.sea_borders[shore + 1]):
        square = np.int64(fixed.border_to[border])
        others = s.bands[square] > 0 and s.owner[square] != colour
        if has_ship(s, square) and not others and room(s, square) > 2:
            return True
    return False


@kernel
def stands_open(s: State, territory: Int, colour: Int, fixed: State) -> Int:
    """Return whether a territory has no bands and an enemy's bands are next to it."""
    if s.bands[territory] > 0:
        return False
    for border in range(fixed.land_borders[territory], fixed.land_borders[territory + 1]):
        if _threatens(s, np.int64(fixed.border_to[border]), colour):
            return True
    for border in range(fixed.sea_borders[territory], fixed.sea_borders[territory + 1]):
        if _threatens(s, np.int64(fixed.border_to[border]), colour):
            return True
    return False


@kernel
def _threatens(s: State, place: Int, colour: Int) -> Int:
    """Return whether a place has an enemy's bands."""
    owner = np.int64(s.owner[place])
    return s.bands[place] > 0 and 0 <= owner < FOUR and is_enemy(s, colour, owner)
