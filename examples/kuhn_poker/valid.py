"""Whether a record is a lawful state of Kuhn poker: for states that come from outside."""

from __future__ import annotations

from armarl.games.authoring import State, kernel
from kuhn_poker.rules import bettor
from kuhn_poker.state import BET, CALLED, CHECKED, FOLDED, NOTHING

FAULTS = (
    "it is lawful",
    "the players are not those of this variant, or bytes that nothing uses are not 0",
    "the cards are not those of the deck, one of each",
    "the words were not said in turn: checks, a bet, answers to it",
    "the seat to move is not the next one, or the game is over too early or too late",
)


@kernel
def valid(s: State, blank: State) -> int:
    """0 if the state is lawful, else the place of the first of `FAULTS` that it has."""
    if not _same_options(s, blank):
        return 1
    if not _has_the_deck(s):
        return 2
    first = bettor(s)
    said = _count(s, CHECKED, CHECKED) if first < 0 else _count(s, CALLED, FOLDED)
    if not _said_in_turn(s, first, said):
        return 3
    following = (first + 1 + said) % s.players
    over = said == (s.players if first < 0 else s.players - 1)
    return 0 if s.to_move == following and s.over == over else 4


@kernel
def _same_options(s: State, blank: State) -> bool:
    if s.players != blank.players:
        return False
    unused = 0
    for place in range(s.players + 1, s.card.size):
        unused |= s.card[place]
    for player in range(s.players, s.word.size):
        unused |= s.word[player]
    for i in range(s.spare.size):
        unused |= s.spare[i]
    return unused == 0


@kernel
def _has_the_deck(s: State) -> bool:
    for card in range(1, s.players + 2):
        found = 0
        for place in range(s.players + 1):
            found += s.card[place] == card
        if found != 1:
            return False
    return True


@kernel
def _count(s: State, first: int, last: int) -> int:
    """How many players have said one of these words."""
    n = 0
    for player in range(s.players):
        n += s.word[player] >= first and s.word[player] <= last
    return n


@kernel
def _said_in_turn(s: State, first: int, said: int) -> bool:
    """Whether, but for `said` words from seat 0 on, or from behind the bettor, nothing was said."""
    for k in range(s.players):
        player = (first + 1 + k) % s.players
        word = s.word[player]
        if k < said:
            lawful = word == CHECKED if first < 0 else CALLED <= word <= FOLDED
        elif player == first:
            lawful = word == BET
        else:
            lawful = word == (CHECKED if player < first else NOTHING)
        if not lawful:
            return False
    return True
