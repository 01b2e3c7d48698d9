"""Results of chance events in Armada as text, for game records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.armada.actions import CARD_NAMES
from armarl.games.armada.dice import DIE_NAMES
from armarl.games.armada.text.describe import owner_name

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def chance_results(game: Game, state: State, dealt: bool) -> str:
    """Return the latest chance results: dice, the colour that is nobody's, the order of the deck.

    The colour that is nobody's (ADA-12) is included only at the deal. The deck, top card first, is
    included at the deal and when no die was thrown.
    """
    thrown = range(int(state["thrown"]))
    words = [f"{DIE_NAMES[state['die'][i]]} {state['face'][i]}" for i in thrown]
    if dealt and state["neutral"] >= 0:
        words.append(f"neutral {owner_name(state['neutral'])}")
    if state["cards"] and (dealt or not thrown):
        deck = state["deck"][: int(state["deck_size"])][::-1]
        words += ["deck", *(CARD_NAMES[card - 1] for card in deck)]
    return " ".join(words)
