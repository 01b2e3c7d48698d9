"""The explanation of why an action of Kuhn poker is illegal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuhn_poker.actions import CALL
from kuhn_poker.rules import bettor

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def explain(game: Game, state: State, action: int) -> str:
    """Return the reason why `action` is illegal in `state`, as a sentence without a full stop."""
    if state["over"]:
        return "the game is over"
    if action >= CALL:
        return "nobody has bet"
    return f"player {bettor(state)} has bet: call or fold"
