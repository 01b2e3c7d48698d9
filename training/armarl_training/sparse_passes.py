"""The way through an actor and a critic whose inputs are mostly zero, and few of the actions legal.

Their first layer adds up the weights of the entries that are not zero, their last ones work out
what is legal and nothing else, and on the way back only those weights are touched; between them
matrices are multiplied as in `passes`, which they are held to by `tests/test_sparse_passes.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.compiled import inlined, summed
from armarl.game import Game
from armarl.loops import own
from armarl_training.devices import LearnerDevice
from armarl_training.entries import Entries, is_sparse
from armarl_training.layers import linears
from armarl_training.losses import Lot, Room, Weights, policy_gradient, value_gradient
from armarl_training.minibatch import Part
from armarl_training.passes import Onward
from armarl_training.ppo_networks import Actor, PlainCritic
from armarl_training.softmax import Scratch, find_legal, place_of
from armarl_training.workspace import Workspace

if TYPE_CHECKING:  # which asks here how it is settled
    from armarl_training.config import TrainingConfig

Floats = NDArray[np.float32]
CHUNK = 64  # rows that go back together


class First(NamedTuple):
    """Rows that go through the first layer of both."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    factors: Floats  # (inputs,), by which quantities are multiplied
    weights: Floats  # (inputs, units of both)
    biases: Floats  # (units of both,)
    found: Floats  # (n, units of both) written


def go_in(batch: First, i: int, thread: int) -> None:
    """What the first layer finds in row `i`: the sum of weights of what is not zero."""
    starts, columns, quantities = batch.entries
    row, found, weights, factors = batch.rows[i], batch.found[i], batch.weights, batch.factors
    k, end = starts[row], starts[row + 1]
    for unit in range(found.size):
        found[unit] = batch.biases[unit]
    while k + 4 <= end:
        a, b, c, d = columns[k], columns[k + 1], columns[k + 2], columns[k + 3]
        p, q = quantities[k] * factors[a], quantities[k + 1] * factors[b]
        r, s = quantities[k + 2] * factors[c], quantities[k + 3] * factors[d]
        _add_four(found, weights[a], weights[b], weights[c], weights[d], p, q, r, s)
        k += 4
    while k < end:
        _add(found, weights[columns[k]], np.float32(quantities[k] * factors[columns[k]]))
        k += 1


class FirstBack(NamedTuple):
    """The way back to the first layer's weights. Sums are taken, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the entries
    entries: Entries
    factors: Floats  # (inputs,)
    slopes: Floats  # (n, units of both), gradients of what was found
    ends: NDArray[np.int64]  # (inputs + 1,) scratch
    sorted: NDArray[np.int64]  # (most entries of CHUNK rows, 2) scratch
    weights: Floats  # (inputs, units of both), gradients to which those of the rows are added


def go_back(batch: FirstBack, i: int, thread: int) -> None:
    """What some rows add to the gradients of the weights of their entries.

    Column by column, so that the weights of each are fetched once for all of these rows.
    """
    entries, slopes, weights, ends = batch.entries, batch.slopes, batch.weights, batch.ends
    _sort_by_column(batch, CHUNK * i, min(CHUNK * i + CHUNK, batch.rows.size))
    j = 0
    for column in range(len(weights)):
        total, factor, end = weights[column], batch.factors[column], ends[column]
        while j + 4 <= end:
            a, b, c, d = (
                batch.sorted[j],
                batch.sorted[j + 1],
                batch.sorted[j + 2],
                batch.sorted[j + 3],
            )
            p, q = entries.quantities[a[1]] * factor, entries.quantities[b[1]] * factor
            r, s = entries.quantities[c[1]] * factor, entries.quantities[d[1]] * factor
            _add_four(total, slopes[a[0]], slopes[b[0]], slopes[c[0]], slopes[d[0]], p, q, r, s)
            j += 4
        while j < end:
            row, k = batch.sorted[j]
            _add(total, slopes[row], np.float32(entries.quantities[k] * factor))
            j += 1


@inlined
def _sort_by_column(batch: FirstBack, first: int, last: int) -> None:
    """Write in `sorted` the entries of some rows, and of which row each is, column by column.

    In `ends` where those of each column end.
    """
    starts, columns, _ = batch.entries
    places, found = batch.ends, batch.sorted
    places[:] = 0
    for row in batch.rows[first:last]:
        for k in range(starts[row], starts[row + 1]):
            places[columns[k] + 1] += 1
    for column in range(1, places.size):
        places[column] += places[column - 1]
    for j in range(first, last):
        row = batch.rows[j]
        for k in range(starts[row], starts[row + 1]):
            place = places[columns[k]]
            found[place, 0], found[place, 1] = j, k
            places[columns[k]] = place + 1


class Ends(NamedTuple):
    """The last layers of both, or their gradients."""

    actions: Floats  # (actions + 1, units of the actor), after the actions what it expects
    action_biases: Floats  # (actions + 1,)
    trust: Floats  # (advisers, units of the actor)
    trust_biases: Floats  # (advisers,)
    outlooks: Floats  # (players, units of the critic)
    outlook_biases: Floats  # (players,)


class Learning(NamedTuple):
    """Decisions to learn from. Sums are taken, so by one thread alone."""

    rows: NDArray[np.int64]  # (n,), of the lot
    lot: Lot
    number: int  # over which the mean is taken
    advice: NDArray[np.int64]  # (rows of the lot, advisers)
    counts: Weights
    room: Room
    ends: Ends
    hidden: Floats  # (n, units of both), what goes into the last layers
    said: Floats  # (2 * threads, 1 + players) scratch
    slopes: Floats  # (2 * threads, 1 + players) scratch
    back: Floats  # (n, units of both) written: gradients of `hidden`
    gradients: Ends  # to which those of the decisions are added


def learn(batch: Learning, i: int, thread: int) -> None:
    """The last layers' sayings of decision `i`, the gradient of its losses, and the way back."""
    mine, row, lot, ends, sums = own(thread), batch.rows[i], batch.lot, batch.ends, batch.gradients
    scratch, units = batch.room.scratch, ends.actions.shape[1]
    hidden, others = batch.hidden[i][:units], batch.hidden[i][units:]
    back, others_back = batch.back[i][:units], batch.back[i][units:]
    said, slopes, value = batch.said[mine], batch.slopes[mine], ends.action_biases.size - 1
    number = say_legal(ends, hidden, lot.masks[row], batch.advice[row], scratch, mine)
    said[0] = _dot(hidden, ends.actions[value]) + ends.action_biases[value]
    for k in range(ends.outlook_biases.size):
        said[1 + k] = _dot(others, ends.outlooks[k]) + ends.outlook_biases[k]

    policy_gradient(lot, row, number, batch.number, batch.counts, batch.room, mine)
    value_gradient(said, lot, row, batch.number, batch.counts, batch.room, mine, False, slopes)

    legal, weights = scratch.legal[mine], scratch.weights[mine]
    back[:] = 0
    others_back[:] = 0
    for k in range(batch.advice.shape[1]):
        slope = weights[place_of(batch.advice[row, k], legal, number)]
        sums.trust_biases[k] += slope
        _go_through(hidden, ends.trust[k], slope, back, sums.trust[k])
    for j in range(number):
        sums.action_biases[legal[j]] += weights[j]
        _go_through(hidden, ends.actions[legal[j]], weights[j], back, sums.actions[legal[j]])
    sums.action_biases[value] += slopes[0]
    _go_through(hidden, ends.actions[value], slopes[0], back, sums.actions[value])
    for k in range(ends.outlook_biases.size):
        sums.outlook_biases[k] += slopes[1 + k]
        _go_through(others, ends.outlooks[k], slopes[1 + k], others_back, sums.outlooks[k])


