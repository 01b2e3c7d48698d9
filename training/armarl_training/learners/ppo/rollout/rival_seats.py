"""The opponents in the seats that the learner does not play, in games that run in lockstep.

The lineup of a game is drawn from the pool at its start. `cuda_rival_seats` has the opponents on a
GPU.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.environments.seat_loops import LEARNER
from armarl.environments.self_play_batch import SelfPlayBatch, Turn
from armarl.players.advice import Advice
from armarl.players.protocol import choose_legally
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.networks.learner_devices import Array

# Maps features (n, size) and advice (n, advisers) to logits, float32 (n, actions or more).
Logits = Callable[[Array, Array], Array]


class Position(NamedTuple):
    """The next decision in each game, with the data that opponents need."""

    batch: SelfPlayBatch
    turn: Turn
    held: Array  # int64 (games,), the slot of the player to move, or LEARNER
    draws: Array  # float64 (games,), a random number for each game
    features: Array  # (games, size), features that the seat to move sees
    advice: Array  # int64 (games, advisers)
    actions: Array  # int64 (games, k); the first column is written where an opponent moves


class Rivals(Protocol):
    """The opponents in a batch of games.

    Attributes:
        lineups: int64 (games, players), the pool's slot of the player in each seat, or LEARNER.
        recent: the learner's latest returns against each opponent, by name.
    """

    lineups: Array
    recent: dict[str, deque[float]]

    def begin(self) -> None:
        """Prepare for a rollout."""
        ...

    def advised(self, batch: SelfPlayBatch, turn: Turn, held: Array, draws: Array) -> Array:
        """Return the advisers' actions, int64 (games, advisers), valid where a player uses them.

        See `Position` for the arguments.
        """
        ...

    def answer(self, position: Position) -> None:
        """Write the actions of the opponents whose turn it is.

        Call `advised` on the same decisions first.
        """
        ...

    def note_ends(self, turn: Turn) -> None:
        """Note the returns of games that have ended, and draw lineups for the games that follow."""
        ...

    def end(self) -> None:
        """Finish a rollout."""
        ...


class HostRivals:
    """Opponents on the CPU; see `Rivals`. Any player can be an opponent."""

    def __init__(
        self, game: Game, pool: OpponentPool, rng: np.random.Generator, games: int, advice: Advice
    ) -> None:
        self._game, self._pool, self._rng, self._advice = game, pool, rng, advice
        self.lineups = pool.lineups(rng, games)
        self.recent: dict[str, deque[float]] = {}

    def begin(self) -> None:
        """See `Rivals`."""

    def advised(self, batch: SelfPlayBatch, turn: Turn, held: Array, draws: Array) -> Array:
        """See `Rivals`. Only the learner is advised: earlier versions run their own advisers."""
        found = np.zeros((len(held), len(self._advice)), np.int64)
        if len(self._advice):
            games = np.flatnonzero(held == LEARNER)
            states = self._game.taken(batch.states, games)
            found[games] = self._advice.actions(states, turn.seats[games])
        return found

    def answer(self, position: Position) -> None:
        """See `Rivals`. Each player gets all its decisions in one call."""
        held, turn = position.held, position.turn
        for slot in np.unique(held[held != LEARNER]):
            games = np.flatnonzero(held == slot)
            seats = turn.seats[games]
            states = self._game.taken(position.batch.states, games)
            seen = self._game.concealed(states, seats)
            player, draws = self._pool.players[slot], position.draws[games]
            position.actions[games, 0] = choose_legally(player, self._game, seen, seats, draws)

    def note_ends(self, turn: Turn) -> None:
        """See `Rivals`."""
        over = np.flatnonzero(turn.ends != PLAYING)
        if over.size and self._pool.has_share:
            self._pool.note(self.recent, self.lineups[over], turn.rewards[over])
            self.lineups[over] = self._pool.lineups(self._rng, over.size)

    def end(self) -> None:
        """See `Rivals`."""
