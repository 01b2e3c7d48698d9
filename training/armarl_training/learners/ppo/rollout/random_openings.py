"""Random opening actions, so that the games begin differently.

A policy that trains against scripted players meets the same openings again and again, and memorises
them. The learner does not train on the random actions, only on its own decisions after them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.randomness import pick
from armarl.core.verbs import PLAYING
from armarl.environments.self_play_batch import Turn
from armarl_training.networks.learner_devices import Array, LearnerDevice


class DrawnActions(NamedTuple):
    """Random choices of legal actions, with random numbers drawn in advance."""

    masks: NDArray[np.int8]  # (n, actions)
    draws: NDArray[np.float64]  # (n,) in [0, 1)
    actions: NDArray[np.int64]  # (n,) written


def pick_drawn(batch: DrawnActions, i: int, thread: int) -> None:
    """Write the legal action that the random number of row `i` selects."""
    batch.actions[i] = pick(batch.masks[i], batch.draws[i])


class Openings:
    """Random openings: the number of random actions that each game still has to play.

    Attributes:
        left: int64 (games,), number of random actions still to play.
        longest: maximum number of random actions at the start of a game.
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
        """Draw the openings of the first games.

        Args:
            share: share of the games that have a random opening.
            longest: maximum number of random actions in an opening. All lengths from 1 to `longest`
                are equally likely.
        """
        self._device, self._rng, self._share, self.longest = device, rng, share, longest
        self._chosen = device.zeros((games,), np.int64)
        self.left = self._drawn(games)

    def under_way(self) -> Array:
        """Return whether the next action is random, bool (games,)."""
        return self.left > 0

    def play(self, turn: Turn, draws: Array, actions: Array) -> None:
        """Replace the actions of games that are in their opening by random actions.

        Args:
            draws: float64 (games,), random numbers.
            actions: int64 (games,), written.
        """
        self._device.run(pick_drawn, len(draws), DrawnActions(turn.masks, draws, self._chosen))
        now = self.under_way()
        actions[:] = actions * ~now + self._chosen * now
        self.left[:] = self.left - 1 * now

    def note_ends(self, turn: Turn) -> None:
        """Draw the openings of the new games that replace ended games."""
        over = turn.ends != PLAYING
        self.left[:] = self.left * ~over + self._drawn(len(over)) * over

    def _drawn(self, games: int) -> Array:
        """Draw lengths of openings, int64 (games,)."""
        draws = self._device.random(self._rng, (games, 2))
        lengths = self._device.zeros((games,), np.int64)
        lengths[:] = 1 + draws[:, 0] * self.longest
        return lengths * (draws[:, 1] < self._share)
