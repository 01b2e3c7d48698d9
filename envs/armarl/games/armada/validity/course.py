"""Validation of the course of an Armada game: the preliminary turn, turns and raids, the end."""

# ruff: noqa: SIM110 - the code that ruff proposes cannot be compiled, or could raise

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import CENTRAL, MOST_PIECES
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.rules.deck import DEALT
from armarl.games.armada.rules.scoring import in_victory, last_player
from armarl.games.armada.rules.setup import NEUTRAL_ELSEWHERE, NEUTRAL_IN_CITY, starting_bands
from armarl.games.armada.rules.turns import BEGINNING, IDLE_ROUNDS, next_colour, raider
from armarl.games.armada.state import (
    ANSWER_RAID,
    CLAIM_DUE,
    COUPS,
    FOUR,
    LAIR,
    MORE_COUPS,
    NEW_CLAIM,
    NO_CLAIM,
    NOBODY,
    OVER,
    PLACE_ROOM,
    PLACE_SHIP,
    RAID_COUPS,
    SHIPS_EACH,
    acting_colour,
    acting_seat,
    city_place,
    colours_playing,
    has_ship,
)
from armarl.games.armada.validity.chain import no_chain
from armarl.games.armada.validity.pieces import any_set, is_city, total_of

# --- the preliminary turn ------------------------------------------------------------------------


@kernel
def is_preliminary(s: State, fixed: State) -> Int:
    """ADA-12 to ADA-14: return whether the state is a possible point of the preliminary turn.

    The colours before the acting one have finished, and the colours after it have not begun.
    """
    if s.turn != -1 or s.winner != -1 or s.colour[0] == s.neutral:
        return False
    if not _nothing_has_happened(s) or s.to_move != acting_seat(s):
        return False
    for colour in range(FOUR):
        if colour == s.neutral:
            if not _neutral_lair_is_right(s, fixed):
                return False
        elif not _lair_is_prepared(s, colour, fixed):
            return False
    return _preparing_is_right(s)


@kernel
def _nothing_has_happened(s: State) -> Int:
    """Return whether no turn, raid, claim, card or exploration left a trace in the state.

    No piece and no flag may be outside the lairs.
    """
    if s.raid != 0 or s.asked != 0 or s.idle != 0 or s.thrown != 0 or total_of(s.played) != 0:
        return False
    if total_of(s.claims) != 0 or not _no_budget(s, 0) or not _no_budget(s, 1) or s.colour[1] != 0:
        return False
    for seat in range(s.players):
        if any_set(s.answers[seat]) or any_set(s.drawn[seat]) or any_set(s.remembered[seat]):
            return False
    if s.supply_gold != MOST_PIECES or s.supply_tribes != MOST_PIECES:
        return False
    for player in range(s.players):
        if s.cards and s.hand_size[player] != DEALT:
            return False
    for place in range(PLACE_ROOM):
        owner = place // LAIR if place < CENTRAL else NOBODY
        if s.owner[place] != owner:
            return False
    return s.ships[1] == 0


@kernel
def _no_budget(s: State, raid: Int) -> Int:
    return s.coups[raid] == 0 and s.enrolled[raid] == 0 and s.more_coups[raid] == 0


@kernel
def _neutral_lair_is_right(s: State, fixed: State) -> Int:
    """ADA-12: return whether nobody's lair has 3 bands per city, 1 elsewhere, and no ship."""
    for territory in range(s.neutral * LAIR, (s.neutral + 1) * LAIR):
        bands = NEUTRAL_IN_CITY if is_city(territory, fixed) else NEUTRAL_ELSEWHERE
        if s.bands[territory] != bands or has_ship(s, np.int64(territory)):
            return False
    return True


@kernel
def _ships_in(s: State, colour: Int, fixed: State) -> Int:
    """Count the ships on the cities of a lair."""
    n = 0
    for city in range(colour * CITIES, (colour + 1) * CITIES):
        n += has_ship(s, city_place(city, fixed))
    return n


