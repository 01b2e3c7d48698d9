"""PPO's networks. Actors see the observation of one seat, critics see those of all seats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from armarl.core.game import Game
from armarl.networks.board_layout import Places, places_of
from armarl.networks.policy_network import Tensors, layers
from armarl_training.config.sections import NetworkConfig
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.layers import (
    Linear,
    PolicyNetwork,
    linears,
    make_activation,
    make_linear,
    mlp,
)

FIRST_TRUST, OTHERS_TRUST = 5.5, 1.0  # initial trust in the first adviser, and in the others
END_UNITS = 8  # number of hidden units that score the actions between two cells


def make_actor(game: Game, config: NetworkConfig) -> Actor | PlacesActor:
    """Build the actor of a configuration.

    Raises:
        ValueError: the actor should process board cells, but the game has no board.
    """
    advisers, activation = len(config.advisers), config.activation
    if config.channels:
        return PlacesActor(game, config.widths, config.channels, advisers, activation)
    inputs, actions = game.observation.size, len(game.actions)
    return Actor(inputs, config.widths, actions, advisers, activation)


def make_critic(
    game: Game, config: NetworkConfig, kept: IntegerObservations
) -> PlainCritic | PlacesCritic:
    """Build the critic of a configuration. The critic sees the observations of all seats.

    Raises:
        ValueError: the critic should process board cells, but the game has no board.
    """
    widths, inputs = config.critic_widths or config.widths, kept.privileged_scales.size
    if not config.channels:
        return PlainCritic(inputs, widths, game.players, config.activation)
    places = places_of(game)
    # The inputs of a cell: the mover's features of it, and each other seat's private ones.
    place = np.full(game.observation.size + 1, inputs)
    place[kept.private] = np.arange(kept.private.size)
    private = place[places.seen]
    known = private[(private < inputs).any(axis=1)]
    others = [
        np.where(known < inputs, game.observation.size + k * kept.private.size + known, inputs)
        for k in range(game.players - 1)
    ]
    own = np.where(places.seen < game.observation.size, places.seen, inputs)
    all_seats = places._replace(seen=np.concatenate([own, *others]), nothing=inputs)
    return PlacesCritic(all_seats, widths, config.channels, game.players, config.activation)


class Actor(PolicyNetwork):
    """A trunk with two heads of one layer each: action logits, and the expected return."""

    def __init__(
        self, inputs: int, widths: Sequence[int], actions: int, advisers: int, activation: str
    ) -> None:
        super().__init__()
        self.inputs, self.actions, self.activation = inputs, actions, activation
        # One layer computes both heads, with one matrix product instead of two.
        self.layers = mlp([inputs, *widths, actions + 1], activation, gain=0.01)
        self.trust = _trust(widths[-1], advisers)

    def forward(self, x: torch.Tensor, advice: torch.Tensor) -> torch.Tensor:
        """Return the logits, then the expected return: (n, actions + 1).

        `advice`, int64 (n, advisers), contains the actions that the advisers would take.
        """
        *layers, last = self.layers
        seen = x
        for layer in layers:
            seen = layer(seen)
        return _advised(last(seen), self.trust, seen, advice)

    def parts(self) -> dict[str, list[Linear]]:
        """Return the layers of each part of a saved policy, without the heads.

        The heads are slices of one layer, see `weights`.
        """
        trunk = linears(self.layers)[:-1]
        return {"trunk": trunk, "trust": [self.trust] if self.trust else []}

    def weights(self) -> dict[str, torch.Tensor]:
        """See `PolicyNetwork.weights`. The heads are slices of the last layer."""
        found = super().weights()
        for name, weights in self.layers[-1].named_parameters():
            found[f"policy.0.{name}"] = weights.detach()[: self.actions]
            found[f"value.0.{name}"] = weights.detach()[self.actions :]
        return found

    def take_over(self, tensors: Tensors) -> None:
        """See `PolicyNetwork.take_over`. Separate policy and value networks can be loaded, too."""
        super().take_over(_with_trunk(tensors))


def _trust(inputs: int, advisers: int) -> Linear | None:
    """Create the layer that computes the trust in each adviser, or None without advisers.

    The trust in an adviser is added to the logit of the action that it would take. At first the
    trust is high in the first adviser, and low in the others.
    """
    if advisers == 0:
        return None
    layer = make_linear(inputs, advisers, 0.01)
    with torch.no_grad():
        layer.bias[:] = OTHERS_TRUST
        layer.bias[0] = FIRST_TRUST
    return layer


def _advised(
    outputs: torch.Tensor, trust: Linear | None, seen: torch.Tensor, advice: torch.Tensor
) -> torch.Tensor:
    """Add the trust in each adviser to the logit of its action."""
    if trust is None:
        return outputs
    return outputs.scatter_add(1, advice, trust(seen))


def _with_trunk(tensors: Tensors) -> Tensors:
    """Convert tensors of separate policy and value networks to those of a network with a trunk.

    The trunk comes from the policy. The value network is discarded, and the new value head is 0.
    """
    if any(name.startswith("trunk.") for name in tensors):
        return tensors
    last = layers(tensors, "policy") - 1
    found: dict[str, NDArray[np.float32]] = {}
    for name in ("weight", "bias"):
        for k in range(last):
            found[f"trunk.{k}.{name}"] = tensors[f"policy.{k}.{name}"]
        found[f"policy.0.{name}"] = tensors[f"policy.{last}.{name}"]
        found[f"value.0.{name}"] = np.zeros_like(found[f"policy.0.{name}"][:1])
    return found


class Gather(torch.autograd.Function):
    """A selection of entries along the second axis.

    Only a few outputs select the same entry, so the backward pass is a selection, too.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, index: torch.Tensor, takers: torch.Tensor) -> Any:
        """Return `x[:, index]`, with 0 for indices past the end.

        `takers`, (entries, most), lists the outputs that select each entry. Its rows are padded
        with the number of outputs.
        """
        ctx.save_for_backward(takers)
        blank = x.new_zeros((len(x), 1, *x.shape[2:]))
        return torch.cat([x, blank], 1).index_select(1, index)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        """Sum the gradients over the takers of each entry."""
        (takers,) = ctx.saved_tensors
        (gradient,) = gradients
        blank = gradient.new_zeros((len(gradient), 1, *gradient.shape[2:]))
        taken = torch.cat([gradient, blank], 1).index_select(1, takers.reshape(-1))
        shape = (len(gradient), *takers.shape, *gradient.shape[2:])
        return taken.view(shape).sum(2), None, None


