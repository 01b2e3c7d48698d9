"""TD(lambda) training of judges, which are value networks of positions (Tesauro, 1995).

The learner plays all seats of most games. It learns from every seat's view of every position, no
matter which seat moves there. The targets combine the judge's predictions for the same seat at the
following positions with the outcome of the game: the return, and which side takes which prize.
Actions are chosen by the judge's values of the resulting positions, so no separate policy has to be
learned.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from armarl.core.game import Game
from armarl.policies.network_players import JudgingPlayer, NetworkPlayer
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.td.td_games import (
    Outcomes,
    TDGames,
    judged,
    logits_of,
    make_judge,
    rows,
)
from armarl_training.learning.imitation import ImitationData
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import annealed
from armarl_training.learning.saving import AVERAGE, saved_networks
from armarl_training.learning.sharded_learner import ShardedLearner
from armarl_training.learning.shards import Shards


class TD(ShardedLearner):
    """A learner of a judge; see `learner.Learner`.

    Attributes:
        judge: predicts a seat's return, and which side takes which prize, from the seat's survey.
        average: a judge with the exponential average of the weights. It plays after training.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._outcomes = Outcomes(game, config.reward)
        torch.manual_seed(config.seed)
        self.judge = make_judge(config, game)
        self.average = copy.deepcopy(self.judge)
        networks = {"judge": self.judge, AVERAGE: self.average}
        super().__init__(config, game, self.judge, networks, Shards(TDGames, config, game, pool))

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout, compute its value targets, and update the judge."""
        td = self._config.td
        shards = self.shards.play(saved_networks({"judge": self.judge}), done)
        self.decisions += sum(part.decisions for part in shards)
        surveys = np.concatenate([part.surveys for part in shards])
        targets = np.concatenate([part.targets for part in shards])
        if not len(surveys):  # every action was random
            return {}
        rate = annealed(td.learning_rate, td.final_learning_rate, done)
        return self._update(surveys, targets, rate, td.epochs)

    # --- learning --------------------------------------------------------------------------------

    def _update(
        self, surveys: NDArray[np.float32], targets: NDArray[np.float32], rate: float, epochs: int
    ) -> dict[str, float]:
        """Train for some epochs on surveys (n, size), in random minibatches."""
        td = self._config.td
        self._set_rate(rate)
        sums, steps, norm = np.zeros(2), 0, 0.0
        for some in self._minibatches(len(surveys), td.minibatch, epochs):
            logits = logits_of(self.judge, torch.from_numpy(surveys[some]))
            losses = functional.binary_cross_entropy_with_logits(
                logits, torch.from_numpy(targets[some]), reduction="none"
            )
            value, prizes = losses[:, 0].mean(), losses[:, 1:].mean()
            loss = value + td.prizes * prizes
            norm = self._descend(loss, self.judge, self.average, td.averaging)
            sums += value.item(), prizes.item()
            steps += 1
        return {
            "value_loss": sums[0] / steps,
            "prize_loss": sums[1] / steps,
            "gradient_norm": norm,
            "learning_rate": rate,
        }

    def imitate(self, data: ImitationData, rate: float) -> float:
        """Learn from the results of a teacher's games.

        Return the share of returns whose sign the judge predicted before the update.
        """
        came_true = self._outcomes.came_true(data.ends)
        surveys = np.concatenate(
            [
                self._outcomes.surveys(data.states),
                self._outcomes.surveys(data.ends),
            ]
        )
        targets = np.concatenate([came_true[data.games], came_true])
        guessed = judged(self.judge, surveys)[..., 0]
        self._update(rows(surveys), rows(targets), rate, 1)
        return float(np.mean((guessed > 0.5) == (targets[..., 0] > 0.5)))

    # --- policies --------------------------------------------------------------------------------

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the current policy, or of the policy with averaged weights."""
        judge = self.average if average else self.judge
        return JudgingPlayer(self._game, judge.tensors(), name="latest", sample=True)
