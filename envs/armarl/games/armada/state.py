"""The layout of a state of Armada, and the plain questions that the rules ask of it.

A state is one record of type `STATE` which holds everything: the board, the hands, the options, the
random generator, and what the rules need of the chart, so that the compiled rules serve every
chart. The numbers `ADA-n` are those of the rules page.

Places are numbered as in the chart: 52 territories (lairs in play order, seven each, then the 24
central ones), then the sea squares. Colours are 0 to 3 in play order. Small numbers are *signed*:
two unsigned ones would add up to a type that Numba mixes with signed ones only as floats.
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
from armarl.games.armada.chart.loading import CITIES, COLOURS, POSTS
from armarl.games.armada.dice import load_dice

MAX_PLAYERS = 4
PLACE_ROOM = 128  # places that there is room for, in whole words of 64 bits
MAX_SQUARES = 64  # so that a set of them is a word, as one of territories is
MAX_PLACES = TERRITORIES + MAX_SQUARES
MAX_BORDERS = 760  # in both directions
# Words of sets by place, which are as many as the scripted player's costs: he puts his sets there.
SETS = 121

LAIR = CENTRAL // len(COLOURS)  # territories of a lair
FOUR = len(COLOURS)
CENTRALS = TERRITORIES - CENTRAL
# The territories of each lair, and of the central group, as bits of an integer.
LAIR_SETS = np.array(
    [((1 << LAIR) - 1) << (lair * LAIR) for lair in range(FOUR)]
    + [((1 << CENTRALS) - 1) << CENTRAL]
)
ALL_POSTS = len(POSTS)
CENTRE = 0  # the post of that name, in `posts`

# Owners beside the colours 0 to 3.
TRIBES, NOBODY = FOUR, -1

SHIPS = 8  # ADA-6
SHIP_ROOM = 10  # ADA-19
COUPS, RAID_COUPS, MORE_COUPS = np.array([10, 3, 3])  # ADA-15, ADA-32
CARD_PRICE = np.int64(2)  # ADA-32: coups, and gold
LAIR_HELD = 4  # ADA-27, ADA-31: territories of a lair that count as holding it

# Numbers which functions are called with are NumPy's: for every Python int among its arguments
# Numba would compile a function anew.

# ADA-7: six faces a die; combat shows hits, or losses below 0.
COMBAT_DIE, GOLD_DIE, TRIBES_DIE = np.arange(3)
DIE_NAMES = ("combat", "gold", "tribes")
FACES = np.array([getattr(load_dice(), name) for name in DIE_NAMES], np.int8)
MOST_FACES = 4  # thrown between two decisions; two, in fact

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
ANSWER_CARDS = np.array([ATTACK_CARD, DEFENCE_CARD, RAID_CARD])  # asked for, as in `actions`
ANSWERS = len(ANSWER_CARDS)
ATTACK_ANSWER, DEFENCE_ANSWER, RAID_ANSWER = np.arange(ANSWERS)
COPIES = np.array([5, 5, 3, 4, 2, 1, 1, 1, 1, 8, 8, 2, 5], np.int8)
ALL_CARDS = int(COPIES.sum())

# The kinds of decision.
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

# Fields of one width stand together, the widest first, so that the record has no gaps.
STATE = record_type(
    [
        ("rng", np.uint64),
        # The chart, for each place as sets: contiguous land, and contiguous squares, which are
        # numbered from 0 there.
        ("land_near", np.int64, SETS),
        ("sea_near", np.int64, SETS),
        ("turn", np.int32),  # colour turns ended; -1 in the preliminary turn
        ("max_turns", np.int32),  # ADA-30
        # The same by numbers. Borders are numbered in both directions, those to land first, then
        # those to sea; from place p go `land_borders[p]` to `land_borders[p + 1]`, and so on.
        ("first", np.int16, FAMILIES + 1),  # first action id of every family
        ("land_borders", np.int16, MAX_PLACES + 1),
        ("sea_borders", np.int16, MAX_PLACES + 1),
        ("order", np.int16),  # the action that began the chain under way, or -1
        ("launches", np.int8, ALL_CITIES + 1),  # number of each city's first launch
        ("border_to", np.int8, MAX_BORDERS),
        ("cities", np.int8, ALL_CITIES),  # their places, three per lair
        ("posts", np.int8, ALL_POSTS),  # their places, the Centre first
        ("places", np.int8),  # territories and sea squares
        # The board.
        ("owner", np.int8, PLACE_ROOM),  # flag on land; whose crew at sea
        ("bands", np.int8, PLACE_ROOM),
        ("gold", np.int8, PLACE_ROOM),
        ("ship", np.int8, PLACE_ROOM),  # 1 where a ship is; on land, not launched
        ("tribes", np.int8, TERRITORIES),
        ("reserve", np.int8, FOUR),  # bands that each colour may still place
        ("supply_gold", np.int8),
        ("supply_tribes", np.int8),
        ("box", np.int8),  # ships
        # The turn at [0], and at [1] the raid that interrupts it; `raid` says which is under way.
        ("colour", np.int8, 2),
        ("coups", np.int8, 2),
        ("enrolled", np.int8, 2),
        ("more_coups", np.int8, 2),
        ("raid", np.int8),
        ("asked", np.int8),  # ADA-33: colours gone past in this asking
        ("idle", np.int8),  # ADA-26: turns in a row that ended by themselves
        ("claims", np.int8, FOUR),  # ADA-28
        ("stage", np.int8),
        ("to_move", np.int8),
        # The chain of decisions under way.
        ("origin", np.int8),  # place it goes from, or -1
        ("target", np.int8),  # place it goes to, or -1
        ("count", np.int8),  # bands of a move; ships placed; bands placed by enrolment
        ("roll", np.int8),  # combat as it counts now; tribes as thrown
        ("used", np.int8),  # territory that a card has used, or -1
        ("due", np.int8),  # what is left to place, pay or roll
        ("looked", np.int8),  # cards the strategist has looked at
        ("thrown", np.int8),  # faces thrown since the last decision
        ("die", np.int8, MOST_FACES),
        ("face", np.int8, MOST_FACES),
        # Cards. In the deck a card is 1 + its kind, 0 where it is not known; the last is the top.
        ("hand", np.int8, (MAX_PLAYERS, CARDS)),
        ("hand_size", np.int8, MAX_PLAYERS),
        ("played", np.int8, CARDS),
        ("pool", np.int8, CARDS),  # scratch
        ("deck", np.int8, ALL_CARDS),
        ("deck_size", np.int8),
        # What follows from what was seen and asked (see `knowledge`).
        ("remembered", np.int8, (MAX_PLAYERS, CARDS)),  # left in the deck by a seat's strategist
        ("drawn", np.int8, (MAX_PLAYERS, MAX_PLAYERS)),  # since, by each of the others
        ("answers", np.int8, (MAX_PLAYERS, ANSWERS)),  # who is known to hold them, or to lack them
        # The variant, and the end.
        ("seat_of", np.int8, FOUR),  # the player of each colour, or -1
        ("neutral", np.int8),  # ADA-12: nobody's colour, or -1
        ("players", np.int8),
        ("cards", np.int8),
        ("enrolment", np.int8),
        ("winner", np.int8),  # or -1
        ("padding", np.int8, 5),
    ],
)


# --- whose turn ----------------------------------------------------------------------------------


@kernel
def acting_colour(s: State) -> Int:
    """The colour whose turn or raid it is."""
    return np.int64(s.colour[s.raid])


@kernel
def acting_seat(s: State) -> Int:
    """The player of that colour."""
    return np.int64(s.seat_of[s.colour[s.raid]])


@kernel
def colours_playing(s: State) -> Int:
    """ADA-10 to ADA-12: colours that take turns."""
    return 3 if s.players == 3 else FOUR


@kernel
def is_enemy(s: State, colour: Int, other: Int) -> Int:
    """Whether a colour, nobody's included, is not the same player's."""
    return s.seat_of[colour] != s.seat_of[other]


@kernel
def city_place(s: State, city: Int) -> Int:
    """The place of a city, 0 to 11."""
    return np.int64(s.cities[city])


@kernel
def post_place(s: State, post: Int) -> Int:
    """The place of a trading post, 0 to 4."""
    return np.int64(s.posts[post])


# --- what is owned -------------------------------------------------------------------------------


@kernel
def is_sea(place: Int) -> Int:
    """Whether a place number is a sea square's."""
    return place >= TERRITORIES


