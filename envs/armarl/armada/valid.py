"""Whether a record that comes from outside is a lawful state of Armada.

`valid` holds for every state that play reaches, and for every determinised one. Concealed states of
a game with cards are not whole, and are refused. What it accepts can be played to its end: pieces
and cards are conserved, numbers are in their ranges, and whatever the rules derive is what they
would derive.
"""

# ruff: noqa: SIM109, SIM110 - what these propose cannot be compiled, or could raise

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.armada.actions import (
    ALL_CITIES,
    ATTACK,
    BUY,
    CENTRAL,
    ENROL,
    MOST_PIECES,
    MOVE,
    PLAY,
    TERRITORIES,
)
from armarl.armada.answers import most_bands, most_gold
from armarl.armada.chart import CITIES
from armarl.armada.deck import DEALT
from armarl.armada.knowledge import HELD, LACKED
from armarl.armada.offers import (
    CENTRAL_PER_BAND,
    PLAIN_KINDS,
    natives_places,
    payable_gold,
    recruit_places,
)
from armarl.armada.orders import MOST_HITS, MOST_LOSSES, attacked_seat
from armarl.armada.setup import (
    NEUTRAL_ELSEWHERE,
    NEUTRAL_IN_CITY,
    SHIPS_EACH,
    starting_bands,
)
from armarl.armada.state import (
    ANSWER_ATTACK,
    ANSWER_CARDS,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    ANSWERS,
    ATTACK_ANSWER,
    BIG_NATIVES_CARD,
    BIG_RECRUIT_CARD,
    CARD_PRICE,
    CARDS,
    COMBAT_DIE,
    COPIES,
    COUPS,
    DEFENCE_ANSWER,
    FACES,
    FOUR,
    LAIR,
    MAX_PLACES,
    MAX_PLAYERS,
    MORE_COUPS,
    MOST_FACES,
    NATIVES_CARD,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PAY_GOLD,
    PEEKING,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    PLACE_SHIP,
    RAID_ANSWER,
    RAID_COUPS,
    RECRUIT_CARD,
    SHIP_ROOM,
    SHIPS,
    STRATEGIST_CARD,
    TRIBES,
    TRIBES_DIE,
    acting_colour,
    acting_seat,
    city_place,
    colours_playing,
    in_victory,
    is_hostile,
    is_unexplored,
    lairs_held,
    may_enter,
    owned_in,
    territories_of,
)
from armarl.armada.turns import BEGINNING, IDLE_ROUNDS, next_colour, raider
from armarl.compiled import kernel
from armarl.verbs import Int, State

FAULTS = (
    "it is lawful",
    "its options or its chart are not those of this variant, or unused bytes are not 0",
    "the colours are not those of ADA-9 to ADA-12",
    "what lies in a place cannot lie there (ADA-8, ADA-16, ADA-19, ADA-21)",
    "bands, gold, tribes or ships are not as many as ADA-6 says",
    "the cards in the deck, in the hands and played are not those of ADA-32",
    "what is remembered of cards, or known of hands, is not so (ADA-37)",
    "the dice show what they cannot (ADA-7)",
    "the preliminary turn is not at a place that it can be at (ADA-12, ADA-13)",
    "the turn, its budget or the raid is not one that can be (ADA-15, ADA-26, ADA-33)",
    "the decision is not one that can be open (ADA-17, ADA-22, ADA-31 to ADA-35)",
    "the end is not one that a game can have (ADA-28 to ADA-30)",
)
(
    LAWFUL,
    OPTIONS,
    SEATS,
    PLACES,
    PIECES,
    CARDS_HELD,
    KNOWLEDGE,
    DICE,
    PRELIMINARY,
    COURSE,
    CHAIN,
    END,
) = range(len(FAULTS))


