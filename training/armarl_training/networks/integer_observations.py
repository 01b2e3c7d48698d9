"""What a learner remembers of a position: whole quantities, and masks as bits.

An observation is `quantity / scale` in float32; the quantities are whole numbers and mostly small,
so a byte or two hold each of them exactly.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import inlined
from armarl.compiler.types import Observation, State, States
from armarl.core.batch_loops import WrittenRows, own
from armarl.core.game import Game
from armarl.core.verbs import verbs
from armarl_training.networks.learner_devices import Array, LearnerDevice, OnCpu
from armarl_training.networks.softmax import SoftmaxScratch, find_legal, highest, pick, weigh


class Quantities:
    """How the observations of a game are kept.

    Attributes:
        game: whose observations they are.
        device: where they are kept.
        dtype: uint8 or int16, the smallest type that holds every quantity.
        scales: float32 (size,), by which a quantity of the observation is divided.
        private: int64, the entries of an observation that depend on what its seat knows.
        secrets: number of quantities that the other seats alone know: their entries of the blocks
            that depend on what a seat knows, seat by seat clockwise.
        privileged_scales: float32 (size + secrets,), of an observation with the secrets after it.
    """

    def __init__(self, game: Game, device: LearnerDevice | None = None) -> None:
        """On a device; None: on the CPU."""
        table = game.observation
        widest = max(table.blocks, key=lambda block: block.maximum)
        most = widest.maximum
        self.dtype = np.dtype(np.uint8 if most < 1 << 8 else np.int16)
        if most >= 1 << 15:
            raise ValueError(
                f"the observation of {game.name} has {widest.name} of up to {most}, and learners "
                f"keep numbers up to {(1 << 15) - 1}: choose options of the game that limit it"
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
        self.its_scales = self.device.put(self.scales)  # where the device's loops find them
        self.its_private = self.device.put(self.private)

    def keep(self, observations: Array, out: Array) -> None:
        """Write the quantities of observations, float32 (n, size), into `out`, of `dtype`."""
        if isinstance(observations, np.ndarray):
            self.device.run(keep, len(out), Kept(observations, self.its_scales, out))
        else:  # on a GPU all entries are alike
            out.copy_((observations * self.its_scales).add_(0.5))

    def keep_secrets(
        self, states: Array, seats: Array, out: Array, spare: Array | None = None
    ) -> None:
        """Write what the seats other than `seats[i]` alone know into `out`, (n, secrets).

        `spare`, float32 (scratch rows of n, size), is written over; a new array if None.
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
    """Observations to keep."""

    observations: NDArray[np.float32]  # (n, size)
    scales: NDArray[np.float32]  # (size,)
    quantities: NDArray[Any]  # (n, size) written


def keep(batch: Kept, i: int, thread: int) -> None:
    """The quantities of an observation."""
    keep_row(batch.observations[i], batch.scales, batch.quantities[i])


@inlined
def keep_row(observation: Any, scales: Any, out: Any) -> None:
    """The quantities of one observation."""
    for k in range(out.size):
        out[k] = np.int32(observation[k] * scales[k] + np.float32(0.5))


class Secrets(NamedTuple):
    """Positions of which what others know is kept."""

    states: States  # (n,)
    seats: NDArray[np.int64]  # (n,), who knows the rest
    players: int
    seen: NDArray[np.float32]  # (2 * threads, size) scratch
    scales: NDArray[np.float32]  # (size,)
    private: NDArray[np.int64]  # entries that depend on what a seat knows
    secrets: WrittenRows  # (n, secrets)


def keep_secrets(batch: Secrets, i: int, thread: int) -> None:
    """What the others alone know, clockwise."""
    s, seat, out, seen = batch.states[i], batch.seats[i], batch.secrets[i], batch.seen[own(thread)]
    keep_others(s, seat, batch.players, seen, batch.scales, batch.private, out)


def keep_others(
    s: State, seat: int, players: int, seen: Observation, scales: Any, private: Any, out: Any
) -> None:
    """What the seats other than `seat` alone know of a state; `seen` is scratch."""
    for k in range(1, players):
        verbs.observe(s, (seat + k) % players, seen)
        keep_some(seen, scales, private, out[(k - 1) * private.size : k * private.size])


@inlined
def keep_some(observation: Any, scales: Any, entries: Any, out: Any) -> None:
    """The quantities of some entries of an observation."""
    for j in range(entries.size):
        entry = entries[j]
        out[j] = np.int32(observation[entry] * scales[entry] + np.float32(0.5))


# --- actions by chance ---------------------------------------------------------------------------


class Draws(NamedTuple):
    """Decisions to be drawn."""

    logits: NDArray[np.float32]  # (n, actions or more), those beyond are no action's
    masks: NDArray[np.uint8]  # (n, bytes), the legal actions as bits, at least one of each row
    draws: NDArray[np.float64]  # (n, k) in [0, 1)
    reached: NDArray[np.float64]  # (2 * threads, actions) scratch
    scratch: SoftmaxScratch
    actions: NDArray[np.int64]  # (n, k) written
    log_probs: NDArray[np.float32]  # (n, k) written


def draw(batch: Draws, i: int, thread: int) -> None:
    """Some actions by the softmax over the legal ones, and their log-probabilities."""
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
        # The first action at which more is reached.
        wanted, chosen, end = draws[k] * total, 0, number - 1
        while chosen < end:
            middle = (chosen + end) // 2
            if reached[middle] > wanted:
                end = middle
            else:
                chosen = middle + 1
        batch.actions[i, k] = legal[chosen]
        batch.log_probs[i, k] = np.float64(logits[chosen]) - np.float64(most) - spread
