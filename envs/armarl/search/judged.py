"""A player that searches with a judge, such as `armadora-2p+search:200`.

A judge is a network that evaluates positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import threads
from armarl.core.game import Game, check_game
from armarl.networks.judge_kernels import scratch_of, weights_of
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.wrappers import split_draws
from armarl.policies.network_players import JudgingPlayer
from armarl.search.deciding import decide, likeliest, think_in_turn, value_for
from armarl.search.judged_tree import (
    JUDGED_TOTALS,
    JUDGED_VISITS,
    WORTH,
    JudgedSearch,
    JudgedWork,
    search_judged,
)
from armarl.search.settings import ALL_MEMORY, MEMORY, budget_of, check, check_number
from armarl.search.tree import LONGEST_PATH, SEEDS

MOST_WEIGHT = 1e6  # upper limit of `exploration` and `sharpness`
CHUNK = 8  # simulations in the first call of compiled code; with a time budget, in every call


class JudgeSearchPlayer:
    """A player that plays the most visited action of a tree search with a judge.

    The judge evaluates positions in place of playouts. The module `judged_tree` describes the
    search. Like every player, this player sees only concealed states. Each simulation redeals the
    hidden information. The same draw gives the same action, on any number of threads, unless the
    search has a time budget.

    Attributes:
        name: name in tables and records.
        game: the variant that it plays.
        player: the player with the judge.

    Example:
        >>> from armarl import make_game, make_player
        >>> game = make_game("armadora", players=2)
        >>> player = make_player("armadora-2p+search:100", game)
        >>> type(player).__name__, player.name
        ('JudgeSearchPlayer', 'armadora-2p+search:100')
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
        """Create a search player around a judge of positions.

        Args:
            game: the variant to play.
            player: the player with the judge.
            simulations: number of simulations per decision. Default: 200, unless you give
                `milliseconds`. Each simulation evaluates the positions after all legal actions at
                one new node of the tree.
            milliseconds: time per decision on one thread, instead of `simulations`. The actions
                then depend on the machine.
            exploration: weight of rarely tried actions (the constant of PUCT).
            sharpness: weight of the judge's values in the prior. An action whose value is higher by
                1 / sharpness has a prior that is e times as large.
            reward: name of the reward for a finished game, one of `game.rewards`.

        Raises:
            TypeError: `game` is not a `Game`, or a value is not a number.
            ValueError: a value is out of range, a name is unknown, or the player is not a judge.
        """
        check_game(game)
        judges = isinstance(player, JudgingPlayer)
        check(judges, f"this search needs a judge of positions, got {player.name}")
        for name, number in (("exploration", exploration), ("sharpness", sharpness)):
            check_number(name, number)
            check(0 <= number <= MOST_WEIGHT, f"{name} must be 0 to {MOST_WEIGHT:g}, got {number}")
        self.game, self.player = game, player
        self._budget = budget_of(simulations, milliseconds, otherwise=200)
        self._exploration, self._sharpness = exploration, sharpness
        self._reward, self._reward_kind = reward, game.reward_kind(reward)
        self._margin = min(1, len(game.rewards) - 1)
        self._net = weights_of(game, player.tensors)
        row = 4 * 4 * len(game.actions)
        self._rows = min(MEMORY // row, (self._budget.simulations or MEMORY) + 1)
        self._at_once = max(ALL_MEMORY // (self._rows * row), threads.get_threads())
        self.name = f"{player.name}+search:{self._budget.name}"

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`."""
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return decide(self.game, self._think, likeliest, states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search with the arguments of `choose`. All fields of the thoughts are set.

        If it is not a seat's turn, its row has only a `value`, see `Thoughts`.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return think_in_turn(
            self.game, self._think, self._from_afar, self._reward, states, seats, draws
        )

    def _from_afar(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the expected returns of seats that are not to move."""
        return value_for(self.game, self._think, states, seats, draws)

    def _think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search in games that are not over. The thoughts are about the actions of the mover."""
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
        """Search, and return the edges of the roots, float32, shape (n, 3, actions)."""
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
            reward=self._reward_kind,
            margin=self._margin,
            begin=1,
            simulations=0,
        )

        def run(begin: int, some: int) -> None:
            part = batch._replace(begin=begin, simulations=some)
            game.run(search_judged, n, part, least=1)

        self._budget.spend(run, CHUNK)
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
