"""The check that a record is a valid state of Kuhn poker. ArmaRL uses it for saved states."""

from __future__ import annotations

from armarl.games.authoring import State, kernel
from kuhn_poker.rules import bettor
from kuhn_poker.state import BET, CALLED, CHECKED, FOLDED, NOTHING

FAULTS = (
    "the state is valid",
    "the number of players must be that of this variant, and unused bytes must be 0",
    "every card of the deck must occur exactly once",
    "the words must be in order of play: checks, then a bet, then answers to the bet",
    "the seat to move must be the next one, and the game must be over exactly after the last word",
)


@kernel
def valid(s: State, blank: State) -> int:
    """Return 0 if the state is valid, otherwise the index in `FAULTS` of the first error."""
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
    """Return the number of players whose last word is from `first` to `last`."""
    n = 0
    for player in range(s.players):
        n += s.word[player] >= first and s.word[player] <= last
    return n


@kernel
def _said_in_turn(s: State, first: int, said: int) -> bool:
    """Return whether the players' last words can result from play in turn.

    If nobody has bet (`first` is -1), the first `said` seats have checked, and the others have said
    nothing. Otherwise seat `first` has bet, and the next `said` seats have called or folded. Of the
    other seats, those before `first` have checked, and those after it have said nothing.
    """
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
