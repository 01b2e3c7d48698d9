"""The scripted player of Armada. At each decision it scores the legal actions and plays the best.

For every place it computes the cost of the way to the nearest goal of the acting colour (see
`distance_maps`). Goals are the territories that victory needs (ADA-27: the Centre and other posts;
enemy cities; a lair), territories whose loss breaks an enemy's claim, and the colour's posts with
too few bands. Bands move towards lower costs. Taking, exploring and attacking territories on the
way have separate scores. If few bands are on the board, gold is carried home and converted. Ships
fetch bands that wait on a coast. In long games, a colour's last bands would guard posts forever, so
garrisons shrink with time. The player does not look at hidden cards, and it does not roll dice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.bits import eight_bytes, lowest
from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.randomness import mix
from armarl.compiler.types import Int, Mask, State, States
from armarl.games.armada.actions import (
    ALL_CITIES,
    ANSWER,
    ATTACK,
    BUY,
    CENTRAL,
    CONVERT,
    COUNT,
    DECLINE,
    DISCOVERY,
    ENROL,
    EXPLORE,
    GOLD,
    GOLD_MINE,
    LAUNCH,
    LEVY,
    MOVE,
    MUTINY,
    PAY,
    PEEK,
    PLAY,
    RISE,
    SAIL,
    SCUTTLE,
    SHIP,
    SHIPYARD,
    TERRITORIES,
)
from armarl.games.armada.chart.loading import CITIES
from armarl.games.armada.dice import SIDES
from armarl.games.armada.rules.apply import family_of
from armarl.games.armada.rules.legal_answers import answer_of, legal, most_bands
from armarl.games.armada.rules.legal_orders import ALL_LAND, PLAIN_KINDS, payable_gold
from armarl.games.armada.rules.orders import city_of_launch
from armarl.games.armada.rules.scoring import CITIES_ASKED, in_victory
from armarl.games.armada.scripted.distance_maps import (
    CARAVAN,
    defenders_of,
    enemies_claim,
    garrison_of,
    gives_way,
    impatience,
    is_ferry,
    is_own,
    is_partners,
    is_treasure,
    set_goals,
    set_landings,
    set_markets,
    set_tolls,
    ship_beside,
    spread_costs,
)
from armarl.games.armada.state import (
    ALL_POSTS,
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    BIG_NATIVES_CARD,
    COMBAT_DIE,
    MORE_COUPS_CARD,
    NATIVES_CARD,
    NO_CLAIM,
    NOBODY,
    NUMBER_BANDS,
    NUMBER_GOLD,
    ORDER,
    SHIP_ROOM,
    SPREAD_BANDS,
    STRATEGIST_CARD,
    TRIBES,
    acting_colour,
    cities_owned,
    city_place,
    colours_playing,
    enemy_cities_owned,
    has_ship,
    lair_of,
    manned_by,
    post_place,
    posts_owned,
    room,
    territories_of,
)
from armarl.games.armada.style_columns import (
    AHEAD,
    ALARMED,
    AT_SHIPS,
    CITY_GARRISON,
    CLOSE,
    CONVERT_WORTH,
    EARLY,
    EARLY_ROUNDS,
    ENROL_WORTH,
    EXPLORE_COST,
    EXPLORE_WORTH,
    FAR,
    FERRY_WORTH,
    FIGHT_GOAL,
    FIGHT_OTHER,
    HOME_GARRISON,
    HUNGRY,
    IN_REACH,
    JOIN_WORTH,
    LAUNCH_BANDS,
    LAUNCH_WORTH,
    MOST_ODDS,
    MOVE_BANDS,
    MOVE_WORTH,
    NEAR,
    ODDS,
    PASSING,
    PLAIN,
    SAIL_BANDS,
    SAIL_WORTH,
    STEP,
    TAKE,
    TAKE_WORTH,
    TREASURE_WORTH,
    Style,
)
from armarl.games.armada.styles import FIRST_ROWS, STYLES

DRAWS = 2.0**53  # number of different values of the fractional part of `draw`
FERRYING = 3  # a place with this number of bands sends one as the crew of a ship that fetches bands

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
                worth = _worth_of_move(s, style, colour, maps, place, border, fixed)
                best = _better(best, worth, lots, move)
            elif mask[attack]:
                worth = _worth_of_attack(s, style, colour, maps, place, border, fixed)
                best = _better(best, worth, lots, attack)
            elif to_sea and place >= TERRITORIES and mask[sail]:
                worth = _worth_of_sail(s, style, colour, maps, place, border, fixed)
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
                    worth = _worth(s, style, colour, maps, first + i, fixed)
                    best = _better(best, worth, lots, first + i)
    for i in range(whole, mask.size):
        if mask[i]:
            worth = _worth(s, style, colour, maps, first + i, fixed)
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


# --- scores of actions ---------------------------------------------------------------------------


@kernel
def _worth(s: State, style: Style, colour: Int, maps: State, action: Int, fixed: State) -> Int:
    """Return the score of an action that is not a move, voyage or attack. The score of `end` is 0.

    A higher score is better.
    """
    family = family_of(action, fixed)
    number = action - fixed.first[family]
    if family == LAUNCH:
        return _worth_of_launch(s, style, colour, maps, number, fixed)
    if family == EXPLORE:
        return _worth_of_exploring(style, maps, CENTRAL + number)
    if family == DISCOVERY:
        return _worth_of_exploring(style, maps, CENTRAL + number) + 2
    if family >= LEVY:
        return _worth_of_placing(s, style, colour, maps, family, number, fixed)
    if family == CONVERT:
        return style[CONVERT_WORTH]
    if family == GOLD:
        return number if maps.home[s.target] < maps.home[s.origin] else -number
    if family == SHIP:
        return -maps.cost[city_place(number, fixed)]
    return -1 if family == SCUTTLE else 0


@kernel
def _worth_of_placing(
    s: State, style: Style, colour: Int, maps: State, family: Any, number: Int, fixed: State
) -> Int:
    """Return the score of enrolling, buying, playing a card, or placing bands or tribes."""
    if family == LEVY:
        return -maps.cost[number]
    if family == ENROL:
        return style[ENROL_WORTH]
    if family == BUY:
        return 12
    if family == PAY:
        return 0 if number < TERRITORIES else 1
    if family == GOLD_MINE:
        return _worth_of_mine(s, colour, number, fixed)
    if family == SHIPYARD:
        return 20 - maps.cost[city_place(number, fixed)] // 4
    if family == MUTINY:
        return 78 + s.bands[TERRITORIES + number]
    if family == PLAY:
        return _worth_of_plain(s, colour, PLAIN_KINDS[number], fixed)
    if family == RISE:
        return _worth_of_rising(s, colour, CENTRAL + number, fixed)
    return 1 if (number == PEEK) == (s.coups[s.raid] > 7) else 0  # LOOK


@kernel
def _worth_of_move(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of a move. It is high for taking a territory or coming nearer to a goal."""
    to = np.int64(fixed.border_to[border])
    empty_ship = to >= TERRITORIES and s.bands[to] == 0
    if empty_ship and maps.ferry[to] < FAR and s.bands[place] == FERRYING:
        return 8  # one band crews a ship that fetches other bands
    if s.bands[place] <= _garrison(s, style, place, colour, maps, fixed):
        return -1
    nearer = np.int64(maps.cost[place]) - maps.cost[to]
    if to < TERRITORIES and not is_own(s, to, colour) and maps.cost[to] <= style[TAKE]:
        return style[TAKE_WORTH] - maps.cost[to]
    if is_ferry(s, place, maps.ferry):
        return -1
    if is_treasure(s, style, place, colour, maps.home):
        ashore = place < TERRITORIES or to < TERRITORIES
        homewards = ashore and maps.home[to] < maps.home[place]
        return style[TREASURE_WORTH] + 2 * s.gold[place] if homewards else -1
    if nearer <= 0:
        joins = s.bands[place] == 1 and s.bands[to] > 0 and nearer >= -style[STEP]
        return style[JOIN_WORTH] if joins and to < TERRITORIES else -1
    bands = min(np.int64(s.bands[place]), room(s, to))
    worth = style[MOVE_WORTH] + nearer + style[MOVE_BANDS] * min(bands, SHIP_ROOM)
    in_reach = np.int64(maps.cost[to]) <= style[STEP] * s.coups[s.raid]
    return worth + (style[IN_REACH] if in_reach else 0)


