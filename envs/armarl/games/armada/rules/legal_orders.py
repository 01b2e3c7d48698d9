"""Legal orders in Armada. Later decisions of an order (its chain) are in `legal_answers`.

Every `offer_…` function writes 1 into the mask for each action that it allows and returns False.
If the mask is *empty* (size 0), it writes nothing and returns True at the first action that it
allows. With an empty mask the rules check whether only `end` is left (ADA-15).
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.bits import lowest
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, Mask, State
from armarl.games.armada.actions import (
    ALL_CITIES,
    ATTACK,
    BUY,
    CARD_NAMES,
    CENTRAL,
    CONVERT,
    DISCOVERY,
    ENROL,
    EXPLORE,
    GOLD_MINE,
    LAUNCH,
    MOVE,
    MUTINY,
    PLAIN_CARDS,
    PLAY,
    SAIL,
    SCUTTLE,
    SHIPYARD,
    TERRITORIES,
)
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.state import (
    ALL_POSTS,
    BIG_NATIVES_CARD,
    CARD_PRICE,
    DISCOVERY_CARD,
    FOUR,
    GOLD_MINE_CARD,
    MORE_COUPS_CARD,
    MUTINY_CARD,
    NATIVES_CARD,
    NOBODY,
    PLACE_ROOM,
    SHIPS,
    SHIPS_EACH,
    SHIPYARD_CARD,
    STRATEGIST_CARD,
    acting_colour,
    acting_seat,
    bands_beside,
    cities_owned,
    city_place,
    colours_playing,
    has_ship,
    holds,
    is_enemy,
    is_hostile,
    is_unexplored,
    lairs_held,
    manned_by,
    may_enter,
    owned_in,
    post_place,
    posts_owned,
    territories_of,
)

CENTRAL_PER_BAND = 4  # ADA-31
ALL_LAND = np.int64((1 << TERRITORIES) - 1)  # the set of all territories
# The card of each action of the family PLAY, in order, as an index into CARD_NAMES. (Cards that are
# played on a place have families of their own. Cards that answer a question are in ANSWER.)
PLAIN_KINDS = np.array([CARD_NAMES.index(name) for name in PLAIN_CARDS])


@kernel
def offer(mask: Mask, action: Int) -> Int:
    """Mark an action as legal. If the mask is empty, return True to stop the search instead."""
    if mask.size == 0:
        return True
    mask[action] = 1
    return False


@kernel
def any_order(s: State, fixed: State) -> Int:
    """ADA-15, ADA-26: return whether the acting colour may do anything except end its turn."""
    return offer_orders(s, s.pool[:0], fixed)


@kernel
def offer_orders(s: State, mask: Mask, fixed: State) -> Int:
    """ADA-15: offer all orders and cards of the acting colour, except `end`."""
    colour = acting_colour(s)
    if s.coups[s.raid] > 0:
        land = manned_by(s, colour, 0) & ALL_LAND
        sea = manned_by(s, colour, TERRITORIES)
        for first in range(0, 2 * TERRITORIES, TERRITORIES):
            manned = sea if first else land
            while manned:
                if _offer_from(s, mask, first + lowest(manned), fixed):
                    return True
                manned &= manned - 1
        if _offer_unlaunched(s, mask, colour, land, sea, fixed) or _offer_conversions(
            s, mask, colour, fixed
        ):
            return True
        if s.enrolment and may_enrol(s, colour) and offer(mask, fixed.first[ENROL]):
            return True
    return s.cards == 1 and _offer_cards(s, mask, colour, fixed)


# --- orders from a place with bands --------------------------------------------------------------


@inlined
def _offer_from(s: State, mask: Mask, place: Int, fixed: State) -> Int:
    """ADA-17, 20, 21, 22, 24: offer the orders of the acting colour's bands in a place."""
    return _offer_landwards(s, mask, place, fixed) or _offer_seawards(s, mask, place, fixed)


@kernel
def _may_attack(s: State, place: Int, to: Int) -> Int:
    """ADA-22: return whether a place has at least 2 bands and the target has enemies or tribes."""
    return s.bands[place] >= 2 and is_hostile(s, to, np.int64(s.owner[place]))


@inlined
def _offer_landwards(s: State, mask: Mask, place: Int, fixed: State) -> Int:
    """Offer to move to, attack or explore a contiguous territory."""
    colour = np.int64(s.owner[place])
    for border in range(fixed.land_borders[place], fixed.land_borders[place + 1]):
        to = np.int64(fixed.border_to[border])
        if is_unexplored(s, to):
            if offer(mask, fixed.first[EXPLORE] + to - CENTRAL):
                return True
        elif may_enter(s, to, colour):
            if offer(mask, fixed.first[MOVE] + border):
                return True
        elif _may_attack(s, place, to) and offer(mask, fixed.first[ATTACK] + border):
            return True
    return False


