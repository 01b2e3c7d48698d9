"""The layout of a state of Armada, and simple queries on it.

A state is one record of type `STATE`: all data that change in a game, the options and the random
number generator. A variant (the game with one set of options) has one record of type `FIXED`: the
dice and the parts of the chart that the rules need, so that the compiled rules work for every chart
and all dice. The numbers `ADA-n` refer to the rules page.

An order may need several decisions in a row, such as `move A B`, `count 5` and `gold 2`. These
decisions are called a *chain*. The state has fields for the chain under way.

Places are numbered as in the chart: 52 territories (lairs in play order, seven each, then the 24
central ones), then the sea squares. Colours are 0 to 3 in play order. Small integers are
*signed*, because the sum of two unsigned integers would be uint64, which must not be mixed with
signed integers (see `armarl.compiler.randomness`).
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.bits import count
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.randomness import random_below
from armarl.compiler.record_types import record_type
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import (
    ALL_CITIES,
    CARD_NAMES,
    CENTRAL,
    FAMILIES,
    MOST_PIECES,
    TERRITORIES,
)
from armarl.games.armada.chart.geography import MOST_BORDERS, MOST_SQUARES
from armarl.games.armada.chart.loading import COLOURS, POSTS
from armarl.games.armada.dice import DIE_NAMES, SIDES

MAX_PLAYERS = 4
PLACE_ROOM = 128  # length of arrays with an entry per place: a multiple of the 64 bits of a set
MAX_PLACES = TERRITORIES + MOST_SQUARES
LAIR = CENTRAL // len(COLOURS)  # territories per lair
FOUR = len(COLOURS)  # number of colours, and of lairs
CENTRALS = TERRITORIES - CENTRAL
# The territories of each lair, and of the central group, as sets (the bits of an integer).
LAIR_SETS = np.array(
    [((1 << LAIR) - 1) << (lair * LAIR) for lair in range(FOUR)]
    + [((1 << CENTRALS) - 1) << CENTRAL]
)
ALL_POSTS = len(POSTS)
CENTRE = 0  # index of the Centre in `posts`

# Values of the field `owner`, besides the colours 0 to 3.
TRIBES, NOBODY = FOUR, -1

SHIPS, SHIPS_EACH = 8, 2  # ADA-6, ADA-10 to ADA-12
SHIP_ROOM = 10  # ADA-19
COUPS, RAID_COUPS, MORE_COUPS = np.array([10, 3, 3])  # ADA-15, ADA-32
CARD_PRICE = np.int64(2)  # ADA-32: price in coups, and in gold
LAIR_HELD = 4  # ADA-27, ADA-31: territories needed to hold a lair

# ADA-28: values of `claims`. A new claim was made in its colour's current turn and becomes due at
# the end of that turn. A due claim is judged the next time that the colour's turn ends.
NO_CLAIM, NEW_CLAIM, CLAIM_DUE = np.arange(3)

# Constants that are passed as arguments are NumPy integers, because Numba would compile a function
# again for each Python int.

COMBAT_DIE, GOLD_DIE, TRIBES_DIE = np.arange(len(DIE_NAMES))  # ADA-7
MOST_FACES = 4  # capacity for the faces thrown between two decisions; at most two are thrown

# ADA-32
CARDS = len(CARD_NAMES)
(
    ATTACK_CARD,
    DEFENCE_CARD,
    SHIPYARD_CARD,
    RAID_CARD,
    DISCOVERY_CARD,
    RECRUIT_CARD,
    BIG_RECRUIT_CARD,
    NATIVES_CARD,
    BIG_NATIVES_CARD,
    STRATEGIST_CARD,
    GOLD_MINE_CARD,
    MUTINY_CARD,
    MORE_COUPS_CARD,
) = np.arange(CARDS)
# The cards that answer a question, in the order of `actions.ANSWERS`.
ANSWER_CARDS = np.array([ATTACK_CARD, DEFENCE_CARD, RAID_CARD])
ANSWERS = len(ANSWER_CARDS)
ATTACK_ANSWER, DEFENCE_ANSWER, RAID_ANSWER = np.arange(ANSWERS)
COPIES = np.array([5, 5, 3, 4, 2, 1, 1, 1, 1, 8, 8, 2, 5], np.int8)
ALL_CARDS = int(COPIES.sum())

# The kinds of decisions.
(
    PLACE_SHIP,
    SPREAD_BANDS,
    ORDER,
    NUMBER_BANDS,
    NUMBER_GOLD,
    PLACE_ENROLLED,
    PAY_GOLD,
    PLACE_RECRUITS,
    PLACE_NATIVES,
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    PEEKING,
    OVER,
) = range(14)
STAGES = OVER + 1
STAGE_NAMES = (
    "place ship",
    "spread bands",
    "order",
    "number of bands",
    "number of gold",
    "place enrolled band",
    "pay gold",
    "place recruits",
    "place natives",
    "answer with attack",
    "answer with defence",
    "answer with raid",
    "look",
    "over",
)

# The fields are sorted by width, the widest first, so that records have no gaps.
FIXED = record_type(
    [
        # The chart as sets. For each place: its contiguous territories, and its contiguous squares.
        # Squares are numbered from 0 in these sets.
        ("land_near", np.int64, MAX_PLACES),
        ("sea_near", np.int64, MAX_PLACES),
        ("city_sets", np.int64, FOUR),  # the territories of each lair that have a city
        ("post_set", np.int64),  # the territories that have a trading post
        # The chart as numbers. Borders are numbered in both directions, first those to land, then
        # those to sea. The borders from place p to land start at `land_borders[p]` and end before
        # `land_borders[p + 1]`. `sea_borders` gives the borders to sea in the same way.
        ("first", np.int16, FAMILIES + 1),  # first action id of every family
        ("land_borders", np.int16, MAX_PLACES + 1),
        ("sea_borders", np.int16, MAX_PLACES + 1),
        ("launches", np.int8, ALL_CITIES + 1),  # index of each city's first action in LAUNCH
        ("border_to", np.int8, 2 * MOST_BORDERS),
        ("cities", np.int8, ALL_CITIES),  # places of the cities, three per lair
        ("posts", np.int8, ALL_POSTS),  # places of the trading posts, the Centre first
        ("farthest", np.int8, FOUR),  # ADA-12: the lair that is farthest from each lair
        # ADA-7: the faces of each die. For combat, hits are above 0 and losses below 0.
        ("faces", np.int8, (len(DIE_NAMES), SIDES)),
    ],
    needed=(),
)
STATE = record_type(
    [
        ("rng", np.uint64),
        ("chart", np.uint64),  # the fingerprint of the variant's record of type FIXED
        # Two sets: the territories with an unlaunched ship, and the squares with a ship. Squares
        # are numbered from 0.
        ("ships", np.int64, 2),
        ("turn", np.int32),  # colour turns ended; -1 in the preliminary turn
        ("max_turns", np.int32),  # ADA-30
        ("order", np.int16),  # the action that began the chain under way, or -1
        # The board.
        ("owner", np.int8, PLACE_ROOM),  # on land: whose flag; at sea: the colour of the crew
        ("bands", np.int8, PLACE_ROOM),
        ("gold", np.int8, PLACE_ROOM),
        ("tribes", np.int8, CENTRALS),
        ("reserve", np.int8, FOUR),  # bands that each colour may still place
        ("supply_gold", np.int8),
        ("supply_tribes", np.int8),
        ("box", np.int8),  # ships in the box
        # Index 0 is for the turn, and index 1 for a raid that interrupts it. `raid` tells which of
        # the two is under way.
        ("colour", np.int8, 2),
        ("coups", np.int8, 2),
        ("enrolled", np.int8, 2),
        ("more_coups", np.int8, 2),
        ("raid", np.int8),
        ("asked", np.int8),  # ADA-33: number of colours already asked or skipped
        ("idle", np.int8),  # ADA-26: turns in a row that ended automatically
        ("claims", np.int8, FOUR),  # ADA-28
        ("stage", np.int8),
        ("to_move", np.int8),
        # The chain of decisions under way.
        ("origin", np.int8),  # place that the chain starts from, or -1
        ("target", np.int8),  # place that the chain goes to, or -1
        ("count", np.int8),  # bands of a move; ships placed; bands placed by enrolment
        ("roll", np.int8),  # combat roll as changed by cards, or result of the tribes die
        ("used", np.int8),  # territory that got the first roll of the card under way, or -1
        ("due", np.int8),  # bands left to place, gold left to pay, or rolls left
        ("looked", np.int8),  # cards the strategist has looked at
        ("thrown", np.int8),  # number of faces thrown since the last decision
        ("die", np.int8, MOST_FACES),
        ("face", np.int8, MOST_FACES),
        # Cards. A card in the deck is 1 + its kind, or 0 if it is unknown. The last one is the top.
        ("hand", np.int8, (MAX_PLAYERS, CARDS)),
        ("hand_size", np.int8, MAX_PLAYERS),
        ("played", np.int8, CARDS),
        ("pool", np.int8, CARDS),  # always 0; its empty slice is used as an empty mask
        ("deck", np.int8, ALL_CARDS),
        ("deck_size", np.int8),
        # Knowledge of cards that were seen or asked for (see `knowledge`).
        ("remembered", np.int8, (MAX_PLAYERS, CARDS)),  # seen by a seat and left in the deck
        ("drawn", np.int8, (MAX_PLAYERS, MAX_PLAYERS)),  # cards drawn later by each other player
        ("answers", np.int8, (MAX_PLAYERS, ANSWERS)),  # HELD, LACKED or 0 (unknown) for each player
        # The variant, and the winner.
        ("seat_of", np.int8, FOUR),  # the player of each colour, or -1
        ("neutral", np.int8),  # ADA-12: nobody's colour, or -1
        ("players", np.int8),
        ("places", np.int8),  # number of territories and sea squares
        ("cards", np.int8),
        ("enrolment", np.int8),
        ("winner", np.int8),  # the winning player, or -1
        ("padding", np.int8, 11),
    ],
)


# --- the acting colour ---------------------------------------------------------------------------


@kernel
def acting_colour(s: State) -> Int:
    """Return the colour whose turn or raid it is."""
    return np.int64(s.colour[s.raid])


@kernel
def acting_seat(s: State) -> Int:
    """Return the player of the acting colour."""
    return np.int64(s.seat_of[s.colour[s.raid]])


@kernel
def colours_playing(s: State) -> Int:
    """ADA-10 to ADA-12: return the number of colours that take turns."""
    return 3 if s.players == 3 else FOUR


@kernel
def is_enemy(s: State, colour: Int, other: Int) -> Int:
    """Return whether two colours belong to different players, or one of them to nobody."""
    return s.seat_of[colour] != s.seat_of[other]


@kernel
def city_place(city: Int, fixed: State) -> Int:
    """Return the place of a city (numbered 0 to 11)."""
    return np.int64(fixed.cities[city])


@kernel
def post_place(post: Int, fixed: State) -> Int:
    """Return the place of a trading post (numbered 0 to 4, the Centre first)."""
    return np.int64(fixed.posts[post])


# --- ownership -----------------------------------------------------------------------------------


@kernel
def is_sea(place: Int) -> Int:
    """Return whether a place is a sea square."""
    return place >= TERRITORIES


@kernel
def lair_of(territory: Int) -> Int:
    """Return the lair that a territory belongs to, or FOUR for the central group."""
    return min(territory // LAIR, FOUR)


@inlined
def territories_of(s: State, colour: Int) -> Int:
    """Return the territories that a colour owns, as a set (the bits of an integer)."""
    owned: Int = 0
    for territory in range(TERRITORIES):  # LLVM vectorises this loop, eight at a time
        owned |= np.int64(s.owner[territory] == colour) << territory
    return owned


@inlined
def manned_by(s: State, colour: Int, first: Int) -> Int:
    """Return the set of places with bands of a colour, among the 64 places from `first` on."""
    owner, bands = s.owner[first : first + 64], s.bands[first : first + 64]
    manned: Int = 0
    for i in range(64):
        manned |= np.int64((owner[i] == colour) & (bands[i] > 0)) << i
    return manned


@inlined
def owned_in(owned: Int, lair: Int) -> Int:
    """Count the territories of the set `owned` in a lair, or in the central group (FOUR)."""
    return count(owned & LAIR_SETS[lair])


@inlined
def cities_owned(owned: Int, lair: Int, fixed: State) -> Int:
    """Count the cities of a lair among the territories of the set `owned`."""
    return count(owned & fixed.city_sets[lair])


@inlined
def posts_owned(owned: Int, fixed: State) -> Int:
    """Count the trading posts among the territories of the set `owned`."""
    return count(owned & fixed.post_set)


@inlined
def enemy_cities_owned(s: State, owned: Int, colour: Int, fixed: State) -> Int:
    """ADA-27: count the cities in the set `owned` that are in lairs of enemies of `colour`."""
    n = 0
    for lair in range(FOUR):
        if is_enemy(s, colour, lair):
            n += cities_owned(owned, lair, fixed)
    return n


@kernel
def holds(s: State, seat: Int, card: Int) -> Int:
    """Return whether a seat (-1 for none) holds a card of the kind `card`."""
    return s.cards == 1 and seat >= 0 and s.hand[seat, card] > 0


@inlined
def lairs_held(owned: Int) -> Int:
    """ADA-31: count the lairs of which the set `owned` has at least 4 territories."""
    held = 0
    for lair in range(FOUR):
        held += owned_in(owned, lair) >= LAIR_HELD
    return held


@kernel
def border_from(border: Int, fixed: State) -> Int:
    """Return the place that a border starts from.

    Both the borders to land and the borders to sea are sorted by this place, so a binary search
    finds it.
    """
    by_land = border < fixed.sea_borders[0]
    low, high = np.int64(0), np.int64(MAX_PLACES)
    while high - low > 1:
        middle = (low + high) >> 1
        first = np.int64(fixed.land_borders[middle] if by_land else fixed.sea_borders[middle])
        if first <= border:
            low = middle
        else:
            high = middle
    return low


# --- places --------------------------------------------------------------------------------------


@kernel
def has_ship(s: State, place: Int) -> Int:
    """Return whether a ship is on a place (on land: not launched)."""
    if place < TERRITORIES:
        return s.ships[0] >> place & 1
    return s.ships[1] >> (place - TERRITORIES) & 1


@kernel
def flip_ship(s: State, place: Int) -> None:
    """Put a ship on a place without one, or take the ship from a place with one."""
    if place < TERRITORIES:
        s.ships[0] ^= np.int64(1) << place
    else:
        s.ships[1] ^= np.int64(1) << (place - TERRITORIES)


@kernel
def tribes_on(s: State, place: Int) -> Int:
    """ADA-21: return the number of tribes on a place. Only central territories have tribes."""
    return np.int64(s.tribes[place - CENTRAL]) if CENTRAL <= place < TERRITORIES else np.int64(0)


@kernel
def is_unexplored(s: State, place: Int) -> Int:
    """ADA-21: return whether a place is unexplored: a central territory without any flag."""
    return CENTRAL <= place < TERRITORIES and s.owner[place] == NOBODY


@kernel
def is_hostile(s: State, place: Int, colour: Int) -> Int:
    """ADA-22: return whether a place has tribes or an enemy's bands."""
    if s.bands[place] > 0:
        return is_enemy(s, colour, np.int64(s.owner[place]))
    return tribes_on(s, place) > 0


