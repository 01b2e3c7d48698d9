"""What a learner remembers of a position: whole quantities, and masks as bits.

An observation is `quantity / scale` in float32; the quantities are whole numbers and mostly small,
so a byte or two hold each of them exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.compiled import kernel
from armarl.game import Game, States


class Quantities:
    """How the observations of a game are kept.

    Attributes:
        game: whose observations they are.
        dtype: uint8 or uint16, the smallest type that holds every quantity.
        scales: float32 (size,), by which a quantity of the observation is divided.
        private: int64, the entries of an observation that depend on what its seat knows.
        secrets: number of quantities that the other seats alone know: their entries of the blocks
            that depend on what a seat knows, seat by seat clockwise.
        truth_scales: float32 (size + secrets,), of an observation with the secrets after it.
    """

    def __init__(self, game: Game) -> None:
        table = game.observation
        most = max(block.maximum for block in table.blocks)
        self.dtype = np.dtype(np.uint8 if most < 256 else np.uint16)
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
        self.truth_scales = np.concatenate([self.scales, secret_scales])

    def keep(self, observations: NDArray[np.float32], out: NDArray[Any]) -> None:
        """Write the quantities of observations (n, size) into `out`, of `dtype`."""
        _keep(observations, self.scales, out)

    def keep_secrets(self, states: States, seats: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write what the seats other than `seats[i]` alone know into `out` (n, secrets)."""
        for k in range(1, self.game.players):
            seen, _ = self.game.views(states, (seats + k) % self.game.players)
            theirs = out[:, (k - 1) * self.private.size : k * self.private.size]
            _keep_some(seen, self.scales, self.private, theirs)


@kernel
def _keep(observations: Any, scales: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = np.int32(observations[i, k] * scales[k] + np.float32(0.5))


@kernel
def _keep_some(observations: Any, scales: Any, entries: Any, out: Any) -> None:
    """Write the quantities of some entries of observations (n, size) into `out` (n, entries)."""
    for i in range(out.shape[0]):
        for k in range(entries.size):
            entry = entries[k]
            out[i, k] = np.int32(observations[i, entry] * scales[entry] + np.float32(0.5))


@kernel
def draw_actions(
    logits: Any, masks: Any, draws: Any, reached: Any, actions: Any, chances: Any
) -> None:
    """Some actions of each row by the softmax over its legal ones, and the logs of their chances.

    Args:
        logits: float32 (n, at least actions).
        masks: int8 (n, actions), at least one of each row legal.
        draws: float64 (n, k) in [0, 1).
        reached: float64 (actions,) scratch.
        actions: int64 (n, k), to write into.
        chances: float32 (n, k), to write into.
    """
    n, count = masks.shape
    for i in range(n):
        most = -np.inf
        for a in range(count):
            if masks[i, a] and logits[i, a] > most:
                most = logits[i, a]
        total, last = 0.0, 0
        for a in range(count):
            if masks[i, a]:
                total += np.exp(np.float32(logits[i, a] - most))
                last = a
            reached[a] = total
        spread = np.log(total)
        for k in range(draws.shape[1]):
            # The first action at which more is reached: no illegal one adds anything.
            chosen = np.searchsorted(reached, draws[i, k] * total, "right")
            chosen = min(chosen, last)
            actions[i, k] = chosen
            chances[i, k] = logits[i, chosen] - most - spread
