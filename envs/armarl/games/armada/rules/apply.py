"""The rules of Armada: the functions by which the library plays the game (`armarl.core.verbs`).

Every function is compiled and works on one record of type `STATE`. The other modules are:

- `state`: the layout of the state.
- `legal_orders` and `legal_answers`: the legal actions.
- `setup`: the deal and the preliminary turn.
- `turns`: turns, raids and claims.
- `orders`: the effects of orders.
- `deck` and `cards`: the cards.
- `scoring`: the winner and the returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.actions import (
    ATTACK,
    BUY,
    CENTRAL,
    CONVERT,
    COUNT,
    DECLINE,
    DISCOVERY,
    END,
    ENROL,
    EXPLORE,
    FAMILIES,
    GOLD,
    GOLD_MINE,
    LAUNCH,
    LEVY,
    LOOK,
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
from armarl.games.armada.rules.cards import (
    begin_buying,
    pay_gold,
    peek,
    place_natives,
    place_recruits,
    play_card,
    play_gold_mine,
    play_mutiny,
    play_plain,
    play_shipyard,
    take,
)
from armarl.games.armada.rules.deck import discard
from armarl.games.armada.rules.legal_answers import legal
from armarl.games.armada.rules.orders import (
    CARD_HITS,
    CARD_LOSSES,
    DOUBLE,
    SINGLE,
    ask_defence,
    attack,
    begin_enrolment,
    begin_move,
    choose_bands,
    city_of_launch,
    complete_move,
    convert,
    explore,
    fight,
    launch,
    pay_coups,
    place_enrolled,
    sail,
    scuttle,
)
from armarl.games.armada.rules.setup import place_ship, spread_bands, start
from armarl.games.armada.rules.turns import TURN, begin_raid, end_turn_or_raid, go_on, open_asking
from armarl.games.armada.state import (
    ANSWER_ATTACK,
    ANSWER_RAID,
    ATTACK_CARD,
    DEFENCE_CARD,
    DISCOVERY_CARD,
    GOLD_MINE_CARD,
    MUTINY_CARD,
    ORDER,
    OVER,
    PLACE_ENROLLED,
    RAID_CARD,
    SHIPYARD_CARD,
    STATE,
    city_place,
    finish_chain,
)

__all__ = [
    "STATE",
    "apply",
    "legal",
    "start",
    "status",
    "to_move",
]


# --- playing -------------------------------------------------------------------------------------


@kernel
def family_of(action: Int, fixed: State) -> Int:
    """Return the action family that an action id belongs to."""
    family = np.int64(0)
    for later in range(1, FAMILIES):  # LLVM vectorises this loop
        family += action >= fixed.first[later]
    return family


@kernel
def apply(s: State, action: Int, fixed: State) -> None:
    """Play a legal action of the player to move. The effect of an illegal action is undefined."""
    s.thrown = 0
    family = family_of(action, fixed)
    number = action - fixed.first[family]
    if s.stage < ORDER:
        _prepare(s, family, number, fixed)
        if s.stage < ORDER:
            return
    elif family == END:
        end_turn_or_raid(s, fixed)
    elif s.stage == ANSWER_RAID:
        _answer_raid(s, number)
    else:
        if s.stage == ORDER:
            s.order = action
            _carry_out(s, family, number, fixed)
        else:
            _answer(s, family, number, fixed)
        if s.stage != ORDER:
            return  # the chain continues, or the game is over
        open_asking(s)
    go_on(s, fixed)


@kernel
def _prepare(s: State, family: Any, number: Int, fixed: State) -> None:
    """ADA-13: play a decision of the preliminary turn."""
    if family == SHIP:
        place_ship(s, number, fixed)
    else:
        spread_bands(s, number)


@kernel
def _carry_out(s: State, family: Any, number: Int, fixed: State) -> None:
    """ADA-15: play an order, which is complete immediately or begins a chain of decisions."""
    if family < BUY:
        pay_coups(s, np.int64(1))
        if family == MOVE:
            begin_move(s, number, fixed)
        elif family == ATTACK:
            attack(s, number, fixed)
        elif family == ENROL:
            begin_enrolment(s)
        else:
            _carry_out_at_once(s, family, number, fixed)
            finish_chain(s)
    elif family == BUY:
        begin_buying(s)
    elif family == PLAY:
        play_plain(s, number, fixed)
    else:
        _play_at_once(s, family, number, fixed)
        finish_chain(s)


@kernel
def _carry_out_at_once(s: State, family: Any, number: Int, fixed: State) -> None:
    """Play an order that is complete with this decision."""
    if family == LAUNCH:
        launch(s, city_of_launch(number, fixed), number, fixed)
    elif family == SAIL:
        sail(s, fixed.sea_borders[TERRITORIES] + number, fixed)
    elif family == EXPLORE:
        explore(s, CENTRAL + number, SINGLE, fixed)
    elif family == CONVERT:
        convert(s, number, fixed)
    elif family == SCUTTLE:
        scuttle(s, number, fixed)


@kernel
def _play_at_once(s: State, family: Any, number: Int, fixed: State) -> None:
    """Play a card whose action names a place, so that no further decision is needed."""
    if family == SHIPYARD:
        play_card(s, SHIPYARD_CARD)
        play_shipyard(s, city_place(number, fixed))
    elif family == GOLD_MINE:
        play_card(s, GOLD_MINE_CARD)
        play_gold_mine(s, number)
    elif family == MUTINY:
        play_card(s, MUTINY_CARD)
        play_mutiny(s, TERRITORIES + number)
    elif family == DISCOVERY:
        play_card(s, DISCOVERY_CARD)
        pay_coups(s, np.int64(1))
        explore(s, CENTRAL + number, DOUBLE, fixed)


@kernel
def _answer(s: State, family: Any, number: Int, fixed: State) -> None:
    """Play the next decision of the chain under way, or an answer to a roll."""
    if family == COUNT:
        choose_bands(s, number, fixed)
    elif family == GOLD:
        complete_move(s, number, fixed)
    elif family == PAY:
        pay_gold(s, number)
    elif family == RISE:
        place_natives(s, CENTRAL + number, fixed)
    elif family == LEVY:
        if s.stage == PLACE_ENROLLED:
            place_enrolled(s, number)
        else:
            place_recruits(s, number, fixed)
    elif family == LOOK:
        if number == PEEK:
            peek(s)
        else:
            take(s)
    else:
        _answer_combat(s, number)


@kernel
def _answer_combat(s: State, number: Int) -> None:
    """ADA-32: apply an answer to a roll. `attack` makes it 2 hits, `defence` makes it 2 losses."""
    played = number != DECLINE
    if s.stage == ANSWER_ATTACK:
        if played:
            discard(s, to_move(s), ATTACK_CARD)
            s.roll = CARD_HITS
        ask_defence(s)
    else:
        if played:
            discard(s, to_move(s), DEFENCE_CARD)
            s.roll = CARD_LOSSES
        fight(s)


@kernel
def _answer_raid(s: State, number: Int) -> None:
    """ADA-33: begin a raid if the card is played. Otherwise `go_on` asks the next player."""
    if number != DECLINE:
        discard(s, to_move(s), RAID_CARD)
        begin_raid(s)


# --- the end -------------------------------------------------------------------------------------


@kernel
def status(s: State) -> Int:
    """Return 0 during the game, 1 if a player has won, 2 if it was cut short (ADA-30)."""
    if s.stage != OVER:
        return 0
    return 1 if s.winner >= 0 else 2


@kernel
def to_move(s: State) -> Int:
    """Return the seat that makes the next decision."""
    return np.int64(s.to_move)


@kernel
def turn_of(s: State) -> Int:
    """Return the player whose colour's turn it is (ADA-15), even while others raid or answer."""
    return np.int64(s.seat_of[s.colour[TURN]])
