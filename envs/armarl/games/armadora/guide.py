"""Help for a person who plays Armadora on a web page: places to click, questions and rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.games.armadora.board import (
    BOARD_NAMES,
    LINE_NAMES,
    MINI_SQUARES,
    SQUARE_NAMES,
    WHOLE,
)
from armarl.games.armadora.drawing.picture import signs as signs
from armarl.games.armadora.state import OVER, STAGE_NAMES

if TYPE_CHECKING:
    from armarl.compiler.types import State
    from armarl.core.game import Game

_QUESTIONS = {
    "turn": "Place a Warrior on a square, or one or two palisades on lines, or pass for the rest "
    "of the game (ARM-10).",
    "second palisade": "Place a second palisade on a line, or stop (ARM-13).",
    "after power": "After the power: a Warrior, palisades or your reinforcement (ARM-22).",
}
_ADVANCED = (
    "You may use a power first (ARM-22). Then place a Warrior, one or two palisades or your "
    "reinforcement; or, without a power, pass."
)

OPTIONS = {
    "advanced": "characters with a power each, and reinforcements (ARM-21 to ARM-30)",
    "peek": "you may look at the values of your own Warriors on the board (ARM-33)",
    "board": "whole, or mini: a very short game for two (ARM-35)",
}
CHOICES = {"board": BOARD_NAMES}
EXAMPLE = {  # an example of a position, which the page shows
    "game": "armadora",
    "players": 2,
    "palisades": ["c3-c4", "d3-d4"],
    "to_move": 1,
    "warriors": {"c4": {"player": 0, "value": 5}, "e3": {"player": 1, "value": 3}},
}
HOW_TO_PLAY = (
    (
        "The aim",
        "Eight mines hold 40 gold. Palisades divide the land into territories. At the end, the "
        "side with the most Warrior points in a territory takes all its gold (ARM-16). The side "
        "with the most gold wins (ARM-19). With four players, opposite seats are one team (ARM-9).",
    ),
    (
        "Your turn",
        "Do one thing (ARM-10). Place a Warrior: click a free square, then choose its value. Only "
        "you see the value until the end (ARM-11, ARM-36). Or place a palisade: click a line "
        "between two squares, then place a second one or stop (ARM-13). Or pass: then you take no "
        "further turn (ARM-14).",
    ),
    (
        "What is forbidden",
        "No Warrior goes on gold or on another Warrior (ARM-11). A palisade may not cut off "
        "fewer than four squares (ARM-12).",
    ),
    (
        "The end",
        "The game ends when everybody has passed (ARM-15). A tie shares the gold, and the "
        "remainder is lost (ARM-17).",
    ),
    (
        "Advanced rules",
        "Each player has a character with a power (ARM-21). The Mage looks at a Warrior that lies "
        "face down, the Goblin places one face up, the Orc places an extra palisade, and the Elf's "
        "arrow takes 1 point from an enemy Warrior (ARM-23 to ARM-26). Once a game you may "
        "reinforce a Warrior of yours in a full territory: 1 point more, and it wins ties "
        "(ARM-28, ARM-29).",
    ),
)


def cells(game: Game) -> list[str]:
    """Return the SVG ids of the squares in the picture, by cell number of the action table."""
    return [f"place-{name}" for name in SQUARE_NAMES]


def edges(game: Game) -> list[str]:
    """Return the SVG ids of the lines in the picture, by edge number of the action table."""
    return [f"line-{name}" for name in LINE_NAMES]


def must_remember(game: Game) -> bool:
    """Return whether a player must remember the values of its placed Warriors (ARM-33)."""
    return not game.options["peek"]


def unused(game: Game, state: State, cell: int) -> str:
    """Return the reason why a square never has an action."""
    name = SQUARE_NAMES[cell]
    if state["board"] != WHOLE and name not in MINI_SQUARES:
        return f"{name} is outside the {BOARD_NAMES[state['board']]} board (ARM-35)"
    return f"{name} is a gold mine: no Warrior is placed on gold (ARM-11)"


def warnings(game: Game, state: State) -> dict[str, str]:
    """Return warnings before actions that cannot be taken back, by action family."""
    said = {
        "pass": "You take no further turn in this game (ARM-14).",
        "mage": "This uses the power, and a look cannot be taken back (ARM-23).",
        "reinforcement": "You have one reinforcement, and this ends your turn (ARM-28).",
    }
    if STAGE_NAMES[state["stage"]] == "second palisade":
        said["palisade"] = "A second palisade ends your turn (ARM-13)."
    return said


def question(game: Game, state: State) -> tuple[str, list[int]]:
    """Return the question for the seat to move, and the cells that it is about (always none)."""
    if state["stage"] == OVER:
        return "", []
    stage = STAGE_NAMES[state["stage"]]
    return (_ADVANCED if state["advanced"] and stage == "turn" else _QUESTIONS[stage]), []
