"""The first layers of an actor and a critic, computed together from changes in their inputs.

A seat's observations at two consecutive decisions are almost equal. The layer's output for the
second decision is its output for the first, plus the changes of the inputs times their weights.
Chess engines use this method along the moves that they search (NNUE: Nasu, 2018). In the backward
pass, the gradient of a change includes the gradients of all later decisions in its chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl_training.learners.ppo.incremental.changes import make_entry_scratch
from armarl_training.learners.ppo.incremental.first_layer_kernels import (
    CHUNK,
    FirstBackward,
    FirstForward,
    Following,
    Table,
    Tables,
    backward_first,
    for_changes,
    for_inputs,
    forward_first,
)
from armarl_training.learners.ppo.update.buffers import Floats, Workspace, aligned_zeros

if TYPE_CHECKING:
    from armarl_training.learners.ppo.update.minibatch import InputChanges
    from armarl_training.networks.integer_observations import IntegerObservations
    from armarl_training.networks.learner_devices import Array, LearnerDevice


class LatestOutputs:
    """The latest observation of every seat of some games, and the first layer's outputs for it."""

    def __init__(self, kept: IntegerObservations, games: int, units: int) -> None:
        """Allocate memory for games before their first decisions."""
        players, inputs = kept.game.players, kept.privileged_scales.size
        self.kept = np.zeros((games, players, inputs), kept.dtype)
        self.sums = np.empty((games, players, units), np.float32)
        rows = kept.device.scratch_rows(games)
        self.scratch = make_entry_scratch(kept.device, games, inputs)
        self.columns = np.empty((rows, inputs), np.uint16)
        self.changes = np.empty((rows, inputs), np.float32)


class FirstLayer:
    """The first layers with their current weights, on the CPU and in float32."""

    @torch.no_grad()
    def __init__(
        self,
        device: LearnerDevice,
        actor: nn.Linear,
        critic: nn.Linear,
        factors: Floats,
        alike: NDArray[np.int16],
    ) -> None:
        """Copy the weights of the first layers of an actor and a critic.

        Args:
            factors: factors that turn features into inputs, see `InputReader`.
            alike: see `alike_inputs`.
        """
        self._device, self._alike, self._factors = device, alike, factors
        self._units, seen = actor.out_features, actor.in_features
        both = torch.cat([actor.weight.t(), critic.weight[:, :seen].t()], 1)
        # Always copy, even if the transposed weights are contiguous, because the copy is modified.
        secrets = critic.weight[:, seen:].t().clone(memory_format=torch.contiguous_format)
        self._tables = Tables(
            Table(alike[:seen], both.numpy()),
            Table(alike[seen:], secrets.numpy()),
        )
        for table in self._tables:
            for_changes(table)
        self._biases: Floats = torch.cat([actor.bias, critic.bias]).numpy()

    @property
    def units(self) -> int:
        """Number of units in the first layers of both networks together."""
        return self._biases.size

    def forward(
        self, rows: NDArray[np.int64], entries: InputChanges, workspace: Workspace
    ) -> torch.Tensor:
        """Return the outputs, (n, units), for rows that form whole chains, in order."""
        found = workspace.take("forward 0", len(rows), self.units, torch.float32)
        batch = FirstForward(rows, entries, self._tables, self._biases, found.numpy())
        self._device.run_alone(forward_first, len(rows), batch)
        return found

    def backward(
        self, rows: NDArray[np.int64], entries: InputChanges, slopes: torch.Tensor
    ) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Return the gradients of the actor's weights and bias, then those of the critic's.

        Args:
            slopes: (n, units), gradients of the outputs; overwritten.
        """
        units, bias, inputs = self._units, slopes.sum(0), self._alike.size
        most = CHUNK * int(np.diff(entries.starts).max(initial=0))
        sums = Tables(*(Table(its.alike, aligned_zeros(its.weights.shape)) for its in self._tables))
        batch = FirstBackward(
            rows=rows,
            entries=entries,
            slopes=slopes.numpy(),
            places=np.empty(inputs + 1, np.int64),
            sorted_rows=np.empty(most, np.int64),
            sorted_changes=np.empty(most, np.float32),
            tables=sums,
        )
        self._device.run_alone(backward_first, -(-len(rows) // CHUNK), batch)
        for table in sums:
            for_inputs(table)
        seen, secrets = (torch.from_numpy(table.weights) for table in sums)
        critic = torch.cat([seen[:, units:], secrets])
        return [seen[:, :units].contiguous().t(), bias[:units]], [critic.t(), bias[units:]]

    def begin(self, latest: LatestOutputs) -> None:
        """Discard the latest observations and outputs, which were computed with other weights."""
        latest.kept[:] = 0
        latest.sums[:] = self._biases

    def following(
        self,
        latest: LatestOutputs,
        features: Array,
        secrets: Array,
        movers: Array,
        workspace: Workspace,
    ) -> Following:
        """Return the arguments of `follow`, which computes the outputs for the next positions."""
        found = workspace.take("forward 0", len(movers), self.units, torch.float32)
        return Following(
            features=features,
            secrets=secrets,
            movers=movers,
            alike=self._alike,
            factors=self._factors,
            tables=self._tables,
            kept=latest.kept,
            sums=latest.sums,
            scratch=latest.scratch,
            columns=latest.columns,
            changes=latest.changes,
            found=found.numpy(),
        )
