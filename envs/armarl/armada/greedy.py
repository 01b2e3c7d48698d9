"""A scripted player of Armada: one look at the map, then the order that brings most, coup by coup.

It sees the map as *ways*: for every place a cost to the nearest goal of its colour, a low number
being near or at something worth having. Goals are what ADA-27 asks for (posts, the Centre first,
enemy cities, the lair), what breaks another's claim, and own posts that stand open. Bands flow down
the costs; what they take, explore or fight on the way has its own worth. The player is a function
of what its seat may know: it reads no hidden card and rolls no die.
"""

from __future__ import annotations

import numpy as np

from armarl.armada.actions import (
    ALL_CITIES,
    ANSWER,
    ATTACK,
    BUY,
    CENTRAL,
    CONVERT,
    COUNT,
    DECLINE,
    DISCOVERY,
    ENROL,
    EXPLORE,
    GOLD,
    GOLD_MINE,
    LAUNCH,
    LEVY,
    LOOK,
    MOVE,
    MUTINY,
    PAY,
    PEEK,
    PLAY,
    RISE,
    SAIL,
    SCUTTLE,
    SHIP,
    SHIPYARD,
    TERRITORIES,
)
from armarl.armada.chart import CITIES
from armarl.armada.offers import PLAIN_KINDS, legal, most_bands
from armarl.armada.orders import city_of_launch
from armarl.armada.rules import family_of
from armarl.armada.state import (
    ALL_POSTS,
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    BIG_NATIVES_CARD,
    CENTRE,
    FOUR,
    LAIR_HELD,
    MORE_COUPS_CARD,
    NATIVES_CARD,
    NOBODY,
    STRATEGIST_CARD,
    TRIBES,
    acting_colour,
    cities_owned,
    city_place,
    in_victory,
    is_enemy,
    is_hostile,
    is_unexplored,
    lair_of,
    owned_in,
    post_place,
    posts_owned,
    room,
)
from armarl.compiled import kernel

FAR = 120  # cost of a place from which no goal can be reached
STEP, EMBARK, DISCOVER = 2, 4, 2  # costs of a border, of boarding a ship, of exploring first
BLOCKED, STRANDED = 3, 30  # of sailing where a ship is, of boarding where none is
SHIPLOAD = 10
GARRISON = 3  # bands that hold a post
HUNGRY = 25  # bands in the reserve with which gold is worth carrying home
CARAVAN = 3  # bands that carry it


@kernel
def greedy(s, draw, mask, scratch):
    """The action chosen by the player to move in a state concealed for him; `draw` breaks ties."""
    legal(s, mask)
    # int8 per place; the scratch state is used for nothing else
    cost, home, ferry = scratch[0].gold, scratch[0].bands, scratch[0].ship
    colour = acting_colour(s)
    _set_goals(s, colour, cost)
    _spread_costs(s, colour, cost)
    _set_markets(s, colour, home)
    if s.reserve[colour] >= HUNGRY:
        _spread_costs(s, colour, home)
    if _set_landings(s, colour, cost, ferry):
        _spread_costs(s, colour, ferry)
    salt = np.int64(draw * 1048576)
    best, chosen = np.int64(-(1 << 40)), np.int64(0)
    for action in range(mask.size):
        if mask[action]:
            worth = _worth(s, colour, cost, home, ferry, np.int64(action))
            worth = worth * 1024 + ((action * 40503 + salt * 30011) >> 3) % 1024
            if worth > best:
                best, chosen = worth, np.int64(action)
    return chosen


# --- goals ---------------------------------------------------------------------------------------


@kernel
def _is_own(s, place, colour):
    return s.owner[place] == colour


