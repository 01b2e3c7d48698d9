"""The rules of Kuhn poker (Kuhn 1950): the deal, what is legal, how a turn goes, who wins.

Everybody puts one chip in and gets one of `players + 1` cards; one card is left over. In turn they
check or bet a second chip. After a bet the others, in turn and once each, call or fold, and the
game ends; it also ends when all have checked. Those who bet or called, or all if nobody bet, show
their cards if they are several, and the highest takes the pot.
"""

from __future__ import annotations

import numpy as np

from armarl.games.authoring import Mask, Returns, State, kernel, random_below
from kuhn_poker.actions import BET_CHIP, CALL, CHECK, FOLD
from kuhn_poker.state import BET, CALLED, CHECKED, FOLDED, NOTHING


@kernel
def start(s: State) -> None:
    """A card for each player, and one that is left over; seat 0 begins."""
    s.card[:] = 0
    s.word[:] = NOTHING
    s.to_move = s.over = 0
    deal(s)


@kernel
def deal(s: State) -> None:
    """Put a card at random in every place that has none, of those that lie nowhere."""
    empty = 0
    for place in range(s.players + 1):
        empty += s.card[place] == 0
    for place in range(s.players + 1):
        if s.card[place] == 0:
            s.card[place] = _undealt(s, random_below(s, empty))
            empty -= 1


@kernel
def _undealt(s: State, n: int) -> int:
    """The lowest card but `n` of those that lie nowhere."""
    for card in range(1, s.players + 2):
        lies = False
        for place in range(s.players + 1):
            lies = lies or s.card[place] == card
        if not lies:
            if n == 0:
                return card
            n -= 1
    return 0


@kernel
def bettor(s: State) -> int:
    """The seat that has bet, or -1."""
    for player in range(s.players):
        if s.word[player] == BET:
            return player
    return -1


@kernel
def legal(s: State, mask: Mask) -> None:
    """Before a bet check or bet; after it call or fold."""
    mask[:] = 0
    if not s.over:
        answers = bettor(s) >= 0
        mask[CHECK] = mask[BET_CHIP] = not answers
        mask[CALL] = mask[FOLD] = answers


@kernel
def apply(s: State, action: int) -> None:
    """Say it; the game ends when the next player is the bettor, or has checked like all others."""
    if action == CHECK:
        s.word[s.to_move] = CHECKED
    elif action == BET_CHIP:
        s.word[s.to_move] = BET
    else:
        s.word[s.to_move] = CALLED if action == CALL else FOLDED
    s.to_move = (s.to_move + 1) % s.players
    following = s.word[s.to_move]
    s.over = following == BET or (following == CHECKED and bettor(s) < 0)


@kernel
def status(s: State) -> int:
    """0 while the game goes on, 1 when it has ended."""
    return np.int64(s.over)


@kernel
def to_move(s: State) -> int:
    """The seat that decides next."""
    return np.int64(s.to_move)


@kernel
def chips_of(s: State, player: int) -> int:
    """The chips that a player has put in."""
    return 2 if s.word[player] == BET or s.word[player] == CALLED else 1


@kernel
def is_in(s: State, player: int) -> bool:
    """Whether a player may win: nobody has bet, or he has, or has called."""
    return chips_of(s, player) == 2 or bettor(s) < 0


@kernel
def winner(s: State) -> int:
    """The seat with the highest card among those who are in."""
    best = -1
    for player in range(s.players):
        if is_in(s, player) and (best < 0 or s.card[player] > s.card[best]):
            best = player
    return best


@kernel
def returns(s: State, kind: int, out: Returns) -> None:
    """The chips won, divided by the most that can be won; they add up to 0."""
    pot = 0
    for player in range(s.players):
        pot += chips_of(s, player)
    for player in range(s.players):
        won = (pot if player == winner(s) else 0) - chips_of(s, player)
        out[player] = won / (2 * (s.players - 1))
