"""The scripted player of Armada. At each decision it scores the legal actions and plays the best.

For every place it computes the cost of the way to the nearest goal of the acting colour (see
`distance_maps`). Goals are the territories that victory needs (ADA-27: the Centre and other posts;
enemy cities; a lair), territories whose loss breaks an enemy's claim, and the colour's posts with
too few bands. Bands move towards lower costs. Taking, exploring and attacking territories on the
way have separate scores (see `action_scores`). If few bands are on the board, gold is carried home
and converted. Ships fetch bands that wait on a coast. In long games, a colour's last bands would
guard posts forever, so garrisons shrink with time. The player does not look at hidden cards, and it
does not roll dice.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.bits import eight_bytes, lowest
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.randomness import mix
from armarl.compiler.types import Int, Mask, State, States
from armarl.games.armada.actions import (
    ANSWER,
    ATTACK,
    COUNT,
    DECLINE,
    EXPLORE,
    MOVE,
    SAIL,
    TERRITORIES,
)
from armarl.games.armada.rules.legal_answers import answer_of, legal, most_bands
from armarl.games.armada.rules.legal_orders import ALL_LAND, payable_gold
from armarl.games.armada.rules.scoring import CITIES_ASKED, in_victory
from armarl.games.armada.scripted.action_scores import (
    garrison,
    worth_of_attack,
    worth_of_move,
    worth_of_other_action,
    worth_of_sail,
)
from armarl.games.armada.scripted.distance_maps import (
    CARAVAN,
    defenders_of,
    enemies_claim,
    is_treasure,
    set_goals,
    set_landings,
    set_markets,
    set_tolls,
    spread_costs,
)
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    SPREAD_BANDS,
    acting_colour,
    colours_playing,
    enemy_cities_owned,
    has_ship,
    manned_by,
    territories_of,
)
from armarl.games.armada.style_columns import (
    AHEAD,
    ALARMED,
    AT_SHIPS,
    CLOSE,
    EARLY,
    EARLY_ROUNDS,
    FAR,
    HUNGRY,
    PASSING,
    PLAIN,
    Style,
)
from armarl.games.armada.styles import FIRST_ROWS, STYLES

DRAWS = 2.0**53  # number of different values of the fractional part of `draw`

Best = tuple[Int, Int, Int]  # the best action so far: its score, random number for ties, and id


@kernel
def greedy(s: State, draw: float, mask: Mask, scratch: States, fixed: State) -> Int:
    """Return the action of the player to move, in a state that is concealed for this player.

    Args:
        draw: index of the style in `styles.GREEDY_STYLES`, plus a number in [0, 1) that breaks
            ties.
        mask: scratch space, int8, shape (actions,).
        scratch: scratch space, an array of one record of type SCRATCH.
        fixed: the chart and the dice.
    """
    if ANSWER_ATTACK <= s.stage <= ANSWER_RAID:
        return _answer(s, fixed)  # an answer needs no costs
    number, colour = np.int64(draw), acting_colour(s)
    style = STYLES[row_of(s, number, colour, fixed)]
    if s.stage == SPREAD_BANDS:
        return fixed.first[COUNT] + _bands_beside_ship(s, style)  # this choice needs no costs
    maps = scratch[0]
    _set_maps(s, style, colour, maps, fixed)
    if s.stage == NUMBER_BANDS:
        return fixed.first[COUNT] + _bands_to_move(s, style, colour, maps, fixed)
    legal(s, mask, fixed)
    lots = np.uint64((draw - number) * DRAWS)
    best = np.int64(-1000), np.uint64(0), np.int64(0)
    if s.stage == ORDER:
        best = _best_across(s, style, colour, maps, mask, lots, best, fixed)
    sail, explore = np.int64(fixed.first[SAIL]), np.int64(fixed.first[EXPLORE])
    best = _best_of(s, style, colour, maps, mask[:sail], np.int64(0), lots, best, fixed)
    best = _best_of(s, style, colour, maps, mask[explore:], explore, lots, best, fixed)
    return best[2]


@kernel
def _set_maps(s: State, style: Style, colour: Int, maps: State, fixed: State) -> None:
    """Write the costs of all places: `cost`, and `home` and `ferry` if a decision reads them."""
    by_land, by_sea, land, sea = maps.by_land, maps.by_sea, maps.land, maps.sea
    set_tolls(s, style, colour, by_land, by_sea, fixed)
    set_goals(s, style, colour, maps.cost, fixed)
    spread_costs(s, by_land, by_sea, maps.cost, land, sea, fixed)
    if s.reserve[colour] >= style[HUNGRY] and payable_gold(s, colour) > 0:
        set_markets(s, colour, maps.home, fixed)
        spread_costs(s, by_land, by_sea, maps.home, land, sea, fixed)
    elif s.stage == NUMBER_GOLD:
        set_markets(s, colour, maps.home, fixed)
    if set_landings(s, colour, maps.cost, maps.ferry, fixed):
        spread_costs(s, by_land, by_sea, maps.ferry, land, sea, fixed)


@kernel
def _best_across(
    s: State,
    style: Style,
    colour: Int,
    maps: State,
    mask: Mask,
    lots: Int,
    best: Best,
    fixed: State,
) -> Best:
    """Return the best of `best` and the legal moves, attacks and voyages."""
    for first in range(0, 2 * TERRITORIES, TERRITORIES):
        manned = manned_by(s, colour, first) & (-1 if first else ALL_LAND)
        while manned:
            place = first + lowest(manned)
            manned &= manned - 1
            best = _best_from(s, style, colour, maps, mask, lots, best, place, fixed)
    return best


@inlined
def _best_from(
    s: State,
    style: Style,
    colour: Int,
    maps: State,
    mask: Mask,
    lots: Int,
    best: Best,
    place: Int,
    fixed: State,
) -> Best:
    """Return the best of `best` and the legal moves, attacks and voyages from a place.

    At each border, at most one of the three is legal.
    """
    for to_sea in range(2):
        borders = fixed.sea_borders if to_sea else fixed.land_borders
        for border in range(borders[place], borders[place + 1]):
            move, attack = fixed.first[MOVE] + border, fixed.first[ATTACK] + border
            sail = fixed.first[SAIL] + border - fixed.sea_borders[TERRITORIES]
            if mask[move]:
                worth = worth_of_move(s, style, colour, maps, place, border, fixed)
                best = _better(best, worth, lots, move)
            elif mask[attack]:
                worth = worth_of_attack(s, style, colour, maps, place, border, fixed)
                best = _better(best, worth, lots, attack)
            elif to_sea and place >= TERRITORIES and mask[sail]:
                worth = worth_of_sail(s, style, colour, maps, place, border, fixed)
                best = _better(best, worth, lots, sail)
    return best


@kernel
def _best_of(
    s: State,
    style: Style,
    colour: Int,
    maps: State,
    mask: Mask,
    first: Int,
    lots: Int,
    best: Best,
    fixed: State,
) -> Best:
    """Return the best of `best` and the legal actions of a part of the mask.

    The part begins at action `first`. It has no moves, attacks or voyages.
    """
    whole = mask.size - mask.size % 8
    for begin in range(0, whole, 8):
        if eight_bytes(mask, begin):  # most actions are illegal, so skip eight at a time
            for i in range(begin, begin + 8):
                if mask[i]:
                    worth = worth_of_other_action(s, style, colour, maps, first + i, fixed)
                    best = _better(best, worth, lots, first + i)
    for i in range(whole, mask.size):
        if mask[i]:
            worth = worth_of_other_action(s, style, colour, maps, first + i, fixed)
            best = _better(best, worth, lots, first + i)
    return best


@inlined
def _better(best: Best, worth: Int, lots: Int, action: Int) -> Best:
    """Return the better of `best` and an action."""
    lot = mix(lots + np.uint64(action))
    if worth > best[0] or (worth == best[0] and lot > best[1]):
        return np.int64(worth), lot, np.int64(action)
    return best


@kernel
def row_of(s: State, number: Int, colour: Int, fixed: State) -> Int:
    """Return the index in `styles.STYLES` of a style's row for this game and the colour's stance.

    The row depends on the number of players and on the option `cards`.
    """
    return FIRST_ROWS[number][2 * (s.players - 2) + s.cards] + _stance(s, colour, fixed)


@kernel
def _stance(s: State, colour: Int, fixed: State) -> Int:
    """Return the stance (situation) of a colour, one of those in `style_columns`."""
    if enemies_claim(s, colour):
        return ALARMED
    if in_victory(s, colour, fixed):
        return AHEAD
    if s.turn < EARLY_ROUNDS * colours_playing(s):
        return EARLY
    cities = enemy_cities_owned(s, territories_of(s, colour), colour, fixed)
    return CLOSE if cities == CITIES_ASKED - 1 else PLAIN


@kernel
def _bands_to_move(s: State, style: Style, colour: Int, maps: State, fixed: State) -> Int:
    """Return the number of bands to move.

    This is all bands except those that should stay. It is lower if the bands carry gold home, or if
    the target is not nearer to a goal.
    """
    origin, target = np.int64(s.origin), np.int64(s.target)
    stay: Int = np.int64(garrison(s, style, origin, colour, maps, fixed))
    if origin >= TERRITORIES and maps.ferry[origin] < FAR:
        stay = 1  # the crew of a ship that fetches other bands
    wanted = min(s.bands[origin] - stay, most_bands(s))
    if is_treasure(s, style, origin, colour, maps.home) and maps.home[target] < maps.home[origin]:
        wanted = min(wanted, CARAVAN - 1)
    elif maps.cost[target] >= maps.cost[origin]:
        wanted = min(wanted, style[PASSING])  # to take a territory on the way, or to crew a ferry
    return max(wanted, 1)


@kernel
def _answer(s: State, fixed: State) -> Int:
    """Return the answer to a question for a card: play the card if it helps, else decline."""
    return fixed.first[ANSWER] + (answer_of(s.stage) if _card_helps(s, fixed) else DECLINE)


@kernel
def _bands_beside_ship(s: State, style: Style) -> Int:
    """Return the number of bands for a territory in the preliminary turn: 0 without a ship."""
    return min(style[AT_SHIPS], np.int64(s.due)) if has_ship(s, np.int64(s.target)) else np.int64(0)


@kernel
def _card_helps(s: State, fixed: State) -> Int:
    """Return whether the card in question improves the roll, or its raid may prevent a victory."""
    if s.stage == ANSWER_ATTACK:
        return s.roll <= 0 or defenders_of(s, np.int64(s.target)) > 1
    if s.stage == ANSWER_DEFENCE:
        return s.roll > 0
    return in_victory(s, np.int64(s.colour[0]), fixed) and s.coups[0] <= 2
