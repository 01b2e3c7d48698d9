"""Validation of untrusted Armada states (from a file or another program).

`valid` accepts every state that play can reach, and every result of `determinise`. It refuses the
results of `conceal` in a game with cards, because cards are missing from them. Every accepted state
can be played to its end: pieces and cards are conserved, numbers are in their ranges, and derived
values equal those that the rules would derive.

`pieces` checks pieces, cards and dice. `course` checks turns and the end. `chain` checks the open
decision.
"""

from __future__ import annotations

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.state import FOUR, ORDER, OVER, PLACE_ROOM
from armarl.games.armada.validity.chain import chain_is_right
from armarl.games.armada.validity.course import course_is_right, end_is_right, is_preliminary
from armarl.games.armada.validity.pieces import (
    cards_add_up,
    dice_are_right,
    knowledge_is_right,
    pieces_add_up,
    place_is_lawful,
    same_options,
    seats_are_right,
    ships_are_on_places,
)

FAULTS = (
    "the state is lawful",
    "the options, the chart or the dice are not those of this variant, or unused bytes are not 0",
    "the colours are not assigned as in ADA-9 to ADA-12",
    "a place has pieces that it cannot have (ADA-8, ADA-16, ADA-19, ADA-21)",
    "the numbers of bands, gold, tribes or ships are not those of ADA-6",
    "the cards in the deck, in the hands and played do not add up to those of ADA-32",
    "remembered cards or known hands contradict the real ones (ADA-37)",
    "the dice show impossible faces (ADA-7)",
    "the preliminary turn is at an impossible point (ADA-12, ADA-13)",
    "the turn, its budget, a claim or the raid is impossible (ADA-15, ADA-26, ADA-28, ADA-33)",
    "the open decision is impossible (ADA-17, ADA-22, ADA-31 to ADA-35)",
    "the end of the game is impossible (ADA-28 to ADA-30)",
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
def valid(s: State, blank: State, fixed: State) -> Int:
    """Return LAWFUL, or the index in FAULTS of the first error of a state."""
    if not same_options(s, blank):
        return OPTIONS
    if not seats_are_right(s):
        return SEATS
    if not ships_are_on_places(s):
        return PLACES
    for place in range(PLACE_ROOM):
        if not place_is_lawful(s, place, fixed):
            return PLACES
    if not pieces_add_up(s):
        return PIECES
    if not cards_add_up(s):
        return CARDS_HELD
    if not knowledge_is_right(s):
        return KNOWLEDGE
    if not dice_are_right(s, fixed):
        return DICE
    return _fault_in_time(s, fixed)


@kernel
def _fault_in_time(s: State, fixed: State) -> Int:
    """Return LAWFUL, or the index in FAULTS of an error in the turn, the decision or the end."""
    if s.stage < 0 or s.stage > OVER or s.colour[0] < 0 or s.colour[0] >= FOUR:
        return COURSE
    if s.stage < ORDER:
        return LAWFUL if is_preliminary(s, fixed) else PRELIMINARY
    if not course_is_right(s, fixed):
        return COURSE
    if s.stage == OVER:
        return LAWFUL if end_is_right(s, fixed) else END
    return LAWFUL if chain_is_right(s, fixed) and s.winner == -1 else CHAIN
