"""The deck and the hands of Armada's cards (ADA-32)."""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import random_below
from armarl.compiler.types import Int, State
from armarl.games.armada.knowledge import note_draw, note_play
from armarl.games.armada.state import CARDS, COPIES

DEALT = 2
TOP = np.int64(1)  # depth of the top card


@kernel
def gather_deck(s: State) -> None:
    """Empty all hands and the played cards, put all cards into the deck and shuffle it.

    Without the option `cards`, the deck stays empty.
    """
    s.hand[:, :] = 0
    s.hand_size[:] = 0
    s.played[:] = 0
    s.pool[:] = 0
    s.deck[:] = 0
    s.deck_size = 0
    if s.cards:
        for card in range(CARDS):
            for _ in range(COPIES[card]):
                s.deck[s.deck_size] = card + 1
                s.deck_size += 1
        shuffle(s, s.deck_size)


@kernel
def shuffle(s: State, n: Int) -> None:
    """Shuffle the bottom `n` cards of the deck (Fisher-Yates)."""
    for i in range(n - 1, 0, -1):
        j = random_below(s, i + 1)
        card = s.deck[i]
        s.deck[i] = s.deck[j]
        s.deck[j] = card


@kernel
def deal_hands(s: State) -> None:
    """ADA-14, ADA-32: deal the two top cards to each player in turn."""
    for seat in range(s.players):
        for _ in range(DEALT):
            draw_card(s, np.int64(seat), TOP)


@kernel
def draw_card(s: State, seat: Int, depth: Int) -> None:
    """Draw the card at `depth` from the top into a hand.

    A `depth` of TOP is the top card. If another card is drawn, the top card moves to its position.
    """
    top = s.deck_size - 1
    card = s.deck[s.deck_size - depth] - 1
    s.deck[s.deck_size - depth] = s.deck[top]
    s.deck[top] = 0
    s.deck_size -= 1
    s.hand[seat, card] += 1
    s.hand_size[seat] += 1
    note_draw(s, seat, card)


@kernel
def discard(s: State, seat: Int, card: Int) -> None:
    """ADA-32: move a card from a hand to the played cards."""
    s.hand[seat, card] -= 1
    s.hand_size[seat] -= 1
    s.played[card] += 1
    note_play(s, seat, card)
