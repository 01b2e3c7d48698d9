"""Validation of the open decision in a game of Armada: the one that the player to move must make.

It may belong to a chain, an order that needs several decisions, such as `move`, `count` and `gold`.
"""

# ruff: noqa: SIM109 - the code that ruff proposes cannot be compiled, or could raise

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import (
    ATTACK,
    BUY,
    CENTRAL,
    ENROL,
    MOVE,
    PLAY,
    TERRITORIES,
)
from armarl.games.armada.knowledge import HELD
from armarl.games.armada.rules.legal_answers import most_bands, most_gold
from armarl.games.armada.rules.legal_orders import (
    CENTRAL_PER_BAND,
    PLAIN_KINDS,
    natives_places,
    payable_gold,
    recruit_places,
)
from armarl.games.armada.rules.orders import CARD_HITS, CARD_LOSSES, attacked_seat
from armarl.games.armada.rules.scoring import last_player
from armarl.games.armada.rules.turns import raider
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    ATTACK_ANSWER,
    ATTACK_CARD,
    BIG_NATIVES_CARD,
    BIG_RECRUIT_CARD,
    CARD_PRICE,
    COMBAT_DIE,
    COUPS,
    DEFENCE_ANSWER,
    FOUR,
    NATIVES_CARD,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    PAY_GOLD,
    PEEKING,
    PLACE_ENROLLED,
    PLACE_NATIVES,
    RAID_ANSWER,
    RECRUIT_CARD,
    STRATEGIST_CARD,
    TRIBES,
    TRIBES_DIE,
    acting_colour,
    acting_seat,
    border_from,
    is_hostile,
    is_unexplored,
    lairs_held,
    may_enter,
    owned_in,
    territories_of,
)
from armarl.games.armada.validity.pieces import is_face, total_of


@kernel
def no_chain(s: State) -> Int:
    """Return whether no chain is under way: no order, no chosen place, nothing due."""
    if s.order != -1 or s.origin != -1 or s.target != -1 or s.used != -1:
        return False
    return s.count == 0 and s.roll == 0 and s.due == 0 and s.looked == 0


@kernel
def _was_asked(s: State, seat: Int, answer: Int) -> Int:
    """ADA-32, ADA-33: return whether a player was asked for a card, and thus holds one."""
    return seat >= 0 and s.answers[seat, answer] == HELD


@kernel
def chain_is_right(s: State, fixed: State) -> Int:
    """Return whether the open decision is possible for the player to move."""
    if last_player(s) >= 0 and not _played_since_the_turn_began(s):
        return False  # ADA-29: the game would be over
    stage = s.stage
    if stage == ANSWER_RAID:
        seat = np.int64(s.seat_of[raider(s)])
        asked = s.raid == 0 and s.to_move == seat and seat != s.seat_of[s.colour[0]]
        return asked and _was_asked(s, seat, RAID_ANSWER) and no_chain(s)
    if stage == ANSWER_DEFENCE:
        return _combat_is_right(s, fixed)
    if s.to_move != acting_seat(s):
        return False
    if stage == ORDER:
        return no_chain(s)
    if stage == ANSWER_ATTACK:
        return _combat_is_right(s, fixed)
    if stage == NUMBER_BANDS or stage == NUMBER_GOLD:
        return _move_is_right(s, fixed)
    if s.origin != -1 or s.target != -1:
        return False
    return _placing_is_right(s, fixed)


@kernel
def _played_since_the_turn_began(s: State) -> Int:
    """ADA-29: return whether all other players may have become *out* in the current turn.

    This happens if an order, which costs a coup, took their last land or gold, or if they played
    their last card. The game then continues until bands are removed or the turn ends.
    """
    return s.coups[0] < COUPS or total_of(s.played) > 0


@kernel
def _on_a_border(s: State, family: Any, fixed: State) -> Int:
    """Return whether the order is one of `family`, along the border from `origin` to `target`.

    The acting colour must have bands at `origin`.
    """
    border = np.int64(s.order) - fixed.first[family]
    if border < 0 or s.order >= fixed.first[family + 1]:
        return False
    if border_from(border, fixed) != s.origin or fixed.border_to[border] != s.target:
        return False
    return s.owner[s.origin] == acting_colour(s) and s.bands[s.origin] > 0


@kernel
def _move_is_right(s: State, fixed: State) -> Int:
    """ADA-17 to ADA-19: return whether there is a choice of a number of bands or of gold."""
    if (
        not _on_a_border(s, MOVE, fixed)
        or s.used != -1
        or s.roll != 0
        or s.due != 0
        or s.looked != 0
    ):
        return False
    if is_unexplored(s, np.int64(s.target)):
        return False
    if not may_enter(s, np.int64(s.target), acting_colour(s)):
        return False
    if s.stage == NUMBER_BANDS:
        return s.count == 0 and most_bands(s) > 1
    return 1 <= s.count <= most_bands(s) and most_gold(s) > 0


