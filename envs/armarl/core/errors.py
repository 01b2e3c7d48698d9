"""Errors of the rules."""

from __future__ import annotations


class IllegalActionError(ValueError):
    """An action that the rules forbid. The message has its notation and the reason.

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