@inlined
def _offer_seawards(s: State, mask: Mask, place: Int, fixed: State) -> Int:
    """Offer to move to, attack or scuttle a ship on a contiguous square, or to sail.

    A ship may sail to any contiguous square without a ship.
    """
    colour = np.int64(s.owner[place])
    for border in range(fixed.sea_borders[place], fixed.sea_borders[place + 1]):
        to = np.int64(fixed.border_to[border])
        if not has_ship(s, to):
            if place >= TERRITORIES:
                sail = fixed.first[SAIL] + border - fixed.sea_borders[TERRITORIES]
                if offer(mask, sail):
                    return True
            continue
        if s.bands[to] == 0 and offer(mask, fixed.first[SCUTTLE] + ALL_CITIES + to - TERRITORIES):
            return True
        if may_enter(s, to, colour):
            if offer(mask, fixed.first[MOVE] + border):
                return True
        elif _may_attack(s, place, to) and offer(mask, fixed.first[ATTACK] + border):
            return True
    return False


# --- orders of an owner --------------------------------------------------------------------------


@kernel
def _offer_unlaunched(s: State, mask: Mask, colour: Int, land: Int, sea: Int, fixed: State) -> Int:
    """ADA-16, ADA-24: offer to launch or to scuttle ships that are not launched.

    A colour may launch its own ships, and scuttle any ship near its bands. `land` and `sea` are the
    territories and the squares with bands of the colour, as sets.
    """
    for city in range(ALL_CITIES):
        place = city_place(city, fixed)
        if not has_ship(s, place):
            continue
        near = (land >> place & 1) | (fixed.land_near[place] & land) | (fixed.sea_near[place] & sea)
        if near and offer(mask, fixed.first[SCUTTLE] + city):
            return True
        if s.owner[place] == colour:
            begin = np.int64(fixed.sea_borders[place])
            for border in range(begin, fixed.sea_borders[place + 1]):
                if not has_ship(s, np.int64(fixed.border_to[border])):
                    launch = fixed.first[LAUNCH] + fixed.launches[city] + border - begin
                    if offer(mask, launch):
                        return True
    return False


