"""Wrappers of players. They add occasional random actions, or a random opening."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import split_all
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players import protocol
from armarl.players.protocol import Player, choose_legally
from armarl.players.simple_players import RandomPlayer


class NoisyPlayer:
    """A player that acts at random with a given probability, and otherwise as another player."""

    def __init__(self, game: Game, player: Player, noise: float) -> None:
        """Wrap a player. Each action is random with probability `noise`, in [0, 1]."""
        if not 0 <= noise <= 1:
            raise ValueError(f"noise must be a probability from 0 to 1, not {noise}")
        self.name = f"{player.name} with noise {noise}"
        self.game, self.player, self.noise = game, player, noise

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        fate, draws = split_draws(draws)
        return _partly_random(self.player, self.game, states, seats, draws, fate < self.noise)


class OpeningPlayer:
    """A player that acts at random in the opening, and then as another player.

    The game's verb `progress` says how far a seat has progressed, from public information only.
    """

    def __init__(self, game: Game, player: Player, first_random: int) -> None:
        """Wrap a player. Actions are random while the seat's progress is below `first_random`."""
        if not first_random >= 0:  # refuses NaN too
            raise ValueError(f"first_random must be 0 or more, not {first_random}")
        if not game.has_progress:
            raise ValueError(f"first_random needs the verb `progress`, which {game.name} lacks")
        self.name = f"{player.name} after {first_random} random"
        self.game, self.player, self.first_random = game, player, first_random

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        opening = self.game.progress(states, seats) < self.first_random
        return _partly_random(self.player, self.game, states, seats, draws, opening)


def _partly_random(
    player: Player,
    game: Game,
    states: States,
    seats: NDArray[np.int64],
    draws: NDArray[np.float64],
    random: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return random actions where `random` is True, and the player's choices elsewhere."""
    actions = np.empty(states.size, np.int64)
    for chooser, where in ((RandomPlayer(game), random), (player, ~random)):
        if where.any():
            games = np.flatnonzero(where)
            seen = game.taken(states, games)
            # Check the choices here, so that an error names the player that made the choice.
            actions[games] = choose_legally(chooser, game, seen, seats[games], draws[games])
    return actions


def split_draws(draws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two random numbers in [0, 1) for each given number, by hashing.

    Players that need two random numbers per decision use this function, because a player gets only
    one.
    """
    parts = np.empty((2, draws.size))
    split_all(np.ascontiguousarray(draws, np.float64), parts)
    return parts[0], parts[1]
