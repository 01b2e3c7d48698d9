"""Estimates the value of a position of Kuhn poker, for search that stops before the game's end."""

from __future__ import annotations

from armarl.compiled import kernel
from armarl.verbs import Returns, State
from kuhn_poker.rules import returns


@kernel
def evaluate(s: State, out: Returns) -> None:
    """Write the returns if all cards were shown now."""
    returns(s, 0, out)
