"""What would follow other actions than the one that is played, for a critic to judge.

A decision has dozens of legal actions, and a game tells of one of them, at its end. The rules are
at hand, so a few more are tried on copies of the state, and the critic says what is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl import threads
from armarl.game import Game, States
from armarl.loops import own
from armarl.verbs import PLAYING, Observation, State, verbs
from armarl_training.quantities import Quantities

OVER = -1  # in place of the seat to move
# From quantities (n, size) and secrets (n, secrets) to what every seat expects, in [-1, 1], the
# seat to move first: float32 (n, players).
Outlook = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float32]]


class Looks(NamedTuple):
    """Actions to try on copies of states."""

    states: States  # (n,)
    actions: NDArray[np.int64]  # (n, k), legal
    kind: int  # number of the reward
    spare: States  # (2 * threads,) scratch
    seen: NDArray[np.float32]  # (2 * threads, size) scratch
    scales: NDArray[np.float32]  # (size,), see `Quantities`
    private: NDArray[np.int64]  # entries of an observation that depend on what the seat knows
    quantities: NDArray[Any]  # (n, k, size) written: what the seat to move then sees
    secrets: NDArray[Any]  # (n, k, secrets) written: what the others alone know
    seats: NDArray[np.int64]  # (n, k) written: the seat to move then, or OVER
    returns: NDArray[np.float64]  # (n, k, players) written where the game is over


def look(batch: Looks, i: int, thread: int) -> None:
    """Try the actions of decision `i`, one by one."""
    mine = own(thread)
    for k in range(batch.actions.shape[1]):
        batch.spare[mine] = batch.states[i]
        s = batch.spare[mine]
        verbs.apply(s, batch.actions[i, k])
        if verbs.status(s) != PLAYING:
            batch.seats[i, k] = OVER
            verbs.returns(s, batch.kind, batch.returns[i, k])
            batch.quantities[i, k] = 0
            batch.secrets[i, k] = 0
        else:
            seat = verbs.to_move(s)
            batch.seats[i, k] = seat
            note(batch, s, seat, batch.seen[mine], batch.quantities[i, k], batch.secrets[i, k])


def note(
    batch: Looks,
    s: State,
    seat: int,
    seen: Observation,
    quantities: NDArray[Any],
    secrets: NDArray[Any],
) -> None:
    """Write what a seat sees, and what the others alone know, clockwise."""
    half, private, players = np.float32(0.5), batch.private, batch.returns.shape[2]
    verbs.observe(s, seat, seen)
    for e in range(seen.size):
        quantities[e] = np.int32(seen[e] * batch.scales[e] + half)
    for k in range(1, players):
        verbs.observe(s, (seat + k) % players, seen)
        for j in range(private.size):
            e = private[j]
            secrets[(k - 1) * private.size + j] = np.int32(seen[e] * batch.scales[e] + half)


class LookAhead:
    """Tries actions on copies of states, and has a critic judge what is reached."""

    def __init__(self, game: Game, kept: Quantities, reward: str) -> None:
        """For a reward of the game, by name."""
        self._game, self._kept, self._kind = game, kept, game.reward_kind(reward)

    def worths(
        self, states: States, movers: NDArray[np.int64], actions: NDArray[np.int64], ask: Outlook
    ) -> NDArray[np.float32]:
        """What the seats that move expect after each action, in [-1, 1].

        Args:
            states: (n,) in play.
            movers: (n,), their seats to move.
            actions: (n, k), legal.
            ask: the critic.

        Returns:
            float32 (n, k).
        """
        game, kept, (n, k) = self._game, self._kept, actions.shape
        rows = 2 * threads.most_threads_for(n)
        batch = Looks(
            states=states,
            actions=actions,
            kind=self._kind,
            spare=np.full(rows, game.blank),
            seen=np.empty((rows, game.observation.size), np.float32),
            scales=kept.scales,
            private=kept.private,
            quantities=np.empty((n, k, game.observation.size), kept.dtype),
            secrets=np.empty((n, k, kept.secrets), kept.dtype),
            seats=np.empty((n, k), np.int64),
            returns=np.zeros((n, k, game.players)),
        )
        game.run(look, n, batch)
        seats, players = batch.seats.reshape(-1), game.players
        asked = ask(batch.quantities.reshape(n * k, -1), batch.secrets.reshape(n * k, kept.secrets))
        mine = np.repeat(movers, k)
        expected = asked[np.arange(n * k), (mine - seats) % players]
        settled = batch.returns.reshape(n * k, players)[np.arange(n * k), mine]
        worths: NDArray[np.float32] = np.where(seats == OVER, settled, expected)
        return worths.astype(np.float32).reshape(n, k)
