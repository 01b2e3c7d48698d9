"""Validation of the contents of an Armada state: options, pieces, cards and dice."""

# ruff: noqa: SIM110 - the code that ruff proposes cannot be compiled, or could raise

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import count
from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import ALL_CITIES, CENTRAL, MOST_PIECES, TERRITORIES
from armarl.games.armada.dice import SIDES
from armarl.games.armada.knowledge import HELD, LACKED
from armarl.games.armada.rules.legal_orders import ships_lost
from armarl.games.armada.state import (
    ANSWER_CARDS,
    ANSWERS,
    CARDS,
    COPIES,
    FOUR,
    MAX_PLAYERS,
    MOST_FACES,
    NOBODY,
    PLACE_ROOM,
    SHIP_ROOM,
    SHIPS,
    TRIBES,
    city_place,
    has_ship,
    tribes_on,
)

# --- options -------------------------------------------------------------------------------------


@kernel
def same_options(s: State, blank: State) -> Int:
    """Return whether options, chart and dice are those of the variant, and unused bytes are 0."""
    for i in range(s.padding.size):
        if s.padding[i] != 0:
            return False
    return (
        s.players == blank.players
        and s.cards == blank.cards
        and s.enrolment == blank.enrolment
        and s.max_turns == blank.max_turns
        and s.places == blank.places
        and s.chart == blank.chart
    )


@kernel
def seats_are_right(s: State) -> Int:
    """ADA-9 to ADA-12: return whether the players' colours go to the seats in play order."""
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
def place_is_lawful(s: State, place: Int, fixed: State) -> Int:
    """Return whether a place has only pieces that it may have."""
    if s.bands[place] < 0 or s.gold[place] < 0:
        return False
    if s.owner[place] < NOBODY or s.owner[place] > TRIBES:
        return False
    if place >= TERRITORIES:
        return _square_is_lawful(s, place)
    if has_ship(s, place) and not is_city(place, fixed):
        return False
    return _territory_is_lawful(s, place)


@kernel
def ships_are_on_places(s: State) -> Int:
    """Return whether all ships are on territories and squares of the chart."""
    squares = np.int64(s.places) - TERRITORIES
    return s.ships[0] >> TERRITORIES == 0 and (squares == 64 or s.ships[1] >> squares == 0)


@kernel
def is_city(place: Int, fixed: State) -> Int:
    """Return whether a territory has a city."""
    for city in range(ALL_CITIES):
        if city_place(city, fixed) == place:
            return True
    return False


@kernel
def _square_is_lawful(s: State, place: Int) -> Int:
    """ADA-8, ADA-19: return whether all pieces of a square are aboard one ship and fit into it.

    A ship belongs to the colour of the bands aboard, which must be a player's, or else to nobody.
    """
    if s.owner[place] == TRIBES or (s.bands[place] > 0) != (s.owner[place] != NOBODY):
        return False
    if s.neutral >= 0 and s.owner[place] == s.neutral:
        return False
    if place < s.places and has_ship(s, place):
        return np.int64(s.bands[place]) + s.gold[place] <= SHIP_ROOM
    return s.bands[place] == 0 and s.gold[place] == 0


@kernel
def _territory_is_lawful(s: State, place: Int) -> Int:
    """ADA-14, ADA-21: return whether a territory's owner and pieces agree.

    Lairs have an owner, unexplored land is empty, and tribes are only under their own flag.
    """
    tribes, owner = tribes_on(s, place), s.owner[place]
    if tribes < 0 or (tribes > 0 and owner != TRIBES):
        return False
    if place < CENTRAL:
        return 0 <= owner < FOUR
    if owner == NOBODY:
        return s.bands[place] == 0 and s.gold[place] == 0
    return owner != TRIBES or s.bands[place] == 0


@kernel
def total_of(numbers: Any) -> Int:
    """Return the sum of an array of small integers, as int64."""
    total: Int = 0
    for i in range(numbers.size):
        total += np.int64(numbers[i])
    return total


