"""Buying and playing Armada's cards (ADA-32 to ADA-36), except `attack`, `defence` and `raid`."""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import CENTRAL, TERRITORIES
from armarl.games.armada.knowledge import remember_looked
from armarl.games.armada.rules.deck import TOP, discard, draw_card, shuffle
from armarl.games.armada.rules.legal_answers import may_pay_from
from armarl.games.armada.rules.legal_orders import (
    PLAIN_KINDS,
    may_recruit_in,
    may_rise_in,
    natives_places,
    recruit_places,
)
from armarl.games.armada.rules.orders import pay_coups
from armarl.games.armada.rules.scoring import check_last_player
from armarl.games.armada.state import (
    BIG_NATIVES_CARD,
    BIG_RECRUIT_CARD,
    CARD_PRICE,
    MORE_COUPS,
    MORE_COUPS_CARD,
    NATIVES_CARD,
    PAY_GOLD,
    PEEKING,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    STRATEGIST_CARD,
    TRIBES,
    TRIBES_DIE,
    acting_colour,
    acting_seat,
    add_bands,
    add_gold,
    add_tribes,
    finish_chain,
    flip_ship,
    remove_bands,
    throw,
)

MINED = np.int64(3)  # gold from a gold-mine card


@kernel
def play_card(s: State, card: Int) -> None:
    """ADA-15: move a card from the acting player's hand to the played cards.

    This happens at the first decision of the card's chain.
    """
    discard(s, acting_seat(s), card)


# --- buying --------------------------------------------------------------------------------------


@kernel
def begin_buying(s: State) -> None:
    """ADA-32: begin to buy a card. Pay 2 coups, then ask for 2 gold, one piece at a time."""
    pay_coups(s, CARD_PRICE)
    s.due = CARD_PRICE
    _ask_payment(s)


@kernel
def pay_gold(s: State, place: Int) -> None:
    """ADA-32: pay one gold from a place, then ask for the next piece of gold."""
    _take_gold(s, place)
    _ask_payment(s)


@kernel
def _ask_payment(s: State) -> None:
    """ADA-36: ask for the place to pay from if there is a choice. Once all is paid, draw a card."""
    while s.due > 0:
        place = _only_purse(s)
        if place < 0:
            s.stage = PAY_GOLD
            return
        _take_gold(s, place)
    draw_card(s, acting_seat(s), TOP)
    finish_chain(s)


@kernel
def _take_gold(s: State, place: Int) -> None:
    """Pay one gold: move it from a place to the supply."""
    s.gold[place] -= 1
    s.supply_gold += 1
    s.due -= 1


@kernel
def _only_purse(s: State) -> Int:
    """Return the only place that gold can be paid from, or -1 if there is not exactly one."""
    only = -1
    for place in range(s.places):
        if may_pay_from(s, place, acting_colour(s)):
            if only >= 0:
                return -1
            only = place
    return only


# --- cards without a place -----------------------------------------------------------------------


@kernel
def play_plain(s: State, plain: Int, fixed: State) -> None:
    """ADA-32: play a card of the family PLAY, whose action names no place."""
    card = PLAIN_KINDS[plain]
    play_card(s, card)
    if card == MORE_COUPS_CARD:
        s.more_coups[s.raid] = 1
        s.coups[s.raid] += MORE_COUPS
        finish_chain(s)
    elif card == STRATEGIST_CARD:
        peek(s)
    else:
        s.due = 1
        if card == BIG_RECRUIT_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - `in` could raise
            s.due = 2
        if card == NATIVES_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - `in` could raise
            _roll_natives(s, fixed)
        else:
            _roll_recruits(s, fixed)


@kernel
def peek(s: State) -> None:
    """ADA-32: look at the next card for one coup. If no further look is possible, take the card."""
    pay_coups(s, np.int64(1))
    s.looked += 1
    if s.coups[s.raid] == 0 or s.looked == s.deck_size:
        take(s)
    else:
        s.stage = PEEKING


