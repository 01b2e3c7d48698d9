"""Observations of Armada: their named parts, called blocks, and the functions that write them.

An observation lists all four colours in play order, even a colour that no player has. The first is
one of the seat's own colours: the colour that decides, if that colour belongs to the seat, and
otherwise the seat's next colour in play order. Places have the order of the chart (`Chart.places`).
`armarl.core.observation_blocks` joins the blocks into one flat observation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armarl.compiler.array_views import window
from armarl.compiler.decorators import kernel, part
from armarl.compiler.types import Observation, State
from armarl.core.observation_blocks import Blocks, Declared, Target
from armarl.core.observation_table import ObservationTable
from armarl.games.armada.actions import CENTRAL, MOST_PIECES, TERRITORIES
from armarl.games.armada.board_graph import board_of
from armarl.games.armada.chart.geography import Chart
from armarl.games.armada.dice import Dice
from armarl.games.armada.knowledge import HELD, LACKED, known_top, number_on_top
from armarl.games.armada.rules.orders import CARD_HITS
from armarl.games.armada.rules.scoring import is_victory
from armarl.games.armada.state import (
    ALL_CARDS,
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    ANSWERS,
    CARDS,
    CENTRALS,
    COPIES,
    COUPS,
    FOUR,
    MORE_COUPS,
    NOBODY,
    OVER,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    SHIPS,
    STAGE_NAMES,
    STAGES,
    TRIBES,
    acting_colour,
    cities_owned,
    enemy_cities_owned,
    owned_in,
    posts_owned,
    territories_of,
)

_PIECES = 10.0  # scale for the number of pieces in one place
_ALL_PIECES = float(MOST_PIECES)
_TRIBES = 4.0
_HAND = 10.0
_IDLE = 8.0
_MOST_COUPS = int(COUPS + MORE_COUPS)
_COPIES = tuple(float(number) for number in COPIES)


def observation_table(
    chart: Chart, dice: Dice, players: int, max_turns: int, cards: bool
) -> ObservationTable:
    """Return the observation table of a variant."""
    values = {
        "players": players,
        "places": len(chart.places),
        "max_turns": max_turns,
        "cards": cards,
        "most_rolled": max(CARD_HITS, *(abs(face) for faces in dice.faces for face in faces)),
    }
    return blocks.table(values, board_of(chart))


# --- the view of a seat ---------------------------------------------------------------------------


class View(NamedTuple):
    """The arguments of the functions that write blocks, in addition to the state."""

    seat: Any
    own: Any  # the colour that comes first in the seat's observation
    fixed: Any  # the chart and the dice


@kernel
def perspective(s: State, seat: int) -> Any:
    """Return the colour that comes first in a seat's observation: one of the seat's own colours."""
    colour = acting_colour(s)
    if s.stage == ANSWER_RAID:
        colour = (s.colour[0] + s.asked) % FOUR
    elif s.stage == ANSWER_DEFENCE and s.to_move == seat:
        colour = np.int64(s.owner[s.target])
    while s.seat_of[colour] != seat:
        colour = (colour + 1) % FOUR
    return colour


def look(s: State, seat: int, fixed: State) -> View:
    """Return a seat's view of a state."""
    return View(seat, perspective(s, seat), fixed)


blocks = Blocks(look)

# LLVM vectorises loops that begin at index 0 of an array, but not loops over `out[at + i]`.


@part
def _numbers(numbers: Any, first: int, block: Target) -> None:
    """Write the numbers of a state's field, from index `first` on, multiplied by `block.unit`."""
    out = block.out
    for i in range(out.size):
        out[i] = numbers[first + i] * block.unit


@part
def _equal(numbers: Any, first: int, number: int, out: Observation) -> None:
    """Write 1 where a field of the state, from index `first` on, equals `number`, else 0."""
    wanted = np.int8(number)  # the field's dtype: a vector instruction then compares more numbers
    for i in range(out.size):
        out[i] = numbers[first + i] == wanted


@part
def _one_hot(number: int, out: Observation) -> None:
    """Write 1 at index `number` and 0 elsewhere."""
    for i in range(out.size):
        out[i] = i == number


# --- places and territories -----------------------------------------------------------------------


@blocks.add(
    Declared(
        "bands",
        (FOUR, "places"),
        MOST_PIECES,
        "the colour's bands on the place",
        _PIECES,
        on="places",
    )
)
def _bands(s: State, view: View, bands: Target) -> None:
    places, none = s.places, np.float32(0)
    own, next_one = window(bands.out, 0, places), window(bands.out, places, places)
    third, last = window(bands.out, 2 * places, places), window(bands.out, 3 * places, places)
    for place in range(own.size):  # one pass for all colours
        number, owner = np.float32(s.bands[place] * bands.unit), s.owner[place]
        own[place] = number if owner == np.int8(view.own) else none
        next_one[place] = number if owner == np.int8((view.own + 1) % FOUR) else none
        third[place] = number if owner == np.int8((view.own + 2) % FOUR) else none
        last[place] = number if owner == np.int8((view.own + 3) % FOUR) else none


