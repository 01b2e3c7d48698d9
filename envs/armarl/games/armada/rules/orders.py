"""The effects of Armada's orders (ADA-16 to ADA-25, ADA-31), without its cards."""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import ALL_CITIES, CENTRAL, TERRITORIES
from armarl.games.armada.knowledge import is_asked
from armarl.games.armada.rules.legal_answers import most_bands, most_gold
from armarl.games.armada.rules.legal_orders import levies
from armarl.games.armada.rules.scoring import check_last_player, lay_claim
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ATTACK_ANSWER,
    CENTRE,
    CLAIM_DUE,
    COMBAT_DIE,
    DEFENCE_ANSWER,
    GOLD_DIE,
    NEW_CLAIM,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    PLACE_ENROLLED,
    TRIBES,
    TRIBES_DIE,
    acting_colour,
    acting_seat,
    add_bands,
    add_gold,
    add_tribes,
    border_from,
    city_place,
    disown_empty_ship,
    finish_chain,
    flip_ship,
    post_place,
    remove_bands,
    throw,
    tribes_on,
)

BANDS_FOR_GOLD = np.int64(4)  # ADA-25
SINGLE, DOUBLE = np.arange(1, 3)  # factors by which the find of an exploration is multiplied
CARD_HITS, CARD_LOSSES = 2, -2  # ADA-32: the roll after `attack` and after `defence`


@kernel
def pay_coups(s: State, n: Int) -> None:
    """ADA-15: pay coups. The first decision of a chain pays for the whole chain."""
    s.coups[s.raid] -= n


# --- ships ---------------------------------------------------------------------------------------


@kernel
def launch(s: State, city: Int, number: Int, fixed: State) -> None:
    """ADA-16: move a city's ship to a contiguous square.

    `number` is the index of the action in the family LAUNCH.
    """
    place = city_place(city, fixed)
    border = fixed.sea_borders[place] + number - fixed.launches[city]
    flip_ship(s, place)
    flip_ship(s, np.int64(fixed.border_to[border]))


@kernel
def city_of_launch(number: Int, fixed: State) -> Int:
    """Return the city (0 to 11) of a launch. `number` is the action's index in LAUNCH."""
    city = 0
    while number >= fixed.launches[city + 1]:
        city += 1
    return city


@kernel
def sail(s: State, border: Int, fixed: State) -> None:
    """ADA-20: move a ship with its crew and gold to the next square."""
    origin, to = border_from(border, fixed), np.int64(fixed.border_to[border])
    flip_ship(s, origin)
    flip_ship(s, to)
    s.owner[to] = s.owner[origin]
    s.bands[to] = s.bands[origin]
    s.gold[to] = s.gold[origin]
    s.bands[origin] = s.gold[origin] = 0
    s.owner[origin] = NOBODY


@kernel
def scuttle(s: State, number: Int, fixed: State) -> None:
    """ADA-24: return a ship to the box, and the gold aboard to the supply."""
    if number < ALL_CITIES:
        flip_ship(s, city_place(number, fixed))
    else:
        square = TERRITORIES + number - ALL_CITIES
        flip_ship(s, square)
        s.supply_gold += s.gold[square]
        s.gold[square] = 0
    s.box += 1


# --- moving --------------------------------------------------------------------------------------


@kernel
def begin_move(s: State, border: Int, fixed: State) -> None:
    """ADA-17: set the places of a move, then ask for the number of bands if there is a choice."""
    s.origin, s.target = border_from(border, fixed), fixed.border_to[border]
    if most_bands(s) > 1:
        s.stage = NUMBER_BANDS
    else:
        choose_bands(s, np.int64(1), fixed)


@kernel
def choose_bands(s: State, n: Int, fixed: State) -> None:
    """ADA-17: set the number of bands, then ask how much gold to take if there is a choice."""
    s.count = n
    if most_gold(s) > 0:
        s.stage = NUMBER_GOLD
    else:
        complete_move(s, np.int64(0), fixed)


