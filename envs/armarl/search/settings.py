"""What searches have in common: their budgets, and settings that a game may know better."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from armarl.core.game import Game
from armarl.games.catalogue import game_entry

Ranges = Mapping[str, tuple[float, float]]
MOST = 1 << 24  # visits that a float32 counts one by one
LARGEST = 2**31 - 1  # of what is no number of visits
MEMORY = 1 << 26  # bytes of one tree, at most
ALL_MEMORY = 1 << 28  # bytes of the trees of a batch that are searched at a time


def check(holds: bool, message: str) -> None:
    """Raise ValueError with the message unless it holds."""
    if not holds:
        raise ValueError(message)


class Budget(NamedTuple):
    """What a search may use for each decision: simulations, or a time where these are None."""

    simulations: int | None
    milliseconds: float | None

    @property
    def name(self) -> str:
        """As it stands in a player's name: `200`, `50ms`."""
        return f"{self.milliseconds:g}ms" if self.simulations is None else str(self.simulations)

    @property
    def seconds(self) -> float:
        """The time; 0 where the budget is simulations."""
        return (self.milliseconds or 0.0) / 1000

    def spend(self, run: Callable[[int], None]) -> None:
        """Call `run(1)`, which begins a search; while time is left `run(0)`, which goes on."""
        end = time.perf_counter() + self.seconds
        run(1)
        while self.simulations is None and time.perf_counter() < end:
            run(0)


def budget_of(simulations: int | None, milliseconds: float | None, otherwise: int) -> Budget:
    """The budget that is given, in simulations or as a time.

    Args:
        otherwise: simulations, if neither is given.

    Raises:
        ValueError: both are given, or a number out of range.
    """
    check(
        simulations is None or milliseconds is None,
        "the budget is either simulations or milliseconds, not both",
    )
    check(
        simulations is None or 1 <= simulations <= MOST,
        f"simulations must be in 1 to {MOST}, not {simulations}",
    )
    check(
        milliseconds is None or 0 < milliseconds < float("inf"),
        f"milliseconds must be above 0 and finite, not {milliseconds}",
    )
    if simulations is None and milliseconds is None:
        return Budget(otherwise, None)
    return Budget(simulations, milliseconds)


def settled(
    game: Game, method: str, plain: Mapping[str, Any], ranges: Ranges, given: Mapping[str, Any]
) -> dict[str, Any]:
    """What is given and not None; else what the game knows of the method (`SEARCH` in its
    `rivals`); else what the method has, in whose types all are returned.

    Args:
        plain: what the method has, which names all settings.
        ranges: of some settings, both ends included; infinite where any number will do, which may
            itself be infinite if it is no whole one.

    Raises:
        ValueError: a value out of range, or a part of what is counted.
    """
    known = getattr(game_entry(game.name).part("rivals"), "SEARCH", {}).get(method, {})
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = {**plain, **known, **chosen}
    for name, (low, high) in ranges.items():
        limits = f"{low} or more" if high == float("inf") else f"in {low} to {high}"
        value = settings[name]
        check(low <= value <= high, f"{name} must be {limits}, not {value}")
        counted = type(plain[name]) is int
        endless = value == float("inf") and not counted
        most = MOST if counted else LARGEST
        check(abs(value) <= most or endless, f"{name} is too large: {value}")
        check(not counted or value == int(value), f"{name} must be a whole number, not {value}")
    return {name: type(value)(settings[name]) for name, value in plain.items()}