@kernel
def _offer_conversions(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """ADA-25: offer to convert gold in the colour's cities and posts, if it owns enough of them."""
    if s.reserve[colour] == 0:
        return False
    for city in range(ALL_CITIES):
        if _may_convert_in_city(s, colour, city, fixed) and offer(
            mask, fixed.first[CONVERT] + city
        ):
            return True
    for post in range(ALL_POSTS):
        action = fixed.first[CONVERT] + ALL_CITIES + post
        if _may_convert_in_post(s, colour, post, fixed) and offer(mask, action):
            return True
    return False


@kernel
def _may_convert_in_city(s: State, colour: Int, city: Int, fixed: State) -> Int:
    """ADA-25: return whether the colour owns a city with gold, and 2 cities of that lair."""
    place = city_place(city, fixed)
    if s.gold[place] == 0 or s.owner[place] != colour:
        return False
    return cities_owned(territories_of(s, colour), city // CITIES, fixed) >= 2


@kernel
def _may_convert_in_post(s: State, colour: Int, post: Int, fixed: State) -> Int:
    """ADA-25: return whether the colour owns a post with gold, and at least 3 posts."""
    place = post_place(post, fixed)
    return (
        s.gold[place] > 0
        and s.owner[place] == colour
        and posts_owned(territories_of(s, colour), fixed) >= 3
    )


@kernel
def levies(s: State, colour: Int) -> Int:
    """ADA-31: return the number of bands to enrol: 1 per lair held, 1 per 4 central territories."""
    owned = territories_of(s, colour)
    n = lairs_held(owned) + owned_in(owned, FOUR) // CENTRAL_PER_BAND
    return min(n, np.int64(s.reserve[colour]))


@kernel
def may_enrol(s: State, colour: Int) -> Int:
    """ADA-31: return whether the colour may enrol: once a turn and once a raid."""
    return s.enrolled[s.raid] == 0 and levies(s, colour) > 0


# --- cards ---------------------------------------------------------------------------------------


@kernel
def payable_gold(s: State, colour: Int) -> Int:
    """ADA-32: return the gold in territories that a colour owns and on ships that it crews."""
    gold = 0
    for place in range(PLACE_ROOM):  # a fixed number, so that LLVM vectorises the loop
        gold += np.int64(s.owner[place] == colour) * s.gold[place]
    return gold


@kernel
def may_buy(s: State, colour: Int) -> Int:
    """ADA-32: return whether 2 coups, 2 gold and a card in the deck are available."""
    return (
        s.coups[s.raid] >= CARD_PRICE and s.deck_size > 0 and payable_gold(s, colour) >= CARD_PRICE
    )


@kernel
def _offer_cards(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """ADA-32: offer to buy a card, or to play one where it would change something."""
    if may_buy(s, colour) and offer(mask, fixed.first[BUY]):
        return True
    if s.hand_size[acting_seat(s)] == 0:
        return False
    for plain in range(PLAIN_KINDS.size):
        if may_play(s, colour, PLAIN_KINDS[plain]) and offer(mask, fixed.first[PLAY] + plain):
            return True
    return (
        _offer_shipyard(s, mask, colour, fixed)
        or _offer_gold_mine(s, mask, colour, fixed)
        or _offer_mutiny(s, mask, colour, fixed)
        or _offer_discovery(s, mask, colour, fixed)
    )


@kernel
def may_play(s: State, colour: Int, card: Int) -> Int:
    """ADA-32: return whether the acting player holds a card, and playing it would have an effect.

    The card must be one of the family PLAY.
    """
    if not holds(s, acting_seat(s), card):
        return False
    if card == MORE_COUPS_CARD:
        return s.more_coups[s.raid] == 0
    if card == STRATEGIST_CARD:
        return s.coups[s.raid] > 0 and s.deck_size > 0
    if card == NATIVES_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - `in` could raise
        return s.supply_tribes > 0 and natives_places(s, -1) > 0
    return s.reserve[colour] > 0 and recruit_places(s, colour, -1) > 0


@kernel
def may_recruit_in(s: State, territory: Int, colour: Int, used: Int) -> Int:
    """ADA-32, ADA-35: return whether a card may put bands on a territory.

    The colour must own it, and it must not be `used`, the territory of the card's first roll.
    """
    return s.owner[territory] == colour and territory != used


@kernel
def recruit_places(s: State, colour: Int, used: Int) -> Int:
    """Return the number of territories that `may_recruit_in` allows."""
    n = 0
    for territory in range(TERRITORIES):
        n += may_recruit_in(s, territory, colour, used)
    return n


@kernel
def may_rise_in(s: State, territory: Int, used: Int) -> Int:
    """ADA-32, ADA-35: return whether tribes may be put on a central territory.

    It must be explored and without pirates, and not `used`, the territory of the card's first roll.
    """
    return s.owner[territory] != NOBODY and s.bands[territory] == 0 and territory != used


@kernel
def natives_places(s: State, used: Int) -> Int:
    """Return the number of central territories that `may_rise_in` allows."""
    n = 0
    for territory in range(CENTRAL, TERRITORIES):
        n += may_rise_in(s, territory, used)
    return n


@kernel
def ships_lost(s: State) -> Int:
    """ADA-32: return the number of scuttled ships in the box.

    With three players, two more ships are in the box from the start (ADA-12).
    """
    return s.box - (SHIPS - SHIPS_EACH * colours_playing(s))


@kernel
def _offer_shipyard(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """Offer to put a lost ship on a city of the colour, in any lair, without a ship."""
    if ships_lost(s) == 0 or not holds(s, acting_seat(s), SHIPYARD_CARD):
        return False
    for city in range(ALL_CITIES):
        place = city_place(city, fixed)
        free = s.owner[place] == colour and not has_ship(s, place)
        if free and offer(mask, fixed.first[SHIPYARD] + city):
            return True
    return False


@kernel
def _offer_gold_mine(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """Offer to put gold from the supply on a territory of the colour."""
    if s.supply_gold == 0 or not holds(s, acting_seat(s), GOLD_MINE_CARD):
        return False
    for territory in range(TERRITORIES):
        if s.owner[territory] == colour and offer(mask, fixed.first[GOLD_MINE] + territory):
            return True
    return False


@kernel
def may_mutiny(s: State, place: Int, colour: Int) -> Int:
    """Return whether a square has an enemy ship with 1 to 3 bands aboard."""
    return 1 <= s.bands[place] <= 3 and is_enemy(s, colour, np.int64(s.owner[place]))


@kernel
def _offer_mutiny(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """Offer a mutiny on every ship that `may_mutiny` allows, anywhere."""
    if not holds(s, acting_seat(s), MUTINY_CARD):
        return False
    for place in range(TERRITORIES, s.places):
        if may_mutiny(s, place, colour) and offer(mask, fixed.first[MUTINY] + place - TERRITORIES):
            return True
    return False


@kernel
def may_explore(s: State, territory: Int, colour: Int, fixed: State) -> Int:
    """ADA-21: return whether a territory is unexplored and next to bands of the colour."""
    return is_unexplored(s, territory) and bands_beside(s, territory, colour, fixed)


@kernel
def _offer_discovery(s: State, mask: Mask, colour: Int, fixed: State) -> Int:
    """Offer explorations with the card `discovery`. Such an exploration also costs a coup."""
    if s.coups[s.raid] == 0 or not holds(s, acting_seat(s), DISCOVERY_CARD):
        return False
    for territory in range(CENTRAL, TERRITORIES):
        action = fixed.first[DISCOVERY] + territory - CENTRAL
        if may_explore(s, territory, colour, fixed) and offer(mask, action):
            return True
    return False
