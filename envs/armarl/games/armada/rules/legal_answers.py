"""Legal actions at every decision of Armada.

The legal orders come from `legal_orders`. Some orders begin a chain of decisions, such as `move`,
`count` and `gold`. The legal actions of the later decisions are here.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, Mask, State
from armarl.games.armada.actions import (
    ANSWER,
    CENTRAL,
    COUNT,
    DECLINE,
    END,
    GOLD,
    LEVY,
    LOOK,
    PAY,
    PEEK,
    RISE,
    SHIP,
    TAKE,
    TERRITORIES,
)
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.rules.legal_orders import may_recruit_in, may_rise_in, offer_orders
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    FOUR,
    LAIR_HELD,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    OVER,
    PAY_GOLD,
    PEEKING,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    PLACE_SHIP,
    SPREAD_BANDS,
    acting_colour,
    city_place,
    has_ship,
    lair_of,
    owned_in,
    room,
    territories_of,
)


@kernel
def legal(s: State, mask: Mask, fixed: State) -> None:
    """Write the legal-action mask of the player to move into `mask`, int8, shape (actions,)."""
    mask[:] = 0
    if s.stage == ORDER:
        mask[fixed.first[END]] = 1
        offer_orders(s, mask, fixed)
    elif s.stage != OVER:
        _offer_answers(s, mask, fixed)


@kernel
def _offer_answers(s: State, mask: Mask, fixed: State) -> None:
    """Mark the legal actions of any decision that is not an order."""
    stage = s.stage
    if stage == PLACE_SHIP:
        _offer_ships(s, mask, fixed)
    elif stage == SPREAD_BANDS:
        _offer_numbers(mask, fixed.first[COUNT], 0, np.int64(s.due))
    elif stage == NUMBER_BANDS:
        _offer_numbers(mask, fixed.first[COUNT], 1, most_bands(s))
    elif stage == NUMBER_GOLD:
        _offer_numbers(mask, fixed.first[GOLD], 0, most_gold(s))
    elif stage == PEEKING:
        mask[fixed.first[LOOK] + PEEK] = 1
        mask[fixed.first[LOOK] + TAKE] = 1
    elif stage >= ANSWER_ATTACK:
        mask[fixed.first[ANSWER] + answer_of(stage)] = 1
        mask[fixed.first[ANSWER] + DECLINE] = 1
    else:
        _offer_places(s, mask, fixed)


@kernel
def _offer_places(s: State, mask: Mask, fixed: State) -> None:
    """Mark the places where bands or tribes may be put, or gold may be paid from."""
    colour, stage = acting_colour(s), s.stage
    if stage == PAY_GOLD:
        for place in range(s.places):
            mask[fixed.first[PAY] + place] = may_pay_from(s, place, colour)
    elif stage == PLACE_NATIVES:
        for territory in range(CENTRAL, TERRITORIES):
            mask[fixed.first[RISE] + territory - CENTRAL] = may_rise_in(
                s, territory, np.int64(s.used)
            )
    elif stage == PLACE_RECRUITS:
        for territory in range(TERRITORIES):
            mask[fixed.first[LEVY] + territory] = may_recruit_in(
                s, territory, colour, np.int64(s.used)
            )
    else:
        lair = levy_lair(s, colour, np.int64(s.count))
        for territory in range(TERRITORIES):
            mask[fixed.first[LEVY] + territory] = (
                s.owner[territory] == colour and lair_of(territory) == lair
            )


@kernel
def levy_lair(s: State, colour: Int, n: Int) -> Int:
    """ADA-31: return the lair of the n-th enrolled band, counting from 0.

    The first bands go to the lairs held, one each. The rest go to the central group (FOUR).
    """
    owned = territories_of(s, colour)
    for lair in range(FOUR):
        if owned_in(owned, lair) >= LAIR_HELD:
            if n == 0:
                return lair
            n -= 1
    return FOUR


@kernel
def answer_of(stage: Int) -> Int:
    """Return the index in the family ANSWER of the card that may be played at a stage."""
    return stage - ANSWER_ATTACK


@kernel
def _offer_ships(s: State, mask: Mask, fixed: State) -> None:
    """ADA-13: mark the cities of the colour's own lair that have no ship."""
    for city in range(acting_colour(s) * CITIES, (acting_colour(s) + 1) * CITIES):
        mask[fixed.first[SHIP] + city] = not has_ship(s, city_place(city, fixed))


@kernel
def _offer_numbers(mask: Mask, first: Int, lowest: Int, highest: Int) -> None:
    """Mark all numbers from `lowest` to `highest`, both included."""
    mask[first + lowest : first + highest + 1] = 1


@kernel
def most_bands(s: State) -> Int:
    """ADA-17: return the maximum number of bands that can move: all that fit into the target."""
    return min(np.int64(s.bands[s.origin]), np.int64(room(s, s.target)))


@kernel
def most_gold(s: State) -> Int:
    """ADA-17: return the maximum gold that can move: all that fits in with the moved bands."""
    return min(np.int64(s.gold[s.origin]), np.int64(room(s, s.target) - s.count))


@kernel
def may_pay_from(s: State, place: Int, colour: Int) -> Int:
    """ADA-32: return whether a place has gold, and the colour owns the place or crews its ship."""
    return s.owner[place] == colour and s.gold[place] > 0
