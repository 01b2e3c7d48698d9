"""The start of a game of Armada: the deal, and the preliminary turn (ADA-6 to ADA-14)."""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import random_below
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import CENTRAL, MOST_PIECES
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.knowledge import forget_all
from armarl.games.armada.rules.deck import deal_hands, gather_deck
from armarl.games.armada.rules.turns import begin_first_turn, next_colour
from armarl.games.armada.state import (
    FOUR,
    LAIR,
    NOBODY,
    PLACE_SHIP,
    SHIPS,
    SHIPS_EACH,
    SPREAD_BANDS,
    acting_colour,
    acting_seat,
    add_bands,
    city_place,
    finish_chain,
    flip_ship,
)

BANDS = np.array([0, 0, 18, 15, 18], np.int8)  # ADA-10 to ADA-12: for each number of players
FARTHEST_BONUS = 5  # ADA-12
NEUTRAL_IN_CITY, NEUTRAL_ELSEWHERE = np.array([3, 1])  # ADA-12


@kernel
def start(s: State, fixed: State) -> None:
    """Deal a new game from the random number generator and the options in `s`."""
    _clear_board(s)
    _clear_turn(s)
    _seat_players(s)
    if s.neutral >= 0:
        _man_neutral_lair(s, fixed)
    gather_deck(s)
    if s.cards:
        deal_hands(s)
    forget_all(s)
    s.colour[0] = next_colour(s, np.int64(FOUR - 1))
    _begin_preliminary(s)


@kernel
def _clear_board(s: State) -> None:
    """ADA-6, ADA-14: clear the board and give each colour its lair."""
    s.bands[:] = 0
    s.gold[:] = 0
    s.ships[:] = 0
    s.tribes[:] = 0
    s.owner[:] = NOBODY
    for territory in range(CENTRAL):
        s.owner[territory] = territory // LAIR
    s.reserve[:] = MOST_PIECES
    s.supply_gold = s.supply_tribes = MOST_PIECES
    s.box = SHIPS


@kernel
def _clear_turn(s: State) -> None:
    """Clear the turn, the chain, the claims and the winner."""
    s.turn = s.winner = -1
    s.colour[:] = 0
    s.coups[:] = 0
    s.enrolled[:] = 0
    s.more_coups[:] = 0
    s.claims[:] = 0
    s.raid = s.asked = s.idle = s.thrown = 0
    s.die[:] = 0
    s.face[:] = 0
    s.stage = PLACE_SHIP
    finish_chain(s)


@kernel
def _seat_players(s: State) -> None:
    """ADA-9 to ADA-12: assign the colours. With three players a random colour is nobody's."""
    s.neutral = random_below(s, FOUR) if s.players == 3 else -1
    seat = 0
    for colour in range(FOUR):
        if colour == s.neutral:
            s.seat_of[colour] = -1
        else:
            s.seat_of[colour] = seat % s.players
            seat += 1


@kernel
def _man_neutral_lair(s: State, fixed: State) -> None:
    """ADA-12: put 3 bands on each city of nobody's lair and 1 on each of its other territories."""
    neutral = np.int64(s.neutral)
    for territory in range(neutral * LAIR, (neutral + 1) * LAIR):
        add_bands(s, territory, neutral, NEUTRAL_ELSEWHERE)
    for city in range(neutral * CITIES, (neutral + 1) * CITIES):
        add_bands(s, city_place(city, fixed), neutral, NEUTRAL_IN_CITY - NEUTRAL_ELSEWHERE)


@kernel
def starting_bands(s: State, colour: Int, fixed: State) -> Int:
    """ADA-10 to ADA-12: return the number of bands that a colour begins with, bonus included."""
    farthest = s.neutral >= 0 and fixed.farthest[s.neutral] == colour
    return np.int64(BANDS[s.players]) + (FARTHEST_BONUS if farthest else 0)


# --- the preliminary turn ------------------------------------------------------------------------


@kernel
def _begin_preliminary(s: State) -> None:
    """ADA-13: begin the preliminary turn of a colour. It places its ships first."""
    s.stage = PLACE_SHIP
    s.count = 0
    s.to_move = acting_seat(s)


@kernel
def place_ship(s: State, city: Int, fixed: State) -> None:
    """ADA-13: put a ship on a city. After the second ship, the bands are spread."""
    flip_ship(s, city_place(city, fixed))
    s.box -= 1
    s.count += 1
    if s.count == SHIPS_EACH:
        s.stage = SPREAD_BANDS
        s.count = 0
        s.target = acting_colour(s) * LAIR
        s.due = starting_bands(s, acting_colour(s), fixed)


@kernel
def spread_bands(s: State, n: Int) -> None:
    """ADA-13: put bands on the lair's next territory. The last territory gets the rest."""
    _put_next(s, n)
    if s.target % LAIR == LAIR - 1:
        _put_next(s, np.int64(s.due))
    if s.due == 0:
        _end_preliminary(s)


@kernel
def _put_next(s: State, n: Int) -> None:
    """Put bands on the current territory and continue with the next one."""
    add_bands(s, np.int64(s.target), acting_colour(s), n)
    s.due -= n
    s.target += 1


@kernel
def _end_preliminary(s: State) -> None:
    """ADA-13: continue with the next colour, or begin the first turn after the last colour."""
    finish_chain(s)
    following = next_colour(s, np.int64(s.colour[0]))
    last = following < s.colour[0]
    s.colour[0] = following
    if last:
        begin_first_turn(s)
    else:
        _begin_preliminary(s)
