"""Claims of victory (ADA-28): which colours claim, and when each claim is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from armarl.games.armada.chart.geography import COLOURS
from armarl.games.armada.state import CLAIM_DUE, NEW_CLAIM, NO_CLAIM

if TYPE_CHECKING:
    from armarl.compiler.types import State


class Claim(NamedTuple):
    """The claim of a colour.

    Attributes:
        colour: the colour's name.
        new: whether the claim was made in the colour's current turn, so that it is not judged at
            the end of that turn.
        this_turn: whether the claim is judged at the end of the current turn.
    """

    colour: str
    new: bool
    this_turn: bool


def claims_of(state: State) -> Iterator[Claim]:
    """Yield the claims in a state."""
    in_turn = int(state["colour"][0])  # the colour whose turn it is, even while another one raids
    for number, name in enumerate(COLOURS):
        claim = int(state["claims"][number])
        if claim != NO_CLAIM:
            due = claim == CLAIM_DUE
            yield Claim(name, claim == NEW_CLAIM, due and number == in_turn)


def claim_in_words(colour: str) -> str:
    """Return a sentence which says that a colour claims victory."""
    return f"{colour.capitalize()} claims victory."
