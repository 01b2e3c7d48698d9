"""`CompiledVariant`: the compiled verbs of a game, and loops over batches on several threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.compiler.decorators import direct
from armarl.compiler.types import States
from armarl.compiler.work_sharing import Body
from armarl.core import batch_loops, threads
from armarl.core.binding import Binding
from armarl.core.variant import Variant
from armarl.core.verbs import Fixed, Verbs, takes_fixed, verbs

F = TypeVar("F", bound=Callable[..., Any])

_OF_ALL_GAMES = Binding("any_game", verbs)


@cache
def _binding(name: str, its_verbs: Verbs, fixed: bool) -> Binding:
    """Return the `Binding` that compiles the functions that all games share, with these verbs."""
    return Binding(name, its_verbs, fixed=fixed, common=_OF_ALL_GAMES)


@dataclass(frozen=True, eq=False, kw_only=True)
class CompiledVariant(Variant):
    """A variant with its compiled functions.

    Attributes:
        verbs: the game's compiled functions.
    """

    verbs: Verbs = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.verbs, Verbs):
            raise TypeError(
                f"{self.name}: verbs must be of type Verbs, not {brief(repr(self.verbs), 60)}"
            )

    @cached_property
    def _binding(self) -> Binding:
        return _binding(self.name, self.verbs, self.fixed is not None)

    @cached_property
    def fixed_records(self) -> Fixed:
        """The argument `fixed` of compiled functions: a tuple with the record `fixed`, or `()`."""
        return () if self.fixed is None else (self.fixed,)

    @cached_property
    def _fixed_array(self) -> States:
        return np.full(1, self.fixed)

    @cached_property
    def _loops(self) -> dict[Body, tuple[Callable[..., None], int | None, bool]]:
        """A cache of three values for each body that `run` has run.

        They are the body's driver (the compiled loop that calls the body), the default of `least`,
        and whether the body takes `fixed`. Computing them takes a tenth of the time of a step of
        one game.
        """
        return {}

    def compiled(self, function: F) -> F:
        """Return a function that all games share, compiled with this game's verbs."""
        return self._binding.function(function)

    # The next three functions are for environments of one game. They check nothing, so they are not
    # part of the public interface. The caller passes `_fixed_argument` as the last argument, and
    # the other arguments must have the types of those in `_one_game`.

    @cached_property
    def _deal_one(self) -> Callable[..., int]:
        """`batch_loops.deal_one`, compiled for this game."""
        return self._one_game[0]

    @cached_property
    def _view_one(self) -> Callable[..., None]:
        """`batch_loops.view_one`, compiled for this game."""
        return self._one_game[1]

    @cached_property
    def _play_one(self) -> Callable[..., int]:
        """`batch_loops.play_one`, compiled for this game."""
        return self._one_game[2]

    @cached_property
    def _fixed_argument(self) -> Any:
        """The last argument of the three functions above."""
        return () if self.fixed is None else self._fixed_array

    @cached_property
    def _one_game(self) -> tuple[Callable[..., int], Callable[..., None], Callable[..., int]]:
        states, mask = np.full(1, self.blank), np.zeros(len(self.actions), np.int8)
        observation, returns = np.zeros(self.observation.size, np.float32), np.zeros(self.players)
        fixed = self._fixed_argument
        bodies: tuple[Any, ...] = batch_loops.deal_one, batch_loops.view_one, batch_loops.play_one
        if self.fixed is not None:
            bodies = batch_loops.deal_with, batch_loops.view_with, batch_loops.play_with
        deal, view, play = map(self.compiled, bodies)
        return (
            direct(deal, states, 0, 0, True, fixed),
            direct(view, states, 0, 0, observation, mask, fixed),
            direct(play, states, 0, -1, mask, returns, 0, fixed),  # plays nothing: -1 is illegal
        )

    def warm_up(self) -> None:
        """Compile the functions that an environment of one game needs, unless they are compiled."""
        _ = self._one_game

    def run(self, body: Body, games: int, batch: Any, *, least: int | None = None) -> None:
        """Run a body once for each game of a batch, on several threads.

        Args:
            body: a body (a function that does the work for one game) of `armarl.core.batch_loops`,
                or another function with the same parameters. If it has a fourth parameter `fixed`,
                that argument is `fixed_records`.
            games: the number of games.
            batch: the first argument of the body. Its arrays are not checked.
            least: the minimum number of games per thread. None means the default of the body.
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

    def scratch_masks(self, games: int) -> NDArray[np.int8]:
        """Return scratch masks for a batch of `games` games. Each thread uses a separate row."""
        return np.empty((2 * threads.most_threads_for(games), len(self.actions)), np.int8)