@kernel
def any_set(numbers: Any) -> Int:
    """Return whether any number of an array is not 0."""
    for i in range(numbers.size):
        if numbers[i] != 0:
            return True
    return False


@kernel
def _bands_of(s: State, colour: Int) -> Int:
    """Count the bands of a colour on the board."""
    n: Int = 0
    for place in range(PLACE_ROOM):
        if s.owner[place] == colour:
            n += np.int64(s.bands[place])
    return n


@kernel
def pieces_add_up(s: State) -> Int:
    """ADA-6: return whether the numbers of pieces add up, and no supply or reserve is below 0.

    The box must contain at least the ships that are not in the game (ADA-12).
    """
    if s.supply_gold < 0 or s.supply_tribes < 0 or ships_lost(s) < 0:
        return False
    for colour in range(FOUR):
        if s.reserve[colour] < 0 or s.reserve[colour] + _bands_of(s, colour) != MOST_PIECES:
            return False
    return (
        s.supply_gold + total_of(s.gold) == MOST_PIECES
        and s.supply_tribes + total_of(s.tribes) == MOST_PIECES
        and s.box + count(s.ships[0]) + count(s.ships[1]) == SHIPS
    )


# --- cards and dice ------------------------------------------------------------------------------


@kernel
def cards_add_up(s: State) -> Int:
    """ADA-32: return whether all copies of every card exist, and the deck has no gap.

    Without the option `cards` there must be no card.
    """
    if s.deck_size < 0 or s.deck_size > s.deck.size:
        return False
    for i in range(s.deck.size):
        if (s.deck[i] > 0) != (i < s.deck_size) or s.deck[i] < 0 or s.deck[i] > CARDS:
            return False
    for player in range(MAX_PLAYERS):
        for card in range(CARDS):
            if s.hand[player, card] < 0 or (player >= s.players and s.hand[player, card] > 0):
                return False
        if s.hand_size[player] != total_of(s.hand[player]):
            return False
    for card in range(CARDS):
        copies = np.int64(COPIES[card]) if s.cards else 0
        if s.played[card] < 0 or s.pool[card] != 0 or _found(s, card) != copies:
            return False
    return True


@kernel
def _found(s: State, card: Int) -> Int:
    """Count the cards of a kind in the hands, in the deck and among the played cards."""
    n = np.int64(s.played[card])
    for player in range(MAX_PLAYERS):
        n += np.int64(s.hand[player, card])
    for i in range(s.deck.size):
        n += s.deck[i] == card + 1
    return n


@kernel
def knowledge_is_right(s: State) -> Int:
    """ADA-37: return whether the seats' knowledge agrees with the cards.

    Cards known to be held are in the hand. Remembered cards are in the deck or were drawn since.
    """
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
    """Count the cards of a kind in the deck, and those that others may have drawn since."""
    n: Int = 0
    for i in range(s.deck_size):
        n += s.deck[i] == card + 1
    for other in range(s.players):
        n += min(np.int64(s.hand[other, card]), np.int64(s.drawn[seat, other]))
    return n


@kernel
def is_face(die: Int, face: Int, fixed: State) -> Int:
    """Return whether a number is a face of a die."""
    for i in range(SIDES):
        if fixed.faces[die, i] == face:
            return True
    return False


@kernel
def dice_are_right(s: State, fixed: State) -> Int:
    """ADA-7: return whether each recorded throw is a face of its die. Unused entries may be 0."""
    if s.thrown < 0 or s.thrown > MOST_FACES:
        return False
    for i in range(MOST_FACES):
        if s.die[i] < 0 or s.die[i] >= fixed.faces.shape[0]:
            return False
        never_thrown = i >= s.thrown and s.die[i] == 0 and s.face[i] == 0
        if not never_thrown and not is_face(np.int64(s.die[i]), s.face[i], fixed):
            return False
    return True