@kernel
def take(s: State) -> None:
    """ADA-32: take the last card looked at into the hand, then shuffle the whole deck."""
    remember_looked(s, acting_seat(s))
    draw_card(s, acting_seat(s), np.int64(s.looked))
    shuffle(s, s.deck_size)
    finish_chain(s)


@kernel
def _roll_recruits(s: State, fixed: State) -> None:
    """ADA-32, ADA-35: roll for bands, and ask for the territory if there is a choice."""
    colour = acting_colour(s)
    while s.due > 0:
        s.due -= 1
        s.roll = throw(s, TRIBES_DIE, fixed)
        if s.roll > 0 and s.reserve[colour] > 0:
            if recruit_places(s, colour, np.int64(s.used)) == 0:
                s.used = -1  # only the territory of the first roll is left, so allow it again
            if recruit_places(s, colour, np.int64(s.used)) > 1:
                s.stage = PLACE_RECRUITS
                return
            _recruit_in_only(s, colour)
    finish_chain(s)


@kernel
def _recruit_in_only(s: State, colour: Int) -> None:
    """ADA-36: put the bands on the only possible territory, without asking."""
    for territory in range(TERRITORIES):
        if may_recruit_in(s, territory, colour, np.int64(s.used)):
            add_bands(s, territory, colour, np.int64(s.roll))
            s.used = territory
            return


@kernel
def place_recruits(s: State, territory: Int, fixed: State) -> None:
    """ADA-32: put the bands of the roll on a territory of the acting colour."""
    add_bands(s, territory, acting_colour(s), np.int64(s.roll))
    s.used = territory
    _roll_recruits(s, fixed)


@kernel
def _roll_natives(s: State, fixed: State) -> None:
    """ADA-32, ADA-35: roll for tribes, and ask for the territory if there is a choice."""
    while s.due > 0:
        s.due -= 1
        s.roll = throw(s, TRIBES_DIE, fixed)
        if s.roll > 0 and s.supply_tribes > 0:
            if natives_places(s, np.int64(s.used)) == 0:
                s.used = -1  # only the territory of the first roll is left, so allow it again
            if natives_places(s, np.int64(s.used)) > 1:
                s.stage = PLACE_NATIVES
                return
            _rise_in_only(s)
    finish_chain(s)


@kernel
def _rise_in_only(s: State) -> None:
    """ADA-36: put the tribes on the only possible territory, without asking."""
    for territory in range(CENTRAL, TERRITORIES):
        if may_rise_in(s, territory, np.int64(s.used)):
            _rise(s, territory)
            return


@kernel
def _rise(s: State, territory: Int) -> None:
    """ADA-35: add tribes to a territory, which becomes theirs.

    The roll and the supply must be above 0.
    """
    add_tribes(s, territory, np.int64(s.roll))
    s.owner[territory] = TRIBES
    s.used = territory


@kernel
def place_natives(s: State, territory: Int, fixed: State) -> None:
    """ADA-32: put the tribes of the roll on a central territory."""
    _rise(s, territory)
    _roll_natives(s, fixed)


# --- cards with a place --------------------------------------------------------------------------


@kernel
def play_shipyard(s: State, place: Int) -> None:
    """ADA-32: put a ship from the box on a city of the acting colour."""
    s.box -= 1
    flip_ship(s, place)


@kernel
def play_gold_mine(s: State, territory: Int) -> None:
    """ADA-32: put 3 gold on a territory of the acting colour."""
    add_gold(s, territory, MINED)


@kernel
def play_mutiny(s: State, square: Int) -> None:
    """ADA-32, ADA-35: replace the bands aboard a ship with bands of the acting colour.

    Bands beyond the limit of 50 are lost.
    """
    n = np.int64(s.bands[square])
    remove_bands(s, square, n)
    add_bands(s, square, acting_colour(s), n)
    if s.bands[square] > 0:
        s.owner[square] = acting_colour(s)
    check_last_player(s)
