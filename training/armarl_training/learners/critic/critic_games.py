"""A shard of a critic's games: a scripted player's, from their deals to their ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.environments.seat_loops import LEARNER
from armarl.players.protocol import Player, choose_legally
from armarl.players.simple_players import RandomPlayer
from armarl.policies.network_players import CriticPlayer
from armarl.roster.make_player import make_player
from armarl_training.common.random_streams import Stream, generator
from armarl_training.config.training_config import MOST, TrainingConfig
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import (
    AVERAGE,
    Saved,
    check_arrays,
    check_range,
    recent_returns,
    restore_networks,
)
from armarl_training.learning.shards import Tensors
from armarl_training.networks.integer_observations import Quantities
from armarl_training.networks.value_networks import Critic

MOST_STEPS = 1500  # of the improved player's games: they may not end
MOST_BRANCHED = 12  # ends of turns in one of them from which scripted games branch off
COMPLETIONS = 4  # of each position there
MOST_TURNS = 48  # of a game from whose ends is learned: one in which all wait has hundreds alike


class CriticLesson(NamedTuple):
    """What is learned from.

    Attributes:
        seen: (n, size), the quantities of what a seat observed where a turn ended.
        returns: float32 (n,), what it got at the end of its game.
        decisions: of the learner's seats.
    """

    seen: NDArray[Any]
    returns: NDArray[np.float32]
    decisions: int


class Start(NamedTuple):
    """Games to be played on.

    Attributes:
        states: (n,) records.
        lineups: int64 (n, players), the pool's slot of the player in each seat, or LEARNER; the
            advisers' slots follow the pool's.
    """

    states: States
    lineups: NDArray[np.int64]


class Branches(NamedTuple):
    """Games that begin where the improved player came to.

    Attributes:
        start: the positions, each dealt anew some times.
        observers: int64 (n,), the seats for whom what they are not shown was dealt.
        decisions: that led to them.
    """

    start: Start
    observers: NDArray[np.int64]
    decisions: int


class Turned(NamedTuple):
    """Games in which an action has just ended a turn, of all that are under way.

    Attributes:
        games: int64 (n,), which; there may be none.
        states: (n,) records.
        own: how many of the actions were of the learner's seats, in all games under way.
    """

    games: NDArray[np.int64]
    states: States
    own: int


class CriticGames:
    """A shard; see `shards.Games`. Between two calls no game is under way.

    Attributes:
        lots: int64 (), of games that have been played, from which the chance of the next follows.
        recent: by opponent, the scripted player's last returns against it.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool, number: int) -> None:
        self._config, self._game, self._pool, self._number = config, game, pool, number
        self._advisers = [make_player(adviser, game) for adviser in config.network.advisers]
        self._critic = Critic(game, config.network.widths)
        self._random, self._kept = RandomPlayer(game), Quantities(game)
        self.recent: dict[str, deque[float]] = {}
        self.lots = np.zeros((), np.int64)

    def in_play(self) -> NDArray[np.int64]:
        """See `shards.Games`."""
        return np.array([], np.int64)

    def play(self, networks: Tensors, done: float) -> CriticLesson:
        """A lot of games, and what they tell of the ends of their turns; see `shards.Games`."""
        game, config = self._game, self._config
        rng = generator(config.seed, Stream.GAMES, self._number, int(self.lots))
        fresh = self._dealt(config.environments // config.shards, rng)
        begun, observed, decisions = self._branches(networks, done, rng)
        states = np.concatenate([fresh.states, begun.states])
        lineups = np.concatenate([fresh.lineups, begun.lineups])
        seen = [self._observed(begun.states, observed)]
        noted = [(np.arange(fresh.states.size, states.size), observed)]
        for turned in self._turns(Start(states, lineups), self._advisers[0], rng):
            observers = _own_seats(lineups[turned.games], rng)
            seen.append(self._observed(turned.states, observers))
            noted.append((turned.games, observers))
            decisions += turned.own
        returns = game.returns(states, np.arange(states.size), config.reward)
        number = fresh.states.size
        self._pool.note(self.recent, lineups[:number], returns[:number])
        self.lots += 1
        games, observers = (np.concatenate(parts) for parts in zip(*noted, strict=True))
        came = returns[games, observers].astype(np.float32)
        kept = _of_each(games, MOST_TURNS, rng)
        return CriticLesson(np.concatenate(seen)[kept], came[kept], decisions)

    def _dealt(self, number: int, rng: np.random.Generator) -> Start:
        """So many games at their beginnings."""
        states = self._game.new_states(rng.integers(1 << 62, size=number))
        return Start(states, self._pool.lineups(rng, number))

    def _branches(self, networks: Tensors, done: float, rng: np.random.Generator) -> Branches:
        """Positions to which the improved player comes, each dealt anew some times."""
        settings, game = self._config.critic, self._game
        began = self._dealt(settings.improved_games * (done >= settings.improved_from), rng)
        restore_networks({AVERAGE: self._critic}, networks)
        tensors, advisers = self._critic.tensors(), self._config.network.advisers
        improved = CriticPlayer(game, tensors, advisers=advisers)
        found, games, decisions = [began.states[:0]], [np.arange(0)], 0
        for turned in islice(self._turns(began, improved, rng), MOST_STEPS):
            found.append(turned.states)
            games.append(turned.games)
            decisions += turned.own
        kept = _of_each(np.concatenate(games), MOST_BRANCHED, rng)
        states = np.repeat(np.concatenate(found)[kept], COMPLETIONS)
        observers = _own_seats(began.lineups[np.concatenate(games)[kept]], rng).repeat(COMPLETIONS)
        lineups = self._advised(observers)
        dealt = game.determinised(states, observers, rng.integers(1 << 62, size=states.size))
        return Branches(Start(dealt, lineups), observers, decisions)

    def _advised(self, observers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Lineups in which the learner observes and the advisers in turn are all others."""
        number = np.arange(observers.size) % len(self._advisers)
        lineups = np.repeat(len(self._pool.players) + number[:, None], self._game.players, axis=1)
        sides = np.array(self._game.sides)
        lineups[sides == sides[observers][:, None]] = LEARNER
        return lineups

    def _turns(self, start: Start, own: Player, rng: np.random.Generator) -> Iterator[Turned]:
        """Play games to their ends, an action of each at a time; `own` has the learner's seats.

        The states are brought to their ends in place.
        """
        game, (states, lineups) = self._game, start
        running, positions = np.arange(states.size), states.copy()
        owners, seats = game.turns_of(states), game.statuses(states)[1]
        while running.size:
            held = lineups[running, seats]
            actions = self._actions(positions, seats, held, own, rng)
            game.apply(positions, np.arange(running.size), actions)
            (statuses, movers), turns = game.statuses(positions), game.turns_of(positions)
            on = statuses == PLAYING
            turned = np.flatnonzero(on & (turns != owners))
            ended = game.taken(positions, turned)
            yield Turned(running[turned], ended, int((held == LEARNER).sum()))
            states[running[~on]] = positions[~on]
            running, positions = running[on], positions[on]
            seats, owners = movers[on], turns[on]

    def _actions(
        self,
        positions: States,
        seats: NDArray[np.int64],
        held: NDArray[np.int64],
        own: Player,
        rng: np.random.Generator,
    ) -> NDArray[np.int64]:
        """What is played in every position by those who hold the seats to move."""
        astray = (held == LEARNER) & (rng.random(seats.size) < self._config.critic.exploration)
        players = [own, *self._pool.players, *self._advisers, self._random]  # LEARNER: slot -1
        who = np.where(astray, len(players) - 1, held - LEARNER)
        draws, actions = rng.random(seats.size), np.empty(seats.size, np.int64)
        shown = self._game.concealed(positions, seats)
        for k in np.unique(who):
            some = np.flatnonzero(who == k)
            question = self._game.taken(shown, some), seats[some], draws[some]
            if 1 <= k <= len(self._pool.players):  # anybody may be one of these
                actions[some] = choose_legally(players[k], self._game, *question)
            else:
                actions[some] = players[k].choose(*question)
        return actions

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


def _own_seats(lineups: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A seat of the learner's in each of the lineups, drawn: what others get is not its own."""
    return np.asarray(((lineups == LEARNER) * (1 - rng.random(lineups.shape))).argmax(axis=1))


def _of_each(games: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which rows to keep, ascending, if `games` says of which game each is: at most so many."""
    order = np.lexsort((rng.random(games.size), games))
    ordered = games[order]
    first = np.searchsorted(ordered, ordered)
    return np.sort(order[np.arange(games.size) - first < most])
