"""Choose actions by a search. A decision with only one legal action needs no search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.wrappers import split_draws

Think = Callable[[States, NDArray[np.int64], NDArray[np.float64]], Thoughts]
Picker = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.int64]]


def decide(
    game: Game,
    think: Think,
    take: Picker,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Choose an action in each state, for the method `choose` of a search player.

    Args:
        game: the variant that is played.
        think: the player's `think`. It is called only for states with more than one legal action.
        take: function that picks an action in each state. Its arguments are the probabilities,
            (states, actions), and one random number in [0, 1) per state.
        states: concealed states, see `armarl.Player`.
        seats: the seat to move in each state.
        draws: random numbers in [0, 1), one per state.

    Raises:
        ValueError: a seat is not the player to move in its state.
    """
    protocol.check_movers(game, states, seats)
    masks = game.legal_masks(states)
    actions = masks.argmax(axis=1)
    open_ = np.flatnonzero(masks.sum(axis=1, dtype=np.int64) > 1)
    if open_.size:
        thoughts = think(game.taken(states, open_), seats[open_], draws[open_])
        assert thoughts.probabilities is not None
        actions[open_] = take(thoughts.probabilities, split_draws(draws[open_])[1])
    return np.asarray(actions, np.int64)


def by_lot(probabilities: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sample an action from each row of probabilities.

    `lots[i]` in [0, 1) is the random number of row `i`.
    """
    reached = probabilities.cumsum(axis=1)
    return np.asarray((reached > lots[:, None] * reached[:, -1:]).argmax(axis=1), np.int64)


def likeliest(probabilities: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most likely action of each row of probabilities. `lots` is not used."""
    return np.asarray(probabilities.argmax(axis=1), np.int64)
