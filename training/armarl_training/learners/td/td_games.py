"""A shard of TD's games. Actions are drawn by the judge's values of the resulting positions.

A *survey* is the input of the judge: features of a position from the view of one seat.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.core.verbs import PLAYING
from armarl.environments.seat_loops import LEARNER
from armarl.networks.judge_kernels import weights_of
from armarl.players.protocol import choose_legally
from armarl.players.simple_players import RandomPlayer
from armarl.policies.afterstates import Afterstates
from armarl.policies.network_players import SHARPNESS
from armarl_training.common.random_streams import Stream, generator
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learning.advantages import lambda_returns
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.rewards import Reward
from armarl_training.learning.saving import (
    Saved,
    check_arrays,
    check_range,
    recent_returns,
    restore_networks,
)
from armarl_training.learning.shards import Tensors
from armarl_training.networks.value_networks import Judge

_WHOLE_WIDTHS = (32,)
_ROWS_AT_ONCE = 1024  # few enough rows that the outputs of the layers stay in a core's cache


class TDSamples(NamedTuple):
    """The training data of a rollout.

    Attributes:
        surveys: float32 (n, size), the surveys of every seat at every position.
        targets: float32 (n, outcomes), the judge's targets for these surveys.
        decisions: number of the learner's decisions in the rollout.
    """

    surveys: NDArray[np.float32]
    targets: NDArray[np.float32]
    decisions: int


class Played(NamedTuple):
    """A rollout of `steps` actions in each of `games` games.

    Attributes:
        surveys: (steps + 1, games, players, size), the surveys of every seat before each action and
            at the end of the rollout.
        outcomes: (steps, games, players, outcomes), the outcomes where an action ended its game.
        ends: int8 (steps, games), a value other than PLAYING where an action ended its game.
        cut: bool (steps, games), whether the returns are cut at an action, so that nothing is
            learned about the position before it (see `lambda_returns`).
        last: (finished, players, size), the final surveys of games that ended, in the order of
            `ends`.
    """

    surveys: NDArray[np.float32]
    outcomes: NDArray[np.float32]
    ends: NDArray[np.int8]
    cut: NDArray[np.bool_]
    last: NDArray[np.float32]


class Outcomes:
    """A source of a judge's inputs and training targets.

    Attributes:
        size: number of values to predict for a seat: its return, and each side's share of each
            prize.
        afterstates: the positions that actions lead to.
        reward: the reward of finished games.
    """

    def __init__(self, game: Game, reward: str) -> None:
        """Prepare for a reward, given by name. See `rewards`.

        Raises:
            ConfigError: the game has no survey.
        """
        try:
            self.afterstates = Afterstates(game)
        except ValueError as error:
            raise ConfigError(f"learner td: {error}") from error
        self._game, self.reward = game, Reward(game, reward)
        self.size = 1 + self.afterstates.prizes * (max(game.sides) + 1)

    def surveys(self, states: States) -> NDArray[np.float32]:
        """Return the surveys of every seat: (games, players, size)."""
        players, number = self._game.players, states.size
        seats = np.tile(np.arange(players), number)
        found = self.afterstates.surveys(np.repeat(states, players), seats)
        return found.reshape(number, players, -1)

    def came_true(self, states: States) -> NDArray[np.float32]:
        """Return finished games' outcomes for every seat, in [0, 1]: (games, players, size)."""
        game = self._game
        returns = self.reward.returns(states)
        parts = self.afterstates.parts(states)
        sides = max(game.sides) + 1
        found = np.empty((states.size, game.players, self.size), np.float32)
        found[..., 0] = (returns + 1) / 2
        for seat in range(game.players):
            # Seats of one side are `sides` apart, so the next `sides` seats cover all sides.
            around = (seat + np.arange(sides)) % game.players
            found[:, seat, 1:] = parts[:, around].transpose(0, 2, 1).reshape(states.size, -1)
        return found


