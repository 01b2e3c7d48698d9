"""A critic of positions by which a scripted player is improved: play, outcomes, update.

One step of approximate policy iteration (Bertsekas & Tsitsiklis, 1996). In the learner's seats the
scripted player plays, astray at times; the critic learns from whole games how they end from the
positions in which turns end. Who plays by it tries every action, lets the scripted player finish
the turn, and deviates from his choice where the critic is sure of a gain (`armarl.turns`). Scripted
games cost next to nothing, so there are very many; and they are sensible, so that the critic need
tell apart only what sensible turns lead to.
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
from armarl_training.learning.imitation import Lessons
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import annealed
from armarl_training.learning.saving import AVERAGE, saved_networks
from armarl_training.learning.sharded_learner import ShardedLearner
from armarl_training.learning.shards import Shards
from armarl_training.networks.integer_observations import Quantities
from armarl_training.networks.value_networks import Critic


class CriticLearner(ShardedLearner):
    """A learner of a critic; see `learner.Learner`.

    Attributes:
        critic: says of a seat's observation what it will get.
        average: the exponential average of the critic's weights, which is what plays.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._advisers = config.network.advisers
        torch.manual_seed(config.seed)
        self.critic = Critic(game, config.network.widths)
        self.average = copy.deepcopy(self.critic)
        self._kept = Quantities(game)
        self._scales = torch.from_numpy(self._kept.scales)
        networks = {"critic": self.critic, AVERAGE: self.average}
        super().__init__(
            config, game, self.critic, networks, Shards(CriticGames, config, game, pool)
        )

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """A lot of games, and the update by how they ended."""
        settings = self._config.critic
        lessons = self.shards.play(saved_networks({AVERAGE: self.average}), done)
        self.decisions += sum(lesson.decisions for lesson in lessons)
        seen = np.concatenate([lesson.seen for lesson in lessons])
        returns = np.concatenate([lesson.returns for lesson in lessons])
        rate = annealed(settings.learning_rate, settings.final_learning_rate, done)
        return self._update(seen, returns, rate, settings.epochs)

    def _update(
        self, seen: NDArray[Any], returns: NDArray[np.float32], rate: float, epochs: int
    ) -> dict[str, float]:
        """Some passes over positions' quantities (n, size), in random minibatches."""
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

    def _scaled(self, quantities: NDArray[Any]) -> torch.Tensor:
        """Observations of kept quantities."""
        return torch.from_numpy(quantities).float() / self._scales

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """Learn from how a teacher's games ended; the part of returns whose sign was guessed."""
        observations, _ = self._game.views(lessons.states, lessons.seats)
        seen = np.empty(observations.shape, self._kept.dtype)
        self._kept.keep(observations, seen)
        returns = lessons.returns[np.arange(len(seen)), lessons.seats]
        with torch.no_grad():
            guessed = self.critic(torch.from_numpy(observations)).numpy() > 0
        self._update(seen, returns, rate, 1)
        return float(np.mean(guessed == (returns > 0)))

    # --- what others take from it ----------------------------------------------------------------

    def policy(self, *, average: bool) -> NetworkPlayer:
        """A copy of the policy, or of its average."""
        critic = self.average if average else self.critic
        tensors, advisers = critic.tensors(), self._advisers
        return CriticPlayer(self._game, tensors, advisers=advisers, name="latest", sample=True)
