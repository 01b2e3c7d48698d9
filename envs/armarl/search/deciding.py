"""How a player who thinks decides: what is forced at once, all else by what he thinks."""

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
    """What `armarl.players.Player.choose` returns.

    Args:
        take: of probabilities (games, actions) and a number in [0, 1) for each game the actions.

    Raises:
        ValueError: a seat is asked that is not to move.
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
    """In each row the action at `lots[i]`, a number in [0, 1), of its distribution."""
    reached = probabilities.cumsum(axis=1)
    return np.asarray((reached > lots[:, None] * reached[:, -1:]).argmax(axis=1), np.int64)


def likeliest(probabilities: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """In each row the likeliest action; no lots are drawn."""
    return np.asarray(probabilities.argmax(axis=1), np.int64)
