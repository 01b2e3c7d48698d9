"""The description of a state of Kuhn poker in plain JSON types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kuhn_poker.rules import chips_of, winner
from kuhn_poker.state import WORD_NAMES

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def describe(game: Game, state: State, seat: int | None) -> dict[str, Any]:
    """Return a description of a state. For a seat, the cards that it may not see are None."""
    states = np.full(1, state)
    if seat is not None:
        states = game.concealed(states, np.array([seat]))
    s = states[0]
    players, over = range(game.players), bool(s["over"])
    legal_known = not over and seat in (None, s["to_move"])
    return {
        "game": game.name,
        "version": game.version,
        "players": game.players,
        "options": dict(game.options),
        "cards": [int(s["card"][player]) or None for player in players],
        "words": [WORD_NAMES[s["word"][player]] for player in players],
        "chips": [int(chips_of(s, player)) for player in players],
        "to_move": None if over else int(s["to_move"]),
        "legal": game.actions.legal_texts(game.legal_masks(states)[0])
        if legal_known
        else ([] if over else None),
        "result": {"winners": [int(winner(s))]} if over else None,
    }
