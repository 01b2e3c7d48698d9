"""The seam between a run and what learns in it.

A *run* owns its folder, the clock, the configuration and the checkpoint file; the *pool* owns the
opponents; the *learner* owns its networks, its optimiser, its games in play and all their chance.
Each saves what it owns. A learner is one module: `ppo` and `td` are ours, `maskable` is
sb3-contrib's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game
from armarl.guards import whole_number
from armarl.network_players import NetworkPlayer
from armarl_training.config import MOST, TrainingConfig
from armarl_training.lessons import Lessons
from armarl_training.opponents import RECENT_GAMES, OpponentPool

Saved = tuple[dict[str, NDArray[Any]], dict[str, Any]]  # arrays, and values that JSON can hold


class Learner(Protocol):
    """What a run asks of a learner.

    Attributes:
        decisions: that it has learned from, in all.
    """

    @property
    def decisions(self) -> int: ...

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout and learn from it.

        Args:
            done: the part of the training that is over, by which rates fall, in [0, 1].

        Returns:
            Statistics to plot, by name.
        """
        ...

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """One pass over a teacher's choices; returns the part of them that was guessed right."""
        ...

    def recent(self) -> dict[str, float]:
        """Its mean return in the last games against each opponent, by the opponent's name."""
        ...

    def policy(self, *, average: bool) -> NetworkPlayer:
        """A copy of the policy as it is now, or of its average, which plays better."""
        ...

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Take over the weights of a saved policy.

        Raises:
            ValueError: its network has another shape.
        """
        ...

    def save(self) -> Saved:
        """All that its future depends on."""
        ...

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved.

        Raises:
            ValueError: it was saved with another network or another number of games.
        """
        ...


def make_learner(config: TrainingConfig, game: Game, pool: OpponentPool) -> Learner:
    """The learner that the configuration names, at the start of its training."""
    if config.learner == "maskable_ppo":
        from armarl_training.maskable import MaskablePPOLearner

        return MaskablePPOLearner(config, game, pool)
    if config.learner == "td":
        from armarl_training.td import TD

        return TD(config, game, pool)
    from armarl_training.ppo import PPO

    return PPO(config, game, pool)


def section(tensors: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with `name/`, without it."""
    start = f"{name}/"
    return {
        key.removeprefix(start): array for key, array in tensors.items() if key.startswith(start)
    }


def check_arrays(
    saved: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]], of: str
) -> None:
    """Refuse saved arrays that are missing, or not of the shapes and types of those `wanted`, which
    the configuration gives, or that have numbers which are none.

    Raises:
        ValueError: names the first of them.
    """
    for name, own in wanted.items():
        found = saved[name].shape if name in saved else None
        if found != own.shape:
            raise ValueError(
                f"{of} {name} has shape {found}, but with config.yaml it would be {own.shape}"
            )
        if saved[name].dtype != own.dtype:
            raise ValueError(f"{of} {name} is of {saved[name].dtype}, not of {own.dtype}")
        if own.dtype.kind == "f" and not np.isfinite(saved[name]).all():
            raise ValueError(f"{of} {name} has numbers that are not finite")
    if unknown := sorted(set(saved) - set(wanted)):
        raise ValueError(f"{of} {unknown[0]} is unknown with config.yaml")


def count_of(saved: Any) -> int:
    """A saved number of decisions or updates.

    Raises:
        TypeError, ValueError: it is none.
    """
    return whole_number("a number in the checkpoint", saved, 0, MOST)


def recent_returns(saved: Mapping[str, Any]) -> dict[str, deque[float]]:
    """The learner's last returns by opponent, as they were saved.

    Raises:
        TypeError, ValueError: they are no returns.
    """
    found = {name: np.array(returns, np.float64) for name, returns in saved.items()}
    for name, returns in found.items():
        if returns.ndim != 1 or not returns.size or not (np.abs(returns) <= 1).all():
            raise ValueError(f"the returns against {name[:100]!r} are not all in -1 to 1")
    return {name: deque(returns.tolist(), RECENT_GAMES) for name, returns in found.items()}


def as_array(values: Any) -> NDArray[Any]:
    """An array of its own, whatever it was part of."""
    return np.array(values)


def check_range(saved: NDArray[Any], lowest: int, highest: int, what: str) -> None:
    """Refuse saved numbers that compiled loops would follow beyond the ends of their arrays.

    Raises:
        ValueError: they are no integers, or one is out of range.
    """
    if saved.dtype != np.int64:
        raise ValueError(f"{what} must be int64, not {saved.dtype}")
    outside = saved[(saved < lowest) | (saved > highest)]
    if outside.size:
        raise ValueError(f"{what} must be in {lowest} to {highest}, not {outside[0]}")
