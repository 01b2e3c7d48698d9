"""Draws a state of Kuhn poker as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuhn_poker.describe import describe

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def draw(game: Game, state: State, seat: int | None) -> str:
    """Draw one line for each player: card (`?` if face down), chips, and last word."""
    view = describe(game, state, seat)
    lines = []
    for player in range(game.players):
        turn = ">" if view["to_move"] == player else " "
        card, you = view["cards"][player] or "?", " (you)" if player == seat else ""
        lines.append(
            f"{turn} player {player}{you}: card {card}, chips {view['chips'][player]}, "
            f"{view['words'][player]}"
        )
    if view["result"]:
        lines.append(f"over: won by player {view['result']['winners'][0]}")
    return "\n".join(lines)
