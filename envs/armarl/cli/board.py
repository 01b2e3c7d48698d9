"""The board of a game at the terminal, and actions as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from armarl.compiler.types import States
from armarl.core.game import Game

_TALL = 24  # a board with more lines than this is drawn only once per turn


class Board:
    """The board of a game as text, drawn after every action, or once per turn if it is tall."""

    def __init__(self, game: Game, seat: int | None) -> None:
        self._game, self._seat, self._turn = game, seat, -1

    def drawn(self, states: States) -> str | None:
        """Return the drawing of a state. None if the board is tall and was drawn in this turn."""
        text, turn = self._game.draw(states[0], self._seat), int(self._game.turns_of(states)[0])
        over = bool(self._game.statuses(states)[0][0])
        again = text.count("\n") >= _TALL and turn == self._turn and not over
        self._turn = turn
        return None if again else f"\n{text}"

    def follow(self, states: States) -> None:
        """Note the state after an action.

        If a new turn has begun, the next call of `drawn` draws even a tall board.
        """
        if int(self._game.turns_of(states)[0]) != self._turn:
            self._turn = -1


def told(seat: int, text: str, words: Sequence[str]) -> str:
    """Return an action as lines of text: its seat, its notation, and the sentences `words`."""
    lines = [line for sentence in words for line in textwrap.wrap(sentence, 75)]
    return "\n    ".join([f"player {seat}: {text}", *lines])
