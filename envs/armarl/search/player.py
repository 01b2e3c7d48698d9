"""Information-set Monte Carlo tree search players, compiled for every game."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import did_you_mean
from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core import threads
from armarl.core.game import Game, check_game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.simple_players import rivals
from armarl.players.wrappers import split_draws
from armarl.search.deciding import by_lot, decide, think_in_turn, value_for
from armarl.search.settings import (
    ALL_MEMORY,
    LARGEST,
    MEMORY,
    Ranges,
    budget_of,
    check,
    check_number,
    settled,
)
from armarl.search.simulations import SearchBatch, Workspace, search_game
from armarl.search.tree import LONGEST_PATH, SEEDS, TOTALS, VISITS, Rules, Trees

OBSERVERS = ("single", "multiple")
CHUNK = 32  # simulations in the first call of compiled code; with a time budget, in every call
LONGEST_TRACE = 1024  # maximum number of a simulation's actions that count for rapid action values
# Default values of all methods, which apply if neither the caller nor the game sets a value.
PLAIN: Mapping[str, Any] = {
    "exploration": 0.0,
    "bias": 0.02,
    "reference": 25,
    "urgency": np.inf,
    "depth": -1,
    "scripted": 0.0,
    "patient": 0,
    "led": 0,
    "evaluated": 0.0,
    "margin_share": 0.0,
}
RANGES: Ranges = {  # allowed values
    "exploration": (0, np.inf),
    "bias": (0, np.inf),
    "reference": (1, np.inf),
    "urgency": (-LARGEST, np.inf),
    "depth": (-1, np.inf),
    "scripted": (0, 1),
    "evaluated": (0, 1),
    "margin_share": (0, 1),
}
LOGARITHMS = np.log(np.maximum(np.arange(1 << 16), 1)).astype(np.float32)


class Tuning(TypedDict, total=False):
    """Settings of a search.

    If a setting is missing, the game's value for the method applies (`SEARCH` in the game's
    `rivals` module), or else the method's default, given in brackets.

    Attributes:
        exploration: weight of the exploration term in the upper confidence bounds, 0 or more (0;
            `ismcts` 0.7, `flat` 1e6).
        bias: bias of the rapid values, 0 or more (0.02). The smaller it is, the longer the rapid
            values matter.
        reference: number of simulations, 1 or more, that a node's rapid values must contain before
            they are used (25). Until then, the rapid values of an earlier node on the path are
            used.
        urgency: first-play urgency (inf). An untried action counts as the mean of the tried actions
            plus `urgency`. inf tries every action once before it tries any action again.
        depth: number of actions in a playout before the position is evaluated, at least 0, or -1
            to play to the end of the game (-1).
        scripted: share of the playouts' actions that the scripted player chooses, 0 to 1 (0).
        patient: whether random play in playouts avoids last resorts (passing, ending a turn)
            unless nothing else is legal (False).
        led: whether the first action tried at a node is the scripted player's choice (False).
        evaluated: weight of the game's evaluation in a simulation's value, 0 to 1 (0). The game
            evaluates the position in which the simulation leaves the tree. The rest of the value is
            the playout's result.
        margin_share: weight of the second reward `margin`, 0 to 1 (0).
    """

    exploration: float
    bias: float
    reference: int
    urgency: float
    depth: int
    scripted: float
    patient: bool
    led: bool
    evaluated: float
    margin_share: float


class SearchPlayer:
    """A player that plays the most visited action of an information-set search (GRAVE).

    The method is information-set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012).
    Rapid action values guide the search: the rapid value of an action at a node is the mean return
    of all simulations in which the action occurs anywhere after the node (GRAVE: Cazenave 2015).

    The search sees only concealed states, and every simulation redeals the hidden information.
    Therefore hidden information cannot influence the player's actions. The same draw gives the same
    action, on any number of threads, unless the search has a time budget.

    Attributes:
        name: name in tables and records.
        game: the variant that it plays.
        public: for every action, the first action that looks the same to the other seats, int32,
            shape (actions,).

    Example:
        >>> from armarl import make_game
        >>> from armarl.search import SearchPlayer
        >>> player = SearchPlayer(make_game("armadora", players=2), 300, depth=20)
        >>> player.name
        'grave:300'
    """

    method: ClassVar[str] = "grave"
    _rapid: ClassVar[bool] = True
    _deep: ClassVar[bool] = True
    _own: ClassVar[Mapping[str, Any]] = {}  # default values of this method that replace PLAIN

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        *,
        milliseconds: float | None = None,
        observers: str = "single",
        reward: str = "win",
        margin: str | None = None,
        temperature: float = 0.0,
        rows: int | None = None,
        name: str | None = None,
        **tuning: Unpack[Tuning],
    ) -> None:
        """Create a player.

        Args:
            game: the variant to play.
            simulations: number of simulations per decision. Default: 1,000, unless you give
                `milliseconds`.
            milliseconds: time per decision on one thread, instead of `simulations`. The actions
                then depend on the machine.
            observers: "single" for one tree in which all actions are visible, or "multiple" for one
                tree per seat, which merges actions of other seats that look alike.
            reward: name of the reward for a finished game, one of `game.rewards`.
            margin: name of a second reward, which is mixed with `reward` with the weight
                `margin_share`, so that larger wins have larger values. None means the game's second
                reward, if it has one.
            temperature: 0 plays the most visited action. Otherwise an action is sampled with a
                probability proportional to its visits to the power of 1 / temperature.
            rows: maximum number of nodes, summed over the trees of a decision. None allows as many
                as the budget can need, within 64 MiB.
            name: name in tables and records. None: the method and the budget, such as `grave:300`.
            tuning: see `Tuning`.

        Raises:
            TypeError: `game` is not a `Game`, a setting is unknown, or a value is not a number.
            ValueError: a value is out of range, or the name of an observer mode or a reward is
                unknown.
        """
        check_game(game)
        _refuse_unknown(self.method, tuning)
        check(observers in OBSERVERS, f"observers must be single or multiple, got {observers!r}")
        budget = budget_of(simulations, milliseconds, otherwise=1000)
        check_number("temperature", temperature)
        check(
            0 <= temperature <= LARGEST,  # infinity would give weight to untried actions
            f"temperature must be 0 to {LARGEST}, got {temperature}",
        )
        if margin is None:
            margin = game.rewards[min(1, len(game.rewards) - 1)]
        self.game, self._budget, self._temperature = game, budget, temperature
        self._reward = reward
        settings = settled(game, self.method, {**PLAIN, **self._own}, RANGES, tuning)
        self._rules = Rules(
            observers=game.players if observers == "multiple" else 1,
            rapid=int(self._rapid),
            reward=game.reward_kind(reward),
            margin=game.reward_kind(margin),
            **settings,
        )
        if margin == reward:
            self._rules = self._rules._replace(margin_share=0.0)
        self._rows = self._rows_of_a_tree(rows)
        self.public = _public(game)
        self._resorts = _resorts(game, bool(settings["patient"]))
        self.name = name or f"{self.method}:{budget.name}"

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a number is out of range, or
                a seat is not to move.
        """
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return decide(self.game, self._think, by_lot, states, seats, draws)

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
        """Return the expected returns of seats that are not to move."""
        return value_for(self.game, self._think, states, seats, draws)

    def _think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search in games that are not over. The thoughts are about the actions of the mover."""
        game, rules = self.game, self._rules
        shape = (states.size, len(game.actions))
        visits, totals = np.zeros(shape, np.int64), np.zeros(shape)
        at_once = self._trees_at_once()
        for first in range(0, states.size, at_once):
            part = slice(first, first + at_once)
            root = seats[part] if rules.observers > 1 else np.zeros(seats[part].size, np.int64)
            edges = self._search(states[part], seats[part], draws[part]).edges
            edges = edges[np.arange(root.size), root]
            visits[part], totals[part] = edges[:, VISITS], edges[:, TOTALS]
        with np.errstate(invalid="ignore"):
            values = totals / visits
            expected = totals.sum(axis=1) / visits.sum(axis=1)
        return Thoughts(self._probabilities(visits, values), values, visits, expected)

    def _search(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Trees:
        game = self.game
        chance = game.new_chance((split_draws(draws)[0] * SEEDS).astype(np.int64))
        trees = self._new_trees(states.size)
        batch = SearchBatch(
            states=states,
            seats=seats,
            chance=chance,
            trees=trees,
            work=self._new_workspace(states.size),
            rules=self._rules,
            public=self.public,
            resorts=self._resorts,
            logarithms=LOGARITHMS,
            begin=1,
            simulations=0,
        )

        def run(begin: int, some: int) -> None:
            part = batch._replace(begin=begin, simulations=some)
            game.run(search_game, states.size, part, least=1)

        self._budget.spend(run, CHUNK)
        return trees

    def _probabilities(
        self, visits: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probability of each action. At temperature 0, the best action has 1."""
        if self._temperature == 0:
            return np.eye(visits.shape[1])[self._best(visits, values)]
        shares = visits / visits.max(axis=1, keepdims=True)
        shares = np.where(visits > 0, shares, 0.0) ** (1 / self._temperature)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _best(self, visits: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the most visited action. If several tie, return the one with the best mean."""
        most = visits == visits.max(axis=1, keepdims=True)
        return np.asarray(np.where(most, values, -np.inf).argmax(axis=1), np.int64)

    # --- arrays ----------------------------------------------------------------------------------

    def _bytes_of_a_row(self) -> int:
        """Return the size of a node in bytes, including its table of rapid values, if any."""
        rapid = 2 * self.game.players if self._rapid else 0
        return 4 * ((4 + rapid) * len(self.game.actions) + 2)

    def _rows_of_a_tree(self, wanted: int | None) -> int:
        """Return the maximum number of nodes for one decision: at least one root per observer.

        If `wanted` is None, the memory and the budget limit the number.
        """
        observers = self._rules.observers
        if not self._deep:
            return observers
        if wanted is not None:
            most = max(observers, ALL_MEMORY // self._bytes_of_a_row())
            return whole_number("rows", wanted, observers, most)
        most = max(observers, MEMORY // self._bytes_of_a_row())
        if self._budget.simulations is None:
            return most
        # An edge gets a next node at its second visit, so the first simulation creates no node.
        return min(most, observers * self._budget.simulations)

    def _trees_at_once(self) -> int:
        """Return the number of decisions to search at the same time.

        With a time budget, each thread searches one decision.
        """
        if self._budget.simulations is None:
            return threads.get_threads()
        return max(ALL_MEMORY // (self._rows * self._bytes_of_a_row()), threads.get_threads())

    def _new_trees(self, games: int) -> Trees:
        actions, rows = len(self.game.actions), self._rows
        tables = rows if self._rapid else 1
        return Trees(
            edges=np.empty((games, rows, 3, actions), np.float32),
            next=np.empty((games, rows, actions), np.int32),
            rows=np.empty((games, rows, 2), np.int32),
            rapid=np.empty((games, tables, 2, self.game.players * actions), np.float32),
            used=np.empty((games, 2), np.int32),
        )

    def _new_workspace(self, games: int) -> Workspace:
        game, actions = self.game, len(self.game.actions)
        n = 2 * threads.most_threads_for(games, 1)
        steps = min(LONGEST_TRACE, LONGEST_PATH + game.max_actions)
        return Workspace(
            states=np.empty(n, game.blank.dtype),
            masks=np.empty((n, actions), np.int8),
            spare=np.empty((n, 1), game.scratch),
            lists=np.empty((n, 2, actions), np.uint32),
            scores=np.empty((n, actions), np.float32),
            places=np.empty((n, 2, game.players), np.int32),
            path=np.empty((n, LONGEST_PATH, 4), np.int32),
            trace=np.empty((n, 2, steps if self._rules.rapid else 1), np.int32),
            last=np.zeros((n, game.players * actions), np.int32),
            returns=np.empty((n, 3, game.players)),
        )


class IsmctsPlayer(SearchPlayer):
    """A player with plain information-set tree search, guided only by upper confidence bounds.

    It takes the arguments of `SearchPlayer`.

    Example:
        >>> from armarl import make_game
        >>> from armarl.search import IsmctsPlayer
        >>> game = make_game("armadora", players=2)
        >>> IsmctsPlayer(game, 300, observers="multiple").name
        'ismcts:300'
    """

    method = "ismcts"
    _rapid = False
    _own: ClassVar[Mapping[str, Any]] = {"exploration": 0.7}


class FlatPlayer(SearchPlayer):
    """A player that tries every action equally often and plays the one with the best mean.

    It searches without a tree and takes the arguments of `SearchPlayer`.

    Example:
        >>> from armarl import make_game
        >>> from armarl.search import FlatPlayer
        >>> FlatPlayer(make_game("armadora", players=2), milliseconds=50).name
        'flat:50ms'
    """

    method = "flat"
    _rapid = False
    _deep = False
    # The exploration weight is so large that only the visit counts affect the choice of actions.
    _own: ClassVar[Mapping[str, Any]] = {"exploration": 1e6}

    def _best(self, visits: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the action with the best mean."""
        return np.asarray(np.where(visits > 0, values, -np.inf).argmax(axis=1), np.int64)


def _refuse_unknown(method: str, given: Iterable[str]) -> None:
    """Raise a TypeError if a setting of a search method is unknown."""
    takes = [name for name in inspect.signature(SearchPlayer).parameters if name != "tuning"]
    takes += Tuning.__annotations__
    for name in given:
        if name not in takes:
            raise TypeError(
                f"unexpected keyword argument {name!r}: {method} has no setting {name!r}"
                f"{did_you_mean(name, takes)}; it takes {', '.join(takes)}"
            )


def _public(game: Game) -> NDArray[np.int32]:
    """Return, for every action, the first action that looks the same to the other seats."""
    first: dict[str, int] = {}
    texts = game.actions.public_texts
    return np.array([first.setdefault(text, k) for k, text in enumerate(texts)], np.int32)


def _resorts(game: Game, patient: bool) -> NDArray[np.int8]:
    """Return a mask of the game's last resorts (`LAST_RESORTS`).

    If `patient` is False, all entries are 0.
    """
    resorts = np.zeros(len(game.actions), np.int8)
    if patient:
        for text in rivals(game, "a patient playout").LAST_RESORTS:
            resorts[game.actions.id(text)] = 1
    return resorts
