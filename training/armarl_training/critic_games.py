"""A shard of a critic's games: a scripted player's, from their deals to their ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game, States
from armarl.players import RandomPlayer, make_player
from armarl.seat_loops import LEARNER
from armarl.verbs import PLAYING
from armarl_training.config import MOST, TrainingConfig
from armarl_training.opponents import OpponentPool
from armarl_training.quantities import Quantities
from armarl_training.saving import Saved, check_arrays, check_range, recent_returns
from armarl_training.shards import Tensors


class Lesson(NamedTuple):
    """What is learned from.

    Attributes:
        seen: (n, size), the quantities of what a seat observed where a turn ended.
        returns: float32 (n,), what it got at the end of its game.
        decisions: of the learner's seats.
    """

    seen: NDArray[Any]
    returns: NDArray[np.float32]
    decisions: int


class CriticGames:
    """A shard; see `shards.Games`. Between two calls no game is under way.

    Attributes:
        lots: int64 (), of games that have been played, from which the chance of the next follows.
        recent: by opponent, the scripted player's last returns against it.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool, number: int) -> None:
        self._config, self._game, self._pool, self._number = config, game, pool, number
        self._scripted = make_player(config.network.advisers[0], game)
        self._random, self._kept = RandomPlayer(game), Quantities(game)
        self.recent: dict[str, deque[float]] = {}
        self.lots = np.zeros((), np.int64)

    def play(self, networks: Tensors, done: float) -> Lesson:
        """A lot of games, and what they tell of the ends of their turns; see `shards.Games`."""
        game, number = self._game, self._config.environments // self._config.shards
        rng = np.random.default_rng((self._config.seed, 1, self._number, int(self.lots)))
        states = game.new_states(rng.integers(1 << 62, size=number))
        lineups = self._pool.lineups(rng, number)
        seen, noted, decisions = [], [], 0
        running, owners = np.arange(number), game.turns_of(states)
        seats = game.statuses(states)[1]
        while running.size:
            positions = game.taken(states, running)
            actions, own = self._actions(positions, seats, lineups[running, seats], rng)
            decisions += own
            game.apply(states, running, actions)
            positions = game.taken(states, running)
            (statuses, movers), turns = game.statuses(positions), game.turns_of(positions)
            on = statuses == PLAYING
            turned = running[on & (turns != owners)]
            observers = rng.integers(game.players, size=turned.size)
            seen.append(self._observed(game.taken(states, turned), observers))
            noted.append((turned, observers))
            running, seats, owners = running[on], movers[on], turns[on]
        returns = game.returns(states, np.arange(number), self._config.reward)
        self._pool.note(self.recent, lineups, returns)
        self.lots += 1
        games, observers = (np.concatenate(parts) for parts in zip(*noted, strict=True))
        came = returns[games, observers].astype(np.float32)
        return Lesson(np.concatenate(seen), came, decisions)

    def _actions(
        self,
        positions: States,
        seats: NDArray[np.int64],
        held: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> tuple[NDArray[np.int64], int]:
        """What is played in every position, and how many of them were the learner's to decide."""
        own = held == LEARNER
        astray = own & (rng.random(seats.size) < self._config.critic.exploration)
        players = [self._scripted, *self._pool.players, self._random]  # LEARNER is below slot 0
        who = np.where(astray, len(players) - 1, np.where(own, 0, held + 1))
        draws, actions = rng.random(seats.size), np.empty(seats.size, np.int64)
        shown = self._game.concealed(positions, seats)
        for k in np.unique(who):
            some = np.flatnonzero(who == k)
            asked = self._game.taken(shown, some)
            actions[some] = players[k].choose(asked, seats[some], draws[some])
        return actions, int(own.sum())

    def _observed(self, states: States, seats: NDArray[np.int64]) -> NDArray[Any]:
        """The quantities of what `seats[i]` observes, (n, size)."""
        observations, _ = self._game.views(states, seats)
        kept = np.empty(observations.shape, self._kept.dtype)
        self._kept.keep(observations, kept)
        return kept

    def save(self) -> Saved:
        """The lots that were played, from which all chance follows."""
        recent = {name: list(returns) for name, returns in self.recent.items()}
        return {"lots": self.lots.copy()}, {"recent": recent}

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved.

        Raises:
            ValueError: it is damaged.
        """
        check_arrays(arrays, self.save()[0], "the games'")
        check_range(arrays["lots"].reshape(1), 0, MOST, "the games' lots")
        self.lots[...] = arrays["lots"]
        self.recent = recent_returns(values["recent"])
