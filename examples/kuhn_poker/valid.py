"""Whether a record is a lawful state of Kuhn poker: for states that come from outside."""

from __future__ import annotations

from armarl.compiled import kernel
from armarl.verbs import State
from kuhn_poker.rules import bettor
from kuhn_poker.state import BET, CALLED, CHECKED, FOLDED, MAX_PLAYERS, NOTHING

LAWS = (
    "there are 2 to 4 players",
    "the cards are those of the deck, one of each",
    "the words were said in turn: checks, a bet, answers to it",
    "the seat to move is the next one, and the game is over when all have had their say",
)


@kernel
def valid(s: State) -> int:
    """0 if the state is lawful, else 1 + the place of the first broken law in `LAWS`."""
    if s.players < 2 or s.players > MAX_PLAYERS:
        return 1
    if not _has_the_deck(s):
        return 2
    first = bettor(s)
    said = _count(s, CHECKED, CHECKED) if first < 0 else _count(s, CALLED, FOLDED)
    if not _said_in_turn(s, first, said):
        return 3
    following = ((first + 1) + said) % s.players
    over = said == (s.players if first < 0 else s.players - 1)
    return 0 if s.to_move == following and s.over == over else 4


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
