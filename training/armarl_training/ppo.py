"""PPO in all seats at once: rollout, advantages, update (Schulman et al., 2017).

The learner holds all seats and learns from every decision of each. Its critic sees in training what
all seats see together, and its target is the chance of winning; the policy never does. Entropy is
kept high and falls (Rudolph et al., 2025), and an average of the weights is what plays; it may also
hold the actor back, as a magnet that moves (Sokota et al., 2023), so that play does not circle.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from armarl import threads
from armarl.advice import Advice
from armarl.game import Game
from armarl.network_players import NetworkPlayer
from armarl_training.advantages import seat_advantages
from armarl_training.config import TrainingConfig
from armarl_training.lessons import Lessons
from armarl_training.losses import STATISTICS, Decisions, ppo_gradient
from armarl_training.networks import make_actor, make_critic
from armarl_training.opponents import OpponentPool
from armarl_training.ppo_games import Played, PPOGames
from armarl_training.quantities import Quantities
from armarl_training.reading import Reading
from armarl_training.rollout import Rollout
from armarl_training.saving import (
    Saved,
    count_of,
    restore_networks,
    restore_optimiser,
    saved_networks,
    saved_optimiser,
)
from armarl_training.shards import Shards, flat

_STATISTICS = (
    *("policy_loss", "entropy", "clipped", "change", "own_value_loss", "value_loss"),
    "magnet_distance",
)


class PPO:
    """A learner in all seats; see `learner.Learner`.

    Attributes:
        actor: gives logits and the expected return from what a seat sees.
        average: the exponential average of the actor's weights.
        critic: gives logits of every seat's chance, the mover's first, from what all seats see.
        shards: the games in play.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._config, self._game = config, game
        torch.manual_seed(config.seed)
        self._kept = Quantities(game)
        self._reading = Reading(self._kept, config.ppo.precision)
        self.actor = make_actor(game, config.network)
        self.average = copy.deepcopy(self.actor)
        self.critic = make_critic(game, config.network, self._kept)
        self._parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self._optimiser = torch.optim.Adam(self._parameters, eps=1e-5, fused=True)
        self._advice = Advice(game, config.network.advisers)
        self.shards = Shards(PPOGames, config, game, pool)
        self._rng = np.random.default_rng([config.seed, 3])
        self.decisions = 0

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """One rollout, the advantages of its decisions, and the update by them."""
        ppo = self._config.ppo
        playing = saved_networks({"actor": self.actor, "critic": self.critic})
        rollout, values = _joined(self.shards.play(playing, done))
        advantages, targets = seat_advantages(
            *(rollout.movers[:-1], rollout.ends, rollout.rewards, values[:-1], values[-1]),
            policy_lambda=ppo.gae_lambda,
            value_lambda=ppo.value_lambda,
        )
        self._set_rate(ppo.learning_rate + done * (ppo.final_learning_rate - ppo.learning_rate))
        entropy = ppo.entropy + done * (ppo.final_entropy - ppo.entropy)
        gains = self._gains(rollout, advantages, values)
        statistics = self._update(rollout, gains, targets, entropy)
        self.decisions += int(rollout.learners.sum())
        return statistics

    def _gains(
        self, rollout: Rollout, advantages: NDArray[np.float32], values: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Advantages of the action played and of those looked at: (steps, games, 1 + looks)."""
        movers = rollout.movers[:-1, :, None]
        before = np.take_along_axis(values[:-1], movers, axis=2)
        return np.concatenate([advantages[..., None], rollout.worths - before], axis=2)

    def _update(
        self,
        rollout: Rollout,
        advantages: NDArray[np.float32],
        targets: NDArray[np.float32],
        entropy: float,
    ) -> dict[str, float]:
        """Some passes over the learner's decisions, in random minibatches."""
        ppo, players = self._config.ppo, self._game.players
        # The rows of a rollout: (steps, games) are one axis.
        rows = np.flatnonzero(rollout.learners)
        quantities, secrets = (flat(a[:-1]) for a in (rollout.quantities, rollout.secrets))
        masks, actions = flat(rollout.masks), flat(rollout.actions)
        advice = torch.from_numpy(flat(rollout.advice))
        chances, gains = flat(rollout.chances), flat(advantages)
        gains = (gains - gains[rows].mean(axis=0)) / (gains[rows].std() + 1e-8)
        seats = (rollout.movers[:-1].reshape(-1, 1) + np.arange(players)) % players
        targets = np.take_along_axis(flat(targets), seats, axis=1)  # the mover's first

        sums, norm = np.zeros((2 * threads.most_threads_for(rows.size), STATISTICS)), 0.0
        for _ in range(ppo.epochs):
            order = self._rng.permutation(rows)
            for batch in np.array_split(order, max(1, round(order.size / ppo.minibatch))):
                seen = self._reading.seen(quantities, batch)
                outputs = self.actor(seen, advice[batch]).float()
                truth = self._reading.truth(quantities, secrets, batch)
                outlooks = self.critic(truth).float()
                magnets = self._magnets(seen, advice[batch]) if ppo.magnet else outputs
                gradients = torch.empty_like(outputs), torch.empty_like(outlooks)
                decisions = Decisions(
                    *(outputs.detach().numpy(), outlooks.detach().numpy()),
                    magnets.detach().numpy(),
                    *(masks[batch], actions[batch], chances[batch], gains[batch], targets[batch]),
                    *(ppo.clip_range, entropy, ppo.magnet, ppo.value_coefficient),
                    *(gradients[0].numpy(), gradients[1].numpy(), sums),
                )
                self._game.run(ppo_gradient, batch.size, decisions)
                self._optimiser.zero_grad(set_to_none=True)
                torch.autograd.backward([outputs, outlooks], list(gradients))
                norm = self._take_step()
        means = sums.sum(axis=0) / (ppo.epochs * rows.size)
        return dict(zip(_STATISTICS, means.tolist(), strict=True)) | {"gradient_norm": norm}

    @torch.no_grad()
    def _magnets(self, seen: torch.Tensor, advice: torch.Tensor) -> torch.Tensor:
        """What the average of the weights so far would put out."""
        found: torch.Tensor = self.average(seen, advice).float()
        return found

    def _take_step(self) -> float:
        """One step of the optimiser, and of the average after it; returns the gradient's norm."""
        norm = nn.utils.clip_grad_norm_(self._parameters, self._config.ppo.max_gradient_norm)
        self._optimiser.step()
        with torch.no_grad():
            averages: list[torch.Tensor] = list(self.average.parameters())
            weights: list[torch.Tensor] = list(self.actor.parameters())
            torch._foreach_lerp_(averages, weights, 1 - self._config.ppo.averaging)
        return float(norm)

    def _set_rate(self, rate: float) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = rate

    # --- the head start --------------------------------------------------------------------------

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """Learn a teacher's choices, and from how the games ended; one pass."""
        game, kept, players = self._game, self._kept, self._game.players
        self._set_rate(rate)
        order, right = self._rng.permutation(lessons.seats.size), 0
        for batch in np.array_split(order, max(1, order.size // self._config.imitation.minibatch)):
            states, seats = game.taken(lessons.states, batch), lessons.seats[batch]
            observations, masks = game.views(states, seats)
            seen = np.empty(observations.shape, kept.dtype)
            secrets = np.empty((batch.size, kept.secrets), kept.dtype)
            kept.keep(observations, seen)
            kept.keep_secrets(states, seats, secrets)
            actions = torch.from_numpy(lessons.actions[batch])
            around = (seats[:, None] + np.arange(players)) % players
            returns = torch.from_numpy(np.take_along_axis(lessons.returns[batch], around, axis=1))
            advice = torch.from_numpy(self._advice.actions(states, seats))
            outputs = self.actor(self._reading.seen(seen), advice).float()
            logits = outputs[:, :-1].masked_fill(torch.from_numpy(masks == 0), -1e4)
            outlooks = self.critic(self._reading.truth(seen, secrets)).float()
            loss = functional.cross_entropy(logits, actions)
            loss = loss + 0.5 * functional.mse_loss(outputs[:, -1], returns[:, 0])
            loss = loss + 0.5 * functional.binary_cross_entropy_with_logits(
                outlooks, (returns + 1) / 2
            )
            self._optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self._take_step()
            right += int((logits.argmax(dim=1) == actions).sum())
        return right / order.size

    # --- what others take from it, and what a checkpoint keeps -----------------------------------

    def recent(self) -> dict[str, float]:
        """Mean returns of the last games against each opponent."""
        return self.shards.recent()

    def policy(self, *, average: bool) -> NetworkPlayer:
        """A copy of the policy, or of its average."""
        actor = self.average if average else self.actor
        network = self._config.network
        return NetworkPlayer(
            self._game,
            actor.tensors(),
            network.activation,
            advisers=network.advisers,
            name="latest",
            sample=True,
        )

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Take over the weights of a saved policy; the critic begins anew."""
        self.actor.take_over(policy.tensors)
        self.average.load_state_dict(self.actor.state_dict())

    def _networks(self) -> dict[str, nn.Module]:
        return {"actor": self.actor, "average": self.average, "critic": self.critic}

    def save(self) -> Saved:
        """Networks, optimiser, games, chance."""
        games, values = self.shards.save()
        tensors = saved_networks(self._networks()) | saved_optimiser(self._optimiser) | games
        chance = self._rng.bit_generator.state
        return tensors, {"decisions": self.decisions, "chance": chance, "games": values}

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved."""
        self.shards.restore(tensors, values["games"])
        restore_networks(self._networks(), tensors)
        restore_optimiser(self._optimiser, tensors)
        self._rng.bit_generator.state = values["chance"]
        self.decisions = count_of(values["decisions"])


def _joined(shards: Sequence[Played]) -> Played:
    """The games of all shards beside each other."""
    if len(shards) == 1:
        return shards[0]
    rollouts, values = zip(*shards, strict=True)
    columns = (np.concatenate(parts, axis=1) for parts in zip(*rollouts, strict=True))
    return Played(Rollout(*columns), np.concatenate(values, axis=1))
