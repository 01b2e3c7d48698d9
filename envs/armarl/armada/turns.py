"""The course of Armada's turns: budget, raids, ends of turns, claims and the end of the game."""

from __future__ import annotations

import numpy as np

from armarl.armada.offers import any_order, holds
from armarl.armada.state import (
    ANSWER_RAID,
    COUPS,
    FOUR,
    ORDER,
    OVER,
    RAID_CARD,
    RAID_COUPS,
    acting_colour,
    acting_seat,
    colours_playing,
    in_victory,
    win,
)
from armarl.compiled import kernel

IDLE_ROUNDS = 2  # ADA-26


@kernel
def next_colour(s, colour):
    """ADA-9, ADA-12: the next colour in play order that takes turns."""
    following = (colour + 1) % FOUR
    return (following + 1) % FOUR if following == s.neutral else following


@kernel
def begin_first_turn(s):
    """The preliminary turn is over."""
    s.turn = 0
    _set_budget(s, 0, s.colour[0], COUPS)
    _skip_idle_turns(s)


@kernel
def _set_budget(s, raid, colour, coups):
    """ADA-15, ADA-33: a turn (0) or a raid (1) of a colour begins."""
    s.raid = raid
    s.colour[raid] = colour
    s.coups[raid] = coups
    s.enrolled[raid] = s.more_coups[raid] = 0


@kernel
def go_on(s):
    """On to the next decision: the question of a raid, an order, or what the next turn brings."""
    while s.stage != OVER:
        if s.raid == 0 and _ask_for_raid(s):
            return
        if any_order(s):
            s.stage = ORDER
            s.to_move = acting_seat(s)
            return
        end_turn_or_raid(s)


@kernel
def end_turn_or_raid(s):
    """ADA-15: what is left of the budget is lost."""
    if s.raid:
        _end_raid(s)
    else:
        _close_turn(s)
        _skip_idle_turns(s)


# --- raids ---------------------------------------------------------------------------------------


@kernel
def open_asking(s):
    """ADA-33: after a completed order the others may raid, but not within a raid."""
    if s.raid == 0:
        s.asked = 0


@kernel
def _ask_for_raid(s):
    """ADA-33: ask the next player who holds the card, each once, in play order from the turn's.

    With two players the other one's next colour is the one asked; its second is not.
    """
    if not s.cards:
        return False
    last = 1 if s.players == 2 else FOUR - 1
    while s.asked < last:
        s.asked += 1
        seat = np.int64(s.seat_of[_raider(s)])
        if holds(s, seat, RAID_CARD):
            s.stage = ANSWER_RAID
            s.to_move = seat
            return True
    return False


@kernel
def _raider(s):
    """ADA-33: the colour that is asked, or raids."""
    return (s.colour[0] + s.asked) % FOUR


@kernel
def begin_raid(s):
    """ADA-32: three coups at once."""
    _set_budget(s, 1, _raider(s), RAID_COUPS)


@kernel
def _end_raid(s):
    """ADA-34: a raid's end makes a claim, and never withdraws or fulfils one."""
    if in_victory(s, acting_colour(s)):
        s.claims[acting_colour(s)] = 1
    _set_budget(s, 1, 0, 0)
    s.raid = 0


# --- the end of a turn ---------------------------------------------------------------------------


@kernel
def _close_turn(s):
    """ADA-28, then ADA-30 and ADA-26; the game goes on with the next colour's budget."""
    colour = s.colour[0]
    victory = in_victory(s, colour)
    s.turn += 1
    if victory and s.claims[colour]:
        win(s, s.seat_of[colour])
        return
    s.claims[colour] = victory
    if s.turn >= s.max_turns or s.idle == IDLE_ROUNDS * colours_playing(s):
        s.stage = OVER  # truncated: nobody has won
        return
    _set_budget(s, 0, next_colour(s, colour), COUPS)


@kernel
def _skip_idle_turns(s):
    """ADA-26: the turn of a colour that could only end it ends as it begins, and nobody raids."""
    while s.stage != OVER:
        if any_order(s):
            s.idle = s.asked = 0
            return
        s.idle += 1
        _close_turn(s)