@kernel
def valid(s: State, blank: Int) -> Int:
    """LAWFUL, or the number of the first law, in the order of FAULTS, that a state breaks."""
    if not _same_options(s, blank):
        return OPTIONS
    if not _seats_are_right(s):
        return SEATS
    for place in range(MAX_PLACES):
        if not _place_is_lawful(s, place):
            return PLACES
    if not _pieces_add_up(s):
        return PIECES
    if not _cards_add_up(s):
        return CARDS_HELD
    if not _knowledge_is_right(s):
        return KNOWLEDGE
    if not _dice_are_right(s):
        return DICE
    return _fault_in_time(s)


@kernel
def _fault_in_time(s: State) -> Int:
    """What is wrong with the turn, the decision that is open, or the end."""
    if s.stage < 0 or s.stage > OVER or s.colour[0] < 0 or s.colour[0] >= FOUR:
        return COURSE
    if s.stage < ORDER:
        return LAWFUL if _is_preliminary(s) else PRELIMINARY
    if not _course_is_right(s):
        return COURSE
    if s.stage == OVER:
        return LAWFUL if _end_is_right(s) else END
    return LAWFUL if _chain_is_right(s) and s.winner == -1 else CHAIN


# --- options -------------------------------------------------------------------------------------


@kernel
def _same(some: Int, others: Int) -> Int:
    for i in range(some.size):
        if some[i] != others[i]:
            return False
    return True


@kernel
def _same_options(s: State, blank: Int) -> Int:
    for i in range(s.padding.size):
        if s.padding[i] != 0:
            return False
    return (
        s.players == blank.players
        and s.cards == blank.cards
        and s.enrolment == blank.enrolment
        and s.max_turns == blank.max_turns
        and s.places == blank.places
        and _same(s.first, blank.first)
        and _same(s.land_borders, blank.land_borders)
        and _same(s.sea_borders, blank.sea_borders)
        and _same(s.launches, blank.launches)
        and _same(s.border_from, blank.border_from)
        and _same(s.border_to, blank.border_to)
        and _same(s.cities, blank.cities)
        and _same(s.posts, blank.posts)
    )


@kernel
def _seats_are_right(s: State) -> Int:
    """ADA-9 to ADA-12: the colours in play order to the seats in turn, but nobody's."""
    lowest = 0 if s.players == 3 else -1
    highest = FOUR - 1 if s.players == 3 else -1
    if s.neutral < lowest or s.neutral > highest:
        return False
    seat = 0
    for colour in range(FOUR):
        if colour == s.neutral:
            if s.seat_of[colour] != -1:
                return False
        else:
            if s.seat_of[colour] != seat % s.players:
                return False
            seat += 1
    return True


# --- pieces --------------------------------------------------------------------------------------


@kernel
def _place_is_lawful(s: State, place: Int) -> Int:
    if s.bands[place] < 0 or s.gold[place] < 0 or s.ship[place] < 0 or s.ship[place] > 1:
        return False
    if s.owner[place] < NOBODY or s.owner[place] > TRIBES:
        return False
    if place >= TERRITORIES:
        return _square_is_lawful(s, place)
    if s.ship[place] == 1 and not _is_city(s, place):
        return False
    return _territory_is_lawful(s, place)


@kernel
def _is_city(s: State, place: Int) -> Int:
    for city in range(ALL_CITIES):
        if city_place(s, city) == place:
            return True
    return False


@kernel
def _square_is_lawful(s: State, place: Int) -> Int:
    """ADA-8, ADA-19: all lies on ships, whose crews are of colours that sail."""
    if s.owner[place] == TRIBES or (s.bands[place] > 0) != (s.owner[place] != NOBODY):
        return False
    if s.neutral >= 0 and s.owner[place] == s.neutral:
        return False
    if s.ship[place] == 1:
        return place < s.places and np.int64(s.bands[place]) + s.gold[place] <= SHIP_ROOM
    return s.bands[place] == 0 and s.gold[place] == 0


