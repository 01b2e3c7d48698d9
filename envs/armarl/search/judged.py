"""A player that searches around a judge of positions: `armadora-2p+search:200`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import threads
from armarl.core.game import Game
from armarl.networks.judge_kernels import scratch_of, weights_of
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.wrappers import split_draws
from armarl.policies.network_players import JudgingPlayer
from armarl.search.deciding import decide, likeliest
from armarl.search.judged_tree import (
    JUDGED_TOTALS,
    JUDGED_VISITS,
    WORTH,
    JudgedSearch,
    JudgedWork,
    search_judged,
)
from armarl.search.settings import ALL_MEMORY, MEMORY, budget_of, check
from armarl.search.tree import LONGEST_PATH, SEEDS

MOST_WEIGHT = 1e6  # of a number that a search weighs by
CHUNK = 8  # simulations between two looks at the clock


class JudgeSearchPlayer:
    """Plays what a tree search tried most, in which a judge stands for playouts; `judged_tree`.

    It sees concealed states only, as every player does, and every simulation deals anew what the
    seat is not shown. The same draw gives the same action, on any number of threads, unless the
    budget is a time.

    Attributes:
        name: in tables and records.
        game: the variant that it plays.
        player: the judge.
    """

    def __init__(
        self,
        game: Game,
        player: JudgingPlayer,
        simulations: int | None = None,
        *,
        milliseconds: float | None = None,
        exploration: float = 0.2,
        sharpness: float = 10.0,
        reward: str = "win",
    ) -> None:
        """A player of `game` around a judge.

        Args:
            simulations: for each decision; 200 if neither budget is given. Each judges what every
                reply to one position leads to.
            milliseconds: instead of these, time for each decision on one thread; what is played
                then depends on the machine.
            exploration: how much what was tried seldom is tried for that (PUCT's constant).
            sharpness: an action that the judge holds for 1 / sharpness better is e times as likely
                to be tried for what he says.
            reward: what a finished game is worth, a name of `game.rewards`.

        Raises:
            ValueError: a value out of range, a name that there is not, or a player who is no judge.
        """
        judges = isinstance(player, JudgingPlayer)
        check(judges, f"this search needs a judge of positions, not {player.name}")
        for name, number in (("exploration", exploration), ("sharpness", sharpness)):
            check(
                0 <= number <= MOST_WEIGHT, f"{name} must be in 0 to {MOST_WEIGHT:g}, not {number}"
            )
        self.game, self.player = game, player
        self._budget = budget_of(simulations, milliseconds, otherwise=200)
        self._exploration, self._sharpness = exploration, sharpness
        self._reward, self._margin = game.reward_kind(reward), min(1, len(game.rewards) - 1)
        self._net = weights_of(game, player.tensors)
        row = 4 * 4 * len(game.actions)
        self._rows = min(MEMORY // row, (self._budget.simulations or MEMORY) + 1)
        self._at_once = max(ALL_MEMORY // (self._rows * row), threads.get_threads())
        self.name = f"{player.name}+search:{self._budget.name}"

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.players.Player`."""
        protocol.check_question(self.game, states, seats, draws)
        return decide(self.game, self.think, likeliest, states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search, with the arguments of `choose`, and say what was found."""
        protocol.check_question(self.game, states, seats, draws)
        visits = np.zeros((states.size, len(self.game.actions)), np.int64)
        values, worths = np.zeros(visits.shape), np.zeros(visits.shape)
        at_once = self._at_once if self._budget.simulations else threads.get_threads()
        for first in range(0, states.size, at_once):
            part = slice(first, first + at_once)
            roots = self._search(states[part], seats[part], draws[part])
            visits[part], values[part], worths[part] = (
                roots[:, JUDGED_VISITS],
                roots[:, JUDGED_TOTALS],
                roots[:, WORTH],
            )
        expected = values.sum(axis=1) / visits.sum(axis=1)
        with np.errstate(invalid="ignore"):
            values /= visits
        chosen = np.lexsort((worths, visits), axis=1)[:, -1]
        return Thoughts(np.eye(visits.shape[1])[chosen], values, visits, expected)

    def _search(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """The edges of the roots, (n, 3, actions)."""
        game, n, actions = self.game, states.size, len(self.game.actions)
        chance = game.new_chance((split_draws(draws)[0] * SEEDS).astype(np.int64))
        batch = JudgedSearch(
            states=states,
            seats=seats,
            chance=chance,
            edges=np.empty((n, self._rows, 3, actions), np.float32),
            next=np.empty((n, self._rows, actions), np.int32),
            used=np.empty(n, np.int32),
            net=self._net,
            work=self._new_work(n),
            exploration=self._exploration,
            sharpness=self._sharpness,
            reward=self._reward,
            margin=self._margin,
            begin=1,
            simulations=self._budget.simulations or CHUNK,
        )

        def run(begin: int) -> None:
            game.run(search_judged, n, batch._replace(begin=begin), least=1)

        self._budget.spend(run)
        return batch.edges[:, 0]

    def _new_work(self, games: int) -> JudgedWork:
        game, n = self.game, 2 * threads.most_threads_for(games, 1)
        return JudgedWork(
            states=np.empty((n, 2), game.blank.dtype),
            masks=np.empty((n, len(game.actions)), np.int8),
            path=np.empty((n, LONGEST_PATH, 3), np.int32),
            returns=np.empty((n, 2, game.players)),
            scratch=scratch_of(self._net, n),
        )
