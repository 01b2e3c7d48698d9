"""Which actions can be taken back: those that have revealed nothing."""

from __future__ import annotations

import numpy as np

from armarl.compiler.types import State
from armarl.core.game import Game

_DEALS = 64  # deals of what is hidden, in which an action that reveals nothing shows the same


def can_be_undone(game: Game, before: State, action: int, after: State) -> bool:
    """Return whether the seat that played an action may take it back.

    It may if it is still to move, and the action has revealed nothing to it.

    Args:
        game: the variant.
        before: the state before the action.
        action: the id of the action.
        after: the state after it.
    """
    statuses, seats = game.statuses(np.array([before, after]))
    same = not statuses.any() and seats[0] == seats[1]
    return bool(same) and not has_revealed(game, before, action, after, int(seats[0]))


def has_revealed(game: Game, before: State, action: int, after: State, seat: int) -> bool:
    """Return whether an action told its seat something that it did not know.

    If not, the seat could have foretold what it sees now. So the action is legal in other deals of
    what is hidden, and it leads to the same view without any chance.

    Args:
        game: the variant.
        before: the state before the action.
        action: the id of the action.
        after: the state after it.
        seat: the seat that played it.
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
