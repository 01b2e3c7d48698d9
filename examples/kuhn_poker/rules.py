"""The rules of Kuhn poker (Kuhn 1950): the deal, the legal actions, the turns, the winner.

Every player puts one chip into the pot and gets one of `players + 1` cards. One card is left over.
In turn, the players check or bet a second chip. After a bet, each other player in turn calls or
folds once, and the game ends. It also ends when all have checked. Players who bet or called are
*in*, which means that they can win. If nobody bet, all players are in. If several players are in,
they show their cards. The highest card wins the pot.

All functions here are kernels: compiled functions that neither allocate memory nor raise
exceptions. They trust their arguments.
"""

from __future__ import annotations

import numpy as np

from armarl.games.authoring import Mask, Returns, State, kernel, random_below
from kuhn_poker.actions import BET_CHIP, CALL, CHECK, FOLD
from kuhn_poker.state import BET, CALLED, CHECKED, FOLDED, NOTHING


@kernel
def start(s: State) -> None:
    """Deal a card to each player. One card is left over. Seat 0 begins."""
    s.card[:] = 0
    s.word[:] = NOTHING
    s.to_move = s.over = 0
    deal(s)


@kernel
def deal(s: State) -> None:
    """Put a random undealt card in every empty place. A place is a seat, or the card left over."""
    empty = 0
    for place in range(s.players + 1):
        empty += s.card[place] == 0
    for place in range(s.players + 1):
        if s.card[place] == 0:
            s.card[place] = _undealt(s, random_below(s, empty))
            empty -= 1


@kernel
def _undealt(s: State, n: int) -> int:
    """Return the undealt card that has `n` lower undealt cards."""
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
    """Return the seat that has bet, or -1."""
    for player in range(s.players):
        if s.word[player] == BET:
            return player
    return -1


@kernel
def legal(s: State, mask: Mask) -> None:
    """Mark the legal actions: check and bet before a bet, call and fold after a bet."""
    mask[:] = 0
    if not s.over:
        answers = bettor(s) >= 0
        mask[CHECK] = mask[BET_CHIP] = not answers
        mask[CALL] = mask[FOLD] = answers


@kernel
def apply(s: State, action: int) -> None:
    """Play an action.

    The game ends if the next player is the bettor, or if all players have checked.
    """
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
    """Return 0 while the game is being played, or 1 when it has ended."""
    return np.int64(s.over)


@kernel
def to_move(s: State) -> int:
    """Return the seat that decides next."""
    return np.int64(s.to_move)


@kernel
def chips_of(s: State, player: int) -> int:
    """Return the number of chips that a player has put in."""
    return 2 if s.word[player] == BET or s.word[player] == CALLED else 1


@kernel
def is_in(s: State, player: int) -> bool:
    """Return whether a player can win: it has bet or called, or nobody has bet."""
    return chips_of(s, player) == 2 or bettor(s) < 0


@kernel
def winner(s: State) -> int:
    """Return the seat with the highest card among the players who are in."""
    best = -1
    for player in range(s.players):
        if is_in(s, player) and (best < 0 or s.card[player] > s.card[best]):
            best = player
    return best


@kernel
def returns(s: State, kind: int, out: Returns) -> None:
    """Write each seat's win or loss in chips, divided by the largest possible win. The sum is 0."""
    pot = 0
    for player in range(s.players):
        pot += chips_of(s, player)
    for player in range(s.players):
        won = (pot if player == winner(s) else 0) - chips_of(s, player)
        out[player] = won / (2 * (s.players - 1))