@kernel
def complete_move(s: State, gold: Int, fixed: State) -> None:
    """ADA-17, ADA-18: move bands and gold, and put the bands' flag on the target.

    Only a move gives a colour land, so only a move can bring the colour into victory (ADA-28).
    """
    origin, target = np.int64(s.origin), np.int64(s.target)
    gained = target < TERRITORIES and s.owner[target] != s.owner[origin]
    s.owner[target] = s.owner[origin]
    s.bands[target] += s.count
    s.bands[origin] -= s.count
    s.gold[target] += gold
    s.gold[origin] -= gold
    disown_empty_ship(s, origin)
    if gained:
        lay_claim(s, acting_colour(s), CLAIM_DUE if s.raid else NEW_CLAIM, fixed)
    finish_chain(s)


# --- land ----------------------------------------------------------------------------------------


@kernel
def explore(s: State, territory: Int, factor: Int, fixed: State) -> None:
    """ADA-21: throw for gold and tribes, and place the gold, the tribes and the tribes' flag.

    Both numbers are multiplied by `factor`, and doubled at the Centre.
    """
    if territory == post_place(CENTRE, fixed):
        factor *= 2
    gold = throw(s, GOLD_DIE, fixed)
    tribes = throw(s, TRIBES_DIE, fixed)
    add_gold(s, territory, factor * gold)
    add_tribes(s, territory, factor * tribes)
    s.owner[territory] = TRIBES


@kernel
def convert(s: State, number: Int, fixed: State) -> None:
    """ADA-25: turn one gold of a city or post into 4 bands, or as many as the limit allows."""
    place = (
        city_place(number, fixed) if number < ALL_CITIES else post_place(number - ALL_CITIES, fixed)
    )
    s.gold[place] -= 1
    s.supply_gold += 1
    add_bands(s, place, acting_colour(s), BANDS_FOR_GOLD)


@kernel
def begin_enrolment(s: State) -> None:
    """ADA-31: begin the enrolment of the turn or raid. The bands are placed one by one."""
    s.enrolled[s.raid] = 1
    s.due = levies(s, acting_colour(s))
    s.stage = PLACE_ENROLLED


@kernel
def place_enrolled(s: State, territory: Int) -> None:
    """ADA-31: place one band. There is always a choice of at least four territories."""
    add_bands(s, territory, acting_colour(s), np.int64(1))
    s.count += 1
    s.due -= 1
    if s.due == 0:
        finish_chain(s)


# --- combat --------------------------------------------------------------------------------------


@kernel
def attack(s: State, border: Int, fixed: State) -> None:
    """ADA-22: roll the combat die. Cards may change the roll before it takes effect."""
    s.origin, s.target = border_from(border, fixed), fixed.border_to[border]
    s.roll = throw(s, COMBAT_DIE, fixed)
    if s.roll < CARD_HITS and is_asked(s, acting_seat(s), ATTACK_ANSWER):
        s.stage = ANSWER_ATTACK  # ADA-32
    else:
        ask_defence(s)


@kernel
def ask_defence(s: State) -> None:
    """ADA-32: ask the attacked player whether to play `defence` if it holds one, else fight."""
    defender = attacked_seat(s)
    if s.roll > CARD_LOSSES and is_asked(s, defender, DEFENCE_ANSWER):
        s.stage = ANSWER_DEFENCE
        s.to_move = defender
    else:
        fight(s)


@kernel
def attacked_seat(s: State) -> Int:
    """Return the player whose bands are attacked, or -1."""
    return np.int64(s.seat_of[s.owner[s.target]]) if s.bands[s.target] > 0 else -1


@kernel
def fight(s: State) -> None:
    """ADA-22: remove defenders for hits and attackers for losses. Any excess is void."""
    origin, target, roll = np.int64(s.origin), np.int64(s.target), np.int64(s.roll)
    if roll >= 0 and s.bands[target] == 0:
        _remove_tribes(s, target, roll)
    else:
        if roll < 0:
            remove_bands(s, origin, -roll)
        else:
            remove_bands(s, target, roll)
        check_last_player(s)
    finish_chain(s)


@kernel
def _remove_tribes(s: State, territory: Int, n: Int) -> None:
    """Return up to `n` tribes to their supply."""
    n = min(n, tribes_on(s, territory))
    s.tribes[territory - CENTRAL] -= n
    s.supply_tribes += n
