"""The chance results of Armadora, as text for game records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.armadora.board import MINE_NAMES
from armarl.games.armadora.state import CHARACTER_NAMES

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def chance_results(game: Game, state: State, dealt: bool) -> str:
    """Return the result of the deal as text: the gold (ARM-6) and the characters (ARM-21).

    If `dealt` is False, return "", because after the deal nothing in Armadora is random.
    """
    if not dealt:
        return ""
    mines = zip(MINE_NAMES, state["gold"], strict=True)
    words = ["gold", *(f"{name} {gold}" for name, gold in mines if gold)]
    if state["advanced"]:
        characters = state["character"][: game.players]
        words += ["characters", *(CHARACTER_NAMES[character - 1] for character in characters)]
    return " ".join(words)
