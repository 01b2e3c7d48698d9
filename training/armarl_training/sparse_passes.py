"""The way through an actor and a critic whose inputs are mostly zero, and few of the actions legal.

Their first layer adds up the weights of the entries that are not zero, their last ones work out
what is legal and nothing else, and on the way back only those weights are touched; between them
matrices are multiplied as in `passes`, which they are held to by `tests/test_sparse_passes.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.game import Game
from armarl_training.config import TrainingConfig
from armarl_training.devices import LearnerDevice
from armarl_training.entries import Entries, is_sparse
from armarl_training.layers import linears
from armarl_training.minibatch import Part
from armarl_training.passes import Onward
from armarl_training.ppo_networks import Actor, PlainCritic
from armarl_training.softmax import make_scratch
from armarl_training.sparse_loops import (
    CHUNK,
    Ends,
    First,
    FirstBack,
    Floats,
    Learning,
    Speaking,
    go_back,
    go_in,
    learn,
    speak,
)
from armarl_training.workspace import Workspace


class SparsePasses:
    """Of networks of plain layers, as many in both, with the weights that they have now."""

    @torch.no_grad()
    def __init__(
        self, device: LearnerDevice, actor: Actor, critic: PlainCritic, factors: Floats
    ) -> None:
        """On the CPU. `factors` turn quantities into inputs, see `Quantities.truth_scales`."""
        self._device, self._factors = device, factors
        pairs = zip(linears(actor.layers), linears(critic), strict=True)
        (own_first, first), *between, (own_last, last) = pairs
        units, seen = own_first.out_features, own_first.in_features
        self._seen, self._units = seen, units
        weights = torch.zeros(first.in_features, units + first.out_features)
        weights[:seen, :units] = own_first.weight.t()
        weights[:, units:] = first.weight.t()
        self._weights = weights.numpy()
        self._biases = torch.cat([own_first.bias, first.bias]).numpy()
        self._onward = Onward(between, actor.activation, torch.float32)
        self._ends = _ends(own_last, actor.trust, last)

    def gradients(self, part: Part) -> list[torch.Tensor]:
        """Of the actor's parameters and the critic's, in order, by a part of a minibatch."""
        rows, seen, workspace = part.rows, part.seen, part.workspace
        entries = seen.entries
        assert entries is not None
        trail = self._hidden(rows, entries, workspace, self._device.run_alone)
        hidden = trail[-1]
        back = workspace.take("back", len(hidden), hidden.shape[1], torch.float32)
        sums = Ends(*(np.zeros_like(weights) for weights in self._ends))
        values = 1 + self._ends.outlook_biases.size
        said, slopes = np.empty((2, self._device.scratch_rows(1), values), np.float32)
        learning = Learning(
            *(rows, part.lot, part.number, seen.advice, part.weights, part.room),
            *(self._ends, hidden.numpy(), said, slopes, back.numpy(), sums),
        )
        self._device.run_alone(learn, len(rows), learning)
        with torch.no_grad():
            slope, own, others = self._onward.back(
                trail, self._onward.deactivate(back, hidden), workspace
            )
        first = np.zeros_like(self._weights)
        most = CHUNK * int(np.diff(entries.starts).max())
        scratch = np.empty(len(first) + 1, np.int64), np.empty((most, 2), np.int64)
        batch = FirstBack(rows, entries, self._factors, slope.numpy(), *scratch, first)
        self._device.run_alone(go_back, -(-len(rows) // CHUNK), batch)
        return self._in_order(torch.from_numpy(first), slope.sum(0), own, others, sums)

    def say(
        self,
        entries: Entries,
        masks: NDArray[np.uint8],
        advice: NDArray[np.int64],
        workspace: Workspace,
    ) -> tuple[Floats, Floats]:
        """Logits (n, actions), where an action is legal, and the critic's (n, players).

        They stand there until the next call with this workspace.
        """
        n, run = len(masks), self._device.run
        hidden = self._hidden(np.arange(n), entries, workspace, run)[-1].numpy()
        actions, players = self._ends.action_biases.size - 1, self._ends.outlook_biases.size
        scratch = make_scratch(self._device, n, actions)
        logits = workspace.take("logits", n, actions, torch.float32).numpy()
        outlooks = workspace.take("outlooks", n, players, torch.float32).numpy()
        run(speak, n, Speaking(masks, advice, self._ends, hidden, scratch, logits, outlooks))
        return logits, outlooks

    @torch.no_grad()
    def _hidden(
        self, rows: NDArray[np.int64], entries: Entries, workspace: Workspace, run: Any
    ) -> list[torch.Tensor]:
        """What goes into each layer after the first, the last layers included."""
        found = workspace.take("there 0", len(rows), self._biases.size, torch.float32)
        batch = First(rows, entries, self._factors, self._weights, self._biases, found.numpy())
        run(go_in, len(rows), batch)
        trail = self._onward.there(found, workspace)
        self._onward.activate(trail[-1])
        return trail

    def _in_order(
        self,
        first: torch.Tensor,
        bias: torch.Tensor,
        own: list[torch.Tensor],
        others: list[torch.Tensor],
        sums: Ends,
    ) -> list[torch.Tensor]:
        """Gradients as parameters stand: the actor's and then the critic's, each in one piece."""
        units, ends = self._units, [torch.from_numpy(numbers) for numbers in sums]
        trust = ends[2:4] if len(sums.trust) else []
        own = [first[: self._seen, :units].t(), bias[:units], *own, *ends[:2], *trust]
        others = [first[:, units:].t(), bias[units:], *others, *ends[4:]]
        return [found.contiguous() for found in (*own, *others)]


def suit(config: TrainingConfig, game: Game) -> bool:
    """Whether networks and settings are such that these passes can be taken, and are quicker."""
    network = config.network
    plain = not network.channels and config.device == "cpu" and config.ppo.magnet == 0
    alike = len(network.critic_widths or network.widths) == len(network.widths)
    return config.learner == "ppo" and plain and alike and is_sparse(game)


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
