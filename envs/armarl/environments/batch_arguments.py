"""Checks of the arguments that batches take: autoreset modes, games, seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from armarl.environments.base import deal_number


def as_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """A mode from its name, in any spelling of Gymnasium's: `SAME_STEP`, `SameStep`, `same_step`.

    Raises:
        ValueError: there is no such mode.
    """
    name = (mode.name if isinstance(mode, AutoresetMode) else str(mode)).replace("_", "").lower()
    for known in AutoresetMode:
        if known.name.replace("_", "").lower() == name:
            return known
    names = ", ".join(known.name for known in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, not {mode!r}")


def chosen_games(mask: NDArray[np.bool_] | None, size: int) -> NDArray[np.int64]:
    """The numbers of the games that a mask of bool of shape (size,) chooses; all without one."""
    if mask is None:
        return np.arange(size)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (size,):
        raise ValueError(f"games to reset are chosen by a bool array of shape ({size},)")
    if not mask.any():
        raise ValueError("at least one game must be chosen to be reset")
    return np.flatnonzero(mask)


def deal_numbers(seed: int | Sequence[Any] | None, size: int) -> NDArray[np.int64] | None:
    """The deal of every game: `seed + i` for game `i`, or one each; None if no seed is given."""
    if seed is None:
        return None
    if not isinstance(seed, Sequence | np.ndarray) or np.ndim(seed) == 0:
        seed = range(first := deal_number(seed), first + size)
    if len(seed) != size:
        raise ValueError(f"{size} games take one seed, or {size} of them, not {len(seed)}")
    return np.array([deal_number(number) for number in seed], np.int64)


def random_numbers(size: int) -> NDArray[np.int64]:
    """Seeds from the operating system's chance."""
    return np.random.default_rng().integers(2**63, size=size)


def refuse_games_over(over: NDArray[Any]) -> None:
    """Raise ResetNeeded where a game is over, since without autoreset nobody starts it anew."""
    if over.any():
        games = np.flatnonzero(over)[:10].tolist()
        raise gymnasium.error.ResetNeeded(
            f"games {games} are over, and autoreset is disabled: reset them with a mask of games"
        )