@kernel
def _lair_is_prepared(s: State, colour: Int, fixed: State) -> Int:
    """ADA-13: return whether a lair has the ships and bands that its colour has placed so far."""
    ships: Int = SHIPS_EACH
    bands = starting_bands(s, np.int64(colour), fixed)
    if colour > s.colour[0]:
        ships = bands = 0
    elif colour == s.colour[0]:
        ships = np.int64(s.count) if s.stage == PLACE_SHIP else SHIPS_EACH
        bands = 0 if s.stage == PLACE_SHIP else bands - s.due
    return _ships_in(s, colour, fixed) == ships and MOST_PIECES - s.reserve[colour] == bands


@kernel
def _preparing_is_right(s: State) -> Int:
    """ADA-13: return whether the decision is possible: to place a ship, or bands on a territory."""
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
def course_is_right(s: State, fixed: State) -> Int:
    """ADA-9, 15, 26, 33: return whether a turn or raid, its colour and budget are possible."""
    if s.turn < 0 or s.turn > s.max_turns or s.raid < 0 or s.raid > 1:
        return False
    if not _claims_are_right(s, fixed):
        return False
    if not _colour_in_turn(s) or not _asking_is_right(s):
        return False
    if not _budget_is_right(s, 0, COUPS):
        return False
    if s.raid:
        return _raider_is_right(s) and _budget_is_right(s, 1, RAID_COUPS)
    return s.colour[1] == 0 and _no_budget(s, 1)


@kernel
def _claims_are_right(s: State, fixed: State) -> Int:
    """ADA-28: return whether every colour in victory has a claim, and all claims are possible.

    Only the colour whose turn it is may have a new claim, after it has paid a coup.
    """
    for colour in range(FOUR):
        if colour == s.neutral:
            if s.claims[colour] != NO_CLAIM:
                return False
            continue
        if s.claims[colour] < NO_CLAIM or s.claims[colour] > CLAIM_DUE:
            return False
        if s.claims[colour] == NO_CLAIM and in_victory(s, np.int64(colour), fixed):
            return False
        if s.claims[colour] == NEW_CLAIM and not _may_be_new(s, np.int64(colour), fixed):
            return False
    return True


@kernel
def _may_be_new(s: State, colour: Int, fixed: State) -> Int:
    """ADA-28: return whether a claim may be new: its colour has paid a coup in its current turn.

    The colour is still in victory, unless a raid has changed that.
    """
    if colour != s.colour[0] or s.coups[0] >= COUPS + MORE_COUPS * s.more_coups[0]:
        return False
    return s.cards == 1 or in_victory(s, colour, fixed)


@kernel
def _colour_in_turn(s: State) -> Int:
    """ADA-9: return whether the colour whose turn it is agrees with the number of turns.

    The number includes a turn that ended the game.
    """
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
    """ADA-26, ADA-33: return whether the fields `asked` and `idle` are possible.

    `asked` counts the colours that were asked for a raid, and `idle` counts the latest turns that
    ended automatically. When an order is due, all colours have been asked, and `idle` is 0.
    """
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


# --- the end -------------------------------------------------------------------------------------


@kernel
def end_is_right(s: State, fixed: State) -> Int:
    """ADA-28 to ADA-30: return whether the end of the game is possible.

    The winner's claim was fulfilled or all others are out, or the game was cut short.
    """
    if s.to_move < 0 or s.to_move >= s.players or not no_chain(s):
        return False
    if s.winner < -1 or s.winner >= s.players:
        return False
    if s.winner == -1:
        idle = s.idle == IDLE_ROUNDS * colours_playing(s)
        ended = s.raid == 0 and s.claims[s.colour[0]] != NEW_CLAIM
        return ended and last_player(s) < 0 and (s.turn >= s.max_turns or idle)
    colour = np.int64(s.colour[0])
    due = s.claims[colour] == CLAIM_DUE
    if due and s.seat_of[colour] == s.winner and in_victory(s, colour, fixed):
        return True
    return last_player(s) == s.winner
