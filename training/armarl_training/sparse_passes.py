"""The way through an actor and a critic by what changes in what they see.

Their first layer is `first_layer`'s. Their last layers work out the legal actions and nothing else,
and on the way back only the weights of these are touched. Between, matrices are multiplied as in
`passes`, which these are held to by `tests/test_sparse_passes.py`. In play the way through all
layers is gone for each position by itself, so that threads share the positions.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.game import Game
from armarl_training.adam import lay_out_by_input
from armarl_training.chains import chain_length
from armarl_training.config import TrainingConfig
from armarl_training.devices import Array, LearnerDevice
from armarl_training.entries import FEW, alike_inputs, shares_of
from armarl_training.first_layer import FirstLayer, Followed
from armarl_training.first_loops import Floats, Following
from armarl_training.last_loops import Ends, Hidden, Learning, Speaking, learn, speak
from armarl_training.layers import linears
from armarl_training.minibatch import Part
from armarl_training.passes import Layers, Onward
from armarl_training.ppo_networks import Actor, PlainCritic
from armarl_training.softmax import make_scratch
from armarl_training.workspace import Workspace, aligned_zeros

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
    ) -> None:
        """On the CPU.

        Args:
            factors: turn quantities into inputs, see `Reading`.
            alike: see `alike_inputs`.
        """
        (own, others), *onward = zip(linears(actor.layers), linears(critic), strict=True)
        self.first = FirstLayer(device, own, others, factors, alike)
        self._rest = _Rest(device, actor, onward)

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
        return [*own_first, *own, *others_first, *others]

    def say(
        self,
        followed: Followed,
        seen: tuple[Array, Array, Array],
        masks: Masks,
        advice: Advised,
        workspace: Workspace,
    ) -> Said:
        """What stands there until the next call with this workspace.

        Args:
            followed: the games, of which these are the next positions.
            seen: quantities, secrets and the seats to move, see `Rollout`.
        """
        following = self.first.following(followed, *seen, workspace)
        said: Said = self._rest.say(following, masks, advice, workspace)
        return said


class _Rest:
    """The layers after the first."""

    @torch.no_grad()
    def __init__(self, device: LearnerDevice, actor: Actor, layers: Layers) -> None:
        *between, (own, others) = layers
        self._device, self._onward = device, Onward(between, actor.activation, torch.float32)
        self._ends, self._between = _ends(own, actor.trust, others), between
        self._units = np.array([[one.in_features for one in pair] for pair in layers])
        self._tanh = actor.activation == "tanh"

    @cached_property
    def _hidden(self) -> Hidden:
        """Copies of the layers between."""
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

    def learn(self, found: torch.Tensor, part: Part) -> Learnt:
        """By a part of a minibatch."""
        rows, workspace, device = part.rows, part.workspace, self._device
        trail = self._onward.there(found, workspace)
        hidden = self._onward.activate(trail[-1])
        back = workspace.take("back", len(hidden), hidden.shape[1], torch.float32)
        sums = Ends(*(aligned_zeros(weights.shape) for weights in self._ends))
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

    def say(
        self, following: Following, masks: Masks, advice: Advised, workspace: Workspace
    ) -> Said:
        """See `SparsePasses.say`."""
        n, device, ends = len(masks), self._device, self._ends
        actions, players = ends.action_biases.size - 1, ends.outlook_biases.size
        inputs = np.empty((device.scratch_rows(n), int(self._units.sum())), np.float32)
        scratch = make_scratch(device, n, actions)
        logits = workspace.take("logits", n, actions, torch.float32).numpy()
        outlooks = workspace.take("outlooks", n, players, torch.float32).numpy()
        given = following, masks, advice, self._hidden, ends
        device.run(speak, n, Speaking(*given, inputs, scratch, logits, outlooks))
        return logits, outlooks


def sparse_passes(
    device: LearnerDevice, game: Game, actor: nn.Module, critic: nn.Module, factors: Array
) -> SparsePasses:
    """Those that are quickest in a game, where they are taken at all."""
    assert isinstance(actor, Actor)
    assert isinstance(critic, PlainCritic)
    return SparsePasses(device, actor, critic, factors, alike_inputs(game))


def lay_out(*networks: nn.Module) -> None:
    """Have the first layers' weights lie as their passes read them, and put out gradients."""
    for network in networks:
        layers = network.layers if isinstance(network, Actor) else network
        assert isinstance(layers, nn.Sequential)
        lay_out_by_input(linears(layers)[0])


def few_legal(game: Game) -> bool:
    """Whether so few of the actions are legal that no processor is quicker with them all."""
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