@blocks.add(
    Declared(
        "owner", (FOUR, TERRITORIES), 1, "the colour's flag is on the territory", on="territories"
    )
)
def _owner(s: State, view: View, owner: Target) -> None:
    for k in range(FOUR):
        out = window(owner.out, k * TERRITORIES, TERRITORIES)
        _equal(s.owner, 0, (view.own + k) % FOUR, out)


@blocks.add(Declared("gold", ("places",), MOST_PIECES, "gold on the place", _PIECES, on="places"))
def _gold(s: State, view: View, gold: Target) -> None:
    _numbers(s.gold, 0, gold)


@blocks.add(
    Declared("ship", ("places",), 1, "a ship on the place (on land: not launched)", on="places")
)
def _ship(s: State, view: View, ship: Target) -> None:
    for i in range(TERRITORIES):
        ship.out[i] = np.int32(s.ships[0] >> i & 1)  # int32 becomes a float faster than int64
    squares = window(ship.out, TERRITORIES, ship.out.size - TERRITORIES)
    for i in range(squares.size):
        squares[i] = np.int32(s.ships[1] >> i & 1)


@blocks.add(Declared("explored", (CENTRALS,), 1, "the central territory is explored", on="central"))
def _explored(s: State, view: View, explored: Target) -> None:
    out = explored.out
    for i in range(out.size):
        out[i] = s.owner[CENTRAL + i] != NOBODY


@blocks.add(
    Declared("tribes_own", (CENTRALS,), 1, "the tribes' flag is on the territory", on="central")
)
def _tribes_own(s: State, view: View, tribes_own: Target) -> None:
    _equal(s.owner, CENTRAL, TRIBES, tribes_own.out)


@blocks.add(
    Declared("tribes", (CENTRALS,), MOST_PIECES, "tribes on the territory", _TRIBES, on="central")
)
def _tribes(s: State, view: View, tribes: Target) -> None:
    _numbers(s.tribes, 0, tribes)


# --- the colours ----------------------------------------------------------------------------------


@blocks.add(Declared("reserve", (FOUR,), MOST_PIECES, "bands in the reserve", _ALL_PIECES))
def _reserve(s: State, view: View, reserve: Target) -> None:
    for k in range(FOUR):
        reserve.out[k] = s.reserve[(view.own + k) % FOUR] * reserve.unit


@blocks.add(
    Declared(
        "claim",
        (FOUR,),
        2,
        "2: the claim is judged the next time that the colour's turn ends; 1: the claim was laid "
        "in the colour's current turn and is judged one turn later (ADA-28)",
        2.0,
    )
)
def _claim(s: State, view: View, claim: Target) -> None:
    for k in range(FOUR):
        claim.out[k] = s.claims[(view.own + k) % FOUR] * claim.unit


@blocks.add(
    Declared("victory", (FOUR,), 1, "the colour is in victory now (ADA-27)"),
    Declared("lairs", (FOUR, FOUR), 7, "territories owned in each lair, green to orange", 4.0),
    Declared("cities", (FOUR, FOUR), 3, "cities owned in each lair", 3.0),
    Declared("enemy_cities", (FOUR,), 12, "cities owned in enemy lairs (ADA-27)", 4.0),
    Declared("posts", (FOUR,), 5, "trading posts owned", 3.0),
    Declared("central", (FOUR,), CENTRALS, "central territories owned", 4.0),
)
def _standing(
    s: State,
    view: View,
    victory: Target,
    lairs: Target,
    cities: Target,
    enemy_cities: Target,
    posts: Target,
    central: Target,
) -> None:
    for k in range(FOUR):
        colour = (view.own + k) % FOUR
        owned = territories_of(s, colour)
        victory.out[k] = is_victory(s, owned, colour, view.fixed)
        for lair in range(FOUR):
            lairs.out[k * FOUR + lair] = owned_in(owned, lair) * lairs.unit
            cities.out[k * FOUR + lair] = cities_owned(owned, lair, view.fixed) * cities.unit
        enemy_cities.out[k] = enemy_cities_owned(s, owned, colour, view.fixed) * enemy_cities.unit
        posts.out[k] = posts_owned(owned, view.fixed) * posts.unit
        central.out[k] = owned_in(owned, FOUR) * central.unit


