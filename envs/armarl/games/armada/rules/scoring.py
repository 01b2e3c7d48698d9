"""Victory and returns in Armada."""

from __future__ import annotations

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, Returns, State
from armarl.games.armada.state import (
    CENTRE,
    enemy_cities_owned,
    lairs_held,
    post_place,
    posts_owned,
    territories_of,
)

POSTS_ASKED, CITIES_ASKED = 3, 4  # ADA-27


@kernel
def in_victory(s: State, colour: Int) -> Int:
    """ADA-27: a lair is held, and either 3 posts with the Centre, or 4 enemy cities."""
    owned = territories_of(s, colour)
    if lairs_held(owned) == 0:
        return False
    if (owned >> post_place(s, CENTRE)) & 1 and posts_owned(s, owned) >= POSTS_ASKED:
        return True
    return enemy_cities_owned(s, owned, colour) >= CITIES_ASKED


REWARD_NAMES = ("win",)


@kernel
def returns(s: State, kind: Int, out: Returns) -> None:
    """Write each player's return of a finished game into `out`, float64 of shape (players,).

    The winner gets +1 and each other player -1 / (players - 1). If the game was truncated, every
    player gets 0. The returns add up to 0.
    """
    for player in range(s.players):
        if s.winner < 0:
            out[player] = 0.0
        else:
            out[player] = 1.0 if player == s.winner else -1.0 / (s.players - 1)
