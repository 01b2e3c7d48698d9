"""Self-play: the opponents are drawn from a pool that grows while the policy learns.

Seats and opponents are drawn anew for every game; the seats of one opposing side share an opponent,
and a partner's seat is held by the policy as it is now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game
from armarl.loops import LEARNER
from armarl.players import Player
from armarl.seat_batch import SeatBatch
from armarl_training.vec_env import SeatVecEnv

LATEST = 0  # the pool's first slot: the policy as it is now, which also plays the partner's seat
_RECENT_GAMES = 500


class OpponentPool:
    """The players that may hold the other seats, each with the weight of being drawn."""

    def __init__(self) -> None:
        self.players: list[Player] = []
        self.weights: list[float] = []

    def set(self, players: Sequence[Player], weights: Sequence[float]) -> None:
        """Replace the pool. Running games keep their slots, so a slot keeps its meaning.

        Raises:
            ValueError: the pool would shrink, or nobody could be drawn.
        """
        if len(players) < len(self.players) or sum(weights) <= 0:
            raise ValueError("a pool keeps its slots, and needs a player with a weight above 0")
        self.players[:], self.weights = players, list(weights)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Slots of players, drawn by weight."""
        weights = np.array(self.weights) / sum(self.weights)
        return rng.choice(len(weights), size=shape, p=weights)


class _PoolBatch(SeatBatch):
    """Games whose players are those of a pool, drawn for every game."""

    def __init__(self, game: Game, pool: OpponentPool, size: int, seed: int, reward: str) -> None:
        super().__init__(game, size, pool.players, reward, seat=None)
        self.pool = pool
        self.rng = np.random.default_rng(seed)

    def lineups_of(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        sides = np.array(self.game.sides)  # going round the table: the same from every seat
        by_side = self.pool.draw(self.rng, (games.size, sides.max() + 1))
        by_side[:, sides[0]] = LATEST
        return by_side[:, sides[1:]]


class SelfPlayVecEnv(SeatVecEnv):
    """Games against a pool, which keep the learner's recent returns by opponent."""

    def __init__(self, game: Game, pool: OpponentPool, size: int, seed: int, reward: str) -> None:
        super().__init__(_PoolBatch(game, pool, size, seed, reward))
        self.pool = pool
        self.recent: dict[str, deque[float]] = {}
        self.seed(seed)

    @property
    def rng(self) -> np.random.Generator:
        """The chance by which opponents are drawn from the pool."""
        assert isinstance(self.batch, _PoolBatch)
        return self.batch.rng

    def note(self, opponent: str, returns: Sequence[float]) -> None:
        """Add to the recent returns against an opponent."""
        self.recent.setdefault(opponent, deque(maxlen=_RECENT_GAMES)).extend(returns)

    def _account(self, i: int, reward: float, final: NDArray[np.float32]) -> dict[str, Any]:
        for slot in set(self.batch.lineups[i].tolist()) - {LEARNER}:
            self.note(self.pool.players[slot].name, [reward])
        return super()._account(i, reward, final)
