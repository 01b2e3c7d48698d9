"""The error for actions that the rules forbid."""

from __future__ import annotations

import re


class IllegalActionError(ValueError):
    """An action that the rules forbid, or that does not exist. The message names it and the reason.

    If the reason cites rules by number, a note on the exception names the command that prints these
    rules.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> game = armarl.make_game("armadora")
        >>> states, first = game.new_states(0), np.array([0])
        >>> game.apply(states, first, np.array([game.actions.id("W1 a1")]))
        >>> try:
        ...     game.apply(states, first, np.array([game.actions.id("W2 a1")]))
        ... except armarl.IllegalActionError as error:
        ...     print(error)
        `W2 a1` is illegal: a Warrior already lies on a1 (ARM-11)
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        if cited := re.search(r"\(([A-Z]+-\d+(?:, [A-Z]+-\d+)*)\)$", str(self)):
            numbers = cited[1].replace(",", "")
            self.add_note(f"`armarl rules {numbers}` prints what the rules say")