@kernel
def _territory_is_lawful(s: State, place: Int) -> Int:
    """ADA-14, ADA-21: lairs are owned; unexplored land is empty; tribes lie under their flag."""
    tribes, owner = s.tribes[place], s.owner[place]
    if tribes < 0 or (tribes > 0 and owner != TRIBES):
        return False
    if place < CENTRAL:
        return 0 <= owner < FOUR
    if owner == NOBODY:
        return s.bands[place] == 0 and s.gold[place] == 0
    return owner != TRIBES or s.bands[place] == 0


@kernel
def _total(numbers: Any) -> Int:
    """The sum of small numbers."""
    total: Int = 0
    for i in range(numbers.size):
        total += np.int64(numbers[i])
    return total


@kernel
def _any(numbers: Any) -> Int:
    """Whether any is not 0."""
    for i in range(numbers.size):
        if numbers[i] != 0:
            return True
    return False


@kernel
def _bands_of(s: State, colour: Int) -> Int:
    """The bands of a colour on the board."""
    n: Int = 0
    for place in range(MAX_PLACES):
        if s.owner[place] == colour:
            n += np.int64(s.bands[place])
    return n


@kernel
def _pieces_add_up(s: State) -> Int:
    """ADA-6, and nothing is below 0."""
    if s.supply_gold < 0 or s.supply_tribes < 0 or s.box < 0:
        return False
    for colour in range(FOUR):
        if s.reserve[colour] < 0 or s.reserve[colour] + _bands_of(s, colour) != MOST_PIECES:
            return False
    return (
        s.supply_gold + _total(s.gold) == MOST_PIECES
        and s.supply_tribes + _total(s.tribes) == MOST_PIECES
        and s.box + _total(s.ship) == SHIPS
    )


# --- cards and dice ------------------------------------------------------------------------------


@kernel
def _cards_add_up(s: State) -> Int:
    """ADA-32: of every kind the copies, or none without the option; no gap in the deck."""
    if s.deck_size < 0 or s.deck_size > s.deck.size:
        return False
    for i in range(s.deck.size):
        if (s.deck[i] > 0) != (i < s.deck_size) or s.deck[i] < 0 or s.deck[i] > CARDS:
            return False
    for player in range(MAX_PLAYERS):
        for card in range(CARDS):
            if s.hand[player, card] < 0 or (player >= s.players and s.hand[player, card] > 0):
                return False
        if s.hand_size[player] != _total(s.hand[player]):
            return False
    for card in range(CARDS):
        copies = np.int64(COPIES[card]) if s.cards else 0
        if s.played[card] < 0 or s.pool[card] != 0 or _found(s, card) != copies:
            return False
    return True


@kernel
def _found(s: State, card: Int) -> Int:
    """How many cards of a kind there are anywhere."""
    n = np.int64(s.played[card])
    for player in range(MAX_PLAYERS):
        n += np.int64(s.hand[player, card])
    for i in range(s.deck.size):
        n += s.deck[i] == card + 1
    return n


@kernel
def _knowledge_is_right(s: State) -> Int:
    """ADA-37: what is known of hands is so; cards remembered are in the deck or were drawn."""
    for seat in range(MAX_PLAYERS):
        for answer in range(ANSWERS):
            if not _answer_is_right(s, seat, answer):
                return False
        for other in range(MAX_PLAYERS):
            drawn = s.drawn[seat, other]
            if drawn < 0 or drawn > (s.hand_size[other] if other != seat else 0):
                return False
            if seat >= s.players and drawn != 0:
                return False
        for card in range(CARDS):
            most = _most_remembered(s, seat, card) if seat < s.players else 0
            if s.remembered[seat, card] < 0 or s.remembered[seat, card] > most:
                return False
    return True