@kernel
def _is_partners(s, place, colour):
    """Whether the player's other colour holds a place."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and owner != colour and not is_enemy(s, colour, owner)


@kernel
def _claimed(s, place, colour):
    """Whether an enemy who has claimed victory owns a place."""
    owner = np.int64(s.owner[place])
    return 0 <= owner < FOUR and s.claims[owner] == 1 and is_enemy(s, colour, owner)


@kernel
def _set_goals(s, colour, cost):
    """The cost of every goal, FAR elsewhere."""
    cost[:] = FAR
    for territory in range(CENTRAL, TERRITORIES):
        if not _is_own(s, territory, colour) and not _is_partners(s, territory, colour):
            cost[territory] = 24
    short_of_lair = owned_in(s, colour, colour) <= LAIR_HELD
    for territory in range(colour * (CENTRAL // FOUR), (colour + 1) * (CENTRAL // FOUR)):
        if not _is_own(s, territory, colour) and not _is_partners(s, territory, colour):
            cost[territory] = 4 if short_of_lair else 14
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        if is_enemy(s, colour, city // CITIES) and not _is_own(s, place, colour):
            cost[place] = 20 if not _is_partners(s, place, colour) else FAR
    for post in range(ALL_POSTS):
        place = post_place(s, post)
        cost[place] = _post_cost(s, place, post, colour)
    for territory in range(TERRITORIES):
        if _claimed(s, territory, colour):
            cost[territory] = min(cost[territory], 6)


@kernel
def _post_cost(s, place, post, colour):
    """How near the goal a post is: to be taken, to be manned, or done with."""
    if _is_own(s, place, colour):
        if s.bands[place] >= GARRISON or _gives_way(s, colour):
            return FAR
        return 3 if in_victory(s, colour) else 10
    if _is_partners(s, place, colour):
        return 4 if s.owner[post_place(s, CENTRE)] == colour else FAR
    if _claimed(s, place, colour):
        return 0
    return 0 if post == CENTRE else 4


@kernel
def _gives_way(s, colour):
    """Whether the posts are for the player's other colour, which has the Centre."""
    return _is_partners(s, post_place(s, CENTRE), colour)


