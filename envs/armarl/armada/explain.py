"""Why an action of Armada is illegal, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armarl.game import Game, State


def explain(game: Game, state: State, action: int) -> str:
    """The nearest reason why `action` is illegal in `state`."""
    return "it is not among the legal actions now"
