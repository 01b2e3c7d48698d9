"""Passes through an actor and a critic that use only changes in their inputs.

The first layer is in `first_layer`. The last layers compute only the logits of legal actions, and
the backward pass changes only the gradients of these actions' weights. The layers in between are
matrix products as in `update.dense_passes`. `tests/training/test_incremental_passes.py` tests these
passes against those of `dense_passes`. In a rollout, the forward pass handles each position
separately, so that threads can share the positions.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl_training.learners.ppo.incremental.changes import alike_inputs
from armarl_training.learners.ppo.incremental.first_layer import FirstLayer, LatestOutputs
from armarl_training.learners.ppo.incremental.last_layer_kernels import (
    Acting,
    Hidden,
    LastLayers,
    Learning,
    act,
    learn,
)
from armarl_training.learners.ppo.networks import Actor, PlainCritic
from armarl_training.learners.ppo.update.adam import lay_out_by_input
from armarl_training.learners.ppo.update.buffers import Floats, Workspace, aligned_zeros
from armarl_training.learners.ppo.update.dense_passes import LaterLayers, LayerPairs
from armarl_training.networks.layers import linears
from armarl_training.networks.softmax import make_softmax_scratch

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.learners.ppo.incremental.first_layer_kernels import Following
    from armarl_training.learners.ppo.update.minibatch import MinibatchPart
    from armarl_training.networks.learner_devices import Array, LearnerDevice

Masks = NDArray[np.uint8]  # (n, bytes), legal actions as bits
Advised = NDArray[np.int64]  # (n, advisers), the advisers' actions
# Logits of legal actions (n, actions or more), and the critic's logits (n, players).
SparseOutputs = tuple[Floats, Floats]
# Gradients of the first layer's outputs, and of the actor's and the critic's other layers.
SparseGradients = tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]


class IncrementalPasses:
    """Passes through two plain networks of equal depth, with their current weights."""

    def __init__(
        self,
        device: LearnerDevice,
        actor: Actor,
        critic: PlainCritic,
        factors: Floats,
        alike: NDArray[np.int16],
    ) -> None:
        """Copy the weights. The device must be the CPU.

        Args:
            factors: factors that turn features into inputs, see `InputReader`.
            alike: see `alike_inputs`.
        """
        pairs = zip(linears(actor.layers), linears(critic), strict=True)
        (actors, critics), *later = pairs
        self.first = FirstLayer(device, actors, critics, factors, alike)
        self._later = _LaterLayers(device, actor, later)

    @torch.no_grad()
    def gradients(self, part: MinibatchPart) -> list[torch.Tensor]:
        """Return the gradients of the actor's and the critic's parameters, in order.

        The part of the minibatch must consist of whole chains. A chain is a run of consecutive
        decisions of one seat in one game (see `decision_chains`).
        """
        entries = part.seen.entries
        assert entries is not None
        found = self.first.forward(part.rows, entries, part.workspace)
        slopes, actor, critic = self._later.learn(found, part)
        actor_first, critic_first = self.first.backward(part.rows, entries, slopes)
        return [*actor_first, *actor, *critic_first, *critic]

    def act(
        self,
        latest: LatestOutputs,
        features: Array,
        secrets: Array,
        movers: Array,
        masks: Masks,
        advice: Advised,
        workspace: Workspace,
    ) -> SparseOutputs:
        """Return the outputs. They stay valid until the next call with this workspace.

        Args:
            latest: the latest outputs of the games. `features` must be the games' next positions.
            features: (games, size), see `Rollout`.
            secrets: (games, secrets), see `Rollout`.
            movers: int64 (games,), the seats to move.
        """
        following = self.first.following(latest, features, secrets, movers, workspace)
        outputs: SparseOutputs = self._later.act(following, masks, advice, workspace)
        return outputs


class _LaterLayers:
    """The layers after the first."""

    @torch.no_grad()
    def __init__(self, device: LearnerDevice, actor: Actor, layers: LayerPairs) -> None:
        *between, (actors, critics) = layers
        self._device, self._between = device, between
        self._later = LaterLayers(between, actor.activation, torch.float32)
        self._last = _last_layers(actors, actor.trust, critics)
        self._units = np.array([[one.in_features for one in pair] for pair in layers])
        self._tanh = actor.activation == "tanh"

    @cached_property
    def _hidden(self) -> Hidden:
        """Padded copies of the layers between the first and the last."""
        pairs = [[one, other] for one, other in self._between]
        most = max((one.out_features for pair in pairs for one in pair), default=0)
        weights = np.zeros((int(self._units[:-1].sum()), most), np.float32)
        biases = np.zeros((len(pairs), 2, most), np.float32)
        place = 0
        for k, pair in enumerate(pairs):
            for side, one in enumerate(pair):
                rows = slice(place, place + one.in_features)
                weights[rows, : one.out_features] = one.weight.detach().t().numpy()
                biases[k, side, : one.out_features] = one.bias.detach().numpy()
                place = rows.stop
        return Hidden(self._units, weights, biases, np.arange(place), self._tanh)

    def learn(self, found: torch.Tensor, part: MinibatchPart) -> SparseGradients:
        """Run the forward pass, the loss and the backward pass on a part of a minibatch."""
        rows, workspace, device = part.rows, part.workspace, self._device
        trail = self._later.forward(found, workspace)
        hidden = self._later.activate(trail[-1])
        back = workspace.take("backward", len(hidden), hidden.shape[1], torch.float32)
        sums = LastLayers(*(aligned_zeros(weights.shape) for weights in self._last))
        number = 1 + self._last.critic_biases.size
        values, slopes = np.empty((2, device.scratch_rows(1), number), np.float32)
        learning = Learning(
            rows=rows,
            samples=part.samples,
            number=part.number,
            advice=part.seen.advice,
            loss_weights=part.loss_weights,
            scratch=part.scratch,
            layers=self._last,
            hidden=hidden.numpy(),
            values=values,
            slopes=slopes,
            hidden_gradients=back.numpy(),
            gradients=sums,
        )
        device.run_alone(learn, len(rows), learning)
        before = self._later.deactivate(back, hidden)
        gradient, actor, critic = self._later.backward(trail, before, workspace)
        last = [torch.from_numpy(numbers) for numbers in sums]
        trust = last[2:4] if len(sums.trust) else []
        return gradient, [*actor, *last[:2], *trust], [*critic, *last[4:]]

    def act(
        self, following: Following, masks: Masks, advice: Advised, workspace: Workspace
    ) -> SparseOutputs:
        """See `IncrementalPasses.act`."""
        n, device, last = len(masks), self._device, self._last
        actions, players = last.actor_biases.size - 1, last.critic_biases.size
        inputs = np.empty((device.scratch_rows(n), int(self._units.sum())), np.float32)
        scratch = make_softmax_scratch(device, n, actions)
        logits = workspace.take("logits", n, actions, torch.float32).numpy()
        critic_logits = workspace.take("critic_logits", n, players, torch.float32).numpy()
        acting = Acting(
            following=following,
            masks=masks,
            advice=advice,
            hidden=self._hidden,
            layers=last,
            inputs=inputs,
            scratch=scratch,
            logits=logits,
            critic_logits=critic_logits,
        )
        device.run(act, n, acting)
        return logits, critic_logits


def incremental_passes(
    device: LearnerDevice, game: Game, actor: nn.Module, critic: nn.Module, factors: Array
) -> IncrementalPasses:
    """Return incremental passes through two plain networks."""
    assert isinstance(actor, Actor)
    assert isinstance(critic, PlainCritic)
    return IncrementalPasses(device, actor, critic, factors, alike_inputs(game))


def lay_out(*networks: nn.Module) -> None:
    """Store the first layers' weights and gradients in the order in which the passes read them."""
    for network in networks:
        layers = network.layers if isinstance(network, Actor) else network
        assert isinstance(layers, nn.Sequential)
        lay_out_by_input(linears(layers)[0])


def _last_layers(actor: nn.Linear, trust: nn.Linear | None, critic: nn.Linear) -> LastLayers:
    """Return the weights of the last layers, as arrays in the same memory."""
    none = torch.empty(0, actor.in_features), torch.empty(0)
    pairs = [
        (actor.weight, actor.bias),
        (trust.weight, trust.bias) if trust is not None else none,
        (critic.weight, critic.bias),
    ]
    return LastLayers(*(numbers.detach().numpy() for pair in pairs for numbers in pair))
