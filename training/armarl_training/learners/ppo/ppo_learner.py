"""PPO in all seats at the same time: rollout, advantages, update (Schulman et al., 2017).

The learner plays all seats and learns from the decisions of each seat. Its critic is used in
training only. The critic sees the observations of all seats, while the policy sees that of one
seat. The critic's target is the return of every seat, scaled to 0 to 1. With two sides, the scaled
return is the chance of winning. The weight of the entropy starts high and falls (Rudolph et al.,
2025). Rollouts use the current weights. The saved policy, which also plays the matches that measure
the run, has averaged weights. The averaged policy may also serve as a *magnet* (Sokota et al.,
2023): the loss then keeps the actor close to it, so that play does not circle around an
equilibrium.

Start reading at `PPO.iterate`: the rollout (folder `rollout`), the advantages
(`compute_advantages`, `learning/advantages.py`), the update (`_update`, folder `update`). The loss
is in `losses.py`, and its gradient with respect to the network outputs in `minibatch.py`. The
backward pass through the networks is in `dense_passes.py`, or in the folder `incremental`, whose
passes multiply only the inputs that change between decisions.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from armarl.core.game import Game
from armarl.players.advice import Advice
from armarl.policies.network_players import NetworkPlayer
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.incremental.changes import alike_inputs, entries_of
from armarl_training.learners.ppo.incremental.decision_chains import Chains, chain_length, chains_of
from armarl_training.learners.ppo.incremental.passes import (
    IncrementalPasses,
    incremental_passes,
    lay_out,
)
from armarl_training.learners.ppo.incremental.suitability import use_incremental
from armarl_training.learners.ppo.networks import Actor, PlainCritic, make_actor, make_critic
from armarl_training.learners.ppo.rollout.ppo_games import PPOGames
from armarl_training.learners.ppo.rollout.rollout import Rollout
from armarl_training.learners.ppo.update.adam import Adam
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.learners.ppo.update.dense_passes import NetworkPasses, passes_of
from armarl_training.learners.ppo.update.losses import (
    REPORTED,
    LossScratch,
    LossWeights,
    Samples,
    explained_variance,
    make_loss_scratch,
)
from armarl_training.learners.ppo.update.minibatch import (
    Batch,
    InputRows,
    MinibatchPart,
    gradient_of_outputs,
)
from armarl_training.learners.ppo.update.network_inputs import InputReader
from armarl_training.learners.ppo.update.thread_team import ThreadTeam
from armarl_training.learning.advantages import seat_advantages
from armarl_training.learning.imitation import ImitationData
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rates import annealed, minibatches
from armarl_training.learning.saving import AVERAGE, weights_of
from armarl_training.learning.sharded_learner import ShardedLearner
from armarl_training.learning.shards import Shards, flat
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.layers import newest_weight, steps_taken
from armarl_training.networks.learner_devices import Array, learner_device


class PPO(ShardedLearner):
    """A learner in all seats; see `learner.Learner`.

    Attributes:
        actor: maps the observation of a seat to logits and the expected return.
        average: an actor with the exponential average of the weights.
        critic: maps the observations of all seats to each seat's logit of winning, the mover's
            first.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._device = device = learner_device(game, config.device)
        torch.manual_seed(config.seed)
        self._kept = IntegerObservations(game, device)
        self._crew = ThreadTeam(config.threads if config.device == "cpu" else 1)
        self._workspaces = [Workspace(device.place) for _ in range(self._crew.number)]
        self._run = device.run if self._crew.number == 1 else device.run_alone
        self._reading = InputReader(self._kept, config.ppo.precision, self._run)
        self.actor = make_actor(game, config.network).to(device.place)
        self.average = copy.deepcopy(self.actor)
        self.critic = make_critic(game, config.network, self._kept).to(device.place)
        self._incremental = use_incremental(config, game)
        if self._incremental:
            lay_out(self.actor, self.average, self.critic)
        self._actors: list[torch.Tensor] = list(self.actor.parameters())
        self._averages: list[torch.Tensor] = list(self.average.parameters())
        self._advice = Advice(game, config.network.advisers)
        self._around = device.put(np.arange(game.players))
        networks = {"actor": self.actor, AVERAGE: self.average, "critic": self.critic}
        super().__init__(config, game, self.actor, networks, Shards(PPOGames, config, game, pool))
        self._count = 0  # optimiser steps, because reading the optimiser's count waits for a GPU
        self._adam = self._make_adam()

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout, compute the advantages of its decisions, and update the networks."""
        ppo = self._config.ppo
        # 1. Rollout: all games continue with the current weights.
        playing = weights_of({"actor": self.actor, "critic": self.critic})
        rollout = _joined(self.shards.play(playing, done))
        # 2. Advantages, and the value targets of every seat.
        advantages, targets = self.compute_advantages(rollout)
        # 3. Update, with rates that fall during training.
        rate = annealed(ppo.learning_rate, ppo.final_learning_rate, done)
        entropy = annealed(ppo.entropy, ppo.final_entropy, done)
        self._set_rate(rate)
        # The rows of a rollout: (steps, games) flattened to one axis.
        rows = self._device.where(flat(rollout.learners[:-1]))
        if len(rows) == 0:  # opponents made every decision
            statistics = dict.fromkeys((*REPORTED, "explained_variance", "gradient_norm"), 0.0)
        else:
            with self._crew.at_work():
                statistics = self._update(rollout, rows, advantages, targets, entropy)
        self.decisions += len(rows)
        return statistics | {"learning_rate": rate, "entropy_coefficient": entropy}

    def compute_advantages(self, rollout: Rollout) -> tuple[Array, Array]:
        """Compute the advantages and value targets of a rollout.

        Returns:
            Advantages of the played action and of the lookahead actions, float32 (steps, games,
            1 + looks), and the value targets of all seats, float32 (steps, games, players).
        """
        ppo, device, players = self._config.ppo, self._device, self._game.players
        # The clockwise distance of each seat from the mover, in seat order.
        distances = (self._around - rollout.movers[..., None]) % players
        values = device.along(rollout.values, distances, axis=2)
        advantages, targets = seat_advantages(
            movers=rollout.movers[:-1],
            learners=rollout.learners,
            ends=rollout.ends,
            rewards=rollout.rewards,
            values=values[:-1],
            last_values=values[-1],
            policy_lambda=ppo.gae_lambda,
            value_lambda=ppo.value_lambda,
            device=device,
        )
        of_looks = rollout.lookahead_values - rollout.values[:-1, :, :1]
        return device.joined([advantages[..., None], of_looks], axis=2), targets

    def _update(
        self, rollout: Rollout, rows: Array, advantages: Array, targets: Array, entropy: float
    ) -> dict[str, float]:
        """Train for some epochs on the learner's decisions, in random minibatches.

        Args:
            rows: int64 (n,), the learner's decisions, with (steps, games) flattened to one axis.
            advantages: float32 (steps, games, 1 + looks).
            targets: float32 (steps, games, players), in seat order.
            entropy: weight of the entropy in the loss.

        Returns:
            Means over all decisions and epochs, and the norm of the last gradient.
        """
        ppo = self._config.ppo
        number = minibatches(len(rows), ppo.minibatch)
        loss_weights = LossWeights(ppo.clip_range, entropy, ppo.magnet, ppo.value_coefficient)
        scratches = self._make_scratches(-(-len(rows) // number))
        samples = self._samples(rollout, self._normalised(flat(advantages), rows), targets)
        make_batch = self._sparse_batch if self._incremental else self._dense_batch
        batch = make_batch(rollout, rows, samples)
        norm: torch.Tensor | float = 0.0
        for _ in range(ppo.epochs):
            for shares in batch.deal(number, self._crew.number):
                parts = self._parts(batch, shares, loss_weights, scratches)
                gradients = partial(self._gradients, self._passes())
                norm = self._take_step(self._crew.map(gradients, parts))
        means = self._means(scratches, ppo.epochs * len(rows))
        return means | {"gradient_norm": float(norm)}

    def _normalised(self, advantages: Array, rows: Array) -> Array:
        """Normalise advantages, (all rows, 1 + looks), with the statistics of the learner's `rows`.

        In these rows, each column gets mean 0, and all columns together standard deviation 1.
        """
        learnt = advantages[rows]
        mean = learnt.mean(axis=0)
        return (advantages - mean) / (self._device.deviation(learnt - mean) + 1e-8)

    def _samples(self, rollout: Rollout, advantages: Array, targets: Array) -> Samples:
        """Collect the inputs of the loss for all decisions of a rollout."""
        seats = (rollout.movers[:-1].reshape(-1, 1) + self._around) % self._game.players
        return Samples(
            masks=flat(rollout.masks),
            actions=flat(rollout.actions),
            log_probs=flat(rollout.log_probs),
            advantages=advantages,
            targets=self._device.along(flat(targets), seats, axis=1),  # the mover's first
        )

    def _dense_batch(self, rollout: Rollout, rows: Array, samples: Samples) -> Batch:
        """Return a batch that shuffles single decisions, for passes over all inputs."""
        seen = InputRows(
            features=flat(rollout.features[:-1]),
            secrets=flat(rollout.secrets[:-1]),
            advice=flat(rollout.advice),
            entries=None,
        )
        return Batch(seen, samples, partial(self._dealt, rows))

    def _sparse_batch(self, rollout: Rollout, rows: Array, samples: Samples) -> Batch:
        """Return a batch that shuffles chains of a seat's decisions, for incremental passes."""
        dense, chains = self._dense_batch(rollout, rows, samples), self._chains(rollout)
        entries = entries_of(
            self._device,
            features=dense.seen.features,
            secrets=dense.seen.secrets,
            factors=self._reading.factors,
            alike=alike_inputs(self._game),
            chosen=chains.rows,
            anew=chains.anew,
        )
        seen = dense.seen._replace(advice=dense.seen.advice[chains.rows], entries=entries)
        chosen = Samples(*(array[chains.rows] for array in samples))
        return Batch(seen, chosen, partial(chains.dealt, self._rng))

    def _make_scratches(self, most: int) -> list[LossScratch]:
        """Return scratch memory for each thread of the team, for at most `most` decisions."""
        device, actions = self._device, len(self._game.actions)
        return [make_loss_scratch(device, most, actions) for _ in range(self._crew.number)]

    def _parts(
        self,
        batch: Batch,
        shares: Sequence[Array],
        loss_weights: LossWeights,
        scratches: Sequence[LossScratch],
    ) -> list[MinibatchPart]:
        """Split a minibatch into parts, one for each thread of the team."""
        number = sum(map(len, shares))
        return [
            MinibatchPart(
                rows=share,
                number=number,
                seen=batch.seen,
                samples=batch.samples,
                loss_weights=loss_weights,
                scratch=scratch,
                workspace=workspace,
            )
            for share, scratch, workspace in zip(shares, scratches, self._workspaces, strict=True)
        ]

    def _means(self, scratches: Sequence[LossScratch], decisions: int) -> dict[str, float]:
        """Divide the summed statistics by the number of decisions."""
        sums = self._device.fetch(sum(scratch.statistics.sum(axis=0) for scratch in scratches))
        means = sums / decisions
        figures = dict(zip(REPORTED, means.tolist(), strict=False))
        return figures | {"explained_variance": explained_variance(means)}

    def _dealt(self, rows: Array, minibatches: int, parts: int) -> Iterator[Sequence[Array]]:
        """Shuffle the rows and yield the parts of each minibatch."""
        device = self._device
        for batch in device.split(device.shuffled(self._rng, rows), minibatches):
            # Sort the rows for faster access. The order within a minibatch does not matter.
            yield device.split(device.ascending(batch), parts)

    def _chains(self, rollout: Rollout) -> Chains:
        """Return the chains of the learner's decisions."""
        ppo, players = self._config.ppo, self._game.players
        length = chain_length(ppo.minibatch, ppo.rollout_length, players)
        return chains_of(rollout.learners[:-1], rollout.movers[:-1], length)

    def _passes(self) -> NetworkPasses | IncrementalPasses:
        """Return passes through the networks with their current weights."""
        actor, critic, reading = self.actor, self.critic, self._reading
        if self._incremental:
            return incremental_passes(self._device, self._game, actor, critic, reading.factors)
        return passes_of(actor, critic, reading.dtype)

    def _gradients(
        self, passes: NetworkPasses | IncrementalPasses, part: MinibatchPart
    ) -> Sequence[torch.Tensor]:
        """Return the gradients of all parameters for one part of a minibatch."""
        if isinstance(passes, IncrementalPasses):
            return passes.gradients(part)
        device, seen, workspace = self._device, part.seen, part.workspace
        privileged = self._reading.privileged(seen.features, seen.secrets, part.rows, workspace)
        advice = device.tensor(seen.advice[part.rows])
        forward = passes.forward(privileged, advice, workspace)
        magnets = self._magnets(privileged, advice) if part.loss_weights.magnet != 0 else None
        gradient = gradient_of_outputs(device, self._run, forward.outputs, part, magnets)
        return passes.backward(forward, gradient, workspace)

    @torch.no_grad()
    def _magnets(self, privileged: torch.Tensor, advice: torch.Tensor) -> torch.Tensor:
        """Return the outputs of the averaged actor, which is the magnet."""
        found: torch.Tensor = self.average(privileged[:, : self.average.inputs], advice).float()
        return found

    def _take_step(self, parts: Sequence[Sequence[torch.Tensor]]) -> torch.Tensor | float:
        """Take an optimiser step, update the averaged actor, and return the norm of the gradient.

        The gradient is the sum of the gradients of a minibatch's parts.
        """
        ppo, (whole, *others) = self._config.ppo, (list(part) for part in parts)
        for part in others:
            torch._foreach_add_(whole, part)
        self._count += 1
        newest = newest_weight(ppo.averaging, self._count)
        if self._adam is not None:
            return self._adam.step(whole, ppo.max_gradient_norm, newest)
        for weights, gradient in zip(self._parameters, whole, strict=True):
            weights.grad = gradient
        norm: torch.Tensor = nn.utils.clip_grad_norm_(self._parameters, ppo.max_gradient_norm)
        self._optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(self._averages, self._actors, newest)
        return norm

    def _make_adam(self) -> Adam | None:
        """Return the fast Adam that replaces the optimiser's steps on the CPU, or None on a GPU."""
        if self._config.device != "cpu":
            return None
        return Adam(self._optimiser, self._parameters, self._averages)

    # --- imitation -------------------------------------------------------------------------------

    def imitate(self, data: ImitationData, rate: float) -> float:
        """Learn a teacher's choices, and the results of its games, in one pass over the data."""
        game, kept, device, players = self._game, self._kept, self._device, self._game.players
        self._set_rate(rate)
        order, right = self._rng.permutation(data.seats.size), 0
        number = minibatches(order.size, self._config.imitation.minibatch)
        for batch in np.array_split(order, number):
            seats = data.seats[batch]
            around = (seats[:, None] + np.arange(players)) % players
            returns = device.tensor(
                device.put(np.take_along_axis(data.returns[batch], around, axis=1))
            )
            actions = device.tensor(device.put(data.actions[batch]))
            states, seats = device.put(game.taken(data.states, batch)), device.put(seats)
            observations, masks = device.views(states, seats)
            seen = device.zeros(observations.shape, kept.dtype)
            secrets = device.zeros((batch.size, kept.secrets), kept.dtype)
            kept.keep(observations, seen)
            kept.keep_secrets(states, seats, secrets)
            advice = device.tensor(device.advised(self._advice, states, seats))
            outputs = self.actor(self._reading.seen(seen), advice).float()
            logits = outputs[:, :-1].masked_fill(device.tensor(masks == 0), -1e4)
            critic_logits = self.critic(self._reading.privileged(seen, secrets)).float()
            loss = functional.cross_entropy(logits, actions)
            loss = loss + 0.5 * functional.mse_loss(outputs[:, -1], returns[:, 0])
            loss = loss + 0.5 * functional.binary_cross_entropy_with_logits(
                critic_logits, (returns + 1) / 2
            )
            self._take_step([torch.autograd.grad(loss, self._parameters)])
            right += int((logits.argmax(dim=1) == actions).sum())
        return right / order.size

    # --- policies and checkpoints ----------------------------------------------------------------

    def begin_with(self, policy: NetworkPlayer) -> None:
        """See `ShardedLearner.begin_with`.

        A plain critic with the same layer widths as the actor starts with the actor's values.
        """
        super().begin_with(policy)
        actor, critic, network = self.actor, self.critic, self._config.network
        alike = network.critic_widths in (None, network.widths)
        if alike and isinstance(actor, Actor) and isinstance(critic, PlainCritic):
            critic.begin_with(actor, self._game.sides)

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """See `ShardedLearner.restore`."""
        super().restore(tensors, values)
        self._count, self._adam = steps_taken(self._optimiser), self._make_adam()

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the current policy, or of the policy with averaged weights."""
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


def _joined(shards: Sequence[Rollout]) -> Rollout:
    """Join the shards' rollouts along the axis of games."""
    if len(shards) == 1:
        return shards[0]
    return Rollout(*(np.concatenate(parts, axis=1) for parts in zip(*shards, strict=True)))
