"""A shard of a critic's games: whole games, with a scripted player in the learner's seats."""

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
from armarl_training.config.sections import MOST
from armarl_training.config.training_config import TrainingConfig
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
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.value_networks import Critic

# Games of the improved player (the scripted player improved by the critic) may never end, so each
# has a maximum number of actions. Scripted games branch off after some turns of each.
MOST_STEPS = 1500
MOST_BRANCHED = 12  # maximum number of these turns
COMPLETIONS = 4  # number of scripted games that branch off after each of these turns
# Maximum number of turns of a game to learn from. A long game in which all players wait would
# otherwise add many samples that are almost equal.
MOST_TURNS = 48


class CriticSamples(NamedTuple):
    """The training data of a batch of games.

    Attributes:
        seen: (n, size), the integer features of one seat's observation at the end of a turn.
        returns: float32 (n,), the return of this seat at the end of the game.
        decisions: number of decisions in the learner's seats.
    """

    seen: NDArray[Any]
    returns: NDArray[np.float32]
    decisions: int


class Start(NamedTuple):
    """Games to continue.

    Attributes:
        states: (n,) records.
        lineups: int64 (n, players), the slot of the player in each seat, or LEARNER. The slots of
            the pool come first, then those of the advisers.
    """

    states: States
    lineups: NDArray[np.int64]


class Branches(NamedTuple):
    """Games that start from positions that the improved player reached.

    Attributes:
        start: the positions, each with several deals of its hidden information.
        observers: int64 (n,), the seats from whose view the hidden information was dealt.
        decisions: number of decisions that led to the positions.
    """

    start: Start
    observers: NDArray[np.int64]
    decisions: int


class Turned(NamedTuple):
    """The games in which the action of this step ended a turn but not the game.

    Attributes:
        games: int64 (n,), indices of the games; may be empty.
        states: (n,) records.
        own: number of the learner's actions in this step, summed over all games in play.
    """

    games: NDArray[np.int64]
    states: States
    own: int


class CriticGames:
    """A shard; see `shards.Games`. Between two calls of `play`, no game is in play.

    Attributes:
        lots: int64 (), number of batches of games played so far. It seeds the next batch.
        recent: the scripted player's latest returns against each opponent, by name.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool, number: int) -> None:
        self._config, self._game, self._pool, self._number = config, game, pool, number
        self._advisers = [make_player(adviser, game) for adviser in config.network.advisers]
        self._critic = Critic(game, config.network.widths)
        self._random, self._kept = RandomPlayer(game), IntegerObservations(game)
        self.recent: dict[str, deque[float]] = {}
        self.lots = np.zeros((), np.int64)

    def in_play(self) -> NDArray[np.int64]:
        """See `shards.Games`."""
        return np.array([], np.int64)

    def play(self, networks: Tensors, done: float) -> CriticSamples:
        """Play a batch of games and return data from the ends of turns. See `shards.Games`."""
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
        return CriticSamples(np.concatenate(seen)[kept], came[kept], decisions)

    def _dealt(self, number: int, rng: np.random.Generator) -> Start:
        """Deal `number` new games."""
        states = self._game.new_states(rng.integers(1 << 62, size=number))
        return Start(states, self._pool.lineups(rng, number))

    def _branches(self, networks: Tensors, done: float, rng: np.random.Generator) -> Branches:
        """Return positions that the improved player reaches, each with several new deals."""
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
        """Return lineups with the learner on the observer's side and an adviser in all other seats.

        The advisers alternate from lineup to lineup.
        """
        number = np.arange(observers.size) % len(self._advisers)
        lineups = np.repeat(len(self._pool.players) + number[:, None], self._game.players, axis=1)
        sides = np.array(self._game.sides)
        lineups[sides == sides[observers][:, None]] = LEARNER
        return lineups

    def _turns(self, start: Start, own: Player, rng: np.random.Generator) -> Iterator[Turned]:
        """Play games to their ends, and yield after each step the games in which a turn ended.

        A step is one action in each game. `own` plays the learner's seats. The final states replace
        the states of `start` in place.
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
        """Return the action in every position, chosen by the player in the seat to move."""
        astray = (held == LEARNER) & (rng.random(seats.size) < self._config.critic.exploration)
        # LEARNER is -1, so subtracting it turns a slot into an index of this list.
        players = [own, *self._pool.players, *self._advisers, self._random]
        who = np.where(astray, len(players) - 1, held - LEARNER)
        draws, actions = rng.random(seats.size), np.empty(seats.size, np.int64)
        shown = self._game.concealed(positions, seats)
        for k in np.unique(who):
            some = np.flatnonzero(who == k)
            question = self._game.taken(shown, some), seats[some], draws[some]
            if 1 <= k <= len(self._pool.players):  # players of the pool may be user code
                actions[some] = choose_legally(players[k], self._game, *question)
            else:
                actions[some] = players[k].choose(*question)
        return actions

    def _observed(self, states: States, seats: NDArray[np.int64]) -> NDArray[Any]:
        """Return the integer features that `seats[i]` observes, (n, size)."""
        observations, _ = self._game.views(states, seats)
        kept = np.empty(observations.shape, self._kept.dtype)
        self._kept.keep(observations, kept)
        return kept

    def save(self) -> Saved:
        """Return the number of batches played, which determines all later random numbers."""
        recent = {name: list(returns) for name, returns in self.recent.items()}
        return {"lots": self.lots.copy()}, {"recent": recent}

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Restore a saved state.

        Raises:
            ValueError: the state is damaged.
        """
        check_arrays(arrays, self.save()[0], "the games'")
        check_range(arrays["lots"].reshape(1), 0, MOST, "the games' lots")
        self.lots[...] = arrays["lots"]
        self.recent = recent_returns(values["recent"])


def _own_seats(lineups: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw one of the learner's seats in each lineup. The critic learns the return of this seat."""
    return np.asarray(((lineups == LEARNER) * (1 - rng.random(lineups.shape))).argmax(axis=1))


def _of_each(games: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose at most `most` random rows of each game. Return their indices in ascending order.

    `games` contains the game of each row.
    """
    order = np.lexsort((rng.random(games.size), games))
    ordered = games[order]
    first = np.searchsorted(ordered, ordered)
    return np.sort(order[np.arange(games.size) - first < most])
