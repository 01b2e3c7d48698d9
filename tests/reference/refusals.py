"""Checks that a game accepts exactly the actions in the mask, for any state of any game."""

from __future__ import annotations

import numpy as np

from armarl.compiler.types import States
from armarl.core.batch_loops import HAS_ENDED, WAS_CUT_SHORT, WAS_ILLEGAL, play_one
from armarl.core.game import Game


def check_refusals(game: Game, states: States) -> None:
    """Check that every action outside the mask of `states[0]` is refused and changes nothing."""
    mask = game.legal_masks(states)[0]
    scratch, rewards = np.empty_like(mask), np.full(game.players, np.nan)
    before, copy = states.tobytes(), states.copy()
    for action in (-1, len(game.actions), *np.flatnonzero(mask == 0).tolist()):
        code = game.compiled(play_one)(copy, 0, action, scratch, rewards, 0, game.fixed_records)
        assert code == WAS_ILLEGAL, f"action {action} is not legal, but play returned {code}"
    assert copy.tobytes() == before, "an illegal action changed the state"
    assert np.isnan(rewards).all(), "an illegal action changed the rewards"


def check_acceptance(game: Game, states: States) -> None:
    """Check that every action in the mask of `states[0]` is accepted and changes the state."""
    mask, before, copy = game.legal_masks(states)[0], states.tobytes(), states.copy()
    scratch, rewards = np.empty_like(mask), np.empty(game.players)
    for action in np.flatnonzero(mask).tolist():
        copy[:] = states
        code = game.compiled(play_one)(copy, 0, action, scratch, rewards, 0, game.fixed_records)
        played = 0 <= code < game.players or code in (HAS_ENDED, WAS_CUT_SHORT)
        assert played, f"{game.actions.text(action)!r} is legal, but play returned {code}"
        assert copy.tobytes() != before
