"""A test whether an action may be taken back: it must have revealed nothing to its seat."""

from __future__ import annotations

import numpy as np

from armarl.compiler.types import State
from armarl.core.game import Game

_DEALS = 64  # number of random deals of the hidden information in which an action is tried


def can_be_undone(game: Game, before: State, action: int, after: State) -> bool:
    """Return whether the seat that played an action may take it back.

    The seat may take the action back if the game continues, it is the seat's turn again, and the
    action has revealed nothing to the seat.

    Args:
        game: the variant.
        before: the state before the action.
        action: the id of the action.
        after: the state after the action.
    """
    statuses, seats = game.statuses(np.array([before, after]))
    same = not statuses.any() and seats[0] == seats[1]
    return bool(same) and not has_revealed(game, before, action, after, int(seats[0]))


def has_revealed(game: Game, before: State, action: int, after: State, seat: int) -> bool:
    """Return whether an action has revealed something to the seat that played it.

    An action reveals nothing if the seat could have predicted its view after the action. Such an
    action involves no chance, is legal in every possible deal of the hidden information, and leads
    to the same view in all of these deals. Only a random sample of the deals is tried.

    Args:
        game: the variant.
        before: the state before the action.
        action: the id of the action.
        after: the state after the action.
        seat: the seat that played the action.
    """
    if before["rng"].tobytes() != after["rng"].tobytes():
        return True
    seats = np.full(_DEALS, seat)
    known, seen = (game.concealed(np.array([state]), seats[:1]) for state in (before, after))
    deals = game.determinised(
        game.taken(known, np.zeros(_DEALS, np.int64)), seats, np.arange(_DEALS)
    )
    if not game.legal_masks(deals)[:, action].all():
        return True
    game.apply(deals, np.arange(_DEALS), np.full(_DEALS, action))
    return {state.tobytes() for state in game.concealed(deals, seats)} != {seen.tobytes()}