@kernel
def lair_of(territory: Int) -> Int:
    """The lair of a territory; FOUR is the central group."""
    return min(territory // LAIR, FOUR)


@inlined
def territories_of(s: State, colour: Int) -> Int:
    """The territories that a colour owns, as a set: bits of an integer."""
    owned: Int = 0
    for territory in range(TERRITORIES):  # LLVM looks at eight at once
        owned |= np.int64(s.owner[territory] == colour) << territory
    return owned


@inlined
def manned_by(s: State, colour: Int, first: Int) -> Int:
    """The places with bands of a colour, of the 64 from `first` on, as a set."""
    owner, bands = s.owner[first : first + 64], s.bands[first : first + 64]
    manned: Int = 0
    for i in range(64):
        manned |= np.int64((owner[i] == colour) & (bands[i] > 0)) << i
    return manned


@inlined
def owned_in(owned: Int, lair: Int) -> Int:
    """Of a set of territories, those of a lair, or with FOUR of the central group: how many."""
    return count(owned & LAIR_SETS[lair])


@inlined
def cities_owned(s: State, owned: Int, lair: Int) -> Int:
    """How many territories of a set hold a city of this lair."""
    n = 0
    for city in range(lair * CITIES, (lair + 1) * CITIES):
        n += (owned >> city_place(s, city)) & 1
    return n


@inlined
def posts_owned(s: State, owned: Int) -> Int:
    """How many territories of a set hold a trading post."""
    n = 0
    for post in range(ALL_POSTS):
        n += (owned >> post_place(s, post)) & 1
    return n


@inlined
def enemy_cities_owned(s: State, owned: Int, colour: Int) -> Int:
    """ADA-27: how many hold a city of a lair whose printed colour is not the player's."""
    n = 0
    for lair in range(FOUR):
        if is_enemy(s, colour, lair):
            n += cities_owned(s, owned, lair)
    return n


@kernel
def holds(s: State, seat: Int, card: Int) -> Int:
    """Whether a player, if it is one, holds a card of this kind."""
    return s.cards == 1 and seat >= 0 and s.hand[seat, card] > 0


@inlined
def lairs_held(owned: Int) -> Int:
    """ADA-31: the number of lairs of which 4 territories are in a set."""
    held = 0
    for lair in range(FOUR):
        held += owned_in(owned, lair) >= LAIR_HELD
    return held


@kernel
def border_from(s: State, border: Int) -> Int:
    """The place from which a border goes: the last whose first border is no later."""
    by_land = border < s.sea_borders[0]
    low, high = np.int64(0), np.int64(s.places)
    while high - low > 1:
        middle = (low + high) >> 1
        first = np.int64(s.land_borders[middle] if by_land else s.sea_borders[middle])
        if first <= border:
            low = middle
        else:
            high = middle
    return low


# --- what may be done to a place -----------------------------------------------------------------


@kernel
def is_unexplored(s: State, place: Int) -> Int:
    """ADA-21: a central territory without a flag; the tribes' flag marks it explored."""
    return CENTRAL <= place < TERRITORIES and s.owner[place] == NOBODY


@kernel
def is_hostile(s: State, place: Int, colour: Int) -> Int:
    """ADA-22: tribes there, or bands of an enemy."""
    if s.bands[place] > 0:
        return is_enemy(s, colour, np.int64(s.owner[place]))
    return place < TERRITORIES and s.tribes[place] > 0


@kernel
def holds_others(s: State, place: Int, colour: Int) -> Int:
    """Bands of another colour there, nobody's or the player's own second one included."""
    return s.bands[place] > 0 and s.owner[place] != colour


@kernel
def room(s: State, place: Int) -> Int:
    """ADA-19: pieces that still fit into a place; land takes any number."""
    if place < TERRITORIES:
        return 2 * MOST_PIECES
    return SHIP_ROOM - s.bands[place] - s.gold[place]


@kernel
def may_enter(s: State, place: Int, colour: Int) -> Int:
    """ADA-18, ADA-19: land explored and clear, or a ship with room, without others' bands."""
    if holds_others(s, place, colour):
        return False
    if place < TERRITORIES:
        return s.tribes[place] == 0 and not is_unexplored(s, place)
    return s.ship[place] == 1 and room(s, place) > 0


# --- pieces --------------------------------------------------------------------------------------


@kernel
def add_bands(s: State, place: Int, colour: Int, n: Int) -> None:
    """Up to `n` bands out of the reserve, as many as there are (ADA-6)."""
    n = min(n, s.reserve[colour])
    s.bands[place] += n
    s.reserve[colour] -= n


@kernel
def remove_bands(s: State, place: Int, n: Int) -> None:
    """Up to `n` bands back to their reserve; a ship without a crew is nobody's (ADA-8)."""
    n = min(n, s.bands[place])
    if n > 0:
        s.bands[place] -= n
        s.reserve[s.owner[place]] += n
        disown_empty_ship(s, place)


@kernel
def disown_empty_ship(s: State, place: Int) -> None:
    """ADA-8: a ship at sea without bands is nobody's."""
    if place >= TERRITORIES and s.bands[place] == 0:
        s.owner[place] = NOBODY


@kernel
def add_gold(s: State, place: Int, n: Int) -> None:
    """Up to `n` gold out of the supply."""
    n = min(n, s.supply_gold)
    s.gold[place] += n
    s.supply_gold -= n


@kernel
def add_tribes(s: State, territory: Int, n: Int) -> None:
    """Up to `n` tribes out of the supply."""
    n = min(n, s.supply_tribes)
    s.tribes[territory] += n
    s.supply_tribes -= n


@kernel
def throw(s: State, die: Int) -> Int:
    """Throw a die: its face, noted for the public view."""
    face = np.int64(FACES[die, random_below(s, FACES.shape[1])])
    s.die[s.thrown] = die
    s.face[s.thrown] = face
    s.thrown += 1
    return face


@kernel
def finish_chain(s: State) -> None:
    """The order under way is completed; nothing is left of its chain of decisions."""
    s.order = s.origin = s.target = s.used = -1
    s.count = s.roll = s.due = s.looked = 0
    if s.stage != OVER:
        s.stage = ORDER


@kernel
def win(s: State, player: Int) -> None:
    """The game ends, and a player has won."""
    s.winner = player
    s.stage = OVER


@kernel
def check_last_player(s: State) -> None:
    """ADA-29: a player wins at once when no other player has a band on the board."""
    last: Int = -1
    for colour in range(FOUR):
        seat = np.int64(s.seat_of[colour])
        if seat >= 0 and s.reserve[colour] < MOST_PIECES and seat != last:
            if last >= 0:
                return
            last = seat
    if last >= 0:
        win(s, last)
