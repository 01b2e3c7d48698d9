"""A player for a person at a terminal."""

from __future__ import annotations

import sys
import textwrap
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import tell
from armarl.compiler.types import States
from armarl.games.catalogue import game_entry

if TYPE_CHECKING:
    from armarl.core.game import Game

_PARAGRAPH = textwrap.TextWrapper(
    79, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)
_FIXED = "\x1f"  # replaces spaces within an action, so that no line break splits an action
WORDS = (  # commands that a person may type instead of an action, with their meanings
    ("?", "list the legal actions"),
    ("help", "explain the notation and the actions"),
    ("board", "draw the board"),
    ("undo", "take back your last action, if it revealed nothing"),
    ("quit", "end the game"),
)


class UndoError(Exception):
    """A signal that a person wants to take back the last action."""


class HumanPlayer:
    """A player that prints the board and asks a person for actions in the game's notation.

    `?` lists the legal actions. `help` explains the notation and all commands. `quit` and the end
    of the input raise EOFError.

    Attributes:
        heading: text that is printed before the question instead of the board, or None.
        may_undo: whether the command `undo` raises `UndoError`. Otherwise the command prints the
            reason why nothing can be undone.
    """

    def __init__(self, game: Game) -> None:
        self.name = "human"
        self.game = game
        self.heading: str | None = None
        self.may_undo = False

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return np.array([self._ask(states[i : i + 1], int(seats[i])) for i in range(states.size)])

    def _ask(self, states: States, seat: int) -> int:
        game = self.game
        _edit_lines()
        board = f"\n{game.draw(states[0], seat)}"
        tell(board if self.heading is None else self.heading)
        mask = game.legal_masks(states)[0]
        while True:
            text = input(f"player {seat}, your action (? lists them, quit ends): ").strip()
            if text in ("quit", "exit"):
                raise EOFError
            if text == "undo":
                if self.may_undo:
                    raise UndoError
                tell(
                    "nothing can be undone now: an action that revealed something, or ended the "
                    "game, cannot be taken back"
                )
                continue
            if text == "board":
                tell(board)
                continue
            if text == "help":
                tell(_help(game))
            if text in ("", "?", "help"):
                tell(_listed(game, mask))
                continue
            try:
                action = action_meant(game, mask, text)
            except ValueError as error:
                tell(error)
                continue
            if mask[action]:
                return action
            tell(game.explain(states[0], action))


def action_meant(game: Game, mask: NDArray[np.int8], text: str) -> int:
    """Return the id of the action that a person means.

    The case of letters does not matter. A number without other text means the legal action that
    ends with this number, such as `count 5`, if there is only one such action.

    Args:
        game: the variant.
        mask: the legal actions, int8 (actions,).
        text: the typed text.

    Raises:
        ValueError: no action has this notation. The message says what is wrong.
    """
    typed, texts = " ".join(text.split()).casefold(), game.actions.texts
    found = [action for action, said in enumerate(texts) if said.casefold() == typed]
    if not found and typed.isdecimal():
        found = [int(a) for a in np.flatnonzero(mask) if texts[a].split()[-1] == typed]
    return found[0] if len(found) == 1 else game.actions.id(text)


def _edit_lines() -> None:
    """Let arrow keys edit the line and recall earlier lines, if Python has `readline`."""
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401


def _help(game: Game) -> str:
    """Return the help text: the notation, the kinds of actions with rule numbers, the commands."""
    entry = game_entry(game.name)
    examples = {family.texts()[0]: family.meaning for family in game.actions.families}
    width = 2 + max(map(len, examples))
    lines = [f"  {text:<{width}}{meaning}" for text, meaning in (*examples.items(), *WORDS)]
    if entry.page("two_minutes.md"):
        lines.append(f"The rules: `armarl rules {game.name}`, in another terminal.")
    return "\n".join([f"{entry.title}: {entry.summary}. {entry.notation}", *lines])


def _listed(game: Game, mask: NDArray[np.int8]) -> str:
    """Return the legal actions as text, with a paragraph for each kind of action."""
    lines = []
    for family in game.actions.families:
        first = game.actions.first[family.name]
        ids = first + np.flatnonzero(mask[first : first + family.size])
        texts = "  ".join(game.actions.texts[action].replace(" ", _FIXED) for action in ids)
        lines += _PARAGRAPH.wrap(texts)
    return "\n".join(lines).replace(_FIXED, " ")
