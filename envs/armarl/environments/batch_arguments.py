"""Checks of the arguments of batches: autoreset modes, games, seeds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import islice
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from armarl.environments.base import deal_number


def as_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the autoreset mode with this name. An `AutoresetMode` is returned unchanged.

    All spellings that Gymnasium uses are valid: `SAME_STEP`, `SameStep`, `same_step`.

    Raises:
        ValueError: the mode does not exist.
    """
    name = (mode.name if isinstance(mode, AutoresetMode) else str(mode)).replace("_", "").lower()
    for known in AutoresetMode:
        if known.name.replace("_", "").lower() == name:
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, not {mode!r}")


def chosen_games(mask: NDArray[np.bool_] | None, size: int) -> NDArray[np.int64]:
    """Return the indices of the games that a bool mask, shape (size,), selects. None: all games."""
    if mask is None:
        return np.arange(size)
    chosen = np.array(mask)  # a copy, as a plain `np.ndarray`
    if not isinstance(mask, np.ndarray) or chosen.dtype != np.bool_ or chosen.shape != (size,):
        raise ValueError(f"the mask of games to reset must be a bool array of shape ({size},)")
    if not chosen.any():
        raise ValueError("the mask of games to reset must select at least one game")
    return np.flatnonzero(chosen)


def deal_numbers(seed: int | Sequence[Any] | None, size: int) -> NDArray[np.int64] | None:
    """Return the seed of each game `i`: `seed + i` or `seed[i]`. If `seed` is None, return None."""
    if seed is None:
        return None
    if not isinstance(seed, Sequence | np.ndarray) or np.ndim(seed) == 0:
        deal_number(seed)  # raises an error for a bad seed
        first = operator.index(seed)  # type: ignore[arg-type]
        seed = range(first, first + size)
    if len(seed) != size:
        raise ValueError(f"a batch of {size} games needs one seed or {size} seeds, got {len(seed)}")
    # `islice`, because a user-defined sequence may report a wrong length.
    numbers = np.array([deal_number(number) for number in islice(seed, size)], np.int64)
    if numbers.size != size:
        raise ValueError(f"a batch of {size} games needs {size} seeds, got {numbers.size}")
    return numbers


def random_numbers(size: int) -> NDArray[np.int64]:
    """Return random seeds from the operating system's entropy."""
    return np.random.default_rng().integers(2**63, size=size)


def refuse_games_over(over: NDArray[Any]) -> None:
    """Raise ResetNeeded if a game is over, because without autoreset it is not reset."""
    if over.any():
        games = np.flatnonzero(over)[:10].tolist()
        raise gymnasium.error.ResetNeeded(
            f"games {games} are over and autoreset is disabled; reset them with a mask of games"
        )
