"""The course of Armada's turns: budgets, raids, ends of turns, claims and the end of the game."""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, State
from armarl.games.armada.knowledge import is_asked
from armarl.games.armada.rules.legal_orders import any_order
from armarl.games.armada.rules.scoring import check_last_player, in_victory, lay_claim
from armarl.games.armada.state import (
    ANSWER_RAID,
    CLAIM_DUE,
    COUPS,
    FOUR,
    NO_CLAIM,
    ORDER,
    OVER,
    RAID_ANSWER,
    RAID_COUPS,
    acting_colour,
    acting_seat,
    colours_playing,
    win,
)

IDLE_ROUNDS = 2  # ADA-26
TURN, RAID = np.arange(2)  # values of the field `raid`: a turn or a raid is under way
BEGINNING = -1  # value of `asked` in a new turn, until `go_on` finds that an order is possible


@kernel
def next_colour(s: State, colour: Int) -> Int:
    """ADA-9, ADA-12: return the next colour in play order that takes turns."""
    following = (colour + 1) % FOUR
    return (following + 1) % FOUR if following == s.neutral else following


@kernel
def begin_first_turn(s: State) -> None:
    """End the preliminary turn and begin the first turn."""
    s.turn = 0
    _begin_turn(s, acting_colour(s))


@kernel
def _begin_turn(s: State, colour: Int) -> None:
    """ADA-15: begin a colour's turn. `go_on` then checks whether the colour can do anything."""
    _set_budget(s, TURN, colour, COUPS)
    s.stage = ORDER
    s.asked = BEGINNING


@kernel
def _set_budget(s: State, raid: Int, colour: Int, coups: Int) -> None:
    """ADA-15, ADA-33: set the budget of a colour's new turn or raid."""
    s.raid = raid
    s.colour[raid] = colour
    s.coups[raid] = coups
    s.enrolled[raid] = s.more_coups[raid] = 0


@kernel
def go_on(s: State, fixed: State) -> None:
    """Continue to the next decision: a question about a raid, or an order in this or a later turn.

    Turns and raids that have no order left end here.
    """
    while s.stage != OVER:
        if s.raid == TURN and s.asked != BEGINNING and _ask_for_raid(s):
            return
        able = any_order(s, fixed)
        if s.asked == BEGINNING and able:
            s.idle = s.asked = 0
        elif able:
            s.stage = ORDER
            s.to_move = acting_seat(s)
            return
        else:
            s.idle += s.asked == BEGINNING  # ADA-26: ends without a question about a raid
            end_turn_or_raid(s, fixed)


@kernel
def end_turn_or_raid(s: State, fixed: State) -> None:
    """ADA-15: end the turn or raid. The rest of the budget is lost."""
    if s.raid:
        _end_raid(s, fixed)
    else:
        _close_turn(s, fixed)


# --- raids ---------------------------------------------------------------------------------------


@kernel
def open_asking(s: State) -> None:
    """ADA-33: let the other players be asked for a raid after an order, except during a raid."""
    if s.raid == TURN:
        s.asked = 0


@kernel
def _ask_for_raid(s: State) -> Int:
    """ADA-33: ask the next player that holds a raid card. Return whether there is such a player.

    The players are asked in play order after the turn's colour, each once. With two players, only
    the next colour of the other player may raid, not its second one.
    """
    if not s.cards:
        return False
    last = 1 if s.players == 2 else FOUR - 1
    while s.asked < last:
        s.asked += 1
        seat = np.int64(s.seat_of[raider(s)])
        if is_asked(s, seat, RAID_ANSWER):
            s.stage = ANSWER_RAID
            s.to_move = seat
            return True
    return False


@kernel
def raider(s: State) -> Int:
    """ADA-33: return the colour that raids, or whose player is asked whether to raid."""
    return (s.colour[TURN] + s.asked) % FOUR


@kernel
def begin_raid(s: State) -> None:
    """ADA-32: begin a raid. Its budget is three coups."""
    _set_budget(s, RAID, raider(s), RAID_COUPS)


@kernel
def _end_raid(s: State, fixed: State) -> None:
    """ADA-34: end a raid. This may make a claim, but never withdraws or fulfils one."""
    lay_claim(s, acting_colour(s), CLAIM_DUE, fixed)
    s.colour[RAID] = s.coups[RAID] = s.enrolled[RAID] = s.more_coups[RAID] = 0
    s.raid = TURN


# --- the end of a turn ---------------------------------------------------------------------------


@kernel
def _close_turn(s: State, fixed: State) -> None:
    """ADA-26, ADA-28 to ADA-30: end a turn, then end the game or begin the next colour's turn."""
    colour = np.int64(s.colour[TURN])
    s.turn += 1
    _judge_claim(s, colour, fixed)
    if s.stage != OVER:
        check_last_player(s)
    if s.stage == OVER:
        return
    if s.turn >= s.max_turns or s.idle == IDLE_ROUNDS * colours_playing(s):
        s.stage = OVER  # cut short: no player has won
        return
    _begin_turn(s, next_colour(s, colour))


@kernel
def _judge_claim(s: State, colour: Int, fixed: State) -> None:
    """ADA-28: judge a colour's due claim at the end of its turn. A new claim becomes due."""
    victory = in_victory(s, colour, fixed)
    if s.claims[colour] != CLAIM_DUE:
        laid = victory or s.claims[colour] != NO_CLAIM
        s.claims[colour] = CLAIM_DUE if laid else NO_CLAIM
    elif victory:
        win(s, np.int64(s.seat_of[colour]))
    else:
        s.claims[colour] = NO_CLAIM
