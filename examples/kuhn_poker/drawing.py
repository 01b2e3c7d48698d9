"""The drawing of a state of Kuhn poker, as text and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.authoring import Part, Picture, Scene, Sheet, write
from kuhn_poker.describe import describe

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game


def draw(game: Game, state: State, seat: int | None) -> str:
    """Return a line for each player: card (`?` if face down), chips, and last action in a word."""
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


SHEET = Sheet(
    name="kuhn_poker",
    width=600,
    height=260,
    colours={
        "cloth": ("#2e6b4f", "#173a2b"),
        "card": ("#fffdf5", "#efe9d8"),
        "back": ("#8a2f3c", "#8a2f3c"),
        "ink": ("#1d1d1d", "#1d1d1d"),
        "light": ("#ffffff", "#ffffff"),
        "turn": ("#ffd84a", "#ffd84a"),
    },
    definitions={},
)


def picture(scene: Scene) -> Picture:
    """Return a picture of the cards side by side, each with its player's chips and last word."""
    table = f'<rect id="table" width="{SHEET.width}" height="{SHEET.height}" fill="var(--cloth)"/>'
    parts = [Part((0, 0, SHEET.width, SHEET.height), table)]
    over = scene.view["result"]
    heading = "" if over is None else f"{scene.names[over['winners'][0]]} wins"
    parts.append(
        Part((0, 0, 600, 48), f'<g id="heading">{write(heading, 300, 36, 30, "var(--light)")}</g>')
    )
    wide = SHEET.width / len(scene.names)
    for player in range(len(scene.names)):
        svg = f'<g id="player-{player}" data-player="{player}">{_place(scene, player, wide)}</g>'
        parts.append(Part((player * wide, 50, wide, 210), svg))
    return Picture(SHEET, "Kuhn poker", tuple(parts))


def _place(scene: Scene, player: int, wide: float) -> str:
    """Return the SVG of a player's place: a card, face up or down, and the words under it."""
    view, x = scene.view, player * wide + wide / 2
    card, turn = view["cards"][player], view["to_move"] == player
    fill, edge = ("back" if card is None else "card"), ("turn" if turn else "ink")
    words = f"{view['words'][player]}, chips {view['chips'][player]}"
    return (
        f'<rect x="{x - 40}" y="60" width="80" height="112" rx="10" fill="var(--{fill})" '
        f'stroke="var(--{edge})" stroke-width="{6 if turn else 2}"/>'
        + write("?" if card is None else card, x, 134, 56, "#fff" if card is None else "var(--ink)")
        + write(scene.names[player], x, 206, 26, "var(--light)", most=wide - 10)
        + write(words, x, 240, 24, "var(--light)", most=wide - 10)
    )
