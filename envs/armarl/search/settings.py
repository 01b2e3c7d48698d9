"""Budgets of searches, and the settings of searches. A game may have its own default settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from armarl.common.messages import brief
from armarl.common.numbers import whole_number
from armarl.core.game import Game
from armarl.games.catalogue import game_entry

Ranges = Mapping[str, tuple[float, float]]
MOST = 1 << 24  # upper limit of whole numbers; up to this number, float32 counts are exact
LARGEST = 2**31 - 1  # upper limit of settings that are not whole numbers, such as `eta`
MEMORY = 1 << 26  # maximum size of the trees of one decision by default, in bytes
ALL_MEMORY = 1 << 28  # maximum size of all trees that are searched at the same time, in bytes
# Intended maximum duration of one call of compiled code, in seconds. Calls must be short, because
# compiled code ignores Ctrl-C.
PATIENCE = 0.25


def check(holds: bool, message: str) -> None:
    """Raise a ValueError with the message if `holds` is false."""
    if not holds:
        raise ValueError(message)


def check_number(name: str, number: object) -> None:
    """Raise a TypeError if `number` is not an int or a float (True does not count as an int)."""
    kinds = int | float | np.integer | np.floating
    if not isinstance(number, kinds) or isinstance(number, bool):
        raise TypeError(f"{name} must be a number, not {brief(repr(number), 60)}")


class Budget(NamedTuple):
    """The budget of a search per decision: a number of simulations, or a time."""

    simulations: int | None
    milliseconds: float | None

    @property
    def name(self) -> str:
        """The budget as part of a player's name, such as `200` or `50ms`."""
        return f"{self.milliseconds:g}ms" if self.simulations is None else str(self.simulations)

    @property
    def seconds(self) -> float:
        """The time in seconds, or 0 if the budget is a number of simulations."""
        return (self.milliseconds or 0.0) / 1000

    def spend(self, run: Callable[[int, int], None], chunk: int) -> None:
        """Run a search in portions, so that the clock and Ctrl-C are checked between portions.

        Args:
            run: function that runs some simulations. Its arguments are 1 to start the search or 0
                to continue it, and the number of simulations.
            chunk: number of simulations in the first portion. With a time budget, all portions
                have this size.
        """
        end, begin = time.perf_counter() + self.seconds, 1
        if self.simulations is not None:
            for portion in portions(self.simulations, chunk):
                run(begin, portion)
                begin = 0
            return
        while begin or time.perf_counter() < end:
            run(begin, chunk)
            begin = 0


def portions(number: int, first: int) -> Iterator[int]:
    """Split a number of units of work into portions, and yield the size of each portion.

    The caller does the work of a portion before it asks for the next size. The size of the first
    portion is `first`. The later sizes adapt, so that each portion takes about PATIENCE seconds.
    """
    portion = first
    while number > 0:
        begun = time.perf_counter()
        yield min(portion, number)
        number -= portion
        spent = time.perf_counter() - begun
        portion = (
            max(1, portion // 2) if spent > PATIENCE else portion * (1 + (spent < PATIENCE / 2))
        )


def budget_of(simulations: int | None, milliseconds: float | None, otherwise: int) -> Budget:
    """Return the budget of a search: a number of simulations, or a time.

    Args:
        simulations: number of simulations, or None.
        milliseconds: time per decision, or None.
        otherwise: number of simulations if both are None.

    Raises:
        TypeError: `simulations` is not an integer, or `milliseconds` is not a number.
        ValueError: both are given, or a number is out of range.
    """
    check(
        simulations is None or milliseconds is None,
        "the budget must be either simulations or milliseconds, not both",
    )
    if milliseconds is not None:
        check_number("milliseconds", milliseconds)
        check(
            0 < milliseconds < float("inf"),
            f"milliseconds must be above 0 and finite, got {milliseconds}",
        )
        return Budget(None, milliseconds)
    wanted = otherwise if simulations is None else simulations
    return Budget(whole_number("simulations", wanted, 1, MOST), None)


def settled(
    game: Game, method: str, plain: Mapping[str, Any], ranges: Ranges, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a search, converted to the types of the method's defaults.

    For each setting, the caller's value applies. If the caller's value is missing or None, the
    game's value for the method applies (`SEARCH` in the game's `rivals` module), or else the
    method's default.

    Args:
        game: the variant to play.
        method: name of the search method.
        plain: the method's default for every setting.
        ranges: allowed ranges of some settings, both ends included. If the upper end is infinite,
            the limits MOST (whole numbers) and LARGEST (others) apply. Infinity itself is allowed
            for settings that are not whole numbers.
        given: the caller's values.

    Raises:
        TypeError: the value of a setting with a range is not a number.
        ValueError: a value is out of range, or a fraction is given for a whole number.
    """
    known = getattr(game_entry(game.name).part("rivals"), "SEARCH", {}).get(method, {})
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = {**plain, **known, **chosen}
    for name, (low, high) in ranges.items():
        limits = f"{low} or more" if high == float("inf") else f"{low} to {high}"
        value = settings[name]
        check_number(name, value)
        check(low <= value <= high, f"{name} must be {limits}, got {value}")
        counted = type(plain[name]) is int
        endless = value == float("inf") and not counted
        most = MOST if counted else LARGEST
        check(abs(value) <= most or endless, f"{name} must be at most {most} in size, got {value}")
        check(not counted or value == int(value), f"{name} must be a whole number, got {value}")
    return {name: type(value)(settings[name]) for name, value in plain.items()}
