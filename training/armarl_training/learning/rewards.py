"""The reward that a run maximises: one of the game's rewards, or a user's function.

The configuration names a function as `module:function`. It is called as `function(game, states)`
with the final states of finished games, records of shape (n,). Its result is the return of every
seat, shape (n, players). Some of the games may have ended at a turn limit, without a winner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.user_code import import_own
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players.protocol import no_exit
from armarl_training.config.learner_kinds import is_from_outside

_NEAR = 1e-6  # sums of returns that are this close to 0 count as 0
_TRIED = 64  # number of random games on which a user's function is tested before a run


class RewardError(ValueError):
    """An error: a function cannot be used as a reward. It was not found, or its result is wrong."""


class Reward:
    """The returns of finished games.

    Attributes:
        name: name of the reward in the configuration.
        compiled: name of the game's reward that compiled loops compute. If the reward is a user's
            function, the results of the function replace those of the loops.
        is_own: whether the reward is a user's function.
    """

    def __init__(self, game: Game, name: str) -> None:
        """Find a reward by name.

        Raises:
            RewardError: the function cannot be found.
            ValueError: the game has no reward of this name.
        """
        self._game, self.name, self.is_own = game, name, is_from_outside(name)
        self.compiled = game.rewards[0] if self.is_own else name
        game.reward_kind(self.compiled)
        self._function = _found(name) if self.is_own else None

    def returns(self, states: States) -> NDArray[np.float64]:
        """Return the returns of all seats in finished games, float64 (n, players).

        Raises:
            RewardError: the function fails, or its result is wrong. The returns must be finite
                numbers in [-1, 1], be the same for partners, and add up to 0 over the sides.
        """
        game = self._game
        if self._function is None:
            return game.returns(states, np.arange(states.size), self.name)
        shown = game.taken(states, np.arange(states.size))
        try:
            with no_exit(self.name):
                found = np.array(self._function(game, shown), np.float64)
        except Exception as error:  # user code may raise anything
            raise RewardError(
                f"reward {self.name} failed: {type(error).__name__}: {brief(error)}"
            ) from error
        if wrong := _fault(game, found, states.size):
            raise RewardError(f"reward {self.name} {wrong}")
        return found


def _found(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        with no_exit(f"the module {module}"):
            found: Any = getattr(import_own(module), function)
    except (ImportError, AttributeError) as error:
        raise RewardError(f"reward {name} cannot be imported: {brief(error)}") from error
    if not callable(found):
        raise RewardError(
            f"reward {name} is not a function of (game, states), got an object of type "
            f"{type(found).__name__}"
        )
    return found  # type: ignore[no-any-return]


def _fault(game: Game, returns: NDArray[np.float64], games: int) -> str | None:
    """Return what is wrong with the returns of `games` games, or None if they are valid."""
    if returns.shape != (games, game.players):
        return f"must return shape (games, players), {(games, game.players)}, not {returns.shape}"
    if not np.isfinite(returns).all() or np.abs(returns).max(initial=0) > 1:
        return f"must be finite and in [-1, 1], not {_first(returns, np.abs(returns) <= 1)}"
    sides = np.array(game.sides)
    first = [game.sides.index(side) for side in sides]
    alike = returns == returns[:, first]
    if not alike.all():
        return f"must be the same for partners, whose sides are {list(game.sides)}"
    of_sides = returns[:, sorted({*first})].sum(axis=1)
    if np.abs(of_sides).max(initial=0) > _NEAR:
        worst = returns[np.abs(of_sides).argmax()].tolist()
        return f"must add up to 0 over the sides; it gave {worst} to the seats of a game"
    return None


def _first(returns: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    return float(returns[~right][0])


def check_reward(game: Game, name: str, *, code: bool) -> None:
    """Check that a reward exists and, if it is a function, that its results are right.

    Args:
        game: the game.
        name: the name of the reward in the configuration.
        code: whether to allow `module:function`, which imports user code.

    Raises:
        ValueError: the reward does not exist or is wrong, or user code is not allowed.
    """
    if is_from_outside(name) and not code:
        raise RewardError(
            f"reward: {brief(name)}: to import user code, train with --code (in Python code=True)"
        )
    reward = Reward(game, name)
    if reward.is_own:
        states = game.new_states(np.arange(_TRIED))
        game.playouts(states, np.arange(_TRIED))
        reward.returns(states)
