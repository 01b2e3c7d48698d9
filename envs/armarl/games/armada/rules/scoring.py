"""Victory and returns in Armada.

A colour is *in victory* while it owns the territories that ADA-27 requires. It then claims victory,
and wins if it is in victory again at the end of its next turn (ADA-28).
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import inlined, kernel
from armarl.compiler.types import Int, Returns, State
from armarl.games.armada.actions import MOST_PIECES, TERRITORIES
from armarl.games.armada.rules.legal_orders import levies
from armarl.games.armada.state import (
    CENTRE,
    FOUR,
    NO_CLAIM,
    enemy_cities_owned,
    lairs_held,
    post_place,
    posts_owned,
    territories_of,
    win,
)

POSTS_ASKED, CITIES_ASKED = 3, 4  # ADA-27


@kernel
def in_victory(s: State, colour: Int, fixed: State) -> Int:
    """ADA-27: return whether a colour is in victory."""
    return is_victory(s, territories_of(s, colour), colour, fixed)


@inlined
def is_victory(s: State, owned: Int, colour: Int, fixed: State) -> Int:
    """ADA-27: return whether the set `owned` brings a colour into victory.

    It must have 4 territories of a lair, and 3 posts (with the Centre) or 4 enemy cities.
    """
    if lairs_held(owned) == 0:
        return False
    if (owned >> post_place(CENTRE, fixed)) & 1 and posts_owned(owned, fixed) >= POSTS_ASKED:
        return True
    return enemy_cities_owned(s, owned, colour, fixed) >= CITIES_ASKED


@kernel
def lay_claim(s: State, colour: Int, claim: Int, fixed: State) -> None:
    """ADA-28, ADA-34: set a colour's claim to `claim` if it is in victory and has no claim yet."""
    if s.claims[colour] == NO_CLAIM and in_victory(s, colour, fixed):
        s.claims[colour] = claim


# --- the last player -----------------------------------------------------------------------------


@kernel
def check_last_player(s: State) -> None:
    """ADA-29: end the game with a win for a player with a band if all other players are out."""
    last = last_player(s)
    if last >= 0:
        win(s, last)


@kernel
def last_player(s: State) -> Int:
    """ADA-29: return the player that has a band while all others are out, or -1."""
    last: Int = -1
    for colour in range(FOUR):
        seat = np.int64(s.seat_of[colour])
        if seat >= 0 and s.reserve[colour] < MOST_PIECES and seat != last:
            if last >= 0:
                return -1
            last = seat
    for colour in range(FOUR):
        seat = np.int64(s.seat_of[colour])
        if seat >= 0 and seat != last and not _has_nothing_left(s, colour):
            return -1
    return last


@kernel
def _has_nothing_left(s: State, colour: Int) -> Int:
    """ADA-29: return whether a colour without bands has no card, no gold and nothing to enrol."""
    if s.hand_size[s.seat_of[colour]] > 0:
        return False
    for territory in range(TERRITORIES):
        if s.owner[territory] == colour and s.gold[territory] > 0:
            return False
    return s.enrolment == 0 or levies(s, colour) == 0


# --- returns -------------------------------------------------------------------------------------

REWARD_NAMES = ("win",)


@kernel
def returns(s: State, kind: Int, out: Returns) -> None:
    """Write each player's return of a finished game into `out`, float64 of shape (players,).

    The winner gets +1 and each other player -1 / (players - 1). If the game was cut short, every
    player gets 0. The returns add up to 0.
    """
    for player in range(s.players):
        if s.winner < 0:
            out[player] = 0.0
        else:
            out[player] = 1.0 if player == s.winner else -1.0 / (s.players - 1)
