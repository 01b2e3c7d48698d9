"""Choose actions by a search, and report its thoughts.

A decision with only one legal action needs no search to choose it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.wrappers import split_draws

Think = Callable[[States, NDArray[np.int64], NDArray[np.float64]], Thoughts]
# Functions with the arguments of `think` that return an expected return for each seat.
FromAfar = Callable[[States, NDArray[np.int64], NDArray[np.float64]], NDArray[np.float64]]
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
        think: the player's search. It is called only for states with more than one legal action,
            and only for seats to move.
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


def think_in_turn(
    game: Game,
    search: Think,
    from_afar: FromAfar,
    reward: str,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
) -> Thoughts:
    """Return the thoughts of a search, for the method `think` of a search player.

    If it is not a seat's turn, or the game is over, the row has no probabilities, values or visits.
    Its `value` is the seat's return if the game is over.

    Args:
        game: the variant that is played.
        search: function that searches for seats that are to move.
        from_afar: function that estimates the returns of seats that are not to move.
        reward: name of the reward for a finished game.
        states: concealed states, see `armarl.Player`.
        seats: the seat to think for in each state.
        draws: random numbers in [0, 1), one per state.
    """
    statuses, movers = game.statuses(states)
    over = statuses != PLAYING
    own = ~over & (movers == seats)
    if own.all():
        return search(states, seats, draws)
    shape, value = (states.size, len(game.actions)), np.zeros(states.size)
    thoughts = Thoughts(np.zeros(shape), np.full(shape, np.nan), np.zeros(shape, np.int64), value)
    rows = np.flatnonzero(own)
    if rows.size:
        found = search(game.taken(states, rows), seats[rows], draws[rows])
        fields: Any = zip(thoughts, found, strict=True)
        for whole, part in fields:
            whole[rows] = part
    rows = np.flatnonzero(over)
    value[rows] = game.returns(states, rows, reward)[np.arange(rows.size), seats[rows]]
    rows = np.flatnonzero(~over & ~own)
    if rows.size:
        value[rows] = from_afar(game.taken(states, rows), seats[rows], draws[rows])
    return thoughts


def value_for(
    game: Game, search: Think, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the expected returns of seats that are not to move, from a search for the movers.

    The returns of all sides sum to 0. The sides that are not to move count as equally strong.
    """
    value = search(states, seats, draws).value
    assert value is not None
    sides = np.array(game.sides)
    together = sides[game.statuses(states)[1]] == sides[seats]
    return np.where(together, value, -value / sides.max())


def by_lot(probabilities: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sample an action from each row of probabilities.

    `lots[i]` in [0, 1) is the random number of row `i`.
    """
    reached = probabilities.cumsum(axis=1)
    return np.asarray((reached > lots[:, None] * reached[:, -1:]).argmax(axis=1), np.int64)


def likeliest(probabilities: NDArray[np.float64], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most likely action of each row of probabilities. `lots` is not used."""
    return np.asarray(probabilities.argmax(axis=1), np.int64)