@kernel
def _holds_post(s: State, place: Int, colour: Int, fixed: State) -> Int:
    """Return whether a place is a post that the colour owns."""
    for post in range(ALL_POSTS):
        if post_place(post, fixed) == place:
            return is_own(s, place, colour)
    return False


@kernel
def _garrison(s: State, style: Style, place: Int, colour: Int, maps: State, fixed: State) -> Int:
    """Return the number of bands that should stay on a place."""
    if place < CENTRAL:
        return _garrison_of_city(s, style, place, colour, fixed)
    if not _holds_post(s, place, colour, fixed) or gives_way(s, colour, fixed):
        return 0
    return 1 if is_treasure(s, style, place, colour, maps.home) else garrison_of(s, style)


@kernel
def _garrison_of_city(s: State, style: Style, place: Int, colour: Int, fixed: State) -> Int:
    """Return the number of bands that should stay on a territory of a lair."""
    for city in range(ALL_CITIES):
        if city_place(city, fixed) == place and is_own(s, place, colour):
            at_home = city // CITIES == colour
            return style[HOME_GARRISON] if at_home else style[CITY_GARRISON]
    return 0


@kernel
def _worth_of_sail(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of sailing, or -1 if the ship does not come nearer to its target.

    An almost empty ship sails to any waiting bands, a ship with gold to a place that converts gold,
    and any other ship to a goal. Of the ships that sail to a goal, those with more bands score
    higher.
    """
    to = np.int64(fixed.border_to[border])
    if is_ferry(s, place, maps.ferry):
        return style[FERRY_WORTH] if maps.ferry[to] < maps.ferry[place] else -1
    if is_treasure(s, style, place, colour, maps.home):
        return 30 + 2 * s.gold[place] if maps.home[to] < maps.home[place] else -1
    nearer = np.int64(maps.cost[place]) - maps.cost[to]
    return style[SAIL_WORTH] + nearer + style[SAIL_BANDS] * s.bands[place] if nearer > 0 else -1


@kernel
def _worth_of_exploring(style: Style, maps: State, territory: Int) -> Int:
    """Return the score of exploring a territory. It is higher near the goals."""
    return style[EXPLORE_WORTH] - maps.cost[territory] * style[EXPLORE_COST] // 4


@kernel
def _bands_around(s: State, colour: Int, place: Int, fixed: State) -> Int:
    """Return the number of bands that may attack a place from all places next to it."""
    bands = np.int64(0)
    for border in range(fixed.land_borders[place], fixed.land_borders[place + 1]):
        bands += _attackers(s, colour, np.int64(fixed.border_to[border]))
    for border in range(fixed.sea_borders[place], fixed.sea_borders[place + 1]):
        bands += _attackers(s, colour, np.int64(fixed.border_to[border]))
    return bands


@kernel
def _attackers(s: State, colour: Int, place: Int) -> Int:
    """Return the number of bands that may attack from a place (ADA-22)."""
    return np.int64(s.bands[place]) if is_own(s, place, colour) and s.bands[place] > 1 else 0


@kernel
def _defeated_by(attackers: Int, fixed: State) -> Int:
    """Return the expected number of defenders that attackers defeat, less a fifth for bad luck.

    A roll of the standard dice costs the attacker a third of a band on average and the defender
    five sixths of a band. With these dice, each attacker is expected to defeat two defenders.
    """
    hits: Int = np.int64(0)
    losses: Int = np.int64(0)
    for i in range(SIDES):
        face: Int = np.int64(fixed.faces[COMBAT_DIE, i])
        hits += max(face, 0)
        losses += max(-face, 0)
    return 4 * hits * attackers // (5 * max(losses, 1))


@kernel
def _worth_of_attack(
    s: State, style: Style, colour: Int, maps: State, place: Int, border: Int, fixed: State
) -> Int:
    """Return the score of an attack.

    The score is negative at bad odds, and against tribes on a place that is neither near a goal nor
    nearer to one.
    """
    to = np.int64(fixed.border_to[border])
    attackers, defenders = np.int64(s.bands[place]), defenders_of(s, to)
    if impatience(s) > 0:
        attackers = _bands_around(s, colour, to, fixed)
    odds = _defeated_by(attackers, fixed) - defenders
    goal = maps.cost[to] < maps.cost[place] or maps.cost[to] <= style[NEAR]
    wanted = style[ODDS] - impatience(s)
    if odds < wanted or not (goal or s.bands[to] > 0):
        return -1
    worth = style[FIGHT_GOAL] if goal else style[FIGHT_OTHER]
    return worth + min(odds, style[MOST_ODDS]) - maps.cost[to] // 4


@kernel
def _worth_of_launch(
    s: State, style: Style, colour: Int, maps: State, number: Int, fixed: State
) -> Int:
    """Return the score of a launch. It grows with the number of bands that wait for a ship.

    Waiting bands are the colour's bands next to the target square that have no ship to board yet.
    """
    city = city_of_launch(number, fixed)
    place = city_place(city, fixed)
    square = np.int64(fixed.border_to[fixed.sea_borders[place] + number - fixed.launches[city]])
    waiting: Int = np.int64(0)
    for border in range(fixed.land_borders[square], fixed.land_borders[square + 1]):
        shore = np.int64(fixed.border_to[border])
        if is_own(s, shore, colour) and not ship_beside(s, shore, colour, fixed):
            waiting += s.bands[shore]
    if waiting < 2:
        return -1
    return (
        style[LAUNCH_WORTH]
        + style[LAUNCH_BANDS] * min(waiting, SHIP_ROOM)
        + (maps.cost[place] - maps.cost[square])
    )


@kernel
def _bands_to_move(s: State, style: Style, colour: Int, maps: State, fixed: State) -> Int:
    """Return the number of bands to move.

    This is all bands except those that should stay. It is lower if the bands carry gold home, or if
    the target is not nearer to a goal.
    """
    origin, target = np.int64(s.origin), np.int64(s.target)
    stay: Int = np.int64(_garrison(s, style, origin, colour, maps, fixed))
    if origin >= TERRITORIES and maps.ferry[origin] < FAR:
        stay = 1  # the crew of a ship that fetches other bands
    wanted = min(s.bands[origin] - stay, most_bands(s))
    if is_treasure(s, style, origin, colour, maps.home) and maps.home[target] < maps.home[origin]:
        wanted = min(wanted, CARAVAN - 1)
    elif maps.cost[target] >= maps.cost[origin]:
        wanted = min(wanted, style[PASSING])  # to take a territory on the way, or to crew a ferry
    return max(wanted, 1)


@kernel
def _worth_of_mine(s: State, colour: Int, territory: Int, fixed: State) -> Int:
    """Return the score of a gold-mine on a territory. It is high where the gold can be converted.

    Gold can be converted in a city if the colour owns two cities of the city's lair, and in a post
    if it owns three posts.
    """
    owned = territories_of(s, colour)
    for city in range(ALL_CITIES):
        if city_place(city, fixed) == territory:
            return 80 if cities_owned(owned, lair_of(territory), fixed) >= 2 else 5
    if _holds_post(s, territory, colour, fixed) and posts_owned(owned, fixed) >= 3:
        return 85
    return -1


@kernel
def _worth_of_plain(s: State, colour: Int, card: Int, fixed: State) -> Int:
    """Return the score of playing a card whose action does not name a place."""
    if card == MORE_COUPS_CARD:
        return 60 if s.coups[s.raid] <= 2 else -1
    if card == STRATEGIST_CARD:
        return 14
    if card == NATIVES_CARD or card == BIG_NATIVES_CARD:  # noqa: SIM109 - Numba
        for post in range(ALL_POSTS):
            if _worth_of_rising(s, colour, post_place(post, fixed), fixed) > 0 and (
                s.bands[post_place(post, fixed)] == 0
            ):
                return 40
        return -1
    return 76


@kernel
def _worth_of_rising(s: State, colour: Int, territory: Int, fixed: State) -> Int:
    """Return the score of putting tribes on a territory. It is highest for an enemy's post."""
    owner = np.int64(s.owner[territory])
    if owner == colour or is_partners(s, territory, colour):
        return -50
    if owner == TRIBES or owner == NOBODY:  # noqa: SIM109
        return 0
    for post in range(ALL_POSTS):
        if post_place(post, fixed) == territory:
            return 40 if s.claims[owner] != NO_CLAIM else 20
    return 5


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