@kernel
def _answer_is_right(s: State, seat: Int, answer: Int) -> Int:
    known = s.answers[seat, answer]
    if known == HELD:
        return s.hand[seat, ANSWER_CARDS[answer]] > 0
    if known == LACKED:
        return s.cards == 1 and seat < s.players and s.hand[seat, ANSWER_CARDS[answer]] == 0
    return known == 0


@kernel
def _most_remembered(s: State, seat: Int, card: Int) -> Int:
    """Cards of a kind in the deck, and those that others may have drawn since."""
    n: Int = 0
    for i in range(s.deck_size):
        n += s.deck[i] == card + 1
    for other in range(s.players):
        n += min(np.int64(s.hand[other, card]), np.int64(s.drawn[seat, other]))
    return n


@kernel
def _is_face(die: Int, face: Int) -> Int:
    for i in range(FACES.shape[1]):
        if FACES[die, i] == face:
            return True
    return False


@kernel
def _dice_are_right(s: State) -> Int:
    if s.thrown < 0 or s.thrown > MOST_FACES:
        return False
    for i in range(MOST_FACES):
        if s.die[i] < 0 or s.die[i] >= FACES.shape[0]:
            return False
        never_thrown = i >= s.thrown and s.die[i] == 0 and s.face[i] == 0
        if not never_thrown and not _is_face(np.int64(s.die[i]), s.face[i]):
            return False
    return True


# --- the preliminary turn ------------------------------------------------------------------------


@kernel
def _is_preliminary(s: State) -> Int:
    """ADA-12 to ADA-14: colours before the one in turn are done, and those after it not begun."""
    if s.turn != -1 or s.winner != -1 or s.colour[0] == s.neutral:
        return False
    if not _nothing_has_happened(s) or s.to_move != acting_seat(s):
        return False
    for colour in range(FOUR):
        if colour == s.neutral:
            if not _neutral_lair_is_right(s):
                return False
        elif not _lair_is_prepared(s, colour):
            return False
    return _preparing_is_right(s)


@kernel
def _nothing_has_happened(s: State) -> Int:
    """No turn, raid, claim, card or exploration, and no pieces outside the lairs."""
    if s.raid != 0 or s.asked != 0 or s.idle != 0 or s.thrown != 0 or _total(s.played) != 0:
        return False
    if _total(s.claims) != 0 or not _no_budget(s, 0) or not _no_budget(s, 1) or s.colour[1] != 0:
        return False
    for seat in range(s.players):
        if _any(s.answers[seat]) or _any(s.drawn[seat]) or _any(s.remembered[seat]):
            return False
    if s.supply_gold != MOST_PIECES or s.supply_tribes != MOST_PIECES:
        return False
    for player in range(s.players):
        if s.cards and s.hand_size[player] != DEALT:
            return False
    for place in range(MAX_PLACES):
        owner = place // LAIR if place < CENTRAL else NOBODY
        if s.owner[place] != owner or (place >= TERRITORIES and s.ship[place] != 0):
            return False
    return True


@kernel
def _no_budget(s: State, raid: Int) -> Int:
    return s.coups[raid] == 0 and s.enrolled[raid] == 0 and s.more_coups[raid] == 0


@kernel
def _neutral_lair_is_right(s: State) -> Int:
    """ADA-12: three bands on each of its cities, one elsewhere, and no ship."""
    for territory in range(s.neutral * LAIR, (s.neutral + 1) * LAIR):
        bands = NEUTRAL_IN_CITY if _is_city(s, territory) else NEUTRAL_ELSEWHERE
        if s.bands[territory] != bands or s.ship[territory] != 0:
            return False
    return True


@kernel
def _ships_in(s: State, colour: Int) -> Int:
    """Ships on the cities of a lair."""
    n = 0
    for city in range(colour * CITIES, (colour + 1) * CITIES):
        n += s.ship[city_place(s, city)]
    return n


