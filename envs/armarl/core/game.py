"""`Game`: one variant of one game, with everything that plays it.

A state is one fixed-size NumPy record. To clone a game, copy the record; to save it, write its
bytes; an array of records is a batch. A `Game` joins the compiled verbs that work on such records
with the action table, the observation table, the options and the version. The environments are
built on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import action_number, seed_numbers, whole_number
from armarl.compiler.types import State, States
from armarl.compiler.work_sharing import Body
from armarl.core import array_checks, batch_loops, positions, state_checks, threads
from armarl.core.binding import Binding
from armarl.core.errors import IllegalActionError
from armarl.core.pictures.picture import Picture, Scene, Told
from armarl.core.positions import Description
from armarl.core.variant import Variant
from armarl.core.verbs import Fixed, Verbs, takes_fixed, unmoving, verbs

_KEPT = 32  # descriptions of positions
F = TypeVar("F", bound=Callable[..., Any])

_PLAYOUTS_AT_ONCE = 4096  # games for each thread; compiled code hears Ctrl-C only in between


_OF_ALL_GAMES = Binding("any_game", verbs)


@cache
def _binding(name: str, its_verbs: Verbs, fixed: bool) -> Binding:
    """Return the functions that are written once for all games, compiled with these verbs."""
    return Binding(name, its_verbs, fixed=fixed, common=_OF_ALL_GAMES)


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(Variant):
    """One variant of a game, with everything that plays it. Immutable; pickled by its options.

    `make_game` makes it. All methods on batches work on arrays of state records and run in compiled
    loops on several threads. They trust the contents of the states: a state that breaks the rules
    can crash the process, and so can a thread that writes to states while a call uses them. Pass
    states from outside, such as saved ones, to `check_states` first. All other arrays are copied
    before they are checked.

    Attributes:
        verbs: the game's compiled functions.
        make: the function that makes this game from its options; pickles refer to it by name.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> game = armarl.make_game("armadora", players=3)
        >>> states = game.new_states(np.arange(100))  # 100 games, from the seeds 0 to 99
        >>> returns, lengths = game.playouts(states, seeds=np.arange(100))  # random play
        >>> returns.shape
        (100, 3)
    """

    verbs: Verbs = field(repr=False)
    make: Callable[..., Game] = field(repr=False)
    _describe: Callable[[Game, State, int | None], dict[str, Any]] = field(repr=False)
    _draw: Callable[[Game, State, int | None], str] = field(repr=False)
    _explain: Callable[[Game, State, int], str] = field(repr=False)
    _deals: Callable[[Game], States] | None = field(default=None, repr=False)
    _picture: Callable[[Scene], Picture] | None = field(default=None, repr=False)
    _tell: Callable[[Scene], Told] | None = field(default=None, repr=False)
    _states_from: Callable[[Game, Description, State], Iterator[State]] | None = field(
        default=None, repr=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.verbs, Verbs):
            raise TypeError(
                f"{self.name}: verbs must be of type Verbs, not {brief(repr(self.verbs), 60)}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.make, {"players": self.players, **self.options})

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self

    @cached_property
    def _binding(self) -> Binding:
        return _binding(self.name, self.verbs, self.fixed is not None)

    @cached_property
    def fixed_records(self) -> Fixed:
        """`fixed` as verbs and compiled functions get it: a tuple of one record, or of none."""
        return () if self.fixed is None else (self.fixed,)

    @cached_property
    def _fixed_array(self) -> States:
        return np.full(1, self.fixed)

    @cached_property
    def _loops(self) -> dict[Body, tuple[Callable[..., None], int | None, bool]]:
        """The driver of each body that has run, its `least`, and whether it takes `fixed`.

        They are kept, since to work them out takes a tenth as long as a step of one game.
        """
        return {}

    def compiled(self, function: F) -> F:
        """Compile a function that is written once for all games, with this game's verbs."""
        return self._binding.function(function)

    # Cached for environments of one game: at every step, a lookup would take a tenth of the time.

    # They check nothing, so they are no part of the public interface.

    @cached_property
    def _deal_one(self) -> Callable[..., int]:
        """`batch_loops.deal_one`, compiled for this game. It trusts its arguments."""
        return self.compiled(self._either(batch_loops.deal_one, batch_loops.deal_with))

    @cached_property
    def _view_one(self) -> Callable[..., None]:
        """`batch_loops.view_one`, compiled for this game. It trusts its arguments."""
        return self.compiled(self._either(batch_loops.view_one, batch_loops.view_with))

    @cached_property
    def _play_one(self) -> Callable[..., int]:
        """`batch_loops.play_one`, compiled for this game. It trusts its arguments."""
        return self.compiled(self._either(batch_loops.play_one, batch_loops.play_with))

    def _either(self, without: F, with_fixed: F) -> F:
        return without if self.fixed is None else with_fixed

    @cached_property
    def _fixed_argument(self) -> Any:
        """The last argument of the three functions above."""
        return () if self.fixed is None else self._fixed_array

    def warm_up(self) -> None:
        """Compile the functions that an environment of one game needs, at the first call."""
        _ = self._is_warm

    @cached_property
    def _is_warm(self) -> bool:
        states, mask = np.full(1, self.blank), np.zeros(len(self.actions), np.int8)
        observation, returns = np.zeros(self.observation.size, np.float32), np.zeros(self.players)
        fixed = self._fixed_argument
        self._deal_one(states, 0, 0, True, fixed)
        self._view_one(states, 0, 0, observation, mask, fixed)
        self._play_one(states, 0, -1, mask, returns, 0, fixed)  # -1 is illegal: nothing is played
        return True

    # --- games, one or many ----------------------------------------------------------------------

    def run(self, body: Body, games: int, batch: Any, *, least: int | None = None) -> None:
        """Run a body once for each game of a batch, on several threads.

        Args:
            body: a body of `armarl.core.batch_loops`, or a function of the same form. If it has a
                fourth parameter `fixed`, it gets `fixed_records` there.
            games: the number of games.
            batch: the argument of the body. Its arrays are not checked.
            least: the number of games that are worth an additional thread. None chooses it for
                the body.
        """
        known = self._loops.get(body)
        if known is None:
            light = threads.LEAST_GAMES_OF_LIGHT_LOOPS if body in batch_loops.LIGHT else None
            with_fixed = self.fixed is not None and takes_fixed(body)
            known = self._loops[body] = self._binding.driver(body), light, with_fixed
        driver, its_least, with_fixed = known
        if with_fixed:
            batch = batch, self._fixed_array
        threads.run(driver, games, batch, least=its_least if least is None else least)

    def new_states(self, seeds: NDArray[np.int64] | int) -> States:
        """Deal new games, one record per seed.

        Args:
            seeds: seeds, int64, shape (n,). An int gives an array of one state.

        Raises:
            TypeError: a seed is not an integer.
            ValueError: a seed does not fit in int64.

        Example:
            >>> import armarl
            >>> armarl.make_game("armada").new_states(seeds=7).shape
            (1,)
        """
        numbers = seed_numbers(seeds)
        states = np.full(numbers.size, self.blank)
        self.run(
            batch_loops.deal,
            numbers.size,
            batch_loops.Deals(states, np.arange(numbers.size), numbers),
        )
        return states

    def deal(self, states: States, games: NDArray[np.int64], seeds: NDArray[np.int64]) -> None:
        """Deal new games in place, in `states[games]`.

        Args:
            states: records, shape (batch,); written.
            games: indices into `states`, int64, shape (n,), without duplicates.
            seeds: a seed for each of `games`, int64, shape (n,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, two arrays share memory, or
                an index is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(np.arange(3))
            >>> game.deal(states, games=np.array([2]), seeds=np.array([0]))
            >>> bool(states[2] == states[0])
            True
        """
        states, games = state_checks.check_chosen(self, states, games, written=True)
        numbers = array_checks.check_numbers("seeds", seeds, games.size)
        array_checks.check_apart(states=states, seeds=seeds)
        self.run(batch_loops.deal, games.size, batch_loops.Deals(states, games, numbers))

    def deals(self) -> States:
        """Return all possible deals of a game without other chance; all are equally likely.

        Raises:
            ValueError: this variant has too many deals, or other chance events.

        Example:
            >>> import armarl
            >>> armarl.make_game("armadora", board="mini").deals().shape
            (2,)
        """
        if self._deals is None:
            raise ValueError(
                f"the deals of {self.name} {dict(self.options)} cannot be enumerated: it takes a "
                "variant whose only chance is a small deal, such as armadora with board='mini' "
                "(at the command line -o board=mini)"
            )
        return self._deals(self)

    def apply(self, states: States, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play one action in each of `states[games]`, in place.

        Pass states from outside to `check_states` first.

        Args:
            states: records, shape (batch,); written.
            games: indices into `states`, int64, shape (n,), without duplicates.
            actions: an action id for each of `games`, int64, shape (n,).

        Raises:
            IllegalActionError: an action is illegal. None of the actions is played.
            TypeError, ValueError: an array has another dtype or size, two arrays share memory, or
                an index is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(0)
            >>> game.apply(states, np.array([0]), np.array([game.actions.id("W3 c2")]))
            >>> bool(game.legal_masks(states)[0, game.actions.id("W1 c2")])  # c2 is taken now
            False
        """
        states, games = state_checks.check_chosen(self, states, games, written=True)
        numbers = array_checks.check_numbers("actions", actions, games.size)
        array_checks.check_apart(states=states, actions=actions)
        allowed = np.empty(games.size, np.int8)
        masks = self.scratch_masks(games.size)
        batch = batch_loops.Judgements(states, games, numbers, masks, allowed)
        self.run(batch_loops.judge, games.size, batch)
        for i in np.flatnonzero(allowed == 0)[:1]:
            raise IllegalActionError(self.explain(states[games[i]], int(numbers[i])))
        self.play(states, games, numbers)

    def play(self, states: States, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play actions without the checks of `apply`, for callers that have made them.

        An illegal action or an index out of range has undefined effects.
        """
        self.run(batch_loops.apply, games.size, batch_loops.Actions(states, games, actions))

    def check_states(self, states: States) -> None:
        """Check that states from outside, such as saved ones, are valid under the rules.

        Raises:
            TypeError: `states` is not an array of the game's records.
            ValueError: a state has another variant or breaks the rules. The message names the
                fault.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.check_states(game.new_states(0))
        """
        states = state_checks.check_states(self, states)
        faults = np.empty(states.size, np.int64)
        blank = np.full(1, self.blank)
        self.run(
            batch_loops.judge_state, states.size, batch_loops.Inspections(states, blank, faults)
        )
        for i in np.flatnonzero(faults)[:1]:
            raise ValueError(
                f"states[{i}] is not a valid state of {self.name}: {self.faults[faults[i]]}"
            )

    def taken(self, states: States, indices: NDArray[np.int64]) -> States:
        """Return a copy of `states[indices]`, much faster than NumPy, which copies each field.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.taken(game.new_states(0), np.zeros(8, np.int64)).shape
            (8,)
        """
        copies = np.empty(indices.size, states.dtype)
        size = states.itemsize
        into = copies.view(np.uint8).reshape(-1, size)
        states.view(np.uint8).reshape(-1, size).take(indices, axis=0, out=into)
        return copies

    def legal_masks(self, states: States) -> NDArray[np.int8]:
        """Return the action mask of the seat to move in each state, int8 (batch, actions).

        Pass states from outside to `check_states` first.

        Raises:
            TypeError, ValueError: `states` is not an array of states of this variant.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> masks = game.legal_masks(game.new_states(0))
            >>> game.actions.legal_texts(masks[0])[:3]
            ['W1 a1', 'W1 b1', 'W1 c1']
        """
        states = state_checks.check_states(self, states)
        masks = np.empty((states.size, len(self.actions)), np.int8)
        self.run(batch_loops.read_mask, states.size, batch_loops.Masks(states, masks))
        return masks

    def views(
        self, states: States, seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return the observation and the action mask of one seat in each state.

        Pass states from outside to `check_states` first.

        Args:
            states: records, shape (batch,).
            seats: a seat for each state, int64, shape (batch,).

        Returns:
            Observations, float32 (batch, size), and action masks, int8 (batch, actions). A mask is
            all 0 if the seat is not to move.

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a seat is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> observations, masks = game.views(game.new_states(0), seats=np.array([1]))
            >>> observations.shape, bool(masks.any())  # player 0 is to move
            ((1, 576), False)
        """
        states, seats = state_checks.check_seats(self, states, seats)
        observations = np.empty((states.size, self.observation.size), np.float32)
        masks = np.empty((states.size, len(self.actions)), np.int8)
        self.run(
            batch_loops.view, states.size, batch_loops.Views(states, seats, observations, masks)
        )
        return observations, masks

    def concealed(self, states: States, seats: NDArray[np.int64]) -> States:
        """Return copies of the states without the information that is hidden from `seats[i]`.

        Pass states from outside to `check_states` first.

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a seat is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, seats = game.new_states(0), np.array([0])
            >>> dealt = game.determinised(states, seats, seeds=np.array([7]))
            >>> game.concealed(dealt, seats).tobytes() == game.concealed(states, seats).tobytes()
            True
        """
        states, seats = state_checks.check_seats(self, states, seats)
        hidden = self.taken(states, np.arange(states.size))
        self.run(batch_loops.conceal, states.size, batch_loops.Concealments(hidden, seats))
        return hidden

    def determinised(
        self, states: States, seats: NDArray[np.int64], seeds: NDArray[np.int64]
    ) -> States:
        """Return copies of the states, with the information hidden from `seats[i]` dealt anew.

        The deal is uniform over those that agree with what the seat is shown, and follows from
        `seeds[i]`. Pass states from outside to `check_states` first.

        Args:
            states: records, shape (batch,).
            seats: a seat for each state, int64, shape (batch,).
            seeds: a seed for each state, int64, shape (batch,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a seat is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(0)
            >>> game.apply(states, np.array([0]), np.array([game.actions.id("W3 c2")]))
            >>> copies, seats = game.taken(states, np.zeros(4, np.int64)), np.ones(4, np.int64)
            >>> deals = game.determinised(copies, seats, seeds=np.arange(4))
            >>> [game.describe(deal)["warriors"]["c2"]["value"] for deal in deals]
            [1, 5, 1, 2]
        """
        states, seats = state_checks.check_seats(self, states, seats)
        seeds = array_checks.check_numbers("seeds", seeds, states.size)
        dealt = self.taken(states, np.arange(states.size))
        self.run(
            batch_loops.determinise, states.size, batch_loops.Determinisations(dealt, seats, seeds)
        )
        return dealt

    def statuses(self, states: States) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the status of each state, and the seat to move.

        Returns:
            Statuses, int64 (batch,): 0 for a game in play, 1 for a game that has ended, 2 for a
            game that was cut short. Seats, int64 (batch,).

        Raises:
            TypeError, ValueError: `states` is not an array of states of this variant.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.statuses(game.new_states(0))
            (array([0]), array([0]))
        """
        states = state_checks.check_states(self, states)
        statuses, seats = np.empty((2, states.size), np.int64)
        self.run(
            batch_loops.read_status, states.size, batch_loops.Statuses(states, statuses, seats)
        )
        return statuses, seats

    @property
    def has_progress(self) -> bool:
        """Whether the game defines the verb `progress`."""
        return self._binding.verbs.progress is not unmoving

    def progress(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the publicly visible progress of one seat in each state, int64 (batch,).

        See the verb `progress`. In a game without it (`has_progress`) the progress is always 0.
        Pass states from outside to `check_states` first.

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a seat is out of range.
        """
        states, seats = state_checks.check_seats(self, states, seats)
        progress = np.empty(states.size, np.int64)
        self.run(
            batch_loops.read_progress, states.size, batch_loops.Progresses(states, seats, progress)
        )
        return progress

    def turns_of(self, states: States) -> NDArray[np.int64]:
        """Return the seat whose turn it is in each state, int64 (batch,).

        Another seat may be to move: it answers or acts within that turn.

        Raises:
            TypeError, ValueError: `states` is not an array of states of this variant.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.turns_of(game.new_states(0))
            array([0])
        """
        states = state_checks.check_states(self, states)
        seats = np.empty(states.size, np.int64)
        self.run(batch_loops.read_owner, states.size, batch_loops.Owners(states, seats))
        return seats

    def returns(
        self, states: States, games: NDArray[np.int64], reward: str = "win"
    ) -> NDArray[np.float64]:
        """Return the final returns of all seats in the finished games `states[games]`.

        Pass states from outside to `check_states` first.

        Args:
            states: records, shape (batch,).
            games: indices into `states`, int64, shape (n,).
            reward: one of `rewards`.

        Returns:
            Returns in [-1, 1], float64 (n, players).

        Raises:
            TypeError, ValueError: an array has another dtype, an index is out of range, or the game
                has no such reward.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(0)
            >>> _ = game.playouts(states, seeds=np.array([1]))
            >>> game.returns(states, games=np.array([0]))
            array([[-1.,  1.]])
        """
        states, games = state_checks.check_chosen(self, states, games, once=False)
        returns = np.empty((games.size, self.players))
        kind = self.reward_kind(reward)
        self.run(
            batch_loops.read_returns, games.size, batch_loops.Outcomes(states, games, kind, returns)
        )
        return returns

    def playouts(
        self, states: States, seeds: NDArray[np.int64], reward: str = "win"
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Play games to their end with random legal actions, in place.

        Pass states from outside to `check_states` first.

        Args:
            states: records, shape (batch,); each game continues from its state.
            seeds: a seed for the random actions of each game, int64, shape (batch,). Chance in the
                rules comes from the random number generators in the states.
            reward: one of `rewards`.

        Returns:
            Returns of all seats, float64 (batch, players), and numbers of actions played, int64
            (batch,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, the two share memory, or the
                game has no such reward.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> game.playouts(game.new_states(0), seeds=np.array([1]))
            (array([[-1.,  1.]]), array([62]))
        """
        states = state_checks.check_states(self, states, written=True)
        numbers = array_checks.check_numbers("seeds", seeds, states.size)
        array_checks.check_apart(states=states, seeds=seeds)
        chance, masks = self.new_chance(numbers), self.scratch_masks(states.size)
        returns, lengths = np.empty((states.size, self.players)), np.empty(states.size, np.int64)
        kind = self.reward_kind(reward)
        at_once = _PLAYOUTS_AT_ONCE * threads.threads_for(states.size)
        for first in range(0, states.size, at_once):
            some = slice(first, first + at_once)
            arrays = states[some], chance[some], kind, masks, returns[some], lengths[some]
            batch = batch_loops.Playouts(*arrays)
            self.run(batch_loops.play_out, lengths[some].size, batch)
        return returns, lengths

    def new_chance(self, seeds: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the state of a random number generator for each seed, uint64 (n,).

        These generators are independent of those in the game states.

        Raises:
            TypeError, ValueError: `seeds` is not an int64 array of shape (n,).
        """
        seeds = array_checks.check_numbers("seeds", seeds, None)
        chance = np.empty(seeds.size, np.uint64)
        batch = batch_loops.Streams(chance, np.arange(seeds.size), seeds)
        self.run(batch_loops.seed_stream, seeds.size, batch)
        return chance

    def random_actions(
        self, masks: NDArray[np.int8], chance: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return a random legal action for each row of `masks`; 0 where no action is legal.

        Args:
            masks: action masks, int8, shape (n, actions).
            chance: a random number generator for each row, uint64, shape (n,), from `new_chance`;
                advanced in place.

        Raises:
            TypeError, ValueError: an array has another dtype or size, a mask has entries other than
                0 and 1, or the two share memory.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, chance = game.new_states(0), game.new_chance(np.array([5]))
            >>> action = game.random_actions(game.legal_masks(states), chance)
            >>> game.apply(states, np.array([0]), action)
        """
        legal = array_checks.check_masks(masks, len(self.actions))
        chance = array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, len(legal))
        array_checks.check_apart(masks=masks, chance=chance)
        actions = np.empty(len(legal), np.int64)
        self.run(batch_loops.pick_action, len(legal), batch_loops.Picks(legal, chance, actions))
        return actions

    def questions(
        self, states: States, games: NDArray[np.int64], chance: NDArray[np.uint64]
    ) -> tuple[States, NDArray[np.int64], NDArray[np.float64]]:
        """Return the arguments of `Player.choose` for the seats to move in `states[games]`.

        Args:
            states: records, shape (batch,).
            games: indices into `states`, int64, shape (n,), without duplicates.
            chance: a random number generator for each of `states`, uint64, shape (batch,), from
                `new_chance`; advanced in place for `games`.

        Returns:
            Concealed states of the seats to move, shape (n,); these seats, int64 (n,); and random
            numbers in [0, 1), float64 (n,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, two arrays share memory, or
                an index is out of range.
        """
        states, chosen = state_checks.check_chosen(self, states, games)
        chance = array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, states.size)
        array_checks.check_apart(states=states, games=games, chance=chance)
        games = chosen
        seen = np.empty(games.size, states.dtype)
        movers, draws = np.empty(games.size, np.int64), np.empty(games.size)
        batch = batch_loops.Questions(states, games, chance, seen, movers, draws)
        self.run(batch_loops.ask, games.size, batch)
        return seen, movers, draws

    def scratch_masks(self, games: int) -> NDArray[np.int8]:
        """Scratch masks for a batch of so many games: each thread of a loop gets its own row."""
        return np.empty((2 * threads.most_threads_for(games), len(self.actions)), np.int8)

    # --- one state, in readable form -------------------------------------------------------------

    def describe(
        self, state: State, seat: int | None = None, *, public: bool = False
    ) -> dict[str, Any]:
        """Return a state as plain JSON types. With a seat, all that it may not know is None.

        Pass a state from outside to `check_states` first.

        Args:
            state: one record.
            seat: a seat, or None for the whole state.
            public: describe what every seat may know, as an onlooker sees it. `seat` must be None.

        Raises:
            TypeError, ValueError: `state` is not a state of this variant, or the seat does not
                exist.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> state = game.new_states(0)[0]
            >>> game.describe(state, seat=0)["hands"][1] is None  # the opponent's hand
            True
        """
        if public:
            if seat is not None:
                raise ValueError(f"public=True takes no seat: it must be None, not {seat!r}")
            views = [self.describe(state, one) for one in range(self.players)]
            common: dict[str, Any] = _in_common(views)
            return common
        return self._describe(self, self._check_state(state)[0], self._check_seat(seat))

    def state_from(self, description: Mapping[str, Any], seed: int = 0) -> State:
        """Return the state with a description, the inverse of `describe`.

        A description may leave out what it does not care about. What follows from the rest is
        worked out, such as hands, supplies and legal actions, and everything else is as after the
        deal. What it names must agree with the rest.

        Args:
            description: what `describe(state)` returns, or some of it. What a seat sees is
                refused, because a state holds everything.
            seed: the seed of the deal, for what is left out, and of the chance that follows.

        Raises:
            TypeError: the description is not a dictionary.
            ValueError: it is of another variant or names something unknown, it breaks a rule, which
                the message names, or the game cannot do this.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> warriors = {"c4": {"player": 0, "value": 5}}
            >>> state = game.state_from({"warriors": warriors, "palisades": ["c3-c4"]})
            >>> game.describe(state)["hands"][0]["5"], game.describe(state)["palisades_left"]
            (0, 34)
        """
        return positions.state_from(self, description, seed)

    def draw(self, state: State, seat: int | None = None) -> str:
        """Return a state as text, whole or as a seat sees it.

        Pass a state from outside to `check_states` first.

        Raises:
            TypeError, ValueError: as in `describe`.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> print(game.draw(game.new_states(0)[0]).splitlines()[2])
            1 |  .      .   #  .     (3)  #                           |
        """
        return self._draw(self, self._check_state(state)[0], self._check_seat(seat))

    @property
    def has_picture(self) -> bool:
        """Return whether the game has a drawing."""
        return self._picture is not None

    def picture(
        self,
        state: State,
        seat: int | None = None,
        *,
        before: State | None = None,
        last: tuple[int, int] | None = None,
        names: Sequence[str] | None = None,
        public: bool = False,
    ) -> Picture:
        """Return a drawing of a state, whole or as a seat sees it.

        It is made from `describe(state, seat)` alone, so it shows nothing else. It gives SVG, PNG
        and pixels, and a notebook shows it. Pass states from outside to `check_states` first.

        Args:
            state: one record.
            seat: a seat, or None for the whole state.
            before: an earlier state of the same game. All that has changed since is marked.
            last: the last action: the seat that played it, and its id. A seat sees of another
                seat's action only what is public.
            names: a name for each player, by seat.
            public: draw what every seat may know, as an onlooker sees it. `seat` must be None.

        Raises:
            TypeError, ValueError: as in `describe`, for `last` or `names` too, or the game has no
                drawing.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armada", players=3)
            >>> picture = game.picture(game.new_states(0)[0], seat=1, names=["Ann", "Bo", "Cy"])
            >>> picture.sheet.name
            'armada'
        """
        earlier = None if before is None else self._seen(before, seat, public)
        return self._drawn(self._scene(state, seat, earlier, last, names, public))

    def tell(
        self,
        state: State,
        last: tuple[int, int],
        seat: int | None = None,
        *,
        before: State,
        names: Sequence[str] | None = None,
        public: bool = False,
    ) -> Told:
        """Return in words what an action did, whole or as a seat sees it.

        It is made from `describe` and from what `seat` may know of the action, as a picture is.

        Args:
            state: the state after the action.
            last: the seat that played it, and its id.
            seat: a seat, or None for everything.
            before: the state before the action.
            names: a name for each player, by seat.
            public: tell what every seat may know, as an onlooker sees it. `seat` must be None.

        Raises:
            TypeError, ValueError: as for `picture`.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states, action = game.new_states(0), game.actions.id("W3 c4")
            >>> before = states[0].copy()
            >>> game.apply(states, np.array([0]), np.array([action]))
            >>> game.tell(states[0], (0, action), seat=1, before=before).words
            ('player 0 lays a Warrior face down on c4.',)
        """
        earlier = self._seen(before, seat, public)
        return self._told(self._scene(state, seat, earlier, last, names, public))

    def course(
        self,
        states: States,
        actions: Sequence[tuple[int, int]],
        seat: int | None = None,
        names: Sequence[str] | None = None,
    ) -> Iterator[tuple[Picture, Told]]:
        """Yield the picture of each state of one game, and the words for what led to it.

        It is `picture` and `tell` for a whole game, where each state is described once.

        Args:
            states: the states in order, the deal first.
            actions: the seat and the id of each action, so one less than states.
            seat: a seat, or None for everything.
            names: a name for each player, by seat.

        Raises:
            TypeError, ValueError: as for `picture`, or there is another number of actions.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora", board="mini")
            >>> states, action = game.new_states(0), game.actions.id("W1 a1")
            >>> after = states.copy()
            >>> game.apply(after, np.array([0]), np.array([action]))
            >>> moments = list(game.course(np.concatenate([states, after]), [(0, action)]))
            >>> moments[1][1].words
            ('player 0 lays a Warrior of value 1 face down on a1.',)
        """
        if len(actions) != len(states) - 1:
            raise ValueError(
                f"{len(states)} states have {len(states) - 1} actions between them, "
                f"not {len(actions)}"
            )
        before = None
        for state, last in zip(states, [None, *actions], strict=True):
            scene = self._scene(state, seat, before, last, names)
            yield self._drawn(scene), self._told(scene)
            before = scene.view

    def _seen(self, state: State, seat: int | None, public: bool) -> dict[str, Any]:
        """Return `describe`, for drawing and telling, which do not change it.

        The last ones are kept: a position is drawn and told, and then it is the one before.
        """
        return self._described(self._check_state(state).tobytes(), seat, public)

    @cached_property
    def _described(self) -> Callable[[bytes, int | None, bool], dict[str, Any]]:
        @lru_cache(maxsize=_KEPT)
        def described(state: bytes, seat: int | None, public: bool) -> dict[str, Any]:
            return self.describe(np.frombuffer(state, self.blank.dtype)[0], seat, public=public)

        return described

    def _drawn(self, scene: Scene) -> Picture:
        if self._picture is None:
            raise ValueError(
                f"{self.name} has no drawing, only text: use render_mode='ansi' or `draw`"
            )
        return self._picture(scene)

    def _scene(
        self,
        state: State,
        seat: int | None,
        before: dict[str, Any] | None,
        last: tuple[int, int] | None,
        names: Sequence[str] | None,
        public: bool = False,
    ) -> Scene:
        said = None if last is None else self._said(last, -1 if public else seat)
        if names is None:
            names = [f"player {player}" for player in range(self.players)]
        if (
            not isinstance(names, Sequence)
            or isinstance(names, str | bytes)
            or len(names) != self.players
        ):
            raise ValueError(f"names must be {self.players} names, not {brief(repr(names), 60)}")
        shown = tuple(brief(name, 40) for name in names)
        view = self._seen(state, seat, public)
        return Scene(self, view, self._check_seat(seat), before, said, shown)

    def _told(self, scene: Scene) -> Told:
        """Return what a game tells of a scene; without that, the player and the action."""
        if scene.last is None or scene.before is None:
            return Told(())
        if self._tell is not None:
            return self._tell(scene)
        seat, said = scene.last
        return Told((f"{scene.names[seat]}: {said}.",))

    def draw_svg(
        self, state: State, seat: int | None = None, *, theme: str = "auto", **more: Any
    ) -> str:
        """Return a drawing of a state as an SVG document, whole or as a seat sees it.

        Args:
            state, seat: as for `picture`.
            theme: "light", "dark", or "auto", which is light and turns dark in browsers whose
                reader prefers it.
            more: the other arguments of `picture`.

        Raises:
            TypeError, ValueError: as for `picture`, or the theme does not exist.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> 'data-place="c4"' in game.draw_svg(game.new_states(0)[0], seat=0)
            True
        """
        return self.picture(state, seat, **more).svg(theme)

    def _said(self, last: tuple[int, int], seat: int | None) -> tuple[int, str]:
        """Return who played an action, and its notation as far as a seat (-1: every seat) knows."""
        if not isinstance(last, tuple) or len(last) != 2:
            raise TypeError(f"last must be a seat and an action, not {brief(repr(last), 60)}")
        mover = whole_number("the seat of the last action", last[0], 0, self.players - 1)
        text = self.actions.text(last[1])
        if seat is not None and seat != mover:
            text = self.actions.public_texts[last[1]]
        return mover, text

    def explain(self, state: State, action: int) -> str:
        """Return the reason why an action is illegal in a state, or that it is legal.

        The text has the notation of the action and the most specific reason. Pass a state from
        outside to `check_states` first.

        Raises:
            TypeError, ValueError: `state` is not a state of this variant, or `action` is not an
                integer.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(0)
            >>> game.apply(states, np.array([0]), np.array([game.actions.id("W1 a1")]))
            >>> game.explain(states[0], game.actions.id("W2 a1"))
            '`W2 a1` is illegal: a Warrior already lies on a1 (ARM-11)'
        """
        states = self._check_state(state)
        action = action_number(action)
        if not 0 <= action < len(self.actions):
            return f"there is no action {action}: ids run from 0 to {len(self.actions) - 1}"
        if self.legal_masks(states)[0, action]:
            return f"`{self.actions.text(action)}` is legal"
        return f"`{self.actions.text(action)}` is illegal: {self._explain(self, states[0], action)}"

    def _check_state(self, state: State) -> States:
        """Check one record, and return a copy of it as an array of one."""
        states = np.array(state)  # a copy, of the base class
        if states.ndim:
            raise ValueError(f"state must be one record, not an array of shape {states.shape}")
        return state_checks.check_states(self, states.reshape(1))

    def _check_seat(self, seat: int | None) -> int | None:
        return None if seat is None else whole_number("seat", seat, 0, self.players - 1)


def _in_common(views: Sequence[Any]) -> Any:
    """Return what is the same in all of these plain JSON values, with None in place of the rest."""
    first = views[0]
    if isinstance(first, dict) and all(
        isinstance(view, dict) and view.keys() == first.keys() for view in views
    ):
        return {key: _in_common([view[key] for view in views]) for key in first}
    if isinstance(first, list) and all(
        isinstance(view, list) and len(view) == len(first) for view in views
    ):
        return [_in_common(items) for items in zip(*views, strict=True)]
    return first if all(view == first for view in views) else None


def check_game(game: object, *, or_name: bool = False) -> Game:
    """Return `game` if it is a `Game`.

    Args:
        game: the argument to check.
        or_name: whether the caller accepts a game's name too; only the error text depends on it.

    Raises:
        TypeError: `game` is something else, such as an environment.
    """
    if isinstance(game, Game):
        return game
    wanted = "the name of a game or a Game" if or_name else "a Game"
    raise TypeError(
        f"game must be {wanted}, as make_game returns it (an environment has it as `.game`, a "
        f"wrapped one as `.unwrapped.game`), not {brief(repr(game), 60)}"
    )


def _remake(make: Callable[..., Game], options: dict[str, Any]) -> Game:
    return make(**options)
