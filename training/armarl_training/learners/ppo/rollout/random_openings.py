"""Games that begin with some random actions, so that not all of them begin alike.

A policy that learns against scripted players meets the same openings again and again, and learns
them by heart. Of a random opening nothing is learnt; all that comes after it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick
from armarl.core.verbs import PLAYING
from armarl.environments.self_play_batch import Turn
from armarl_training.networks.learner_devices import Array, LearnerDevice


class Picks(NamedTuple):
    """Random choices by numbers that were drawn before."""

    masks: NDArray[np.int8]  # (n, actions)
    draws: NDArray[np.float64]  # (n,) in [0, 1)
    actions: NDArray[np.int64]  # (n,) written


def pick_drawn(batch: Picks, i: int, thread: int) -> None:
    """The legal action at the draw's place in their list."""
    batch.actions[i] = pick(batch.masks[i], batch.draws[i])


class Openings:
    """How many random actions of each game are still to come.

    Attributes:
        left: int64 (games,).
        longest: of them at the start of a game.
    """

    def __init__(
        self,
        device: LearnerDevice,
        rng: np.random.Generator,
        games: int,
        *,
        share: float,
        longest: int,
    ) -> None:
        """Of games that begin.

        Args:
            share: of the games that begin so.
            longest: so many actions at most, each number as likely as another.
        """
        self._device, self._rng, self._share, self.longest = device, rng, share, longest
        self._chosen = device.zeros((games,), np.int64)
        self.left = self._drawn(games)

    def under_way(self) -> Array:
        """bool (games,), whether the next action is random."""
        return self.left > 0

    def play(self, turn: Turn, draws: Array, actions: Array) -> None:
        """Put random actions in the place of those of games that are in their opening.

        Args:
            draws: float64 (games,), random numbers.
            actions: int64 (games,), written.
        """
        self._device.run(pick_drawn, len(draws), Picks(turn.masks, draws, self._chosen))
        now = self.under_way()
        actions[:] = actions * ~now + self._chosen * now
        self.left[:] = self.left - 1 * now

    def note_ends(self, turn: Turn) -> None:
        """Draw the openings of games that begin."""
        over = turn.ends != PLAYING
        self.left[:] = self.left * ~over + self._drawn(len(over)) * over

    def _drawn(self, games: int) -> Array:
        """Lengths, int64 (games,)."""
        draws = self._device.random(self._rng, (games, 2))
        lengths = self._device.zeros((games,), np.int64)
        lengths[:] = 1 + draws[:, 0] * self.longest
        return lengths * (draws[:, 1] < self._share)
