"""Who knows what: a seat is shown its own card, what has been said, and what is laid open."""

from __future__ import annotations

from armarl.games.authoring import State, kernel, seed
from kuhn_poker.rules import deal, is_in


@kernel
def is_open(s: State, place: int) -> bool:
    """Whether the card in a place is shown to all: at the end, if several players are in."""
    players = 0
    for player in range(s.players):
        players += is_in(s, player)
    return s.over and players > 1 and place < s.players and is_in(s, place)


@kernel
def conceal(s: State, seat: int) -> None:
    """Take away, leaving 0, the cards that a seat is not shown."""
    for place in range(s.card.size):
        if place != seat and not is_open(s, place):
            s.card[place] = 0
    s.rng = 0


@kernel
def determinise(s: State, seat: int, number: int) -> None:
    """Deal the cards that a seat is not shown anew."""
    conceal(s, seat)
    seed(s, number)
    deal(s)