@kernel
def _lair_is_prepared(s: State, colour: Int) -> Int:
    """ADA-13: two ships and all bands, one after the other."""
    ships: Int = SHIPS_EACH
    bands = starting_bands(s, np.int64(colour))
    if colour > s.colour[0]:
        ships = bands = 0
    elif colour == s.colour[0]:
        ships = np.int64(s.count) if s.stage == PLACE_SHIP else SHIPS_EACH
        bands = 0 if s.stage == PLACE_SHIP else bands - s.due
    return _ships_in(s, colour) == ships and MOST_PIECES - s.reserve[colour] == bands


@kernel
def _preparing_is_right(s: State) -> Int:
    """ADA-13: a ship is to be placed, or bands on one territory after the other."""
    if s.order != -1 or s.origin != -1 or s.used != -1 or s.roll != 0 or s.looked != 0:
        return False
    if s.stage == PLACE_SHIP:
        return 0 <= s.count < SHIPS_EACH and s.target == -1 and s.due == 0
    first = acting_colour(s) * LAIR
    if s.count != 0 or s.due < 1 or s.target < first or s.target >= first + LAIR - 1:
        return False
    for territory in range(s.target, first + LAIR):
        if s.bands[territory] != 0:
            return False
    return True


# --- the course of the game ----------------------------------------------------------------------


@kernel
def _course_is_right(s: State) -> Int:
    """ADA-9, ADA-15, ADA-26, ADA-33: whose turn or raid it is, and with what budget."""
    if s.turn < 0 or s.turn > s.max_turns or s.raid < 0 or s.raid > 1:
        return False
    for colour in range(FOUR):
        mere = colour != s.neutral
        if s.claims[colour] < 0 or s.claims[colour] > mere:
            return False
    if not _colour_in_turn(s) or not _asking_is_right(s):
        return False
    if not _budget_is_right(s, 0, COUPS):
        return False
    if s.raid:
        return _raider_is_right(s) and _budget_is_right(s, 1, RAID_COUPS)
    return s.colour[1] == 0 and _no_budget(s, 1)


@kernel
def _colour_in_turn(s: State) -> Int:
    """ADA-9: the turns go round; a turn that has ended the game has been counted."""
    if s.colour[0] == s.neutral:
        return False
    colour = next_colour(s, np.int64(FOUR - 1))
    for _ in range(s.turn % colours_playing(s)):
        colour = next_colour(s, colour)
    if s.colour[0] == colour:
        return s.stage == OVER or s.turn < s.max_turns
    return s.stage == OVER and s.turn > 0 and next_colour(s, np.int64(s.colour[0])) == colour


@kernel
def _asking_is_right(s: State) -> Int:
    """ADA-26, ADA-33: before an order in a turn all have been asked; idle turns have just ended."""
    last = 0
    if s.cards:
        last = 1 if s.players == 2 else FOUR - 1
    if s.stage == OVER:
        return BEGINNING <= s.asked <= last and 0 <= s.idle <= IDLE_ROUNDS * colours_playing(s)
    if s.idle != 0:
        return False
    if s.raid or s.stage == ANSWER_RAID:
        return 1 <= s.asked <= last
    return s.asked == last


@kernel
def _raider_is_right(s: State) -> Int:
    seat = np.int64(s.seat_of[raider(s)])
    return s.colour[1] == raider(s) and seat >= 0 and seat != s.seat_of[s.colour[0]]


@kernel
def _budget_is_right(s: State, raid: Int, coups: Int) -> Int:
    if s.enrolled[raid] < 0 or s.enrolled[raid] > s.enrolment:
        return False
    if s.more_coups[raid] < 0 or s.more_coups[raid] > s.cards:
        return False
    return 0 <= s.coups[raid] <= coups + MORE_COUPS * s.more_coups[raid]


# --- the decision that is open -------------------------------------------------------------------


@kernel
def _no_chain(s: State) -> Int:
    if s.order != -1 or s.origin != -1 or s.target != -1 or s.used != -1:
        return False
    return s.count == 0 and s.roll == 0 and s.due == 0 and s.looked == 0