@kernel
def _combat_is_right(s: State, fixed: State) -> Int:
    """ADA-22, ADA-32: return whether a card in the asked player's hand would change the roll."""
    if not _on_a_border(s, ATTACK, fixed) or s.bands[s.origin] < 2 or not s.cards:
        return False
    if s.count != 0 or s.used != -1 or s.due != 0 or s.looked != 0:
        return False
    target, colour = np.int64(s.target), acting_colour(s)
    if not is_hostile(s, target, colour):
        return False
    if s.stage == ANSWER_ATTACK:
        rolled = is_face(COMBAT_DIE, s.roll, fixed) and s.roll < CARD_HITS
        return rolled and _was_asked(s, acting_seat(s), ATTACK_ANSWER)
    answered = s.roll == CARD_HITS and s.played[ATTACK_CARD] > 0
    if not answered and not is_face(COMBAT_DIE, s.roll, fixed):
        return False
    seat = attacked_seat(s)
    return s.to_move == seat and s.roll > CARD_LOSSES and _was_asked(s, seat, DEFENCE_ANSWER)


@kernel
def _placing_is_right(s: State, fixed: State) -> Int:
    """Return whether the state of an enrolment, a purchase or a played card is possible."""
    stage = s.stage
    if stage == PLACE_ENROLLED:
        return _enrolment_is_right(s, fixed)
    if s.count != 0 or not s.cards:
        return False
    if stage == PAY_GOLD:
        return _payment_is_right(s, fixed)
    if stage == PEEKING:
        looking = s.used == -1 and s.roll == 0 and s.due == 0 and s.coups[s.raid] > 0
        return looking and 1 <= s.looked < s.deck_size and _plain_order(s, STRATEGIST_CARD, fixed)
    return s.looked == 0 and _levy_is_right(s, fixed)


@kernel
def _enrolment_is_right(s: State, fixed: State) -> Int:
    """ADA-31: return whether the colour may enrol as many bands as are placed and due."""
    if s.order != fixed.first[ENROL] or s.enrolled[s.raid] != 1:
        return False
    if s.used != -1 or s.roll != 0 or s.looked != 0:
        return False
    owned, reserve = territories_of(s, acting_colour(s)), np.int64(s.reserve[acting_colour(s)])
    levies = lairs_held(owned) + owned_in(owned, FOUR) // CENTRAL_PER_BAND
    if s.due < 1 or s.count < 0 or s.due > reserve:
        return False
    return s.count + s.due == min(levies, reserve + s.count)


@kernel
def _payment_is_right(s: State, fixed: State) -> Int:
    """ADA-32, ADA-36: return whether there is enough gold, a choice of places, and a card left."""
    if s.order != fixed.first[BUY] or s.used != -1 or s.roll != 0 or s.looked != 0:
        return False
    colour, purses = acting_colour(s), 0
    for place in range(s.places):
        purses += s.owner[place] == colour and s.gold[place] > 0
    enough = 1 <= s.due <= CARD_PRICE and payable_gold(s, colour) >= s.due
    return enough and purses > 1 and s.deck_size > 0


@kernel
def _plain_order(s: State, card: Int, fixed: State) -> Int:
    """Return whether the order under way plays `card`, and the card is among the played cards."""
    for plain in range(PLAIN_KINDS.size):
        if s.order == fixed.first[PLAY] + plain:
            return PLAIN_KINDS[plain] == card and s.played[card] > 0
    return False


@kernel
def _levy_is_right(s: State, fixed: State) -> Int:
    """ADA-32, ADA-35: return whether the card allows a roll to be placed on several territories."""
    natives = s.stage == PLACE_NATIVES
    small = _plain_order(s, NATIVES_CARD if natives else RECRUIT_CARD, fixed)
    big = _plain_order(s, BIG_NATIVES_CARD if natives else BIG_RECRUIT_CARD, fixed)
    if not (small or big) or s.due < 0 or s.due > big:
        return False
    if s.roll < 1 or not is_face(TRIBES_DIE, s.roll, fixed) or s.used < -1 or s.used >= TERRITORIES:
        return False
    if (small or s.due == 1) and s.used != -1:  # nothing has been placed yet
        return False
    if natives:
        lawful = s.used == -1 or (s.used >= CENTRAL and s.owner[s.used] == TRIBES)
        return lawful and s.supply_tribes > 0 and natives_places(s, np.int64(s.used)) > 1
    lawful = s.used == -1 or s.owner[s.used] == acting_colour(s)
    several = recruit_places(s, acting_colour(s), np.int64(s.used)) > 1
    return lawful and several and s.reserve[acting_colour(s)] > 0
