"""Games told to people: the effects of an action, and whether it can be taken back.

The optional module `telling` of a game has the words. What a seat may not know is left out.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.types import State
from armarl.core.game import Game
from armarl.games.catalogue import game_entry

_DEALS = 16  # in so many deals of what is hidden, an action that reveals nothing shows the same


def events(game: Game, before: State, after: State, seat: int | None = None) -> list[str]:
    """Return what happened between two states in words: dice, fights, finds, cards.

    Args:
        game: the variant.
        before: the state before an action.
        after: the state after it.
        seat: the seat that is told, or None to tell everything.

    Returns:
        Lines, none if nothing is to be told or the game has no words for it.
    """
    words = game_entry(game.name).part("telling")
    return list(words.events(game, before, after, seat)) if words else []


def question(game: Game, state: State) -> str:
    """Return one line that says what is to be decided, or an empty line if the game has none."""
    ask = getattr(game_entry(game.name).part("telling"), "question", None)
    return str(ask(game, state)) if ask else ""


def can_be_undone(game: Game, before: State, action: int, after: State) -> bool:
    """Tell if the seat that played an action may take it back.

    It may if it is still to move, and the action brought neither chance nor anything that the seat
    did not know: in every deal of what is hidden from it, the action would have shown it the same.

    Args:
        game: the variant.
        before: the state before the action.
        action: the id of the action.
        after: the state after it.
    """
    states = np.array([before, after])
    statuses, seats = game.statuses(states)
    seat = seats[:1]
    if statuses.any() or seats[1] != seats[0] or before["rng"] != after["rng"]:
        return False
    deals = game.determinised(
        game.taken(states, np.zeros(_DEALS, np.int64)), np.repeat(seat, _DEALS), np.arange(_DEALS)
    )
    game.play(deals, np.arange(_DEALS), np.full(_DEALS, action))
    shown = game.concealed(states[1:], seat).tobytes()
    return {one.tobytes() for one in game.concealed(deals, np.repeat(seat, _DEALS))} == {shown}