@kernel
def _was_asked(s: State, seat: Int, answer: Int) -> Int:
    """ADA-32, ADA-33: a player is asked for a card because he holds it, and all know that."""
    return seat >= 0 and s.answers[seat, answer] == HELD


@kernel
def _chain_is_right(s: State) -> Int:
    if not _several_have_bands(s):
        return False  # ADA-29: the game would be over
    stage = s.stage
    if stage == ANSWER_RAID:
        seat = np.int64(s.seat_of[raider(s)])
        asked = s.raid == 0 and s.to_move == seat and seat != s.seat_of[s.colour[0]]
        return asked and _was_asked(s, seat, RAID_ANSWER) and _no_chain(s)
    if stage == ANSWER_DEFENCE:
        return _combat_is_right(s)
    if s.to_move != acting_seat(s):
        return False
    if stage == ORDER:
        return _no_chain(s)
    if stage == ANSWER_ATTACK:
        return _combat_is_right(s)
    if stage == NUMBER_BANDS or stage == NUMBER_GOLD:
        return _move_is_right(s)
    if s.origin != -1 or s.target != -1:
        return False
    return _placing_is_right(s)


@kernel
def _several_have_bands(s: State) -> Int:
    """ADA-29: bands of two players at least."""
    first: Int = -1
    for colour in range(FOUR):
        seat = np.int64(s.seat_of[colour])
        if seat >= 0 and s.reserve[colour] < MOST_PIECES:
            if first >= 0 and seat != first:
                return True
            first = seat
    return False


@kernel
def _on_a_border(s: State, family: Any) -> Int:
    """The order is one of the family, along the border from `origin` to `target`."""
    border = np.int64(s.order) - s.first[family]
    if border < 0 or s.order >= s.first[family + 1]:
        return False
    if s.border_from[border] != s.origin or s.border_to[border] != s.target:
        return False
    return s.owner[s.origin] == acting_colour(s) and s.bands[s.origin] > 0


@kernel
def _move_is_right(s: State) -> Int:
    """ADA-17 to ADA-19: there is a choice of how many bands, or of how much gold."""
    if not _on_a_border(s, MOVE) or s.used != -1 or s.roll != 0 or s.due != 0 or s.looked != 0:
        return False
    if is_unexplored(s, np.int64(s.target)):
        return False
    if not may_enter(s, np.int64(s.target), acting_colour(s)):
        return False
    if s.stage == NUMBER_BANDS:
        return s.count == 0 and most_bands(s) > 1
    return 1 <= s.count <= most_bands(s) and most_gold(s) > 0


@kernel
def _combat_is_right(s: State) -> Int:
    """ADA-22, ADA-32: a roll that a card in the hand of whoever is asked would change."""
    if not _on_a_border(s, ATTACK) or s.bands[s.origin] < 2 or not s.cards:
        return False
    if s.count != 0 or s.used != -1 or s.due != 0 or s.looked != 0:
        return False
    target, colour = np.int64(s.target), acting_colour(s)
    if not is_hostile(s, target, colour) or not _is_face(COMBAT_DIE, s.roll):
        return False
    if s.stage == ANSWER_ATTACK:
        return s.roll != MOST_HITS and _was_asked(s, acting_seat(s), ATTACK_ANSWER)
    seat = attacked_seat(s)
    return s.to_move == seat and s.roll != MOST_LOSSES and _was_asked(s, seat, DEFENCE_ANSWER)


@kernel
def _placing_is_right(s: State) -> Int:
    """Enrolment and cards: what is left to place, pay or look at."""
    stage = s.stage
    if stage == PLACE_ENROLLED:
        return _enrolment_is_right(s)
    if s.count != 0 or not s.cards:
        return False
    if stage == PAY_GOLD:
        return _payment_is_right(s)
    if stage == PEEKING:
        looking = s.used == -1 and s.roll == 0 and s.due == 0 and s.coups[s.raid] > 0
        return looking and 1 <= s.looked < s.deck_size and _plain_order(s, STRATEGIST_CARD)
    return s.looked == 0 and _levy_is_right(s)


