"""A shard of PPO's games: who plays in it is the learner's actor, and its critic looks on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.game import Game
from armarl_training.config import TrainingConfig
from armarl_training.networks import make_actor, make_critic
from armarl_training.opponents import OpponentPool
from armarl_training.reading import Reading
from armarl_training.rollout import Rollout, SelfPlay
from armarl_training.saving import Saved, restore_networks
from armarl_training.shards import Tensors, flat

_ROWS_AT_ONCE = 4096


class Played(NamedTuple):
    """What is learned from.

    Attributes:
        rollout: of the games of a shard.
        values: float32 (steps + 1, games, players), what every seat expects, in [-1, 1].
    """

    rollout: Rollout
    values: NDArray[np.float32]


class PPOGames:
    """A shard; see `shards.Games`.

    Attributes:
        self_play: the games.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool, number: int) -> None:
        self._config, self._players = config, game.players
        ppo, network = config.ppo, config.network
        self.self_play = SelfPlay(
            *(game, pool, config.environments // config.shards, ppo.rollout_length, config.reward),
            (config.seed, 1, number),
            looks=ppo.looks,
            advisers=network.advisers,
        )
        kept = self.self_play.kept
        self._reading = Reading(kept, ppo.precision)
        self._actor, self._critic = make_actor(game, network), make_critic(game, network, kept)

    @property
    def recent(self) -> Mapping[str, deque[float]]:
        """By opponent, the learner's last returns against it."""
        return self.self_play.recent

    def play(self, networks: Tensors, done: float) -> Played:
        """A rollout; see `shards.Games`."""
        self._take_over(networks)
        early = self._config.early_reward
        rollout = self.self_play.play(
            self._logits, self._outlook, early=early.reward, weight=max(0.0, 1 - done / early.until)
        )
        return Played(rollout, self._values(rollout))

    def _take_over(self, networks: Tensors) -> None:
        """The learner's networks, in the precision in which they play."""
        modules = {"actor": self._actor.float(), "critic": self._critic.float()}
        restore_networks(modules, networks)
        for module in modules.values():
            module.to(self._reading.dtype)

    @torch.no_grad()
    def _logits(self, quantities: NDArray[Any], advice: NDArray[np.int64]) -> NDArray[np.float32]:
        outputs = self._actor(self._reading.seen(quantities), torch.from_numpy(advice))
        logits: NDArray[np.float32] = outputs.float().numpy()
        return logits

    @torch.no_grad()
    def _outlook(self, quantities: NDArray[Any], secrets: NDArray[Any]) -> NDArray[np.float32]:
        """What every seat expects, in [-1, 1], the seat to move first: (n, players)."""
        outlooks = self._critic(self._reading.truth(quantities, secrets)).float()
        expected: NDArray[np.float32] = torch.tanh(outlooks / 2).numpy()
        return expected

    def _values(self, rollout: Rollout) -> NDArray[np.float32]:
        """What every seat expects at every row of a rollout: (rows, games, players)."""
        seats = (rollout.movers[..., None] + np.arange(self._players)) % self._players
        values = np.empty(seats.shape, np.float32)
        at_once = max(1, _ROWS_AT_ONCE // seats.shape[1])
        for t in range(0, len(seats), at_once):
            some = slice(t, t + at_once)
            quantities, secrets = flat(rollout.quantities[some]), flat(rollout.secrets[some])
            expected = self._outlook(quantities, secrets).reshape(seats[some].shape)
            np.put_along_axis(values[some], seats[some], expected, axis=2)
        return values

    def save(self) -> Saved:
        """The games, who sits in them, and their chance."""
        return self.self_play.save()

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved."""
        self.self_play.restore(arrays, values)
