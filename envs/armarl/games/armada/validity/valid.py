"""Whether a record that comes from outside is a lawful state of Armada.

`valid` holds for every state that play reaches, and for every determinised one. Concealed states of
a game with cards are not whole, and are refused. What it accepts can be played to its end: pieces
and cards are conserved, numbers are in their ranges, and whatever the rules derive is what they
would derive.

Pieces, cards and dice are judged in `valid_pieces`, turns and the end in `valid_course`, the
decision that is open in `valid_chain`.
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
)

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
def valid(s: State, blank: State) -> Int:
    """LAWFUL, or the number of the first law, in the order of FAULTS, that a state breaks."""
    if not same_options(s, blank):
        return OPTIONS
    if not seats_are_right(s):
        return SEATS
    for place in range(PLACE_ROOM):
        if not place_is_lawful(s, place):
            return PLACES
    if not pieces_add_up(s):
        return PIECES
    if not cards_add_up(s):
        return CARDS_HELD
    if not knowledge_is_right(s):
        return KNOWLEDGE
    if not dice_are_right(s):
        return DICE
    return _fault_in_time(s)


@kernel
def _fault_in_time(s: State) -> Int:
    """What is wrong with the turn, the decision that is open, or the end."""
    if s.stage < 0 or s.stage > OVER or s.colour[0] < 0 or s.colour[0] >= FOUR:
        return COURSE
    if s.stage < ORDER:
        return LAWFUL if is_preliminary(s) else PRELIMINARY
    if not course_is_right(s):
        return COURSE
    if s.stage == OVER:
        return LAWFUL if end_is_right(s) else END
    return LAWFUL if chain_is_right(s) and s.winner == -1 else CHAIN