@blocks.add(
    Declared(
        "supply",
        (3,),
        MOST_PIECES,
        "gold and tribes in the supply, ships in the box",
        (_ALL_PIECES, _ALL_PIECES, float(SHIPS)),
    )
)
def _supply(s: State, view: View, supply: Target) -> None:
    supply.out[0] = s.supply_gold * supply.unit[0]
    supply.out[1] = s.supply_tribes * supply.unit[1]
    supply.out[2] = s.box * supply.unit[2]


# --- the turn -------------------------------------------------------------------------------------


@blocks.add(Declared("colour", (FOUR,), 1, "one-hot: the own colour, green to orange"))
def _colour(s: State, view: View, colour: Target) -> None:
    _one_hot(view.own, colour.out)


@blocks.add(Declared("neutral", (FOUR,), 1, "the colour is nobody's (ADA-12)"))
def _neutral(s: State, view: View, neutral: Target) -> None:
    _one_hot((s.neutral - view.own) % FOUR if s.neutral >= 0 else -1, neutral.out)


@blocks.add(Declared("acting", (FOUR,), 1, "the colour's turn or raid is under way"))
def _acting(s: State, view: View, acting: Target) -> None:
    _one_hot((acting_colour(s) - view.own) % FOUR, acting.out)


@blocks.add(Declared("turn", (FOUR,), 1, "the colour's turn is under way (in a raid: interrupted)"))
def _turn(s: State, view: View, turn: Target) -> None:
    _one_hot((s.colour[0] - view.own) % FOUR, turn.out)


@blocks.add(Declared("to_move", ("players",), 1, "seat to move, own seat first"))
def _to_move(s: State, view: View, to_move: Target) -> None:
    _one_hot((s.to_move - view.seat) % s.players if s.stage != OVER else -1, to_move.out)


@blocks.add(Declared("stage", (STAGES,), 1, "one-hot: " + ", ".join(STAGE_NAMES)))
def _stage(s: State, view: View, stage: Target) -> None:
    _one_hot(s.stage, stage.out)


@blocks.add(
    Declared(
        "coups",
        (2,),
        _MOST_COUPS,
        "coups left in the turn or raid, and in the interrupted turn",
        float(COUPS),
    )
)
def _coups(s: State, view: View, coups: Target) -> None:
    coups.out[0] = s.coups[s.raid] * coups.unit
    coups.out[1] = s.raid * s.coups[0] * coups.unit


@blocks.add(Declared("raid", (1,), 1, "a raid is under way"))
def _raid(s: State, view: View, raid: Target) -> None:
    raid.out[0] = s.raid


@blocks.add(Declared("enrolled", (1,), 1, "enrolment is used up (ADA-31)"))
def _enrolled(s: State, view: View, enrolled: Target) -> None:
    enrolled.out[0] = s.enrolled[s.raid]


@blocks.add(Declared("more_coups", (1,), 1, "more-coups is used up (ADA-32)"))
def _more_coups(s: State, view: View, more_coups: Target) -> None:
    more_coups.out[0] = s.more_coups[s.raid]


@blocks.add(
    Declared(
        "turns_left", (1,), "max_turns", "colour turns until ADA-30 ends the game", "max_turns"
    )
)
def _turns_left(s: State, view: View, turns_left: Target) -> None:
    turns_left.out[0] = (s.max_turns - max(s.turn, 0)) * turns_left.unit


@blocks.add(
    Declared("idle", (1,), _IDLE, "latest turns in a row that ended automatically (ADA-26)", _IDLE)
)
def _idle(s: State, view: View, idle: Target) -> None:
    idle.out[0] = s.idle * idle.unit


# --- the chain of decisions under way -------------------------------------------------------------


@blocks.add(
    Declared("origin", ("places",), 1, "place where the chain of decisions starts", on="places")
)
def _origin(s: State, view: View, origin: Target) -> None:
    _one_hot(s.origin, origin.out)


@blocks.add(
    Declared(
        "target", ("places",), 1, "place where the chain ends, or that gets bands next", on="places"
    )
)
def _target(s: State, view: View, target: Target) -> None:
    _one_hot(s.target, target.out)


@blocks.add(
    Declared(
        "used", (TERRITORIES,), 1, "territory that the card has already used", on="territories"
    )
)
def _used(s: State, view: View, used: Target) -> None:
    _one_hot(s.used, used.out)


@blocks.add(Declared("count", (1,), MOST_PIECES, "bands chosen, or ships or bands placed", _PIECES))
def _count(s: State, view: View, count: Target) -> None:
    count.out[0] = s.count * count.unit


