"""A shard of PPO's games, in which the learner's actor plays and its critic estimates values."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.core.game import Game
from armarl.policies.network_players import NetworkPlayer
from armarl_training.common.random_streams import Stream, entropy
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.incremental.first_layer import LatestOutputs
from armarl_training.learners.ppo.incremental.passes import (
    IncrementalPasses,
    incremental_passes,
)
from armarl_training.learners.ppo.incremental.suitability import use_incremental
from armarl_training.learners.ppo.networks import Actor, PlacesActor, make_actor, make_critic
from armarl_training.learners.ppo.rollout.rival_seats import Logits
from armarl_training.learners.ppo.rollout.rollout import Rollout, SelfPlay
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.learners.ppo.update.dense_passes import (
    ActorCritic,
    PlainActorCritic,
    actor_critic_of,
)
from armarl_training.learners.ppo.update.network_inputs import InputReader
from armarl_training.learners.ppo.update.thread_team import torch_alone
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import Saved, put_weights
from armarl_training.learning.shards import Tensors
from armarl_training.networks.learner_devices import Array, LearnerDevice, learner_device


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
        """Start the games on a device. None: the device of the configuration."""
        self._config, self._game = config, game
        self._device = device = device or learner_device(game, config.device)
        ppo, network = config.ppo, config.network
        self.self_play = SelfPlay(
            game,
            pool,
            games=config.environments // config.shards,
            steps=ppo.rollout_length,
            reward=config.reward,
            seed=entropy(config.seed, Stream.GAMES, number),
            looks=ppo.looks,
            advisers=network.advisers,
            openings=(ppo.openings, ppo.opening_length),
            device=device,
            logits_of=self._logits_of,
        )
        kept = self.self_play.kept
        self._actor = make_actor(game, network).to(device.place)
        self._critic = make_critic(game, network, kept).to(device.place)
        self._reading = InputReader(kept, ppo.precision)
        self._incremental = use_incremental(config, game)
        self._workspace = Workspace(device.place)
        self._actor_critic = self._make_actor_critic()
        if isinstance(self._actor_critic, IncrementalPasses):
            games, units = len(self.self_play.lineups), self._actor_critic.first.units
            self._latest_outputs = LatestOutputs(kept, games, units)
        # Earlier versions that play on a GPU, with their networks on that device.
        self._selves: dict[NetworkPlayer, Actor | PlacesActor] = {}

    @property
    def recent(self) -> Mapping[str, deque[float]]:
        """The learner's latest returns against each opponent, by name."""
        return self.self_play.rivals.recent

    def in_play(self) -> NDArray[np.int64]:
        """See `shards.Games`."""
        return self._device.fetch(self.self_play.lineups)

    def play(self, networks: Mapping[str, torch.Tensor], done: float) -> Rollout:
        """Play a rollout; see `shards.Games`."""
        self._take_over(networks)
        early = self._config.early_reward
        weight = max(0.0, 1 - done / early.until)
        small = isinstance(self._actor_critic, PlainActorCritic | IncrementalPasses)
        with torch_alone(small):  # small matrix products are not worth splitting among threads
            return self.self_play.play(
                self._act, self._critic_values, early=early.reward, weight=weight
            )

    def _take_over(self, networks: Mapping[str, torch.Tensor]) -> None:
        """Load the learner's weights, and convert them to the precision of the rollout."""
        modules = {"actor": self._actor.float(), "critic": self._critic.float()}
        put_weights(modules, networks)
        for module in modules.values():
            module.to(self._reading.dtype)
        self._actor_critic = self._make_actor_critic()
        if isinstance(self._actor_critic, IncrementalPasses):
            self._actor_critic.first.begin(self._latest_outputs)

    def _make_actor_critic(self) -> ActorCritic | IncrementalPasses:
        actor, critic = self._actor, self._critic
        if self._incremental:
            return incremental_passes(
                self._device, self._game, actor, critic, self._reading.factors
            )
        return actor_critic_of(actor, critic, self._reading.dtype)

    @torch.no_grad()
    def _act(
        self, features: Array, advice: Array, secrets: Array, masks: Array, movers: Array
    ) -> tuple[Array, Array]:
        """Return logits and the values of all seats; see `rollout.Act`."""
        if isinstance(self._actor_critic, IncrementalPasses):
            logits, critic_logits = self._actor_critic.act(
                latest=self._latest_outputs,
                features=features,
                secrets=secrets,
                movers=movers,
                masks=masks,
                advice=advice,
                workspace=self._workspace,
            )
            return logits, np.tanh(critic_logits / 2)
        privileged = self._reading.privileged(features, secrets, None, self._workspace)
        found = self._actor_critic.act(privileged, self._device.tensor(advice), self._workspace)
        rows, columns = found.shape
        outputs = self._workspace.take("outputs", rows, columns, torch.float32).copy_(found)
        values = torch.tanh(outputs[:, -self._game.players :] / 2)
        return self._device.array(outputs), self._device.array(values)

    @torch.no_grad()
    def _logits_by(self, actor: Actor | PlacesActor, features: Array, advice: Array) -> Array:
        outputs = actor(self._reading.seen(features), self._device.tensor(advice))
        return self._device.array(outputs.float())

    def _logits_of(self, player: NetworkPlayer) -> Logits:
        """Return the function from positions to an earlier version's logits.

        The first call for a version creates its network.
        """
        if player not in self._selves:
            pool = self.self_play.pool.players
            self._selves = {its: self._selves[its] for its in self._selves if its in pool}
            actor = make_actor(self._game, self._config.network)
            actor.take_over(player.tensors)
            self._selves[player] = actor.to(self._device.place, self._reading.dtype)
        actor = self._selves[player]
        return lambda features, advice: self._logits_by(actor, features, advice)

    @torch.no_grad()
    def _critic_values(self, features: Array, secrets: Array) -> Array:
        """Return the values of all seats, in [-1, 1], the seat to move first: (n, players)."""
        logits = self._critic(self._reading.privileged(features, secrets)).float()
        return self._device.array(torch.tanh(logits / 2))

    def save(self) -> Saved:
        """Return the games, their lineups, and their random state."""
        return self.self_play.save()

    def restore(self, arrays: Tensors, values: Mapping[str, object]) -> None:
        """Restore the state that `save` returned."""
        self.self_play.restore(arrays, values)
