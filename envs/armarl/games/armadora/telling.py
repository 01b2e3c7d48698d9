"""The Warriors that an action of Armadora has revealed, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.armadora.state import OVER

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def events(game: Game, before: State, after: State, seat: int | None) -> list[str]:
    """Return the Warriors that a seat has learnt the value of (None: those the Mage has read)."""
    if after["stage"] == OVER:  # all Warriors are turned face up (ARM-36)
        return []
    lines = []
    for reader in range(game.players) if seat is None else (seat,):
        old, new = game.describe(before, reader), game.describe(after, reader)
        for square, warrior in new["warriors"].items():
            was = old["warriors"].get(square)
            if was and was["value"] is None and warrior["value"] is not None:
                lines.append(f"player {reader} sees the Warrior on {square}: {warrior['value']}")
    return lines