@kernel
def _enrolment_is_right(s: State) -> Int:
    """ADA-31: bands for lairs and central land, as many as there are, one after the other."""
    if s.order != s.first[ENROL] or s.enrolled[s.raid] != 1:
        return False
    if s.used != -1 or s.roll != 0 or s.looked != 0:
        return False
    owned, reserve = territories_of(s, acting_colour(s)), np.int64(s.reserve[acting_colour(s)])
    levies = lairs_held(owned) + owned_in(owned, FOUR) // CENTRAL_PER_BAND
    if s.due < 1 or s.count < 0 or s.due > reserve:
        return False
    return s.count + s.due == min(levies, reserve + s.count)


@kernel
def _payment_is_right(s: State) -> Int:
    """ADA-32, ADA-36: gold in several places, enough to pay, and a card to be had."""
    if s.order != s.first[BUY] or s.used != -1 or s.roll != 0 or s.looked != 0:
        return False
    colour, purses = acting_colour(s), 0
    for place in range(s.places):
        purses += s.owner[place] == colour and s.gold[place] > 0
    enough = 1 <= s.due <= CARD_PRICE and payable_gold(s, colour) >= s.due
    return enough and purses > 1 and s.deck_size > 0


@kernel
def _plain_order(s: State, card: Int) -> Int:
    """The order under way is to play this card, which is played."""
    for plain in range(PLAIN_KINDS.size):
        if s.order == s.first[PLAY] + plain:
            return PLAIN_KINDS[plain] == card and s.played[card] > 0
    return False


@kernel
def _levy_is_right(s: State) -> Int:
    """ADA-32, ADA-35: a roll that is placed on one of several territories, of one or two."""
    natives = s.stage == PLACE_NATIVES
    small = _plain_order(s, NATIVES_CARD if natives else RECRUIT_CARD)
    big = _plain_order(s, BIG_NATIVES_CARD if natives else BIG_RECRUIT_CARD)
    if not (small or big) or s.due < 0 or s.due > big:
        return False
    if s.roll < 1 or not _is_face(TRIBES_DIE, s.roll) or s.used < -1 or s.used >= TERRITORIES:
        return False
    if (small or s.due == 1) and s.used != -1:  # nothing has been placed yet
        return False
    if natives:
        lawful = s.used == -1 or (s.used >= CENTRAL and s.owner[s.used] == TRIBES)
        return lawful and s.supply_tribes > 0 and natives_places(s, np.int64(s.used)) > 1
    lawful = s.used == -1 or s.owner[s.used] == acting_colour(s)
    several = recruit_places(s, acting_colour(s), np.int64(s.used)) > 1
    return lawful and several and s.reserve[acting_colour(s)] > 0


# --- the end -------------------------------------------------------------------------------------


@kernel
def _end_is_right(s: State) -> Int:
    """ADA-28 to ADA-30: a claim has held, only one player has bands, or the game was cut short."""
    if s.to_move < 0 or s.to_move >= s.players or not _no_chain(s):
        return False
    if s.winner < -1 or s.winner >= s.players:
        return False
    if s.winner == -1:
        idle = s.idle == IDLE_ROUNDS * colours_playing(s)
        return s.raid == 0 and _several_have_bands(s) and (s.turn >= s.max_turns or idle)
    colour = np.int64(s.colour[0])
    if s.claims[colour] and s.seat_of[colour] == s.winner and in_victory(s, colour):
        return True
    if _several_have_bands(s):
        return False
    for other in range(FOUR):
        if s.seat_of[other] == s.winner and s.reserve[other] < MOST_PIECES:
            return True
    return False