@kernel
def _set_markets(s, colour, home):
    """Cost 0 where a colour may convert gold into bands (ADA-25), FAR elsewhere."""
    home[:] = FAR
    for city in range(ALL_CITIES):
        place = city_place(s, city)
        if _is_own(s, place, colour) and cities_owned(s, colour, city // CITIES) >= 2:
            home[place] = 0
    for post in range(ALL_POSTS):
        if _is_own(s, post_place(s, post), colour) and posts_owned(s, colour) >= 3:
            home[post_place(s, post)] = 0


@kernel
def _set_landings(s, colour, cost, ferry):
    """Cost 0 where bands wait on a coast for a ship, FAR elsewhere; whether any do."""
    ferry[:] = FAR
    any_wait = False
    for shore in range(TERRITORIES):
        waits = _is_own(s, shore, colour) and s.bands[shore] >= CARAVAN and cost[shore] >= STRANDED
        if waits and not _ship_beside(s, shore, colour):
            for border in range(s.sea_borders[shore], s.sea_borders[shore + 1]):
                ferry[s.border_to[border]] = 0
                any_wait = True
    return any_wait


@kernel
def _is_ferry(s, place, ferry):
    """Whether a ship with next to no crew should fetch bands."""
    return place >= TERRITORIES and s.bands[place] <= 2 and ferry[place] < FAR


@kernel
def _is_treasure(s, place, colour, home):
    """Whether what lies in a place should go where it becomes bands, with few bands."""
    if s.reserve[colour] < HUNGRY or s.gold[place] < 2 or home[place] == 0:
        return False
    return s.bands[place] <= CARAVAN or place < TERRITORIES


@kernel
def _spread_costs(s, colour, cost):
    """Costs of all other places: of the cheapest way to a goal (Bellman and Ford)."""
    borders = s.sea_borders[s.places]
    changed = True
    while changed:
        changed = False
        for border in range(borders):
            place, to = np.int64(s.border_from[border]), np.int64(s.border_to[border])
            through = cost[to] + _toll(s, place, to, colour)
            if through < cost[place]:
                cost[place] = through
                changed = True


@kernel
def _toll(s, place, to, colour):
    """The cost of going over a border: more where somebody has to be fought or a ship boarded."""
    if _is_partners(s, to, colour) and s.bands[to] > 0:
        return FAR
    toll = STEP
    if to >= TERRITORIES and place < TERRITORIES:
        toll += EMBARK if s.ship[to] == 1 or _may_be_launched_to(s, to, colour) else STRANDED
    elif s.ship[to] == 1 and to >= TERRITORIES:
        toll += BLOCKED
    if is_unexplored(s, to):
        toll += DISCOVER
    elif is_hostile(s, to, colour):
        toll += 2 + _defenders(s, to)
    return toll


@kernel
def _may_be_launched_to(s, square, colour):
    """Whether an own ship stands on a city next to a square."""
    for border in range(s.land_borders[square], s.land_borders[square + 1]):
        shore = np.int64(s.border_to[border])
        if s.ship[shore] == 1 and _is_own(s, shore, colour):
            return True
    return False


@kernel
def _defenders(s, place):
    """Bands or tribes in a place."""
    tribes = np.int64(s.tribes[place]) if place < TERRITORIES else np.int64(0)
    return np.int64(s.bands[place]) + tribes


# --- what an action is worth ---------------------------------------------------------------------


@kernel
def _worth(s, colour, cost, home, ferry, action):
    """A number that grows with what an action promises; `end` is worth 0."""
    family = family_of(s, action)
    number = action - s.first[family]
    if family == MOVE:
        return _worth_of_move(s, colour, cost, home, ferry, number)
    if family == SAIL:
        return _worth_of_sail(s, colour, cost, home, ferry, s.sea_borders[TERRITORIES] + number)
    if family == ATTACK:
        return _worth_of_attack(s, colour, cost, number)
    if family == LAUNCH:
        return _worth_of_launch(s, colour, cost, number)
    if family == EXPLORE:
        return 90 - cost[CENTRAL + number] // 2
    if family == DISCOVERY:
        return 92 - cost[CENTRAL + number] // 2
    if family == COUNT:
        return _worth_of_count(s, colour, cost, home, ferry, number)
    if family >= LEVY:
        return _worth_of_placing(s, colour, cost, family, number)
    if family == CONVERT:
        return 70
    if family == GOLD:
        return number if home[s.target] < home[s.origin] else -number
    if family == SHIP:
        return -cost[city_place(s, number)]
    return -1 if family == SCUTTLE else 0


@kernel
def _worth_of_placing(s, colour, cost, family, number):
    """Enrolment, purchases, cards and answers."""
    if family == LEVY:
        return -cost[number]
    if family == ENROL:
        return 75
    if family == BUY:
        return 12
    if family == PAY:
        return 0 if number < TERRITORIES else 1
    if family == GOLD_MINE:
        return _worth_of_mine(s, colour, number)
    if family == SHIPYARD:
        return 20 - cost[city_place(s, number)] // 4
    if family == MUTINY:
        return 78 + s.bands[TERRITORIES + number]
    if family == PLAY:
        return _worth_of_plain(s, colour, PLAIN_KINDS[number])
    if family == RISE:
        return _worth_of_rising(s, colour, CENTRAL + number)
    if family == LOOK:
        return 1 if (number == PEEK) == (s.coups[s.raid] > 7) else 0
    return _worth_of_answer(s, number) if family == ANSWER else 0


@kernel
def _worth_of_move(s, colour, cost, home, ferry, border):
    """Bands that take a territory, or come nearer to a goal."""
    place, to = np.int64(s.border_from[border]), np.int64(s.border_to[border])
    if s.bands[to] == 0 and to >= TERRITORIES and ferry[to] < FAR and s.bands[place] == GARRISON:
        return 8  # one goes to fetch others
    if s.bands[place] <= _garrison(s, place, colour, home):
        return -1
    nearer = np.int64(cost[place]) - cost[to]
    if to < TERRITORIES and not _is_own(s, to, colour) and cost[to] <= 24:
        return 100 - cost[to]
    if _is_ferry(s, place, ferry):
        return -1
    if _is_treasure(s, place, colour, home):
        ashore = place < TERRITORIES or to < TERRITORIES
        return 40 + 2 * s.gold[place] if ashore and home[to] < home[place] else -1
    if nearer <= 0:
        joins = s.bands[place] == 1 and s.bands[to] > 0 and nearer >= -STEP
        return 6 if joins and to < TERRITORIES else -1
    bands = min(np.int64(s.bands[place]), room(s, to))
    return 20 + nearer + 2 * min(bands, SHIPLOAD)


@kernel
def _holds_post(s, place, colour):
    """Whether a place is an own post."""
    for post in range(ALL_POSTS):
        if post_place(s, post) == place:
            return _is_own(s, place, colour)
    return False


@kernel
def _garrison(s, place, colour, home):
    """Bands that should stay in a place."""
    if not _holds_post(s, place, colour) or _gives_way(s, colour):
        return 0
    return 1 if _is_treasure(s, place, colour, home) else GARRISON


@kernel
def _worth_of_sail(s, colour, cost, home, ferry, border):
    """A crew that comes nearer to a goal, full ships first; or gold that comes home."""
    place, to = np.int64(s.border_from[border]), np.int64(s.border_to[border])
    if _is_ferry(s, place, ferry):
        return 28 if ferry[to] < ferry[place] else -1
    if _is_treasure(s, place, colour, home):
        return 30 + 2 * s.gold[place] if home[to] < home[place] else -1
    nearer = np.int64(cost[place]) - cost[to]
    return 10 + nearer + s.bands[place] if nearer > 0 else -1


@kernel
def _worth_of_attack(s, colour, cost, border):
    """A fight at good odds: a roll costs the attacker a third of a band, the other five sixths."""
    place, to = np.int64(s.border_from[border]), np.int64(s.border_to[border])
    attackers, defenders = np.int64(s.bands[place]), _defenders(s, to)
    odds = 2 * attackers - defenders
    goal = cost[to] < cost[place] or cost[to] <= 10
    if odds < 2 or not (goal or s.bands[to] > 0):
        return -1
    return (60 if goal else 30) + min(odds, 20) - cost[to] // 4


@kernel
def _worth_of_launch(s, colour, cost, number):
    """A ship for bands that wait on the coast and have none with room beside them."""
    city = city_of_launch(s, number)
    place = city_place(s, city)
    square = np.int64(s.border_to[s.sea_borders[place] + number - s.launches[city]])
    waiting = np.int64(0)
    for border in range(s.land_borders[square], s.land_borders[square + 1]):
        shore = np.int64(s.border_to[border])
        if _is_own(s, shore, colour) and not _ship_beside(s, shore, colour):
            waiting += s.bands[shore]
    if waiting < 2:
        return -1
    return 18 + 2 * min(waiting, SHIPLOAD) + (cost[place] - cost[square])


@kernel
def _ship_beside(s, shore, colour):
    """Whether bands on a coast can board a ship already."""
    for border in range(s.sea_borders[shore], s.sea_borders[shore + 1]):
        square = np.int64(s.border_to[border])
        others = s.bands[square] > 0 and s.owner[square] != colour
        if s.ship[square] == 1 and not others and room(s, square) > 2:
            return True
    return False


@kernel
def _worth_of_count(s, colour, cost, home, ferry, n):
    """How many bands: in the preliminary turn to the ships, in a move nearly all."""
    if s.origin < 0:
        place = np.int64(s.target)
        wanted = min(9, np.int64(s.due)) if s.ship[place] == 1 else 0
        return -abs(n - wanted)
    origin, target = np.int64(s.origin), np.int64(s.target)
    stay = np.int64(_garrison(s, origin, colour, home))
    if origin >= TERRITORIES and ferry[origin] < FAR:
        stay = 1  # a crew, to fetch others
    stay = max(stay, np.int64(s.bands[origin]) - most_bands(s))
    wanted = s.bands[origin] - stay
    if _is_treasure(s, origin, colour, home) and home[target] < home[origin]:
        wanted = min(wanted, CARAVAN - 1)
    elif cost[target] >= cost[origin]:
        wanted = min(wanted, 1)  # taken in passing, or the crew of a ferry
    return -abs(n - wanted)


@kernel
def _worth_of_mine(s, colour, territory):
    """Gold where it becomes bands: in an own city, of a lair with two of them, or a post."""
    for city in range(ALL_CITIES):
        if city_place(s, city) == territory:
            return 80 if cities_owned(s, colour, lair_of(territory)) >= 2 else 5
    if _holds_post(s, territory, colour) and posts_owned(s, colour) >= 3:
        return 85
    return -1


@kernel
def _worth_of_plain(s, colour, card):
    """The cards without a place."""
    if card == MORE_COUPS_CARD:
        return 60 if s.coups[s.raid] <= 2 else -1
    if card == STRATEGIST_CARD:
        return 14
    if card == NATIVES_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - Numba
        for post in range(ALL_POSTS):
            if _worth_of_rising(s, colour, post_place(s, post)) > 0 and (
                s.bands[post_place(s, post)] == 0
            ):
                return 40
        return -1
    return 76


@kernel
def _worth_of_rising(s, colour, territory):
    """Natives where an enemy owns a post without bands."""
    owner = np.int64(s.owner[territory])
    if owner == colour or _is_partners(s, territory, colour):
        return -50
    if owner == TRIBES or owner == NOBODY:  # noqa: SIM109
        return 0
    for post in range(ALL_POSTS):
        if post_place(s, post) == territory:
            return 20 + 20 * s.claims[owner]
    return 5


@kernel
def _worth_of_answer(s, number):
    """Cards against a roll where they change something; a raid to break a claim."""
    if number == DECLINE:
        return 0
    if s.stage == ANSWER_ATTACK:
        return 1 if s.roll < 0 or _defenders(s, np.int64(s.target)) > 1 else -1
    if s.stage == ANSWER_DEFENCE:
        return 1 if s.roll > 0 else -1
    return 1 if in_victory(s, np.int64(s.colour[0])) and s.coups[0] <= 2 else -1
