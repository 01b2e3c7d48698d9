"""What searches have in common: their budgets, and settings that a game may know better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarl.catalogue import game_entry
from armarl.game import Game

Ranges = Mapping[str, tuple[float, float]]
MOST = 2**31 - 1  # that counters of visits hold


def check(holds: bool, message: str) -> None:
    """Raise ValueError with the message unless it holds."""
    if not holds:
        raise ValueError(message)


def simulations_of(
    simulations: int | None, milliseconds: float | None, otherwise: int
) -> int | None:
    """The budget in simulations; None where it is a time.

    Args:
        otherwise: what it is if neither is given.

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
        return otherwise
    return simulations


def settled(
    game: Game, method: str, plain: Mapping[str, Any], ranges: Ranges, given: Mapping[str, Any]
) -> dict[str, Any]:
    """What is given and not None; else what the game knows of the method (`SEARCH` in its
    `rivals`); else what the method has, in whose types all are returned.

    Args:
        plain: what the method has, which names all settings.
        ranges: of some settings, both ends included.

    Raises:
        ValueError: a value out of range.
    """
    known = getattr(game_entry(game.name).part("rivals"), "SEARCH", {}).get(method, {})
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = {**plain, **known, **chosen}
    for name, (low, high) in ranges.items():
        limits = f"{low} or more" if high == float("inf") else f"in {low} to {high}"
        value = settings[name]
        check(low <= value <= high, f"{name} must be {limits}, not {value}")
        check(abs(value) <= MOST or value == float("inf"), f"{name} is too large: {value}")
    return {name: type(value)(settings[name]) for name, value in plain.items()}
