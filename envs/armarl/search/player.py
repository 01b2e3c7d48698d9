"""A player that searches: information-set Monte Carlo tree search, compiled for every game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core import threads
from armarl.core.game import Game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.players.simple_players import rivals
from armarl.players.wrappers import split_draws
from armarl.search.deciding import by_lot, decide
from armarl.search.settings import (
    ALL_MEMORY,
    LARGEST,
    MEMORY,
    Ranges,
    budget_of,
    check,
    settled,
)
from armarl.search.simulations import SearchBatch, Workspace, search_game
from armarl.search.tree import LONGEST_PATH, SEEDS, TOTALS, VISITS, Rules, Trees

OBSERVERS = ("single", "multiple")
CHUNK = 32  # simulations between two looks at the clock
LONGEST_TRACE = 1024  # actions of a simulation that count for rapid action values
# What every method has unless it, or the game, says otherwise; and what may be set.
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
RANGES: Ranges = {
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


class SearchPlayer:
    """Plays what a search over information sets visited most, guided by rapid action values.

    The tree is that of Cowling, Powley and Whitehouse (2012); what is tried in it is led by how
    well an action did anywhere later in the simulations (GRAVE: Cazenave 2015).

    The search sees concealed states only. Every simulation deals anew what the seat is not shown;
    so the player cannot know it, and plays the same whatever it is. The same draw gives the same
    action, on any number of threads, unless the budget is a time.

    Attributes:
        name: in tables and records.
        game: the variant that it plays.
        public: (actions,) int32, for every action the first one that looks the same to others.
    """

    method: ClassVar[str] = "grave"
    _rapid: ClassVar[bool] = True
    _deep: ClassVar[bool] = True
    _own: ClassVar[Mapping[str, Any]] = {}  # what it sets where the game does not

    def __init__(
        self,
        game: Game,
        simulations: int | None = None,
        *,
        milliseconds: float | None = None,
        observers: str = "single",
        exploration: float | None = None,
        bias: float | None = None,
        reference: int | None = None,
        urgency: float | None = None,
        depth: int | None = None,
        scripted: float | None = None,
        patient: bool | None = None,
        led: bool | None = None,
        evaluated: float | None = None,
        reward: str = "win",
        margin: str | None = None,
        margin_share: float | None = None,
        temperature: float = 0.0,
        rows: int | None = None,
        name: str | None = None,
    ) -> None:
        """A player of `game`.

        What is None is as the game knows it to be good for this method (`SEARCH` in its `rivals`),
        else as the method has it.

        Args:
            simulations: for each decision; 1,000 if neither budget is given.
            milliseconds: instead of these, time for each decision on one thread; what is played
                then depends on the machine.
            observers: "single", one tree in which all actions are seen; or "multiple", a tree for
                every seat, in which what others hide looks alike.
            exploration: weight of the upper confidence bounds.
            bias: of the rapid values; the smaller, the longer they count.
            reference: simulations that a decision's own rapid values need before they count.
            urgency: how much more than the mean of what was tried an action counts that never was
                (first-play urgency); inf: each is tried before any is tried again.
            depth: actions of a playout before the position is evaluated, from 0; -1: games are
                played to their end.
            scripted: share of the actions of playouts that the scripted player chooses, 0 to 1.
            patient: random players of playouts do what gives something up (pass, end a turn) only
                where they can do nothing else.
            led: what is tried first at a decision is what the scripted player would do.
            evaluated: share of the evaluation in a simulation's value, asked where it leaves the
                tree; the rest is what the playout brought.
            reward: what a finished game is worth, a name of `game.rewards`.
            margin: a second reward, of which `margin_share` is mixed in: larger wins count
                for more; None: the game's second one, if it has one.
            margin_share: 0 to 1.
            temperature: 0 plays the most visited action; else one drawn by visits to the power of
                1 / temperature.
            rows: decisions that a tree may hold; if None, as many as the budget can need, within
                64 MiB.

        Raises:
            ValueError: a value out of range, or a name that there is not.
        """
        check(observers in OBSERVERS, f"observers must be single or multiple, not {observers!r}")
        budget = budget_of(simulations, milliseconds, otherwise=1000)
        check(
            0 <= temperature <= LARGEST,  # by an infinite one what was never tried counts too
            f"temperature must be in 0 to {LARGEST}, not {temperature}",
        )
        if margin is None:
            margin = game.rewards[min(1, len(game.rewards) - 1)]
        given = {
            "exploration": exploration,
            "bias": bias,
            "reference": reference,
            "urgency": urgency,
            "depth": depth,
            "scripted": scripted,
            "patient": patient,
            "led": led,
            "evaluated": evaluated,
            "margin_share": margin_share,
        }
        self.game, self._budget, self._temperature = game, budget, temperature
        settings = settled(game, self.method, {**PLAIN, **self._own}, RANGES, given)
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
        """See `armarl.players.Player`."""
        protocol.check_question(self.game, states, seats, draws)
        return decide(self.game, self.think, by_lot, states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Search, with the arguments of `choose`, and say what was found."""
        game, rules = self.game, self._rules
        protocol.check_question(game, states, seats, draws)
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
            simulations=self._budget.simulations or CHUNK,
        )

        def run(begin: int) -> None:
            game.run(search_game, states.size, batch._replace(begin=begin), least=1)

        self._budget.spend(run)
        return trees

    def _probabilities(
        self, visits: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """One where the choice falls, or shares by temperature."""
        if self._temperature == 0:
            return np.eye(visits.shape[1])[self._best(visits, values)]
        shares = visits / visits.max(axis=1, keepdims=True)
        shares = np.where(visits > 0, shares, 0.0) ** (1 / self._temperature)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _best(self, visits: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The action visited most, of equal ones that with the best mean."""
        most = visits == visits.max(axis=1, keepdims=True)
        return np.asarray(np.where(most, values, -np.inf).argmax(axis=1), np.int64)

    # --- arrays ----------------------------------------------------------------------------------

    def _bytes_of_a_row(self) -> int:
        """Its edges, and with rapid values the table that it may get."""
        rapid = 2 * self.game.players if self._rapid else 0
        return 4 * ((4 + rapid) * len(self.game.actions) + 2)

    def _rows_of_a_tree(self, wanted: int | None) -> int:
        """A root for each observer; and no more than fit into memory, or than can be needed."""
        observers = self._rules.observers
        if not self._deep:
            return observers
        if wanted is not None:
            most = max(observers, ALL_MEMORY // self._bytes_of_a_row())
            check(
                observers <= wanted <= most, f"rows must be in {observers} to {most}, not {wanted}"
            )
            return wanted
        most = max(observers, MEMORY // self._bytes_of_a_row())
        if self._budget.simulations is None:
            return most
        # An edge leads to a row from its second visit on: the first simulation makes none.
        return min(most, observers * self._budget.simulations)

    def _trees_at_once(self) -> int:
        """How many decisions are searched at a time; with a time budget one for each thread."""
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
            states=np.empty((n, 2), game.blank.dtype),
            masks=np.empty((n, actions), np.int8),
            lists=np.empty((n, 2, actions), np.uint32),
            scores=np.empty((n, actions), np.float32),
            places=np.empty((n, 2, game.players), np.int32),
            path=np.empty((n, LONGEST_PATH, 4), np.int32),
            trace=np.empty((n, 2, steps if self._rules.rapid else 1), np.int32),
            last=np.zeros((n, game.players * actions), np.int32),
            returns=np.empty((n, 3, game.players)),
        )


class IsmctsPlayer(SearchPlayer):
    """The same guided by upper confidence bounds alone: plain information-set tree search."""

    method = "ismcts"
    _rapid = False
    _own: ClassVar[Mapping[str, Any]] = {"exploration": 0.7}


class FlatPlayer(SearchPlayer):
    """No tree: every action is tried as often as the others, and the best mean is played."""

    method = "flat"
    _rapid = False
    _deep = False
    # so that nothing but how often it was tried counts
    _own: ClassVar[Mapping[str, Any]] = {"exploration": 1e6}

    def _best(self, visits: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The action with the best mean."""
        return np.asarray(np.where(visits > 0, values, -np.inf).argmax(axis=1), np.int64)


def _public(game: Game) -> NDArray[np.int32]:
    """For every action the first one that looks the same to the other seats."""
    first: dict[str, int] = {}
    texts = game.actions.public_texts
    return np.array([first.setdefault(text, k) for k, text in enumerate(texts)], np.int32)


def _resorts(game: Game, patient: bool) -> NDArray[np.int8]:
    """1 for the actions that give something up, as the game names them."""
    resorts = np.zeros(len(game.actions), np.int8)
    if patient:
        for text in rivals(game, "a patient playout").LAST_RESORTS:
            resorts[game.actions.id(text)] = 1
    return resorts
