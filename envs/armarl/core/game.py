"""`Game`: one variant of one game, all that the faces above it know.

A game's state is one fixed-size NumPy record. Copying it is cloning the game, its bytes are a
saved game, and an array of them is a batch. A `Game` binds the compiled verbs that work on such
records with the tables of its actions and observation, its options and its version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.numbers import action_number, seed_numbers, whole_number
from armarl.compiler.types import State, States
from armarl.compiler.work_sharing import Body
from armarl.core import array_checks, batch_loops, state_checks, threads
from armarl.core.binding import Binding
from armarl.core.variant import Variant
from armarl.core.verbs import Verbs, unmoving

F = TypeVar("F", bound=Callable[..., Any])


class IllegalActionError(ValueError):
    """An action that the rules forbid; the message has its notation and the nearest reason."""


@cache
def _binding(name: str, verbs: Verbs) -> Binding:
    """The functions that are written once for every game, compiled with these verbs."""
    return Binding(name, verbs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Game(Variant):
    """One variant of a game with everything that plays it. Immutable; pickled by its options.

    `make_game` makes it. Every method trusts that the states it gets are lawful. States from
    outside go through `check_states` first: an unlawful state can end the process.

    Attributes:
        verbs: the game's compiled functions.
        make: the function that makes this game from its options; pickles refer to it by name.
    """

    verbs: Verbs = field(repr=False)
    make: Callable[..., Game] = field(repr=False)
    _describe: Callable[[Game, State, int | None], dict[str, Any]] = field(repr=False)
    _draw: Callable[[Game, State, int | None], str] = field(repr=False)
    _explain: Callable[[Game, State, int], str] = field(repr=False)
    _deals: Callable[[Game], States] | None = field(default=None, repr=False)

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
        return _binding(self.name, self.verbs)

    def compiled(self, function: F) -> F:
        """A function that is written once for every game, with this game's verbs."""
        return self._binding.function(function)

    # For one game, called at every step: found once, since to look them up takes a tenth of it.

    @cached_property
    def deal_one(self) -> Callable[..., int]:
        """`loops.deal_one`, compiled."""
        return self.compiled(batch_loops.deal_one)

    @cached_property
    def view_one(self) -> Callable[..., None]:
        """`loops.view_one`, compiled."""
        return self.compiled(batch_loops.view_one)

    @cached_property
    def play_one(self) -> Callable[..., int]:
        """`loops.play_one`, compiled."""
        return self.compiled(batch_loops.play_one)

    def warm_up(self) -> None:
        """Compile, at the first call, what a game in play needs."""
        _ = self._is_warm

    @cached_property
    def _is_warm(self) -> bool:
        states, mask = np.full(1, self.blank), np.zeros(len(self.actions), np.int8)
        observation, returns = np.zeros(self.observation.size, np.float32), np.zeros(self.players)
        self.deal_one(states, 0, 0, True)
        self.view_one(states, 0, 0, observation, mask)
        self.play_one(states, 0, -1, mask, returns, 0)  # -1 is never legal: nothing happens
        return True

    # --- games, one or many ----------------------------------------------------------------------

    def run(self, body: Body, games: int, batch: Any, *, least: int | None = None) -> None:
        """Run a body for each of so many games of a batch, on several threads.

        Args:
            body: one of `loops`, or any function that is written as they are.
            batch: what the body takes; its arrays are trusted to be as it says.
            least: so many games are worth a thread of their own; None: as many as loops need.
        """
        if least is None and body in batch_loops.LIGHT:
            least = threads.LEAST_GAMES_OF_LIGHT_LOOPS
        threads.run(self._binding.driver(body), games, batch, least=least)

    def new_states(self, seeds: NDArray[np.int64] | int) -> States:
        """Freshly dealt games, one record per seed (an int gives an array of one).

        Raises:
            TypeError: a seed is no integer.
            ValueError: a seed is no int64.
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
        """Deal `states[games]` anew, each from its seed.

        Raises:
            TypeError, ValueError: arrays of other types or sizes, or in the same memory, or games
                that there are not.
        """
        state_checks.check_chosen(self, states, games, written=True)
        array_checks.check_numbers("seeds", seeds, games.size)
        array_checks.check_apart(states=states, seeds=seeds)
        self.run(batch_loops.deal, games.size, batch_loops.Deals(states, games, seeds))

    def deals(self) -> States:
        """All deals of a game whose only chance is the deal; they are equally likely.

        Raises:
            ValueError: this variant has too many, or more chance.
        """
        if self._deals is None:
            raise ValueError(
                f"the deals of {self.name} {dict(self.options)} cannot be enumerated: it takes a "
                "variant whose only chance is a small deal (see docs/playing/exploitability.md)"
            )
        return self._deals(self)

    def apply(self, states: States, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play an action in each of `states[games]`.

        States from outside go through `check_states` first.

        Raises:
            IllegalActionError: the rules forbid one of them; none is played.
            TypeError, ValueError: arrays of other types or sizes, or in the same memory, or games
                that there are not.
        """
        state_checks.check_chosen(self, states, games, written=True)
        array_checks.check_numbers("actions", actions, games.size)
        array_checks.check_apart(states=states, actions=actions)
        allowed = np.empty(games.size, np.int8)
        masks = self.scratch_masks(games.size)
        batch = batch_loops.Judgements(states, games, actions, masks, allowed)
        self.run(batch_loops.judge, games.size, batch)
        for i in np.flatnonzero(allowed == 0)[:1]:
            raise IllegalActionError(self.explain(states[games[i]], int(actions[i])))
        self.play(states, games, actions)

    def play(self, states: States, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """`apply` without its checks, for callers who have made them: of what is illegal or out of
        range anything may come."""
        self.run(batch_loops.apply, games.size, batch_loops.Actions(states, games, actions))

    def check_states(self, states: States) -> None:
        """Check states that come from outside, such as saved ones: whether the rules know them.

        Raises:
            TypeError: it is no array of the game's records.
            ValueError: one is of another variant, or breaks a law of the game; the message says
                which.
        """
        state_checks.check_states(self, states)
        faults = np.empty(states.size, np.int64)
        blank = np.full(1, self.blank)
        self.run(
            batch_loops.judge_state, states.size, batch_loops.Inspections(states, blank, faults)
        )
        for i in np.flatnonzero(faults)[:1]:
            raise ValueError(f"states[{i}] is no state of {self.name}: {self.faults[faults[i]]}")

    def taken(self, states: States, indices: NDArray[np.int64]) -> States:
        """Copies of `states[indices]`; much faster than NumPy, which copies field by field."""
        copies = np.empty(indices.size, states.dtype)
        size = states.itemsize
        into = copies.view(np.uint8).reshape(-1, size)
        states.view(np.uint8).reshape(-1, size).take(indices, axis=0, out=into)
        return copies

    def legal_masks(self, states: States) -> NDArray[np.int8]:
        """Masks of the seats to move, int8 of shape (batch, actions).

        States from outside go through `check_states` first.

        Raises:
            TypeError, ValueError: these are no states of this variant.
        """
        state_checks.check_states(self, states)
        masks = np.empty((states.size, len(self.actions)), np.int8)
        self.run(batch_loops.read_mask, states.size, batch_loops.Masks(states, masks))
        return masks

    def views(
        self, states: States, seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Observations (batch, size) and masks (batch, actions) of one seat in each state.

        States from outside go through `check_states` first.

        Raises:
            ValueError: not one seat for each state, or one that there is not.
        """
        state_checks.check_seats(self, states, seats)
        observations = np.empty((states.size, self.observation.size), np.float32)
        masks = np.empty((states.size, len(self.actions)), np.int8)
        self.run(
            batch_loops.view, states.size, batch_loops.Views(states, seats, observations, masks)
        )
        return observations, masks

    def concealed(self, states: States, seats: NDArray[np.int64]) -> States:
        """Copies of the states without anything that `seats[i]` is not shown.

        States from outside go through `check_states` first.

        Raises:
            ValueError: not one seat for each state, or one that there is not.
        """
        state_checks.check_seats(self, states, seats)
        hidden = self.taken(states, np.arange(states.size))
        self.run(batch_loops.conceal, states.size, batch_loops.Concealments(hidden, seats))
        return hidden

    def determinised(
        self, states: States, seats: NDArray[np.int64], seeds: NDArray[np.int64]
    ) -> States:
        """Copies of the states, what `seats[i]` is not shown being dealt anew from `seeds[i]`.

        States from outside go through `check_states` first.

        Raises:
            ValueError: not one seat and one seed for each state, or a seat that there is not.
        """
        state_checks.check_seats(self, states, seats)
        array_checks.check_numbers("seeds", seeds, states.size)
        dealt = self.taken(states, np.arange(states.size))
        self.run(
            batch_loops.determinise, states.size, batch_loops.Determinisations(dealt, seats, seeds)
        )
        return dealt

    def statuses(self, states: States) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Per state 0 while it goes on, 1 at its end, 2 when cut short; and the seat to move.

        Raises:
            TypeError, ValueError: these are no states of this variant.
        """
        state_checks.check_states(self, states)
        statuses, seats = np.empty((2, states.size), np.int64)
        self.run(
            batch_loops.read_status, states.size, batch_loops.Statuses(states, statuses, seats)
        )
        return statuses, seats

    @property
    def has_progress(self) -> bool:
        """Whether the game says how far a seat has come."""
        return self._binding.verbs.progress is not unmoving

    def progress(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far each of `seats` has come, as all can see, int64 (batch,): the verb `progress`.

        It is 0 of all in a game that does not say (`has_progress`).

        States from outside go through `check_states` first.

        Raises:
            ValueError: not one seat for each state, or one that there is not.
        """
        state_checks.check_seats(self, states, seats)
        progress = np.empty(states.size, np.int64)
        self.run(
            batch_loops.read_progress, states.size, batch_loops.Progresses(states, seats, progress)
        )
        return progress

    def turns_of(self, states: States) -> NDArray[np.int64]:
        """The seat whose turn it is in each state: others may answer or act within it.

        Raises:
            TypeError, ValueError: these are no states of this variant.
        """
        state_checks.check_states(self, states)
        seats = np.empty(states.size, np.int64)
        self.run(batch_loops.read_owner, states.size, batch_loops.Owners(states, seats))
        return seats

    def returns(
        self, states: States, games: NDArray[np.int64], reward: str = "win"
    ) -> NDArray[np.float64]:
        """Returns of all seats in the finished games `states[games]`, (games, players).

        States from outside go through `check_states` first.

        Raises:
            TypeError, ValueError: arrays of other types, or games that there are not.
        """
        state_checks.check_chosen(self, states, games, once=False)
        returns = np.empty((games.size, self.players))
        kind = self.reward_kind(reward)
        self.run(
            batch_loops.read_returns, games.size, batch_loops.Outcomes(states, games, kind, returns)
        )
        return returns

    def playouts(
        self, states: States, seeds: NDArray[np.int64], reward: str = "win"
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Play games to their end at random, in place.

        States from outside go through `check_states` first.

        Args:
            states: (batch,) games, which are played on from where they are.
            seeds: (batch,) one for the random choices of each game; chance in the rules comes from
                the states' own generators.

        Returns:
            Returns of all seats, float64 (batch, players), and actions played, int64 (batch,).

        Raises:
            TypeError, ValueError: arrays of other types, or in the same memory, or not one seed for
                each state.
        """
        state_checks.check_states(self, states, written=True)
        array_checks.check_numbers("seeds", seeds, states.size)
        array_checks.check_apart(states=states, seeds=seeds)
        chance, masks = self.new_chance(seeds), self.scratch_masks(states.size)
        returns, lengths = np.empty((states.size, self.players)), np.empty(states.size, np.int64)
        kind = self.reward_kind(reward)
        batch = batch_loops.Playouts(states, chance, kind, masks, returns, lengths)
        self.run(batch_loops.play_out, states.size, batch)
        return returns, lengths

    def new_chance(self, seeds: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A stream of random numbers for each game, besides the one in its state.

        Raises:
            TypeError, ValueError: the seeds are no array of int64 (n,).
        """
        array_checks.check_numbers("seeds", seeds, None)
        chance = np.empty(seeds.size, np.uint64)
        batch = batch_loops.Streams(chance, np.arange(seeds.size), seeds)
        self.run(batch_loops.seed_stream, seeds.size, batch)
        return chance

    def random_actions(
        self, masks: NDArray[np.int8], chance: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """A random legal action of each row of `masks`, by its stream; 0 where none is legal.

        Raises:
            TypeError, ValueError: arrays of other types, numbers that are not 0 or 1, or not one
                stream for each row.
        """
        array_checks.check_masks(masks, len(self.actions))
        array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, len(masks))
        array_checks.check_apart(masks=masks, chance=chance)
        actions = np.empty(len(masks), np.int64)
        self.run(batch_loops.pick_action, len(masks), batch_loops.Picks(masks, chance, actions))
        return actions

    def questions(
        self, states: States, games: NDArray[np.int64], chance: NDArray[np.uint64]
    ) -> tuple[States, NDArray[np.int64], NDArray[np.float64]]:
        """What `Player.choose` takes, for those who are to move in `states[games]`.

        Args:
            chance: a stream for each of `states`, which gives the random numbers.

        Raises:
            TypeError, ValueError: arrays of other types or sizes, or in the same memory, or games
                that there are not.
        """
        state_checks.check_chosen(self, states, games)
        array_checks.check_array("chance", chance, np.uint64, written=True)
        array_checks.check_size("chance", chance, states.size)
        array_checks.check_apart(states=states, games=games, chance=chance)
        seen = np.empty(games.size, states.dtype)
        movers, draws = np.empty(games.size, np.int64), np.empty(games.size)
        batch = batch_loops.Questions(states, games, chance, seen, movers, draws)
        self.run(batch_loops.ask, games.size, batch)
        return seen, movers, draws

    def scratch_masks(self, games: int) -> NDArray[np.int8]:
        """A mask for each thread on a batch, for loops that need one to themselves."""
        return np.empty((2 * threads.most_threads_for(games), len(self.actions)), np.int8)

    # --- one state, for people -------------------------------------------------------------------

    def describe(self, state: State, seat: int | None = None) -> dict[str, Any]:
        """The game as plain JSON types; with a seat, what that seat may not know is None.

        A state from outside goes through `check_states` first.

        Raises:
            TypeError, ValueError: this is no state of this variant, or there is no such seat.
        """
        self._check_state(state)
        return self._describe(self, state, self._check_seat(seat))

    def draw(self, state: State, seat: int | None = None) -> str:
        """The game as a picture of text, whole or as a seat sees it.

        A state from outside goes through `check_states` first.

        Raises:
            TypeError, ValueError: as `describe`.
        """
        self._check_state(state)
        return self._draw(self, state, self._check_seat(seat))

    def explain(self, state: State, action: int) -> str:
        """Why an action is illegal in a state: its notation and the nearest reason.

        A state from outside goes through `check_states` first.

        Raises:
            TypeError, ValueError: this is no state of this variant, or the action is no integer.
        """
        self._check_state(state)
        action = action_number(action)
        if not 0 <= action < len(self.actions):
            return f"there is no action {action}: ids run from 0 to {len(self.actions) - 1}"
        if self.legal_masks(np.full(1, state))[0, action]:
            return f"`{self.actions.text(action)}` is legal"
        return f"`{self.actions.text(action)}` is illegal: {self._explain(self, state, action)}"

    def _check_state(self, state: State) -> None:
        states = np.asarray(state)
        if states.ndim:
            raise ValueError(f"a state is one record, not an array of shape {states.shape}")
        state_checks.check_states(self, states.reshape(1))

    def _check_seat(self, seat: int | None) -> int | None:
        return None if seat is None else whole_number("seat", seat, 0, self.players - 1)


def check_game(game: object, *, or_name: bool = False) -> Game:
    """What somebody gives as a game, if it is one.

    Args:
        or_name: where the error is raised a game's name would have done as well.

    Raises:
        TypeError: it is something else, such as an environment.
    """
    if isinstance(game, Game):
        return game
    wanted = "the name of a game or a Game" if or_name else "a Game"
    raise TypeError(
        f"game must be {wanted}, as make_game returns it (environments have it as `.game`, those "
        f"with wrappers as `.unwrapped.game`), not {brief(repr(game), 60)}"
    )


def _remake(make: Callable[..., Game], options: dict[str, Any]) -> Game:
    return make(**options)
