"""Hidden information: a seat knows its own card, all actions, and the cards shown at the end."""

from __future__ import annotations

from armarl.games.authoring import State, kernel, seed
from kuhn_poker.rules import deal, is_in


@kernel
def is_open(s: State, place: int) -> bool:
    """Return whether a card is public: at the end, if its owner and another player can win."""
    players = 0
    for player in range(s.players):
        players += is_in(s, player)
    return s.over and players > 1 and place < s.players and is_in(s, place)


@kernel
def conceal(s: State, seat: int) -> None:
    """Write 0 into `rng` and over the cards that a seat may not see.

    Two states that look the same to the seat then have the same bytes.
    """
    for place in range(s.card.size):
        if place != seat and not is_open(s, place):
            s.card[place] = 0
    s.rng = 0


@kernel
def determinise(s: State, seat: int, number: int) -> None:
    """Replace the cards that a seat may not see by a random deal with the seed `number`."""
    conceal(s, seat)
    seed(s, number)
    deal(s)
