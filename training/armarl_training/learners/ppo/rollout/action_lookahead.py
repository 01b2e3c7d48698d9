"""Lookahead: the critic evaluates the positions after some actions other than the played one.

A decision has dozens of legal actions, but a game shows the result of only one of them, at its end.
The learner knows the rules, so it tries a few more actions on copies of the state. The critic then
evaluates the resulting positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.batch_loops import own
from armarl.core.game import Game
from armarl.core.verbs import PLAYING, Fixed, verbs
from armarl_training.networks.integer_observations import IntegerObservations, keep_others, keep_row
from armarl_training.networks.learner_devices import Array

OVER = -1  # value in place of the seat to move if the game is over
# Maps features (n, size) and secrets (n, secrets) to the values of all seats, in [-1, 1], the
# seat to move first: float32 (n, players).
CriticValues = Callable[[Array, Array], Array]


class LookaheadActions(NamedTuple):
    """Actions to try on copies of states."""

    states: States  # (n,)
    actions: NDArray[np.int64]  # (n, k), legal
    kind: int  # the reward: an index into `Game.rewards`
    spare: States  # (2 * threads,) scratch
    seen: NDArray[np.float32]  # (2 * threads, size) scratch
    scales: NDArray[np.float32]  # (size,), see `IntegerObservations`
    private: NDArray[np.int64]  # indices of the private observation entries
    features: NDArray[Any]  # (n, k, size) written: features that the next seat to move sees
    secrets: NDArray[Any]  # (n, k, secrets) written: features that only the other seats know
    seats: NDArray[np.int64]  # (n, k) written: the next seat to move, or OVER
    returns: NDArray[np.float64]  # (n, k, players) written where the game is over


def look(batch: LookaheadActions, i: int, thread: int, fixed: Fixed) -> None:
    """Try the lookahead actions of decision `i`, one by one."""
    mine = own(thread)
    for k in range(batch.actions.shape[1]):
        batch.spare[mine] = batch.states[i]
        s, seen = batch.spare[mine], batch.seen[mine]
        features, secrets = batch.features[i, k], batch.secrets[i, k]
        verbs.apply(s, batch.actions[i, k], *fixed)
        if verbs.status(s) != PLAYING:
            batch.seats[i, k] = OVER
            verbs.returns(s, batch.kind, batch.returns[i, k])
            features[:] = 0
            secrets[:] = 0
        else:
            seat, players = verbs.to_move(s), batch.returns.shape[2]
            batch.seats[i, k] = seat
            verbs.observe(s, seat, seen, *fixed)
            keep_row(seen, batch.scales, features)
            keep_others(s, seat, players, seen, batch.scales, batch.private, secrets, fixed)


class LookaheadPositions(NamedTuple):
    """The positions after the lookahead actions, with their values."""

    movers: NDArray[np.int64]  # (n,), seats that would take the actions
    seats: NDArray[np.int64]  # (n, k), see `LookaheadActions`
    returns: NDArray[np.float64]  # (n, k, players), see `LookaheadActions`
    values: NDArray[np.float32]  # (n * k, players), the critic's, see `CriticValues`
    lookahead_values: NDArray[np.float32]  # (n, k) written


def value_positions(batch: LookaheadPositions, i: int, thread: int) -> None:
    """Write the mover's return or value after each action of decision `i`."""
    mover, number, players = batch.movers[i], batch.returns.shape[1], batch.returns.shape[2]
    for k in range(number):
        seat = batch.seats[i, k]
        if seat == OVER:
            batch.lookahead_values[i, k] = batch.returns[i, k, mover]
        else:
            batch.lookahead_values[i, k] = batch.values[i * number + k, (mover - seat) % players]


class LookAhead:
    """A lookahead that tries actions on copies of states. A critic evaluates the results."""

    def __init__(self, game: Game, kept: IntegerObservations, reward: str) -> None:
        """Prepare for a reward of the game, given by name."""
        self._kept, self._kind, self._players = kept, game.reward_kind(reward), game.players

    def lookahead_values(
        self, states: Array, movers: Array, actions: Array, critic_values: CriticValues
    ) -> Array:
        """Return the mover's value after each action, in [-1, 1].

        Args:
            states: (n,) records of running games.
            movers: int64 (n,), the seats to move.
            actions: int64 (n, k), legal actions.
            critic_values: the critic.

        Returns:
            float32 (n, k).
        """
        kept, device, (n, k) = self._kept, self._kept.device, actions.shape
        size, zeros, rows = kept.scales.size, device.zeros, device.scratch_rows(n)
        looks = LookaheadActions(
            states=states,
            actions=actions,
            kind=self._kind,
            spare=device.scratch_states(n),
            seen=device.interleaved((rows, size), np.float32),
            scales=kept.its_scales,
            private=kept.its_private,
            features=zeros((n, k, size), kept.dtype),
            secrets=zeros((n, k, kept.secrets), kept.dtype),
            seats=zeros((n, k), np.int64),
            returns=zeros((n, k, self._players), np.float64),
        )
        device.run(look, n, looks)
        features = looks.features.reshape(n * k, size)
        values = critic_values(features, looks.secrets.reshape(n * k, kept.secrets))
        lookahead_values = zeros((n, k), np.float32)
        prospects = LookaheadPositions(movers, looks.seats, looks.returns, values, lookahead_values)
        device.run(value_positions, n, prospects)
        return lookahead_values
