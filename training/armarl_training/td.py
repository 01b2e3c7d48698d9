"""TD(lambda) for judges of positions: play, returns, update (Tesauro, 1995).

The learner holds all seats of most games. Every seat's view of every position is learned from,
whoever moves there: towards what the same seat expects of the positions that follow, and how the
game ends, the outcome itself and who takes which prize alike. Actions are chosen by what the judge
says of where they lead, so there is no policy to be learnt beside.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from armarl.afterstates import Afterstates
from armarl.game import Game
from armarl.judge_kernels import weights_of
from armarl.network_players import SHARPNESS, JudgingPlayer, NetworkPlayer
from armarl.players import RandomPlayer
from armarl.seat_loops import LEARNER
from armarl.verbs import PLAYING
from armarl_training.advantages import lambda_returns
from armarl_training.config import ConfigError, TrainingConfig
from armarl_training.lessons import Lessons
from armarl_training.networks import Judge
from armarl_training.opponents import OpponentPool
from armarl_training.saving import (
    Saved,
    check_arrays,
    check_range,
    count_of,
    recent_returns,
    restore_networks,
    restore_optimiser,
    saved_networks,
    saved_optimiser,
    section,
)

_WHOLE_WIDTHS = (32,)
_ROWS_AT_ONCE = 1024  # whose layers stay in a core's cache


class Played(NamedTuple):
    """A rollout of `steps` actions in each of `games` games.

    Attributes:
        surveys: (steps + 1, games, players, size), every seat's before each action, and at the end.
        outcomes: (steps, games, players, outcomes), what came true where an action ended its game.
        ends: int8 (steps, games), not PLAYING where an action ended its game.
        last: (finished, players, size), the surveys of the games that ended, in the same order.
    """

    surveys: NDArray[np.float32]
    outcomes: NDArray[np.float32]
    ends: NDArray[np.int8]
    last: NDArray[np.float32]


class TD:
    """A learner of a judge; see `learner.Learner`.

    Attributes:
        judge: says of a seat's survey what it will get, and who will take what.
        average: the exponential average of the judge's weights, which is what plays elsewhere.
        states: (games,) records, the games in play.
        lineups: int64 (games, players), the pool's slot of the player in each seat, or LEARNER.
        openings: int64 (games,), random actions that are still to come.
    """

    def __init__(self, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        self._config, self._game, self._pool = config, game, pool
        try:
            self._afterstates = Afterstates(game)
        except ValueError as error:
            raise ConfigError(f"learner td: {error}") from error
        torch.manual_seed(config.seed)
        whole = config.network.critic_widths or _WHOLE_WIDTHS
        self.judge = Judge(game, config.network.widths, whole)
        self.average = copy.deepcopy(self.judge)
        self._optimiser = torch.optim.Adam(self.judge.parameters(), eps=1e-5, fused=True)
        self._random, self._net = RandomPlayer(game), weights_of(game, self.judge.tensors())
        self.rng = np.random.default_rng([config.seed, 1])
        self._recent: dict[str, deque[float]] = {}
        self.decisions = 0
        number = config.environments
        self.states = np.full(number, game.blank)
        self.lineups = np.empty((number, game.players), np.int64)
        self.openings = np.empty(number, np.int64)
        self._deal(np.arange(number))

    # --- one iteration ---------------------------------------------------------------------------

    def iterate(self, done: float) -> dict[str, float]:
        """One rollout, what its positions should have been held for, and the update by that."""
        td = self._config.td
        played = self._play()
        values = self._values(played.surveys)
        targets = lambda_returns(played.ends, played.outcomes, values, td.value_lambda)
        surveys = np.concatenate([_flat(played.surveys[:-1]), played.last])
        targets = np.concatenate([_flat(targets), played.outcomes[played.ends != PLAYING]])
        rate = td.learning_rate + done * (td.final_learning_rate - td.learning_rate)
        return self._update(_rows(surveys), _rows(targets), rate, td.epochs)

    def _play(self) -> Played:
        """Play on for a rollout."""
        game, number = self._game, self.states.size
        self._net = weights_of(game, self.judge.tensors())
        steps, first = self._config.td.rollout_length, self._surveys(self.states)
        surveys = np.empty((steps + 1, *first.shape), np.float32)
        outcomes = np.zeros((steps, number, game.players, self._outcomes), np.float32)
        ends, last = np.zeros((steps, number), np.int8), []
        surveys[0] = first
        for t in range(steps):
            game.apply(self.states, np.arange(number), self._actions())
            ends[t] = game.statuses(self.states)[0]
            over = np.flatnonzero(ends[t] != PLAYING)
            if over.size:
                finished = game.taken(self.states, over)
                outcomes[t, over] = self._came_true(finished)
                last.append(self._surveys(finished))
                returns = game.returns(finished, np.arange(over.size), self._config.reward)
                self._pool.note(self._recent, self.lineups[over], returns)
                self._deal(over)
            surveys[t + 1] = self._surveys(self.states)
        return Played(surveys, outcomes, ends, np.concatenate([*last, first[:0]]))

    def _actions(self) -> NDArray[np.int64]:
        """What is played in every game: at random, by the judge, or by whoever holds the seat."""
        game, pool, number = self._game, self._pool, self.states.size
        seats = game.statuses(self.states)[1]
        held = self.lineups[np.arange(number), seats]
        astray = self.rng.random(number) < self._config.td.exploration
        at_random = (self.openings > 0) | ((held == LEARNER) & astray)
        self.openings -= self.openings > 0
        held = np.where(at_random, len(pool.players), held)
        self.decisions += int((held == LEARNER).sum())
        draws, actions = self.rng.random(number), np.empty(number, np.int64)
        players = [*pool.players, self._random]
        for slot in np.unique(held):
            games = np.flatnonzero(held == slot)
            states, movers = game.taken(self.states, games), seats[games]
            if slot == LEARNER:
                actions[games] = self._choose(states, movers)
            else:
                seen = game.concealed(states, movers)
                actions[games] = players[slot].choose(seen, movers, draws[games])
        return actions

    def _choose(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions drawn by what they lead to."""
        found = self._afterstates.worths(states, seats, self._net)
        # The largest of logits with Gumbel noise is a draw by their probabilities.
        noise = -np.log(-np.log(self.rng.random(found.worths.size)))
        scores = found.worths * (SHARPNESS / self._config.td.temperature) + noise
        best = np.maximum.reduceat(scores, found.first)
        rows = np.flatnonzero(scores == best[found.decisions])
        chosen = np.empty(states.size, np.int64)
        chosen[found.decisions[rows]] = found.actions[rows]
        return chosen

    def _deal(self, games: NDArray[np.int64]) -> None:
        """Begin some games anew."""
        td, rng = self._config.td, self.rng
        self._game.deal(self.states, games, rng.integers(1 << 62, size=games.size))
        self.lineups[games] = self._pool.lineups(rng, games.size)
        lengths = rng.integers(1, td.opening_length, size=games.size, endpoint=True)
        self.openings[games] = np.where(rng.random(games.size) < td.openings, lengths, 0)

    # --- what a position tells -------------------------------------------------------------------

    @property
    def _outcomes(self) -> int:
        """Numbers that come true at the end for a seat: its return, and who takes which prize."""
        sides = max(self._game.sides) + 1
        return 1 + self._afterstates.prizes * sides

    def _surveys(self, states: NDArray[np.void]) -> NDArray[np.float32]:
        """What every seat surveys: (games, players, size)."""
        players, number = self._game.players, states.size
        seats = np.tile(np.arange(players), number)
        found = self._afterstates.surveys(np.repeat(states, players), seats)
        return found.reshape(number, players, -1)

    def _came_true(self, states: NDArray[np.void]) -> NDArray[np.float32]:
        """Of finished games for every seat, in [0, 1]: (games, players, outcomes)."""
        game = self._game
        returns = game.returns(states, np.arange(states.size), self._config.reward)
        parts = self._afterstates.parts(states)
        sides = max(game.sides) + 1
        found = np.empty((states.size, game.players, self._outcomes), np.float32)
        found[..., 0] = (returns + 1) / 2
        for seat in range(game.players):
            # Seats of one side stand `sides` apart, so the next seats are those of all sides.
            around = (seat + np.arange(sides)) % game.players
            found[:, seat, 1:] = parts[:, around].transpose(0, 2, 1).reshape(states.size, -1)
        return found

    @torch.no_grad()
    def _values(self, surveys: NDArray[np.float32]) -> NDArray[np.float32]:
        """What the judge expects to come true, in the shape of `_came_true`."""
        seen = _rows(surveys)
        found = np.empty((len(seen), self._outcomes), np.float32)
        for first in range(0, len(seen), _ROWS_AT_ONCE):
            some = slice(first, first + _ROWS_AT_ONCE)
            found[some] = torch.sigmoid(self._logits(torch.from_numpy(seen[some]))).numpy()
        return found.reshape(*surveys.shape[:-1], -1)

    def _logits(self, surveys: torch.Tensor) -> torch.Tensor:
        returns, taken, _ = self.judge(surveys)
        return torch.cat([returns.unsqueeze(1), taken.flatten(1)], 1)

    # --- learning --------------------------------------------------------------------------------

    def _update(
        self, surveys: NDArray[np.float32], targets: NDArray[np.float32], rate: float, epochs: int
    ) -> dict[str, float]:
        """Some passes over positions (n, size), in random minibatches."""
        td = self._config.td
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        sums, steps, norm = np.zeros(2), 0, 0.0
        for _ in range(epochs):
            order = self.rng.permutation(len(surveys))
            for rows in np.array_split(order, max(1, round(order.size / td.minibatch))):
                logits = self._logits(torch.from_numpy(surveys[rows]))
                losses = functional.binary_cross_entropy_with_logits(
                    logits, torch.from_numpy(targets[rows]), reduction="none"
                )
                value, prizes = losses[:, 0].mean(), losses[:, 1:].mean()
                self._optimiser.zero_grad(set_to_none=True)
                (value + td.prizes * prizes).backward()  # type: ignore[no-untyped-call]
                norm = float(nn.utils.clip_grad_norm_(self.judge.parameters(), 1.0))
                self._optimiser.step()
                self._move_average()
                sums += value.item(), prizes.item()
                steps += 1
        return {
            "value_loss": sums[0] / steps,
            "prize_loss": sums[1] / steps,
            "gradient_norm": norm,
        }

    @torch.no_grad()
    def _move_average(self) -> None:
        """Let the average follow, at first as the plain mean of all weights so far."""
        step = int(next(iter(self._optimiser.state.values()))["step"])
        weight = max(1 - self._config.td.averaging, 1 / (1 + step))
        averages: list[torch.Tensor] = list(self.average.parameters())
        weights: list[torch.Tensor] = list(self.judge.parameters())
        torch._foreach_lerp_(averages, weights, weight)

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """Learn from how a teacher's games ended; the part of returns whose sign was guessed."""
        came_true = self._came_true(lessons.ends)
        surveys = np.concatenate([self._surveys(lessons.states), self._surveys(lessons.ends)])
        targets = np.concatenate([came_true[lessons.games], came_true])
        guessed = self._values(surveys)[..., 0]
        self._update(_rows(surveys), _rows(targets), rate, 1)
        return float(np.mean((guessed > 0.5) == (targets[..., 0] > 0.5)))

    # --- what others take from it, and what a checkpoint keeps -----------------------------------

    def recent(self) -> dict[str, float]:
        """Mean returns of the last games against each opponent."""
        return {name: float(np.mean(last)) for name, last in sorted(self._recent.items())}

    def policy(self, *, average: bool) -> NetworkPlayer:
        """A copy of the policy, or of its average."""
        judge = self.average if average else self.judge
        return JudgingPlayer(self._game, judge.tensors(), name="latest", sample=True)

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Take over the weights of a saved policy."""
        self.judge.take_over(policy.tensors)
        self.average.load_state_dict(self.judge.state_dict())

    def _networks(self) -> dict[str, nn.Module]:
        return {"judge": self.judge, "average": self.average}

    def save(self) -> Saved:
        """Networks, optimiser, games, chance."""
        tensors = saved_networks(self._networks()) | saved_optimiser(self._optimiser)
        tensors |= {f"games/{name}": array for name, array in self._games().items()}
        recent = {name: list(returns) for name, returns in self._recent.items()}
        chance = self.rng.bit_generator.state
        return tensors, {"decisions": self.decisions, "chance": chance, "recent": recent}

    def _games(self) -> dict[str, NDArray[Any]]:
        """The games in play."""
        states = self.states.view(np.uint8).reshape(self.states.size, -1)
        return {"states": states, "lineups": self.lineups, "openings": self.openings}

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved."""
        games = section(tensors, "games")
        check_arrays(games, self._games(), "the games'")
        check_range(games["lineups"], LEARNER, len(self._pool.players) - 1, "the games' lineups")
        check_range(games["openings"], 0, self._config.td.opening_length, "the games' openings")
        states = np.ascontiguousarray(games["states"]).view(self.states.dtype).reshape(-1)
        self._game.check_states(states)
        if self._game.statuses(states)[0].any():
            raise ValueError("a game that is over cannot go on")
        restore_networks(self._networks(), tensors)
        restore_optimiser(self._optimiser, tensors)
        self.states[:] = states
        self.lineups[:], self.openings[:] = games["lineups"], games["openings"]
        self.rng.bit_generator.state = values["chance"]
        self._recent = recent_returns(values["recent"])
        self.decisions = count_of(values["decisions"])


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """The first two axes as one."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def _rows(array: NDArray[Any]) -> NDArray[Any]:
    """All axes but the last as one."""
    return array.reshape(-1, array.shape[-1])
