"""The way through an actor and a critic by what changes in what they see.

Their first layer is `first_layer`'s. Where few of the actions are legal, their last layers work out
these and nothing else, and on the way back only their weights are touched. Between, matrices are
multiplied as in `passes`, which these are held to by `tests/test_sparse_passes.py`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.game import Game
from armarl_training.chains import chain_length
from armarl_training.config import TrainingConfig
from armarl_training.devices import Array, LearnerDevice
from armarl_training.entries import FEW, alike_inputs, shares_of
from armarl_training.first_layer import FirstLayer
from armarl_training.first_loops import Floats
from armarl_training.last_loops import Ends, Learning, Speaking, learn, speak
from armarl_training.layers import linears
from armarl_training.minibatch import Part, gradient_of_outputs
from armarl_training.passes import Layers, Onward
from armarl_training.ppo_networks import Actor, PlainCritic
from armarl_training.softmax import make_scratch
from armarl_training.workspace import Workspace

Masks = NDArray[np.uint8]  # (n, bytes), legal actions as bits
Advised = NDArray[np.int64]  # (n, advisers), what advisers would do
Said = tuple[Floats, Floats]  # logits (n, at least actions) where legal, the critic's (n, players)
# Gradients of what the first layer found, and of the actor's and the critic's other layers.
Learnt = tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]


class SparsePasses:
    """Of networks of plain layers, as many in both, with the weights that they have now."""

    def __init__(
        self,
        device: LearnerDevice,
        actor: Actor,
        critic: PlainCritic,
        factors: Floats,
        alike: NDArray[np.int16],
        *,
        few_legal: bool,
    ) -> None:
        """On the CPU.

        Args:
            factors: turn quantities into inputs, see `Reading`.
            alike: see `alike_inputs`.
            few_legal: whether the last layers shall work out legal actions alone. With advisers
                they do so in any case.
        """
        (own, others), *onward = zip(linears(actor.layers), linears(critic), strict=True)
        self.first = FirstLayer(device, own, others, factors, alike)
        some = few_legal or actor.trust is not None
        self._rest: _Rest = _Legal(device, actor, onward) if some else _Whole(device, actor, onward)

    @torch.no_grad()
    def gradients(self, part: Part) -> list[torch.Tensor]:
        """Of the actor's parameters and the critic's, in order, by a part of a minibatch.

        Its chains are whole.
        """
        entries = part.seen.entries
        assert entries is not None
        found = self.first.there(part.rows, entries, part.workspace)
        slopes, own, others = self._rest.learn(found, part)
        own_first, others_first = self.first.back(part.rows, entries, slopes)
        # The fused optimiser takes for granted that they lie in one piece.
        return [piece.contiguous() for piece in (*own_first, *own, *others_first, *others)]

    @torch.no_grad()
    def say(self, found: torch.Tensor, masks: Masks, advice: Advised, workspace: Workspace) -> Said:
        """What stands there until the next call with this workspace.

        Args:
            found: by the first layer, written over.
        """
        return self._rest.say(found, masks, advice, workspace)


class _Rest(Protocol):
    """The layers after the first."""

    def learn(self, found: torch.Tensor, part: Part) -> Learnt:
        """By a part of a minibatch."""
        ...

    def say(self, found: torch.Tensor, masks: Masks, advice: Advised, workspace: Workspace) -> Said:
        """See `SparsePasses.say`."""
        ...


class _Whole:
    """All actions are worked out, by products of matrices."""

    def __init__(self, device: LearnerDevice, actor: Actor, layers: Layers) -> None:
        self._device, self._onward = device, Onward(layers, actor.activation, torch.float32)
        self._players = layers[-1][1].out_features

    def learn(self, found: torch.Tensor, part: Part) -> Learnt:
        trail = self._onward.there(found, part.workspace)
        run = self._device.run_alone
        gradient = gradient_of_outputs(self._device, run, trail[-1], part)
        return self._onward.back(trail, gradient, part.workspace)

    def say(self, found: torch.Tensor, masks: Masks, advice: Advised, workspace: Workspace) -> Said:
        outputs: Floats = self._onward.there(found, workspace)[-1].numpy()
        return outputs, outputs[:, -self._players :]


class _Legal:
    """Legal actions alone are worked out."""

    @torch.no_grad()
    def __init__(self, device: LearnerDevice, actor: Actor, layers: Layers) -> None:
        *between, (own, others) = layers
        self._device, self._onward = device, Onward(between, actor.activation, torch.float32)
        self._ends = _ends(own, actor.trust, others)

    def learn(self, found: torch.Tensor, part: Part) -> Learnt:
        rows, workspace, device = part.rows, part.workspace, self._device
        trail = self._hidden(found, workspace)
        hidden = trail[-1]
        back = workspace.take("back", len(hidden), hidden.shape[1], torch.float32)
        sums = Ends(*(np.zeros_like(weights) for weights in self._ends))
        values = 1 + self._ends.outlook_biases.size
        said, slopes = np.empty((2, device.scratch_rows(1), values), np.float32)
        learning = Learning(
            *(rows, part.lot, part.number, part.seen.advice, part.weights, part.room),
            *(self._ends, hidden.numpy(), said, slopes, back.numpy(), sums),
        )
        device.run_alone(learn, len(rows), learning)
        before = self._onward.deactivate(back, hidden)
        gradient, own, others = self._onward.back(trail, before, workspace)
        ends = [torch.from_numpy(numbers) for numbers in sums]
        trust = ends[2:4] if len(sums.trust) else []
        return gradient, [*own, *ends[:2], *trust], [*others, *ends[4:]]

    def say(self, found: torch.Tensor, masks: Masks, advice: Advised, workspace: Workspace) -> Said:
        n, hidden = len(masks), self._hidden(found, workspace)[-1].numpy()
        actions, players = self._ends.action_biases.size - 1, self._ends.outlook_biases.size
        scratch = make_scratch(self._device, n, actions)
        logits = workspace.take("logits", n, actions, torch.float32).numpy()
        outlooks = workspace.take("outlooks", n, players, torch.float32).numpy()
        batch = Speaking(masks, advice, self._ends, hidden, scratch, logits, outlooks)
        self._device.run(speak, n, batch)
        return logits, outlooks

    def _hidden(self, found: torch.Tensor, workspace: Workspace) -> list[torch.Tensor]:
        """What goes into each layer after the first, the last ones included."""
        trail = self._onward.there(found, workspace)
        self._onward.activate(trail[-1])
        return trail


def sparse_passes(
    device: LearnerDevice, game: Game, actor: nn.Module, critic: nn.Module, factors: Array
) -> SparsePasses:
    """Those that are quickest in a game, where they are taken at all."""
    assert isinstance(actor, Actor)
    assert isinstance(critic, PlainCritic)
    alike, few = alike_inputs(game), few_legal(game)
    return SparsePasses(device, actor, critic, factors, alike, few_legal=few)


def few_legal(game: Game) -> bool:
    """Whether so few of the actions are legal that the others are better left out."""
    return shares_of(game).legal < FEW


def suit(config: TrainingConfig, game: Game) -> bool:
    """Whether networks and settings are such that these passes can be taken, and are quicker."""
    network = config.network
    plain = not network.channels and config.device == "cpu" and config.ppo.magnet == 0
    alike = len(network.critic_widths or network.widths) == len(network.widths)
    return config.learner == "ppo" and plain and alike and _changes_little(config, game)


def _changes_little(config: TrainingConfig, game: Game) -> bool:
    """Whether few of the inputs change along a chain, its first decision included."""
    players, shares = game.players, shares_of(game)
    if players * game.observation.size > np.iinfo(np.uint16).max:
        return False  # more than `Entries` can number
    length = chain_length(config.ppo.minibatch, config.ppo.rollout_length, players) / players
    first = 1 / max(1.0, length)
    return first * shares.anew + (1 - first) * shares.after < FEW


def use_sparse(config: TrainingConfig, game: Game) -> bool:
    """Whether a learner takes these passes: they are in float32."""
    return config.ppo.precision == "float32" and suit(config, game)


def _ends(own: nn.Linear, trust: nn.Linear | None, others: nn.Linear) -> Ends:
    """The weights themselves, as arrays."""
    none = torch.empty(0, own.in_features), torch.empty(0)
    pairs = [
        (own.weight, own.bias),
        (trust.weight, trust.bias) if trust is not None else none,
        (others.weight, others.bias),
    ]
    return Ends(*(numbers.detach().numpy() for pair in pairs for numbers in pair))