@kernel
def holds_others(s: State, place: Int, colour: Int) -> Int:
    """Return whether a place has bands of another colour, even nobody's or the same player's."""
    return s.bands[place] > 0 and s.owner[place] != colour


@kernel
def room(s: State, place: Int) -> Int:
    """ADA-19: return the number of pieces that still fit into a place. Land has no limit."""
    if place < TERRITORIES:
        return 2 * MOST_PIECES
    return SHIP_ROOM - s.bands[place] - s.gold[place]


@kernel
def may_enter(s: State, place: Int, colour: Int) -> Int:
    """ADA-18, ADA-19: return whether bands may enter a place: cleared land, or a ship with room.

    Bands of another colour prevent entering. Cleared land is explored and has no tribes.
    """
    if holds_others(s, place, colour):
        return False
    if place < TERRITORIES:
        return tribes_on(s, place) == 0 and not is_unexplored(s, place)
    return has_ship(s, place) and room(s, place) > 0


# --- pieces --------------------------------------------------------------------------------------


@kernel
def add_bands(s: State, place: Int, colour: Int, n: Int) -> None:
    """ADA-6: move `n` bands from the reserve to a place, or all bands left if there are fewer."""
    n = min(n, s.reserve[colour])
    s.bands[place] += n
    s.reserve[colour] -= n


