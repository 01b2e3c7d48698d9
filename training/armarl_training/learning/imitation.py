"""Imitation data: positions of whole games with a teacher's choices.

Before the training, the learner imitates the teacher's choice at every position. Sometimes the game
continues with a random action instead, so that the learner also sees positions that the teacher
would not reach. The value network learns from the results of the games.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players.protocol import Player, choose_legally
from armarl.players.simple_players import RandomPlayer
from armarl_training.learning.rewards import Reward


@dataclass(frozen=True)
class ImitationData:
    """Imitation data: positions of whole games.

    Attributes:
        states: records of the positions, with hidden information, shape (n,).
        seats: the seat to move, int64, shape (n,).
        actions: the teacher's choices, int64, shape (n,). The teacher saw only what the seat may
            see.
        returns: final returns of all seats, float32, shape (n, players).
        games: index of the game of each position, int64, shape (n,).
        ends: records of the final positions, shape (games,).
    """

    states: States
    seats: NDArray[np.int64]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    games: NDArray[np.int64]
    ends: States


def play_imitation_games(
    game: Game,
    teacher: Player,
    games: int,
    exploration: float,
    reward: str,
    rng: np.random.Generator,
) -> ImitationData:
    """Play games to the end and record the teacher's choice at every position.

    Args:
        game: the game.
        teacher: the player to imitate.
        games: number of games.
        exploration: fraction of actions that are random instead of the teacher's.
        reward: name of the reward that the returns contain, see `rewards`.
        rng: random number generator for deals, the teacher's draws and random actions.
    """
    chance_player = RandomPlayer(game)
    states = game.new_states(rng.integers(1 << 62, size=games))
    noted: list[tuple[States, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    while True:
        statuses, seats = game.statuses(states)
        running = np.flatnonzero(statuses == 0)
        if running.size == 0:
            break
        movers = seats[running]
        positions = game.taken(states, running)
        shown = game.concealed(positions, movers)
        chosen = choose_legally(teacher, game, shown, movers, rng.random(running.size))
        played = chosen.copy()
        astray = np.flatnonzero(rng.random(running.size) < exploration)
        if astray.size:
            away = game.taken(shown, astray)
            played[astray] = chance_player.choose(away, movers[astray], rng.random(astray.size))
        game.apply(states, running, played)
        noted.append((positions, movers, chosen, running))
    returns = Reward(game, reward).returns(states)
    positions, movers, chosen, played_in = (
        np.concatenate([step[k] for step in noted]) for k in range(4)
    )
    returned = returns[played_in].astype(np.float32)
    return ImitationData(positions, movers, chosen, returned, played_in, states)