def gathered(x: torch.Tensor, index: torch.Tensor, takers: torch.Tensor) -> torch.Tensor:
    """Return `x[:, index]`, with 0 for indices past the end. `Gather` makes its gradient fast."""
    found: torch.Tensor = Gather.apply(x, index, takers)  # type: ignore[no-untyped-call]
    return found


def takers_of(index: NDArray[np.int64], entries: int) -> torch.Tensor:
    """List the outputs that select each entry: (entries, most), padded with the output count."""
    lists: list[list[int]] = [[] for _ in range(entries)]
    for taker, entry in enumerate(index.tolist()):
        if entry < entries:
            lists[entry].append(taker)
    most = max(map(len, lists))
    return torch.tensor([takers + [index.size] * (most - len(takers)) for takers in lists])


class Cells(nn.Module):
    """Layers that share their weights over all cells of the board; see `networks.board_layout`."""

    _entries: torch.Tensor
    _constants: torch.Tensor
    _spread: torch.Tensor

    def __init__(self, places: Places, channels: int, context: int) -> None:
        super().__init__()
        self.seen, self._shape, self._is_grid = places.seen, places.shape, places.is_grid
        for name, table in (
            ("_entries", places.seen.T.reshape(-1)),
            ("_constants", places.constants.T),
            ("_spread", places.spread),
        ):  # torch moves buffers to a device together with the weights
            self.register_buffer(name, torch.from_numpy(table.copy()), persistent=False)
        self.first = make_linear(places.first_inputs, channels, math.sqrt(2))
        self.second = make_linear(places.second_inputs(channels), channels, 1.0)
        self.mix = make_linear(context, channels, 1.0)

    def forward(self, x: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """Map observations (n, size) and trunk outputs (n, context) to (n, cells, channels)."""
        cells = functional.pad(x, (0, 1)).index_select(1, self._entries)
        cells = cells.view(len(x), -1, len(self.seen))
        if self._is_grid:
            y = self.second(torch.relu(self._convolved(cells)))
        else:
            constants = self._constants.to(x.dtype).expand(len(x), -1, -1)
            y = torch.relu(self.first(self._told(torch.cat([cells, constants], 2))))
            y = self.second(self._told(y))
        return torch.relu(y + self.mix(context).unsqueeze(1))

    def _convolved(self, cells: torch.Tensor) -> torch.Tensor:
        """Apply the first layer on a grid, to (n, cells, features)."""
        # The axes are (n, channels, height, width), but channels are last in memory order.
        planes = cells.view(len(cells), *self._shape, -1).permute(0, 3, 1, 2)
        kernel = self.first.weight.to(cells.dtype).view(len(self.first.weight), -1, 3, 3)
        kernel = kernel.contiguous(memory_format=torch.channels_last)
        bias = self.first.bias.to(cells.dtype)
        y = functional.conv2d(planes, kernel, bias, padding=1)
        return y.permute(0, 2, 3, 1).flatten(1, 2)

    def _told(self, cells: torch.Tensor) -> torch.Tensor:
        """Return each chart cell's features, then sums over neighbours. See `spread_over`."""
        ways, places, _ = self._spread.shape
        told = self._spread.to(cells.dtype).flatten(0, 1) @ cells
        return told.view(-1, ways, places, cells.shape[2]).transpose(1, 2).flatten(2)


class PlacesActor(PolicyNetwork):
    """An actor that scores actions on the board from the features of their cells."""

    _ends: torch.Tensor
    _end_takers: torch.Tensor
    _scores: torch.Tensor
    _score_takers: torch.Tensor

    def __init__(
        self, game: Game, widths: Sequence[int], channels: int, advisers: int, activation: str
    ) -> None:
        super().__init__()
        places, actions = places_of(game), len(game.actions)
        self.inputs = game.observation.size
        self.trunk = mlp([self.inputs, *widths], activation, gain=math.sqrt(2))
        self._activation = make_activation(activation)
        self.board = Cells(places, channels, widths[-1])
        self.policy = make_linear(widths[-1], actions, 0.01)
        self.value = make_linear(widths[-1] + channels, 1, 0.01)
        self.at = make_linear(channels, places.at, 0.01)
        self.ends = make_linear(channels, 2 * END_UNITS, 1.0)
        self.between = make_linear(END_UNITS, places.between, 0.01)
        self.trust = _trust(widths[-1], advisers)
        # Each cell has two entries: one as the first cell of a pair, then one as the second.
        ends = np.concatenate([2 * places.pairs[0], 2 * places.pairs[1] + 1])
        number = places.cells * places.at + places.pairs.shape[1] * places.between
        for name, index in (
            ("_ends", torch.from_numpy(ends)),
            ("_end_takers", takers_of(ends, 2 * places.cells)),
            ("_scores", torch.from_numpy(places.scores)),
            ("_score_takers", takers_of(places.scores, number)),
        ):  # torch moves buffers to a device together with the weights
            self.register_buffer(name, index, persistent=False)

    def parts(self) -> dict[str, list[Linear]]:
        """Return the layers of each part of a saved policy."""
        return {
            "trunk": linears(self.trunk),
            "cells": [self.board.first, self.board.second],
            "mix": [self.board.mix],
            "policy": [self.policy],
            "value": [self.value],
            "at": [self.at],
            "ends": [self.ends],
            "between": [self.between],
            "trust": [self.trust] if self.trust else [],
        }

    def forward(self, x: torch.Tensor, advice: torch.Tensor) -> torch.Tensor:
        """Return the logits, then the expected return: (n, actions + 1). See `Actor.forward`."""
        seen = self._activation(self.trunk(x))
        cells = self.board(x, seen)
        ends = self.ends(cells).view(len(x), -1, END_UNITS)
        first, second = gathered(ends, self._ends, self._end_takers).chunk(2, 1)
        pairs = self.between(torch.relu(first + second))
        scores = torch.cat([self.at(cells).flatten(1), pairs.flatten(1)], 1)
        scores = gathered(scores, self._scores, self._score_takers)
        value = self.value(torch.cat([seen, cells.mean(1)], 1))
        outputs = torch.cat([self.policy(seen) + scores, value], 1)
        return _advised(outputs, self.trust, seen, advice)


class PlainCritic(nn.Sequential):
    """Plain layers from privileged inputs (n, inputs) to every seat's logit of winning."""

    def __init__(self, inputs: int, widths: Sequence[int], players: int, activation: str) -> None:
        super().__init__(*mlp([inputs, *widths, players], activation, gain=0.1))
        self.activation = activation

    @torch.no_grad()
    def begin_with(self, actor: Actor, sides: Sequence[int]) -> None:
        """Start with the values of an actor whose layers have the same widths.

        The weights of the other seats' private features start at 0. Seats on the mover's side
        (`sides` lists the side of each seat) get the actor's value. The other sides share the
        negative of this value equally.
        """
        ours, others = linears(self), linears(actor.layers)
        for layer, other in zip(ours[:-1], others[:-1], strict=True):
            layer.weight.zero_()
            layer.weight[:, : other.in_features] = other.weight
            layer.bias.copy_(other.bias)
        shared = -1 / max(sides)
        shares = [1.0 if side == sides[0] else shared for side in sides]
        # The factor is 2 because a value is tanh(logit / 2), which is about logit / 2.
        logits = 2 * torch.tensor(shares, device=ours[-1].weight.device)
        ours[-1].weight.copy_(logits[:, None] * others[-1].weight[actor.actions :])
        ours[-1].bias.copy_(logits * others[-1].bias[actor.actions])


class PlacesCritic(nn.Module):
    """A critic that averages the features of all cells."""

    def __init__(
        self,
        places: Places,
        widths: Sequence[int],
        channels: int,
        players: int,
        activation: str,
    ) -> None:
        super().__init__()
        self.trunk = mlp([places.nothing, *widths], activation, gain=math.sqrt(2))
        self._activation = make_activation(activation)
        self.board = Cells(places, channels, widths[-1])
        self.value = make_linear(widths[-1] + channels, players, 0.1)

    def forward(self, privileged: torch.Tensor) -> torch.Tensor:
        """Map privileged inputs (n, inputs) to each seat's logit of winning (n, players)."""
        seen = self._activation(self.trunk(privileged))
        logits: torch.Tensor = self.value(
            torch.cat([seen, self.board(privileged, seen).mean(1)], 1)
        )
        return logits