class TDGames:
    """A shard; see `shards.Games`.

    Attributes:
        states: (games,) records, the games in play.
        lineups: int64 (games, players), the pool's slot of the player in each seat, or LEARNER.
        openings: int64 (games,), number of random opening actions still to play.
        recent: the learner's latest returns against each opponent, by name.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool, number: int) -> None:
        self._config, self._game, self._pool = config, game, pool
        self.outcomes = Outcomes(game, config.reward)
        self._judge = make_judge(config, game)
        self._random, self._net = RandomPlayer(game), weights_of(game, self._judge.tensors())
        self.rng = generator(config.seed, Stream.GAMES, number)
        self.recent: dict[str, deque[float]] = {}
        games = config.environments // config.shards
        self.states = np.full(games, game.blank)
        self.lineups = np.empty((games, game.players), np.int64)
        self.openings = np.empty(games, np.int64)
        self._decisions = 0
        self._deal(np.arange(games))

    def in_play(self) -> NDArray[np.int64]:
        """See `shards.Games`."""
        return self.lineups

    def play(self, networks: Tensors, done: float) -> TDSamples:
        """Play a rollout and compute its value targets; see `shards.Games`."""
        restore_networks({"judge": self._judge}, networks)
        self._decisions = 0
        played = self._rollout()
        values = judged(self._judge, played.surveys)
        targets = lambda_returns(
            played.ends, played.cut, played.outcomes, values, self._config.td.value_lambda
        )
        told = ~played.cut
        surveys = np.concatenate([played.surveys[:-1][told], played.last])
        targets = np.concatenate([targets[told], played.outcomes[played.ends != PLAYING]])
        return TDSamples(rows(surveys), rows(targets), self._decisions)

    def _rollout(self) -> Played:
        """Continue the games for one rollout."""
        game, number = self._game, self.states.size
        self._net = weights_of(game, self._judge.tensors())
        steps, first = self._config.td.rollout_length, self.outcomes.surveys(self.states)
        surveys = np.empty((steps + 1, *first.shape), np.float32)
        outcomes = np.zeros((steps, number, game.players, self.outcomes.size), np.float32)
        ends, last = np.zeros((steps, number), np.int8), []
        cut = np.zeros((steps, number), np.bool_)
        surveys[0] = first
        for t in range(steps):
            actions, at_random = self._actions()
            cut[t] = self._config.td.cut_traces & at_random
            game.apply(self.states, np.arange(number), actions)
            ends[t] = game.statuses(self.states)[0]
            over = np.flatnonzero(ends[t] != PLAYING)
            if over.size:
                finished = game.taken(self.states, over)
                outcomes[t, over] = self.outcomes.came_true(finished)
                last.append(self.outcomes.surveys(finished))
                returns = self.outcomes.reward.returns(finished)
                self._pool.note(self.recent, self.lineups[over], returns)
                self._deal(over)
            surveys[t + 1] = self.outcomes.surveys(self.states)
        return Played(surveys, outcomes, ends, cut, np.concatenate([*last, first[:0]]))

    def _actions(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the action in every game, and whether it is random.

        The judge, or the opponent in the seat, chooses the other actions.
        """
        game, pool, number = self._game, self._pool, self.states.size
        seats = game.statuses(self.states)[1]
        held = self.lineups[np.arange(number), seats]
        astray = self.rng.random(number) < self._config.td.exploration
        at_random = (self.openings > 0) | ((held == LEARNER) & astray)
        self.openings -= self.openings > 0
        held = np.where(at_random, len(pool.players), held)
        self._decisions += int((held == LEARNER).sum())
        draws, actions = self.rng.random(number), np.empty(number, np.int64)
        players = [*pool.players, self._random]
        for slot in np.unique(held):
            games = np.flatnonzero(held == slot)
            states, movers = game.taken(self.states, games), seats[games]
            if slot == LEARNER:
                actions[games] = self._choose(states, movers)
            else:
                seen = game.concealed(states, movers)
                actions[games] = choose_legally(players[slot], game, seen, movers, draws[games])
        return actions, at_random

    def _choose(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw actions from the softmax of the values of the resulting positions."""
        found = self.outcomes.afterstates.worths(states, seats, self._net)
        # The argmax of logits plus Gumbel noise is a sample from their softmax.
        noise = -np.log(-np.log(self.rng.random(found.worths.size)))
        scores = found.worths * (SHARPNESS / self._config.td.temperature) + noise
        best = np.maximum.reduceat(scores, found.first)
        rows = np.flatnonzero(scores == best[found.decisions])
        chosen = np.empty(states.size, np.int64)
        chosen[found.decisions[rows]] = found.actions[rows]
        return chosen

    def _deal(self, games: NDArray[np.int64]) -> None:
        """Start new games at these indices."""
        td, rng = self._config.td, self.rng
        self._game.deal(self.states, games, rng.integers(1 << 62, size=games.size))
        self.lineups[games] = self._pool.lineups(rng, games.size)
        lengths = rng.integers(1, td.opening_length, size=games.size, endpoint=True)
        self.openings[games] = np.where(rng.random(games.size) < td.openings, lengths, 0)

    def save(self) -> Saved:
        """Return the games, their lineups, and their random state."""
        states = self.states.view(np.uint8).reshape(self.states.size, -1)
        arrays: dict[str, NDArray[Any]] = {"states": states, "lineups": self.lineups}
        arrays["openings"] = self.openings
        recent = {name: list(returns) for name, returns in self.recent.items()}
        return arrays, {"chance": self.rng.bit_generator.state, "recent": recent}

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Restore a saved state.

        Raises:
            ValueError: the state was saved with another number of games, or is damaged.
        """
        check_arrays(arrays, self.save()[0], "the games'")
        check_range(arrays["lineups"], LEARNER, len(self._pool.players) - 1, "the games' lineups")
        check_range(arrays["openings"], 0, self._config.td.opening_length, "the games' openings")
        states = np.ascontiguousarray(arrays["states"]).view(self.states.dtype).reshape(-1)
        self._game.check_states(states)
        if self._game.statuses(states)[0].any():
            raise ValueError("all saved games must be in play, but at least one is over")
        self.states[:] = states
        self.lineups[:], self.openings[:] = arrays["lineups"], arrays["openings"]
        self.rng.bit_generator.state = values["chance"]
        self.recent = recent_returns(values["recent"])


def make_judge(config: TrainingConfig, game: Game) -> Judge:
    """Create a judge with initial weights."""
    whole = config.network.critic_widths or _WHOLE_WIDTHS
    return Judge(game, config.network.widths, whole)


def logits_of(judge: Judge, surveys: torch.Tensor) -> torch.Tensor:
    """Return the judge's outputs for surveys (n, size), before the sigmoid: (n, outcomes)."""
    returns, taken, _ = judge(surveys)
    return torch.cat([returns.unsqueeze(1), taken.flatten(1)], 1)


@torch.no_grad()
def judged(judge: Judge, surveys: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the judge's predictions, in the shape of `Outcomes.came_true`."""
    seen = rows(surveys)
    found = []
    for first in range(0, len(seen), _ROWS_AT_ONCE):
        some = torch.from_numpy(seen[first : first + _ROWS_AT_ONCE])
        found.append(torch.sigmoid(logits_of(judge, some)).numpy())
    return np.concatenate(found).reshape(*surveys.shape[:-1], -1)


def rows(array: NDArray[Any]) -> NDArray[Any]:
    """Flatten all axes but the last."""
    return array.reshape(-1, array.shape[-1])
