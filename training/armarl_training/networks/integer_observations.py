"""Compact storage of positions: integer observation features, and action masks as bits.

An observation is `feature / scale` in float32. The features are integers, most of them small, so
one or two bytes store each of them exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined
from armarl.compiler.types import Observation, State, States
from armarl.core.batch_loops import WrittenRows, own
from armarl.core.verbs import Fixed, verbs
from armarl_training.networks.learner_devices import Array, LearnerDevice, OnCpu
from armarl_training.networks.softmax import SoftmaxScratch, find_legal, highest, pick, weigh

if TYPE_CHECKING:
    from armarl.core.game import Game


class IntegerObservations:
    """A converter of a game's observations to integer features. Dividing by `scales` converts back.

    Attributes:
        game: the game.
        device: the device of the arrays.
        dtype: uint8 or int16, the smaller type that holds every feature.
        scales: divisor of each feature of the observation, float32, shape (size,).
        private: indices of the private entries of an observation, which depend on what only the
            observing seat knows, int64.
        secrets: number of features that only the other seats know: the private entries of all these
            seats, clockwise from the observing seat.
        privileged_scales: divisors for an observation followed by the secrets, float32, shape
            (size + secrets,).
    """

    def __init__(self, game: Game, device: LearnerDevice | None = None) -> None:
        """Prepare for arrays on `device`. None: the CPU."""
        table = game.observation
        widest = max(table.blocks, key=lambda block: block.maximum)
        most = widest.maximum
        self.dtype = np.dtype(np.uint8 if most < 1 << 8 else np.int16)
        if most >= 1 << 15:
            raise ValueError(
                f"in the observation of {game.name}, {widest.name} goes up to {most}, but learners "
                f"store numbers up to {(1 << 15) - 1}; choose game options that lower this maximum"
            )
        self.scales = np.empty(table.size, np.float32)
        own = np.zeros(table.size, np.bool_)
        for block in table.blocks:
            scale = np.broadcast_to(np.asarray(block.scale, np.float32), block.shape)
            self.scales[table.slices[block.name]] = scale.reshape(-1)
            own[table.slices[block.name]] = block.known == "own"
        self.game, self.private = game, np.flatnonzero(own)
        others = game.players - 1
        self.secrets = others * self.private.size
        secret_scales = np.tile(self.scales[self.private], others)
        self.privileged_scales = np.concatenate([self.scales, secret_scales])
        self.device = device or OnCpu(game)
        self.its_scales = self.device.put(self.scales)  # copies for the device's loops
        self.its_private = self.device.put(self.private)

    def keep(self, observations: Array, out: Array) -> None:
        """Write the features of observations, float32 (n, size), into `out`, of `dtype`."""
        if isinstance(observations, np.ndarray):
            self.device.run(keep, len(out), Kept(observations, self.its_scales, out))
        else:  # on a GPU, each operation handles all entries at the same time
            out.copy_((observations * self.its_scales).add_(0.5))

    def keep_secrets(
        self, states: Array, seats: Array, out: Array, spare: Array | None = None
    ) -> None:
        """Write the features that only seats other than `seats[i]` know into `out`, (n, secrets).

        `spare` is scratch memory, float32, shape (scratch rows of n, size). None: a new array.
        """
        if self.secrets == 0:
            return
        if spare is None:
            rows = self.device.scratch_rows(len(out))
            spare = self.device.interleaved((rows, self.scales.size), np.float32)
        players = self.game.players
        batch = Secrets(states, seats, players, spare, self.its_scales, self.its_private, out)
        self.device.run(keep_secrets, len(out), batch)


class Kept(NamedTuple):
    """Arguments of `keep`: observations, and the array for their features."""

    observations: NDArray[np.float32]  # (n, size)
    scales: NDArray[np.float32]  # (size,)
    features: NDArray[Any]  # (n, size) written


def keep(batch: Kept, i: int, thread: int) -> None:
    """Write the features of observation `i`."""
    keep_row(batch.observations[i], batch.scales, batch.features[i])


@inlined
def keep_row(observation: Any, scales: Any, out: Any) -> None:
    """Write the features of one observation."""
    for k in range(out.size):
        out[k] = np.int32(observation[k] * scales[k] + np.float32(0.5))


class Secrets(NamedTuple):
    """Arguments of `keep_secrets`: positions, and an array for other seats' private features."""

    states: States  # (n,)
    seats: NDArray[np.int64]  # (n,), the observing seats; their own features are not written
    players: int
    seen: NDArray[np.float32]  # (2 * threads, size) scratch
    scales: NDArray[np.float32]  # (size,)
    private: NDArray[np.int64]  # indices of the private entries
    secrets: WrittenRows  # (n, secrets)


def keep_secrets(batch: Secrets, i: int, thread: int, fixed: Fixed) -> None:
    """Write the features that only the other seats know, in row `i`, clockwise by seat."""
    s, seat, out, seen = batch.states[i], batch.seats[i], batch.secrets[i], batch.seen[own(thread)]
    keep_others(s, seat, batch.players, seen, batch.scales, batch.private, out, fixed)


def keep_others(
    s: State,
    seat: int,
    players: int,
    seen: Observation,
    scales: Any,
    private: Any,
    out: Any,
    fixed: Fixed,
) -> None:
    """Write the features of a state that only seats other than `seat` know. `seen` is scratch."""
    for k in range(1, players):
        verbs.observe(s, (seat + k) % players, seen, *fixed)
        keep_some(seen, scales, private, out[(k - 1) * private.size : k * private.size])


@inlined
def keep_some(observation: Any, scales: Any, entries: Any, out: Any) -> None:
    """Write the features of some entries of an observation."""
    for j in range(entries.size):
        entry = entries[j]
        out[j] = np.int32(observation[entry] * scales[entry] + np.float32(0.5))


# --- random actions ------------------------------------------------------------------------------


class Draws(NamedTuple):
    """Arguments of `draw`: logits, random numbers, and arrays for the actions."""

    logits: NDArray[np.float32]  # (n, actions or more); extra columns are padding
    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits, at least one in each row
    draws: NDArray[np.float64]  # (n, k) in [0, 1)
    reached: NDArray[np.float64]  # (2 * threads, actions) scratch: cumulative weights
    scratch: SoftmaxScratch
    actions: NDArray[np.int64]  # (n, k) written
    log_probs: NDArray[np.float32]  # (n, k) written


def draw(batch: Draws, i: int, thread: int) -> None:
    """Draw actions from the softmax over the legal ones, and write their log-probabilities."""
    mine, scratch, draws = own(thread), batch.scratch, batch.draws[i]
    legal, logits, weights = scratch.legal[mine], scratch.logits[mine], scratch.weights[mine]
    number, reached = find_legal(batch.masks[i], legal), batch.reached[mine]
    pick(batch.logits[i], legal, number, False, logits)
    most = highest(logits, number)
    weigh(logits, number, most, scratch.bits[mine], scratch.numbers[mine], weights)
    total = 0.0
    for j in range(number):
        total += weights[j]
        reached[j] = total
    spread = math.log(total)
    for k in range(draws.size):
        # Find the first action whose cumulative weight exceeds `wanted`.
        wanted, chosen, end = draws[k] * total, 0, number - 1
        while chosen < end:
            middle = (chosen + end) // 2
            if reached[middle] > wanted:
                end = middle
            else:
                chosen = middle + 1
        batch.actions[i, k] = legal[chosen]
        batch.log_probs[i, k] = np.float64(logits[chosen]) - np.float64(most) - spread