@kernel
def remove_bands(s: State, place: Int, n: Int) -> None:
    """Move up to `n` bands to their reserve. A ship without a crew becomes nobody's (ADA-8)."""
    n = min(n, s.bands[place])
    if n > 0:
        s.bands[place] -= n
        s.reserve[s.owner[place]] += n
        disown_empty_ship(s, place)


@kernel
def bands_beside(s: State, place: Int, colour: Int, fixed: State) -> Int:
    """ADA-21, ADA-24: return whether the colour has a band on a contiguous territory or ship."""
    for border in range(fixed.land_borders[place], fixed.land_borders[place + 1]):
        near = np.int64(fixed.border_to[border])
        if s.owner[near] == colour and s.bands[near] > 0:
            return True
    for border in range(fixed.sea_borders[place], fixed.sea_borders[place + 1]):
        near = np.int64(fixed.border_to[border])
        if s.owner[near] == colour and s.bands[near] > 0:
            return True
    return False


@kernel
def disown_empty_ship(s: State, place: Int) -> None:
    """ADA-8: make a ship at sea nobody's if it has no bands."""
    if place >= TERRITORIES and s.bands[place] == 0:
        s.owner[place] = NOBODY


@kernel
def add_gold(s: State, place: Int, n: Int) -> None:
    """Move up to `n` gold from the supply to a place."""
    n = min(n, s.supply_gold)
    s.gold[place] += n
    s.supply_gold -= n


@kernel
def add_tribes(s: State, territory: Int, n: Int) -> None:
    """Move up to `n` tribes from the supply to a territory."""
    n = min(n, s.supply_tribes)
    s.tribes[territory - CENTRAL] += n
    s.supply_tribes -= n


@kernel
def throw(s: State, die: Int, fixed: State) -> Int:
    """Throw a die, record its face for the public view, and return it."""
    face = np.int64(fixed.faces[die, random_below(s, SIDES)])
    s.die[s.thrown] = die
    s.face[s.thrown] = face
    s.thrown += 1
    return face


@kernel
def finish_chain(s: State) -> None:
    """End the chain of decisions under way, because its order is complete, and clear its fields."""
    s.order = s.origin = s.target = s.used = -1
    s.count = s.roll = s.due = s.looked = 0
    if s.stage != OVER:
        s.stage = ORDER


@kernel
def win(s: State, player: Int) -> None:
    """End the game with a win for a player."""
    s.winner = player
    s.stage = OVER
