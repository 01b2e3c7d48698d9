"""A player that looks one action ahead, with rollouts by the game's scripted player.

In some games random playouts say little about an action. The rollout algorithm (Tesauro and
Galperin, 1997) instead evaluates an action by *rollouts*, which are playouts of a sensible player.
The actions to try are the *candidates*. One of them is the *scripted choice*, the action that the
scripted player would choose; the others are compared with it. All candidates are tried in the same
deals with the same random numbers, so their differences have little noise. Sequential halving
(Karnin, Koren and Somekh, 2013) drops the worse half of the candidates after each round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import threads
from armarl.core.game import Game, check_game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.simple_players import style_number
from armarl.players.wrappers import split_draws
from armarl.search.deciding import decide, likeliest, think_in_turn
from armarl.search.rollouts import (
    ILLEGAL,
    CandidateDraws,
    Rollouts,
    RolloutWork,
    draw_candidates,
    try_candidates,
)
from armarl.search.settings import Ranges, budget_of, portions, settled
from armarl.search.tree import SEEDS

CHUNK = 8  # deals in the first call of compiled code

# Default values, which apply if neither the caller nor the game sets a value.
PLAIN: Mapping[str, Any] = {
    "candidates": 32,
    "turns": 8,
    "longest": 1000,
    "doubt": 1.0,
    "style": "",
}
RANGES: Ranges = {  # allowed values
    "candidates": (2, np.inf),
    "turns": (-1, np.inf),
    "longest": (0, np.inf),
    "doubt": (0, np.inf),
}


class RolloutPlayer:
    """A player that plays the scripted choice unless rollouts show that another action is better.

    The method is the rollout algorithm (Tesauro and Galperin, 1997) with sequential halving
    (Karnin, Koren and Somekh, 2013). To be played, another action must be better than the scripted
    choice by `doubt` standard errors. Like every player, this player sees only concealed states.
    Every rollout redeals the hidden information. The same draw gives the same action, on any number
    of threads, unless the search has a time budget.

    Attributes:
        name: name in tables and records.
        game: the variant that it plays.

    Example:
        >>> from armarl import make_game
        >>> from armarl.search import RolloutPlayer
        >>> player = RolloutPlayer(make_game("armada", players=2), 60, style="admiral")
        >>> player.name
        'rollout:60'
    """

    method: ClassVar[str] = "rollout"

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        *,
        milliseconds: float | None = None,
        candidates: int | None = None,
        turns: int | None = None,
        longest: int | None = None,
        doubt: float | None = None,
        style: str | None = None,
        reward: str = "win",
    ) -> None:
        """Create a player.

        If an argument is None, the game's preferred value for this method applies (`SEARCH` in the
        game's `rivals` module), or else the method's default, given in brackets.

        Args:
            game: the variant to play.
            simulations: approximate number of rollouts per decision. Default: 200, unless you give
                `milliseconds`.
            milliseconds: time per decision on one thread, instead of `simulations`. The actions
                then depend on the machine.
            candidates: number of actions to try: the scripted choice, and random other actions; 2
                or more (32).
            turns: number of turn ends after which a rollout stops and the position is evaluated
                (8). 0 evaluates right after the candidate, -1 plays to the end of the game.
            longest: maximum number of actions in a rollout (1000).
            doubt: number of standard errors, 0 or more, by which an action must beat the scripted
                choice (1).
            style: style of the scripted player. "" means the game's first style ("").
            reward: name of the reward for a finished game, one of `game.rewards`.

        Raises:
            TypeError: `game` is not a `Game`, or a value is not a number.
            ValueError: a value is out of range, or a name is unknown.
        """
        check_game(game)
        given = {
            "candidates": candidates,
            "turns": turns,
            "longest": longest,
            "doubt": doubt,
            "style": style,
        }
        settings = settled(game, self.method, PLAIN, RANGES, given)
        self.game = game
        self._budget = budget_of(simulations, milliseconds, otherwise=200)
        self._candidates = min(settings["candidates"], len(game.actions))
        self._doubt = settings["doubt"]
        self._style = float(style_number(game, settings["style"] or None))
        self._turns, self._longest = settings["turns"], settings["longest"]
        self._reward, self._reward_kind = reward, game.reward_kind(reward)
        self.name = f"{self.method}:{self._budget.name}"

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a number is out of range, or
                a seat is not to move.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return decide(self.game, self._think, likeliest, states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search with the arguments of `choose`. All fields of the thoughts are set.

        If it is not a seat's turn, its row has only a `value`, see `Thoughts`.

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a number is out of range.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return think_in_turn(
            self.game, self._think, self._from_afar, self._reward, states, seats, draws
        )

    def _from_afar(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the values of the scripted choices for seats that are not to move."""
        tried = self._search(states, seats, draws)
        return np.asarray(tried.totals[:, 0] / tried.visits[:, 0])

    def _think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search in games that are not over, for the seats to move."""
        visits = np.zeros((states.size, len(self.game.actions)), np.int64)
        values, chosen = np.full(visits.shape, np.nan), np.zeros(visits.shape)
        at_once = max(states.size, 1) if self._budget.simulations else threads.get_threads()
        for first in range(0, states.size, at_once):
            part = slice(first, first + at_once)
            tried = self._search(states[part], seats[part], draws[part])
            with np.errstate(invalid="ignore"):
                means = tried.totals / tried.visits
            np.put_along_axis(visits[part], tried.candidates, tried.visits, axis=1)
            np.put_along_axis(values[part], tried.candidates, means, axis=1)
            best = np.take_along_axis(tried.candidates, self._best(tried)[:, None], axis=1)
            np.put_along_axis(chosen[part], best, 1.0, axis=1)
        return Thoughts(chosen, values, visits, np.where(chosen == 1, values, 0.0).sum(axis=1))

    def _search(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Rollouts:
        """Run sequential halving on the candidates until two are left."""
        tried = self._candidates_of(states, seats, draws)
        rounds = np.ceil(np.log2(np.maximum(tried.left, 2))).astype(np.int64)
        for number in range(rounds.max()):
            going = number < rounds
            for deals in self._deals_of_a_round(tried, rounds):
                tried.deals[:] = np.where(going, deals, 0)
                self.game.run(try_candidates, states.size, tried, least=1)
            tried = _sorted(tried)
            tried.left[:] = np.where(going, (tried.left + 1) // 2, tried.left)
            np.maximum(tried.left, 2, out=tried.left)
        return tried

    def _deals_of_a_round(
        self, tried: Rollouts, rounds: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64] | int]:
        """Yield numbers of deals to play next, until this round's part of the budget is used.

        A yielded array has one number per decision. A yielded integer applies to all decisions.
        """
        if self._budget.simulations:
            deals = np.maximum(self._budget.simulations // (tried.left * rounds), 1)
            done = 0
            for portion in portions(int(deals.max()), CHUNK):
                yield np.clip(deals - done, 0, portion)
                done += portion
            return
        end = time.perf_counter() + self._budget.seconds / rounds.max()
        yield 1
        while time.perf_counter() < end:
            yield 1

    def _best(self, tried: Rollouts) -> NDArray[np.int64]:
        """Return the index of the best candidate of each decision.

        Only candidates that were tried as often as the scripted choice are considered. The best one
        has the highest score: its mean gain minus `doubt` standard errors. If no score is above 0,
        the scripted choice (index 0) is the best one.
        """
        visits = np.maximum(tried.visits, 1)
        means = tried.gains / visits
        errors = np.sqrt(np.maximum(tried.squares / visits - means**2, 0.0) / visits)
        finalists = tried.visits == tried.visits[:, :1]
        scores = np.where(finalists, means - self._doubt * errors, -np.inf)
        scores[:, 0] = 0.0
        return np.asarray(scores.argmax(axis=1), np.int64)

    def _candidates_of(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Rollouts:
        """Draw the candidates: the scripted choice, and random other legal actions."""
        game, n, rows = self.game, states.size, 2 * threads.most_threads_for(states.size, 1)
        actions = len(game.actions)
        work = RolloutWork(
            np.empty(rows, game.blank.dtype),
            np.empty((rows, actions), np.int8),
            np.empty((rows, 1), game.scratch),
            np.empty(rows, np.uint64),
            np.empty((rows, game.players)),
        )
        numbers = (split_draws(draws)[0] * SEEDS).astype(np.int64)
        lots = CandidateDraws(states, numbers, np.empty((n, actions)), work, self._style)
        game.run(draw_candidates, n, lots, least=1)
        candidates = lots.lots.argsort(axis=1, kind="stable")[:, : self._candidates]
        legal = (lots.lots < ILLEGAL).sum(axis=1)
        shape = candidates.shape
        return Rollouts(
            states=states,
            seats=seats,
            numbers=numbers,
            candidates=candidates,
            left=np.minimum(legal, shape[1]),
            deals=np.zeros(n, np.int64),
            visits=np.zeros(shape, np.int64),
            totals=np.zeros(shape),
            gains=np.zeros(shape),
            squares=np.zeros(shape),
            work=work,
            style=self._style,
            turns=self._turns,
            longest=self._longest,
            reward=self._reward_kind,
        )


def _sorted(tried: Rollouts) -> Rollouts:
    """Sort the candidates by mean gain, but the scripted choice first and dropped ones last."""
    means = tried.gains / np.maximum(tried.visits, 1)
    places = np.arange(means.shape[1])
    keys = np.where(places < tried.left[:, None], -means, np.inf)
    keys[:, 0] = -np.inf
    order = keys.argsort(axis=1, kind="stable")

    def moved(column: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(column, order, axis=1)

    return tried._replace(
        candidates=moved(tried.candidates),
        visits=moved(tried.visits),
        totals=moved(tried.totals),
        gains=moved(tried.gains),
        squares=moved(tried.squares),
    )