@blocks.add(Declared("due", (1,), MOST_PIECES, "bands, gold or rolls left in the chain", _PIECES))
def _due(s: State, view: View, due: Target) -> None:
    due.out[0] = s.due * due.unit


@blocks.add(
    Declared("hits", (1,), "most_rolled", "hits of the roll that cards may answer", 2.0),
    Declared("losses", (1,), "most_rolled", "losses of the roll that cards may answer", 2.0),
    Declared("rolled", (1,), "most_rolled", "result of the tribes die, to be placed", _TRIBES),
)
def _roll(s: State, view: View, hits: Target, losses: Target, rolled: Target) -> None:
    combat = s.stage == ANSWER_ATTACK or s.stage == ANSWER_DEFENCE
    placing = s.stage == PLACE_RECRUITS or s.stage == PLACE_NATIVES
    hits.out[0] = combat * max(s.roll, 0) * hits.unit
    losses.out[0] = combat * max(-s.roll, 0) * losses.unit
    rolled.out[0] = placing * s.roll * rolled.unit


# --- cards ----------------------------------------------------------------------------------------


@blocks.add(
    Declared("hand", (CARDS,), 8, "own cards, by kind", _COPIES, known="own", option="cards")
)
def _hand(s: State, view: View, hand: Target) -> None:
    for card in range(CARDS):
        hand.out[card] = s.hand[view.seat, card] * hand.unit[card]


@blocks.add(Declared("played", (CARDS,), 8, "cards played, by kind", _COPIES, option="cards"))
def _played(s: State, view: View, played: Target) -> None:
    for card in range(CARDS):
        played.out[card] = s.played[card] * played.unit[card]


@blocks.add(
    Declared(
        "looked",
        (CARDS,),
        8,
        "cards that the own strategist has looked at",
        _COPIES,
        known="own",
        option="cards",
    ),
    Declared(
        "offered",
        (CARDS,),
        1,
        "one-hot: card that `take` would take",
        known="own",
        option="cards",
    ),
)
def _looked(s: State, view: View, looked: Target, offered: Target) -> None:
    number = known_top(s, view.seat)
    for card in range(CARDS):
        looked.out[card] = number_on_top(s, card, number) * looked.unit[card]
        offered.out[card] = number > 0 and s.deck[s.deck_size - number] == card + 1


@blocks.add(
    Declared(
        "hand_sizes",
        ("players",),
        ALL_CARDS,
        "cards held by each seat, own seat first",
        _HAND,
        option="cards",
    )
)
def _hand_sizes(s: State, view: View, hand_sizes: Target) -> None:
    for k in range(s.players):
        hand_sizes.out[k] = s.hand_size[(view.seat + k) % s.players] * hand_sizes.unit


@blocks.add(
    Declared("deck_size", (1,), ALL_CARDS, "cards in the deck", float(ALL_CARDS), option="cards")
)
def _deck_size(s: State, view: View, deck_size: Target) -> None:
    deck_size.out[0] = s.deck_size * deck_size.unit


@blocks.add(
    Declared("peeked", (1,), ALL_CARDS, "cards the strategist has looked at", _HAND, option="cards")
)
def _peeked(s: State, view: View, peeked: Target) -> None:
    peeked.out[0] = s.looked * peeked.unit


@blocks.add(
    Declared(
        "remembered",
        (CARDS,),
        8,
        "cards known to be in the deck, except for later draws",
        _COPIES,
        known="own",
        option="cards",
    )
)
def _remembered(s: State, view: View, remembered: Target) -> None:
    for card in range(CARDS):
        remembered.out[card] = s.remembered[view.seat, card] * remembered.unit[card]


@blocks.add(
    Declared(
        "drawn",
        ("players",),
        ALL_CARDS,
        "number of remembered cards that each seat may have drawn, own seat first",
        _HAND,
        known="own",
        option="cards",
    )
)
def _drawn(s: State, view: View, drawn: Target) -> None:
    for k in range(s.players):
        drawn.out[k] = s.drawn[view.seat, (view.seat + k) % s.players] * drawn.unit


@blocks.add(
    Declared(
        "held",
        ("players", ANSWERS),
        1,
        "for attack, defence, raid: the seat is known to hold the card",
        option="cards",
    ),
    Declared(
        "lacked",
        ("players", ANSWERS),
        1,
        "for attack, defence, raid: the seat is known to lack the card",
        option="cards",
    ),
)
def _answers(s: State, view: View, held: Target, lacked: Target) -> None:
    for k in range(s.players):
        for answer in range(ANSWERS):
            known = s.answers[(view.seat + k) % s.players, answer]
            held.out[k * ANSWERS + answer] = known == HELD
            lacked.out[k * ANSWERS + answer] = known == LACKED


observe = blocks.observe("armada_observe")
