"""`Game`: one variant of one game, with everything that plays it.

A state is one fixed-size NumPy record. To clone a game, copy the record. To save a game, write the
bytes of the record. An array of records is a batch. A game's *verbs* are the compiled functions
that work on such records (`core/verbs.py`). A `Game` combines them with the action table, the
observation table, the options and the version. The environments are built on `Game`.

This file deals games, plays actions and reads states. The parts that `Game` inherits are in other
files:

- `core/variant.py`: names, options, sizes and tables;
- `core/game_parts/compiled_variant.py`: compiled functions, and `run`, which loops over a batch;
- `core/game_parts/random_play.py`: `playouts` and random actions;
- `core/game_parts/readable.py`: `describe`, `draw`, `picture`, `draw_svg`, `tell`,
  `sum_up`, `course`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import action_number, seed_numbers
from armarl.compiler.types import State, States
from armarl.core import array_checks, batch_loops, positions, state_checks
from armarl.core.errors import IllegalActionError
from armarl.core.game_parts.random_play import RandomPlay
from armarl.core.game_parts.readable import Readable
from armarl.core.positions import Description
from armarl.core.verbs import unmoving


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(RandomPlay, Readable):
    """One variant of a game, with everything that plays it.

    A `Game` is immutable. Its pickle stores only the options. `make_game` creates a `Game`. All
    methods on batches work on arrays of state records and run in compiled loops on several threads.
    They trust the contents of the states: a state that breaks the rules can crash the process. A
    thread that writes to states while a call uses them can crash the process too. Check untrusted
    states (from a file or another program) with `check_states` first. All arrays other than the
    states are copied before they are checked.

    Attributes:
        verbs: the game's compiled functions.
        make: the function that creates this game from its options. Pickles refer to it by name.

    Example:
        >>> import numpy as np
        >>> import armarl
        >>> game = armarl.make_game("armadora", players=3)
        >>> states = game.new_states(np.arange(100))  # 100 games, from the seeds 0 to 99
        >>> returns, lengths = game.playouts(states, seeds=np.arange(100))  # random play
        >>> returns.shape
        (100, 3)
    """

    make: Callable[..., Game] = field(repr=False)
    _explain: Callable[[Game, State, int], str] = field(repr=False)
    _deals: Callable[[Game], States] | None = field(default=None, repr=False)
    _states_from: Callable[[Game, Description, State], Iterator[State]] | None = field(
        default=None, repr=False
    )

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.make, {"players": self.players, **self.options})

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self

    def new_states(self, seeds: NDArray[np.int64] | int) -> States:
        """Deal new games, one record per seed.

        Args:
            seeds: seeds, integers, shape (n,). An int gives an array of one state.

        Raises:
            TypeError: a seed is not an integer.
            ValueError: a seed does not fit in int64, or `seeds` has more than one axis.

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
            TypeError, ValueError: an array has another dtype or size or is read-only, two
                arrays share memory, an index is out of range or occurs twice, or a state is of
                another variant.

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
        """Return all possible deals of a variant whose only chance event is the deal.

        All deals are equally likely.

        Raises:
            ValueError: this variant has too many deals, or other chance events.

        Example:
            >>> import armarl
            >>> armarl.make_game("armadora", board="mini").deals().shape
            (2,)
        """
        if self._deals is None:
            raise ValueError(
                f"the deals of {self.name} {dict(self.options)} cannot be enumerated: this needs a "
                "variant with few deals and no other chance event, such as armadora with "
                "board='mini' (at the command line -o board=mini)"
            )
        return self._deals(self)

    def apply(self, states: States, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play one action in each of `states[games]`, in place.

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,); written.
            games: indices into `states`, int64, shape (n,), without duplicates.
            actions: an action id for each of `games`, int64, shape (n,).

        Raises:
            IllegalActionError: an action is illegal or does not exist. None of the actions is
                played.
            TypeError, ValueError: an array has another dtype or size or is read-only, two
                arrays share memory, an index is out of range or occurs twice, or a state is of
                another variant.

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
        """Play actions without the checks of `apply`, for callers that have made these checks.

        An illegal action or an index out of range has undefined effects, and may end the process.

        Args:
            states: records, shape (batch,); written.
            games: indices into `states`, int64, shape (n,), without duplicates.
            actions: a legal action id for each of `games`, int64, shape (n,).
        """
        self.run(batch_loops.apply, games.size, batch_loops.Actions(states, games, actions))

    def check_states(self, states: States) -> None:
        """Check that untrusted states, such as saved ones, are valid under the rules.

        Raises:
            TypeError: `states` is not an array of the game's records.
            ValueError: `states` has another shape, or a state is of another variant or breaks the
                rules. The message says what is wrong.

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
        """Return a copy of `states[indices]`.

        This is much faster than indexing in NumPy, which copies field by field.

        Args:
            states: records, shape (batch,), C-contiguous.
            indices: indices into `states`, integers, shape (n,).

        Raises:
            IndexError: an index is out of range.
            ValueError: `states` is not C-contiguous.

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

        A mask is all 0 if the game is over. Check untrusted states (from a file or another program)
        with `check_states` first.

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

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,).
            seats: a seat for each state, int64, shape (batch,).

        Returns:
            Observations, float32 (batch, size), and action masks, int8 (batch, actions). A mask is
            all 0 if another seat is to move or the game is over.

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

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,).
            seats: a seat for each state, int64, shape (batch,).

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
        """Return copies of the states with a new deal of the information hidden from `seats[i]`.

        The deal is uniform over all deals that agree with the information shown to the seat.
        `seeds[i]` determines the deal.

        Check untrusted states (from a file or another program) with `check_states` first.

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
        """Whether the game defines the verb `progress`; see the method `progress`."""
        return self._binding.verbs.progress is not unmoving

    def progress(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how far one seat has progressed in each state, int64 (batch,).

        The progress is a publicly visible number, such as the number of Warriors that the seat has
        laid. It is 0 before the seat's first turn and never decreases. In a game without the verb
        `progress` (see `has_progress`) it is always 0.

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,).
            seats: a seat for each state, int64, shape (batch,).

        Raises:
            TypeError, ValueError: an array has another dtype or size, or a seat is out of range.

        Example:
            >>> import numpy as np
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> states = game.new_states(0)
            >>> game.apply(states, np.array([0]), np.array([game.actions.id("W3 c2")]))
            >>> game.progress(states, seats=np.array([0]))
            array([1])
        """
        states, seats = state_checks.check_seats(self, states, seats)
        progress = np.empty(states.size, np.int64)
        self.run(
            batch_loops.read_progress, states.size, batch_loops.Progresses(states, seats, progress)
        )
        return progress

    def turns_of(self, states: States) -> NDArray[np.int64]:
        """Return the seat whose turn it is in each state, int64 (batch,).

        Another seat may be to move, because it answers an action of that turn or acts within it.

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

        Check untrusted states (from a file or another program) with `check_states` first.

        Args:
            states: records, shape (batch,).
            games: indices into `states`, int64, shape (n,).
            reward: one of `rewards`.

        Returns:
            Returns in [-1, 1], float64 (n, players).

        Raises:
            TypeError, ValueError: an array has another dtype or size, an index is out of range, a
                state is of another variant, or the game has no such reward.

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

    def state_from(self, description: Mapping[str, Any], seed: int = 0) -> State:
        """Return the state that matches a description. This is the inverse of `describe`.

        A description may leave out keys. Missing values that follow from the given ones, such as
        hands, supplies and legal actions, are computed. All other missing values are those of a
        newly dealt game. The given values must agree with each other.

        Args:
            description: the result of `describe(state)`, or a part of it. The view of one seat is
                refused, because it lacks hidden information that a state contains.
            seed: the seed of the newly dealt game, and of all chance events that follow.

        Raises:
            TypeError: the description is not a dictionary, or the seed is not an integer.
            ValueError: the description is of another variant, contains an unknown name or breaks a
                rule (the message says which), or the game cannot make states from descriptions.

        Example:
            >>> import armarl
            >>> game = armarl.make_game("armadora")
            >>> warriors = {"c4": {"player": 0, "value": 5}}
            >>> state = game.state_from({"warriors": warriors, "palisades": ["c3-c4"]})
            >>> game.describe(state)["hands"][0]["5"], game.describe(state)["palisades_left"]
            (0, 34)
        """
        return positions.state_from(self, description, seed)

    def explain(self, state: State, action: int) -> str:
        """Return a sentence that says why an action is illegal in a state, or that it is legal.

        The text contains the notation of the action and the most specific reason. It also says if
        the id does not exist. Check an untrusted state (from a file or another program) with
        `check_states` first.

        Args:
            state: one record.
            action: an action id, any integer.

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


def check_game(game: object, *, or_name: bool = False) -> Game:
    """Return `game` if it is a `Game`.

    Args:
        game: the argument to check.
        or_name: whether the caller also accepts a game's name. Only the error text depends on this.

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