class Speaking(NamedTuple):
    """Positions of which is said what to play there, and what to expect."""

    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits
    advice: NDArray[np.int64]  # (n, advisers)
    ends: Ends
    hidden: Floats  # (n, units of both), what goes into the last layers
    scratch: Scratch
    logits: Floats  # (n, actions) written where an action is legal
    outlooks: Floats  # (n, players) written: logits of winning, the mover's first


def speak(batch: Speaking, i: int, thread: int) -> None:
    """Of position `i`."""
    mine, ends, scratch = own(thread), batch.ends, batch.scratch
    units = ends.actions.shape[1]
    hidden, others = batch.hidden[i][:units], batch.hidden[i][units:]
    number = say_legal(ends, hidden, batch.masks[i], batch.advice[i], scratch, mine)
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    for j in range(number):
        batch.logits[i, legal[j]] = logits[j]
    for k in range(ends.outlook_biases.size):
        batch.outlooks[i, k] = _dot(others, ends.outlooks[k]) + ends.outlook_biases[k]


@inlined
def say_legal(ends: Ends, hidden: Any, mask: Any, advice: Any, scratch: Scratch, mine: int) -> Any:
    """Write the ids and logits of the legal actions to row `mine`; returns how many they are."""
    legal, logits = scratch.legal[mine], scratch.logits[mine]
    number = find_legal(mask, legal)
    for j in range(number):
        logits[j] = _dot(hidden, ends.actions[legal[j]]) + ends.action_biases[legal[j]]
    for k in range(advice.size):
        place = place_of(advice[k], legal, number)
        logits[place] += _dot(hidden, ends.trust[k]) + ends.trust_biases[k]
    return number


@inlined
def _go_through(x: Any, weights: Any, slope: Any, back: Any, gradients: Any) -> None:
    """Back through one output of a layer, by the gradient of that output."""
    _add(back, weights, np.float32(slope))
    _add(gradients, x, np.float32(slope))


@summed
def _dot(x: Any, y: Any) -> Any:
    total = np.float32(0)
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@summed
def _add(total: Any, x: Any, factor: Any) -> None:
    """Add a multiple to a total."""
    for k in range(total.size):
        total[k] += factor * x[k]


@summed
def _add_four(total: Any, x: Any, y: Any, z: Any, w: Any, p: Any, q: Any, r: Any, s: Any) -> None:
    """Add multiples of four at once, which reads and writes the total but once."""
    p, q, r, s = np.float32(p), np.float32(q), np.float32(r), np.float32(s)
    for k in range(total.size):
        total[k] += (p * x[k] + q * y[k]) + (r * z[k] + s * w[k])


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
        scratch: Scratch,
        workspace: Workspace,
    ) -> tuple[Floats, Floats]:
        """Logits (n, actions), where an action is legal, and the critic's (n, players).

        They stand there until the next call with this workspace.
        """
        n, run = len(masks), self._device.run
        hidden = self._hidden(np.arange(n), entries, workspace, run)[-1].numpy()
        actions, players = self._ends.action_biases.size - 1, self._ends.outlook_biases.size
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
