"""A shard of PPO's games: who plays in it is the learner's actor, and its critic looks on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from armarl.game import Game
from armarl.network_players import NetworkPlayer
from armarl_training.config import TrainingConfig
from armarl_training.devices import Array, LearnerDevice, learner_device
from armarl_training.networks import Actor, PlacesActor, make_actor, make_critic
from armarl_training.opponents import OpponentPool
from armarl_training.reading import Reading
from armarl_training.rivals import Logits
from armarl_training.rollout import Rollout, SelfPlay
from armarl_training.saving import Saved, put_weights
from armarl_training.shards import Tensors, flat


class Played(NamedTuple):
    """What is learned from.

    Attributes:
        rollout: of the games of a shard.
        values: float32 (steps + 1, games, players), what every seat expects, in [-1, 1].
    """

    rollout: Rollout
    values: Array


class PPOGames:
    """A shard; see `shards.Games`.

    Attributes:
        self_play: the games.
    """

    def __init__(
        self,
        config: TrainingConfig,
        game: Game,
        pool: OpponentPool,
        number: int,
        device: LearnerDevice | None = None,
    ) -> None:
        """On a device; None: on the one of the configuration."""
        self._config, self._game = config, game
        self._device = device = device or learner_device(game, config.device)
        ppo, network = config.ppo, config.network
        self.self_play = SelfPlay(
            *(game, pool, config.environments // config.shards, ppo.rollout_length, config.reward),
            (config.seed, 1, number),
            looks=ppo.looks,
            advisers=network.advisers,
            device=device,
            logits_of=self._logits_of,
        )
        kept = self.self_play.kept
        self._reading = Reading(kept, ppo.precision)
        self._actor = make_actor(game, network).to(device.place)
        self._critic = make_critic(game, network, kept).to(device.place)
        self._around = device.put(np.arange(game.players))
        # Earlier selves that play on a GPU, and their networks there.
        self._selves: dict[NetworkPlayer, Actor | PlacesActor] = {}

    @property
    def recent(self) -> Mapping[str, deque[float]]:
        """By opponent, the learner's last returns against it."""
        return self.self_play.rivals.recent

    def play(self, networks: Mapping[str, torch.Tensor], done: float) -> Played:
        """A rollout; see `shards.Games`."""
        self._take_over(networks)
        early = self._config.early_reward
        rollout = self.self_play.play(
            self._logits, self._outlook, early=early.reward, weight=max(0.0, 1 - done / early.until)
        )
        return Played(rollout, self._values(rollout))

    def _take_over(self, networks: Mapping[str, torch.Tensor]) -> None:
        """The learner's networks, in the precision in which they play."""
        modules = {"actor": self._actor.float(), "critic": self._critic.float()}
        put_weights(modules, networks)
        for module in modules.values():
            module.to(self._reading.dtype)

    def _logits(self, quantities: Array, advice: Array) -> Array:
        return self._logits_by(self._actor, quantities, advice)

    @torch.no_grad()
    def _logits_by(self, actor: Actor | PlacesActor, quantities: Array, advice: Array) -> Array:
        outputs = actor(self._reading.seen(quantities), self._device.tensor(advice))
        return self._device.array(outputs.float())

    def _logits_of(self, player: NetworkPlayer) -> Logits:
        """An earlier self, whose network is brought to the device when it is first asked."""
        if player not in self._selves:
            pool = self.self_play.pool.players
            self._selves = {its: self._selves[its] for its in self._selves if its in pool}
            actor = make_actor(self._game, self._config.network)
            actor.take_over(player.tensors)
            self._selves[player] = actor.to(self._device.place, self._reading.dtype)
        actor = self._selves[player]
        return lambda quantities, advice: self._logits_by(actor, quantities, advice)

    @torch.no_grad()
    def _outlook(self, quantities: Array, secrets: Array) -> Array:
        """What every seat expects, in [-1, 1], the seat to move first: (n, players)."""
        outlooks = self._critic(self._reading.truth(quantities, secrets)).float()
        return self._device.array(torch.tanh(outlooks / 2))

    def _values(self, rollout: Rollout) -> Array:
        """What every seat expects at every row of a rollout: (rows, games, players)."""
        rows, games = rollout.movers.shape
        players = len(self._around)
        values = self._device.zeros((rows, games, players), np.float32)
        at_once = max(1, self._device.rows_at_once // games)
        for t in range(0, rows, at_once):
            some = slice(t, t + at_once)
            quantities, secrets = flat(rollout.quantities[some]), flat(rollout.secrets[some])
            # Of the seats in their order, how far each is from the mover.
            distances = (self._around - rollout.movers[some, :, None]) % players
            expected = self._outlook(quantities, secrets).reshape(distances.shape)
            values[some] = self._device.along(expected, distances, axis=2)
        return values

    def save(self) -> Saved:
        """The games, who sits in them, and their chance."""
        return self.self_play.save()

    def restore(self, arrays: Tensors, values: Mapping[str, object]) -> None:
        """Be as it was when it was saved."""
        self.self_play.restore(arrays, values)
