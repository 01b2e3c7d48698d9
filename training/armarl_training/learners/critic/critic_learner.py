"""Training of critics, which are value networks that improve a scripted player's choices.

The training is one step of approximate policy iteration (Bertsekas & Tsitsiklis, 1996). The
scripted player plays the learner's seats, with some random actions. The critic learns from whole
games: it predicts the return from each position at the end of a turn. The improved player tries
every action, lets the scripted player finish the turn, and deviates from the scripted choice where
the critic is sure of a gain (`armarl.policies.critic_lookahead`). Scripted games cost almost
nothing, so the critic can learn from very many of them. The scripted player's turns are sensible,
so the critic only has to compare the results of sensible turns.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from armarl.core.game import Game
from armarl.policies.network_players import CriticPlayer, NetworkPlayer
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.critic.critic_games import CriticGames
from armarl_training.learning.imitation import ImitationData
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import annealed
from armarl_training.learning.saving import AVERAGE, saved_networks
from armarl_training.learning.sharded_learner import ShardedLearner
from armarl_training.learning.shards import Shards
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.value_networks import Critic


class CriticLearner(ShardedLearner):
    """A learner of a critic; see `learner.Learner`.

    Attributes:
        critic: predicts a seat's return from its observation.
        average: a critic with the exponential average of the weights, which the improved player
            uses.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._advisers = config.network.advisers
        torch.manual_seed(config.seed)
        self.critic = Critic(game, config.network.widths)
        self.average = copy.deepcopy(self.critic)
        self._kept = IntegerObservations(game)
        self._scales = torch.from_numpy(self._kept.scales)
        networks = {"critic": self.critic, AVERAGE: self.average}
        super().__init__(
            config, game, self.critic, networks, Shards(CriticGames, config, game, pool)
        )

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """Play a batch of games, and update the critic with their results."""
        settings = self._config.critic
        shards = self.shards.play(saved_networks({AVERAGE: self.average}), done)
        self.decisions += sum(part.decisions for part in shards)
        seen = np.concatenate([part.seen for part in shards])
        returns = np.concatenate([part.returns for part in shards])
        rate = annealed(settings.learning_rate, settings.final_learning_rate, done)
        return self._update(seen, returns, rate, settings.epochs)

    def _update(
        self, seen: NDArray[Any], returns: NDArray[np.float32], rate: float, epochs: int
    ) -> dict[str, float]:
        """Train for some epochs on the integer features of positions (n, size), in minibatches."""
        self._set_rate(rate)
        losses, norm, settings = [0.0], 0.0, self._config.critic
        for some in self._minibatches(len(seen), settings.minibatch, epochs):
            logits = self.critic(self._scaled(seen[some]))
            chances = torch.from_numpy((returns[some] + 1) / 2)
            loss = functional.binary_cross_entropy_with_logits(logits, chances)
            norm = self._descend(loss, self.critic, self.average, settings.averaging)
            losses.append(loss.item())
        mean = sum(losses) / max(len(losses) - 1, 1)
        return {"value_loss": mean, "gradient_norm": norm, "learning_rate": rate}

    def _scaled(self, features: NDArray[Any]) -> torch.Tensor:
        """Convert stored integer features back to observations."""
        return torch.from_numpy(features).float() / self._scales

    def imitate(self, data: ImitationData, rate: float) -> float:
        """Learn from the results of a teacher's games.

        Return the share of returns whose sign the critic predicted before the update.
        """
        observations, _ = self._game.views(data.states, data.seats)
        seen = np.empty(observations.shape, self._kept.dtype)
        self._kept.keep(observations, seen)
        returns = data.returns[np.arange(len(seen)), data.seats]
        with torch.no_grad():
            guessed = self.critic(torch.from_numpy(observations)).numpy() > 0
        self._update(seen, returns, rate, 1)
        return float(np.mean(guessed == (returns > 0)))

    # --- policies --------------------------------------------------------------------------------

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the current policy, or of the policy with averaged weights."""
        critic = self.average if average else self.critic
        tensors, advisers = critic.tensors(), self._advisers
        return CriticPlayer(self._game, tensors, advisers=advisers, name="latest", sample=True)
