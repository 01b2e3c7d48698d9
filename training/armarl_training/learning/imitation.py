"""Lessons for a head start: positions of whole games, and what a teacher would choose there.

The teacher's choice is the lesson at every position; sometimes a random action is played instead,
so that the learner also meets positions that the teacher would not get into. The value network
learns from how the games end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players.protocol import Player, choose_legally
from armarl.players.simple_players import RandomPlayer


@dataclass(frozen=True)
class Lessons:
    """Positions of whole games.

    Attributes:
        states: (n,) records, with all that is hidden in them.
        seats: int64 (n,), who was to move.
        actions: int64 (n,), the teacher's choices, who saw only what the seat may see.
        returns: float32 (n, players), what all seats got in the end.
        games: int64 (n,), in which game.
        ends: (games,) records, how the games ended.
    """

    states: States
    seats: NDArray[np.int64]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]
    games: NDArray[np.int64]
    ends: States


def play_lessons(
    game: Game,
    teacher: Player,
    games: int,
    exploration: float,
    reward: str,
    rng: np.random.Generator,
) -> Lessons:
    """Play games to their end, and note the teacher's choice at every position.

    Args:
        exploration: the part of the actions that are random instead of the teacher's.
        rng: of the deals, the teacher's draws and the random actions.
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
        lesson = choose_legally(teacher, game, shown, movers, rng.random(running.size))
        played = lesson.copy()
        astray = np.flatnonzero(rng.random(running.size) < exploration)
        if astray.size:
            away = game.taken(shown, astray)
            played[astray] = chance_player.choose(away, movers[astray], rng.random(astray.size))
        game.apply(states, running, played)
        noted.append((positions, movers, lesson, running))
    returns = game.returns(states, np.arange(games), reward)
    positions, movers, lesson, played_in = (
        np.concatenate([step[k] for step in noted]) for k in range(4)
    )
    returned = returns[played_in].astype(np.float32)
    return Lessons(positions, movers, lesson, returned, played_in, states)
