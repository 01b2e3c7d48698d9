"""Hidden information in Armada (ADA-37): a seat's view of the state, and a seat's memory.

Everything is public except the cards in other hands, the cards a strategist looks at, and the order
of the deck. A seat may know more than the current position shows: it has seen cards, and it has
seen which players were asked for a card. The state keeps this knowledge:

- `remembered[seat]`: cards that the seat's strategist saw and left in the deck. The deck was then
  shuffled. These cards are still in it, except for those that other seats have drawn since. At most
  `drawn[seat, other]` of them are in the hand of seat `other`, among the cards it drew last.
- `answers[seat]`: a player that was asked for a card (ADA-32, ADA-33) holds such a card until it
  plays one. A player that was not asked, although a holder of the card would have been asked, lacks
  the card until it draws.

A seat could also draw conclusions from turns that end automatically (ADA-15, ADA-26). The state
does not keep these conclusions.
"""

from __future__ import annotations

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.randomness import random_below, seed
from armarl.compiler.types import Int, State
from armarl.games.armada.state import ANSWER_CARDS, ANSWERS, CARDS, COPIES, PEEKING, holds

HELD, LACKED = 1, -1  # values of the state's field `answers`; 0: unknown
_MOST_DEALS = 4096  # maximum number of attempts to deal hidden hands that agree with the knowledge
# If no attempt succeeds, cards are swapped: _MIXING swaps per card in the other hands, and more as
# long as contradictions remain, up to _MOST_SWAPS.
_MIXING, _MOST_SWAPS = 4, 4096


# --- memory --------------------------------------------------------------------------------------


@kernel
def forget_all(s: State) -> None:
    """Clear all knowledge. After the deal, no seat has seen a card or been asked for one."""
    s.remembered[:, :] = 0
    s.drawn[:, :] = 0
    s.answers[:, :] = 0


@kernel
def note_draw(s: State, seat: Int, card: Int) -> None:
    """Record that a seat drew a card from the deck. Only this seat saw the card."""
    for answer in range(ANSWERS):
        s.answers[seat, answer] = max(s.answers[seat, answer], 0)
    for other in range(s.players):
        if other != seat:
            s.drawn[other, seat] += 1
    if s.remembered[seat, card] > 0:
        s.remembered[seat, card] -= 1


@kernel
def note_play(s: State, seat: Int, card: Int) -> None:
    """Record that a card was played from a hand. Another seat may have seen it in the deck."""
    for other in range(s.players):
        if s.drawn[other, seat] > 0:
            s.remembered[other, card] = max(s.remembered[other, card] - 1, 0)
            s.drawn[other, seat] = min(s.drawn[other, seat], s.hand_size[seat])
    for answer in range(ANSWERS):
        if ANSWER_CARDS[answer] == card:
            s.answers[seat, answer] = 0


@kernel
def remember_looked(s: State, seat: Int) -> None:
    """ADA-32: update the memory of a seat whose strategist has looked at the deck.

    The cards looked at are in the deck. The remembered cards are also in the deck, except for the
    number of cards that other seats have drawn since.
    """
    drawn = 0
    for other in range(s.players):
        drawn += s.drawn[seat, other]
        s.drawn[seat, other] = 0
    for card in range(CARDS):
        s.remembered[seat, card] = max(
            number_on_top(s, card, np.int64(s.looked)), s.remembered[seat, card] - drawn
        )


@kernel
def is_asked(s: State, seat: Int, answer: Int) -> Int:
    """ADA-32, ADA-33: return whether a player is asked for a card, because it holds one.

    The result is recorded, because all players learn it. A `seat` of -1 stands for no player.
    """
    if not s.cards or seat < 0:
        return False
    held = holds(s, seat, ANSWER_CARDS[answer])
    s.answers[seat, answer] = HELD if held else LACKED
    return held


@kernel
def number_on_top(s: State, card: Int, depth: Int) -> Int:
    """Return the number of cards of a kind among the deck's top `depth` cards."""
    n = 0
    for i in range(s.deck_size - depth, s.deck_size):
        n += s.deck[i] == card + 1
    return n


# --- the knowledge of a seat ---------------------------------------------------------------------


@kernel
def known_top(s: State, seat: Int) -> Int:
    """ADA-37: return the number of top cards of the deck that a seat's strategist has seen."""
    return np.int64(s.looked) if s.stage == PEEKING and s.to_move == seat else 0


@kernel
def conceal(s: State, seat: Int) -> None:
    """ADA-37: remove from `s` all that a seat may not know.

    These are the hands and the memory of other seats, the deck and the random number generator.
    """
    s.deck[: s.deck_size - known_top(s, seat)] = 0
    for player in range(s.players):
        if player != seat:
            s.hand[player, :] = 0
            s.remembered[player, :] = 0
    s.rng = 0


@kernel
def determinise(s: State, seat: Int, number: Int) -> None:
    """Replace all hidden information by a random deal that agrees with a seat's knowledge.

    `s` may be a concealed state. `number` (int64) seeds both the deal and the state's random number
    generator. The memory of the other seats is cleared.
    """
    seed(s, number)
    if s.cards:
        conceal(s, seat)
        seed(s, number)
        _deal_unseen(s, seat)


# The cards that a seat has not seen are laid out in the array `deck`: first the deck's cards below
# the known top, then, from index `deck_size` on, the other hands, the lowest seat first. A *cell*
# is an index of this array. CARDS is added to a card to mark that the seat remembers it. A marked
# card is in the deck, or another seat drew it after the seat saw it.


@kernel
def _deal_unseen(s: State, seat: Int) -> None:
    """Deal all cards that a seat has not seen, at random, to the other hands and the deck.

    The hands are dealt again until they agree with the seat's knowledge, so all deals that agree
    are equally likely. A few attempts are usually enough. If the knowledge is so unusual that none
    of _MOST_DEALS attempts agrees, cards are swapped (see `_put_right`).
    """
    known = known_top(s, seat)
    unseen = _lay_out(s, seat, known)
    in_deck = s.deck_size - known
    _deal_cells(s, known, in_deck, unseen)
    deals = 1
    while not _agrees(s, seat) and deals < _MOST_DEALS:
        _deal_cells(s, known, in_deck, unseen)
        deals += 1
    _deal_cells(s, known, 0, in_deck)
    if deals == _MOST_DEALS:
        _put_right(s, seat, known, unseen)
    _take_up(s, seat)


@kernel
def _deal_cells(s: State, known: Int, first: Int, end: Int) -> None:
    """Fill positions `first` to `end - 1` with random cards from the unseen cards 0 to `end - 1`.

    This is the part of a Fisher-Yates shuffle that these positions need. `_cell` gives the cell of
    each position.
    """
    for i in range(end - 1, max(first, 1) - 1, -1):
        _swap(s, _cell(s, known, i), _cell(s, known, random_below(s, i + 1)))


@kernel
def _agrees(s: State, seat: Int) -> Int:
    """Return whether the laid-out hands agree with what a seat knows."""
    faults = 0
    for player in range(s.players):
        if player != seat:
            faults += _faults(s, seat, player)
    return faults == 0


@kernel
def _lay_out(s: State, seat: Int, known: Int) -> Int:
    """Lay out the unseen cards in the array `deck`, sorted by kind, and return their number."""
    unseen = 0
    for card in range(CARDS):
        on_top = number_on_top(s, card, known)
        number = COPIES[card] - s.played[card] - s.hand[seat, card] - on_top
        marked = s.remembered[seat, card] - on_top
        for i in range(number):
            s.deck[_cell(s, known, unseen)] = card + 1 + (CARDS if i < marked else 0)
            unseen += 1
    return unseen


@kernel
def _cell(s: State, known: Int, i: Int) -> Int:
    """Return the cell of the `i`-th unseen card. The cells of the known top are skipped."""
    return i if i < s.deck_size - known else i + known


@kernel
def _swap(s: State, a: Int, b: Int) -> None:
    """Swap the cards of two cells."""
    card = s.deck[a]
    s.deck[a] = s.deck[b]
    s.deck[b] = card


@kernel
def _put_right(s: State, seat: Int, known: Int, unseen: Int) -> None:
    """Swap cards at random until all hands agree with the seat's knowledge.

    There are at most _MOST_SWAPS swaps. No swap adds contradictions. Once there are none, the swaps
    are a random walk over the deals that agree (Metropolis et al. 1953), which visits all of them
    equally often.
    """
    in_hands = known + unseen - s.deck_size
    faults = 0
    for player in range(s.players):
        if player != seat:
            faults += _faults(s, seat, player)
    swaps = 0
    while swaps < _MIXING * in_hands or (faults > 0 and swaps < _MOST_SWAPS):
        swaps += 1
        a = s.deck_size + random_below(s, in_hands)
        b = _cell(s, known, random_below(s, unseen))
        before = _faults_at(s, seat, a, b)
        _swap(s, a, b)
        change = _faults_at(s, seat, a, b) - before
        if change > 0:
            _swap(s, a, b)
        else:
            faults += change


@kernel
def _faults_at(s: State, seat: Int, a: Int, b: Int) -> Int:
    """Return the number of contradictions in the hands to which two cells belong."""
    one, other = _holder(s, seat, a), _holder(s, seat, b)
    faults = _faults(s, seat, one) if one >= 0 else 0
    return faults + (_faults(s, seat, other) if other >= 0 and other != one else 0)


@kernel
def _holder(s: State, seat: Int, cell: Int) -> Int:
    """Return the player to whose laid-out hand a cell belongs, or -1 for the deck."""
    if cell < s.deck_size:
        return -1
    player = 1 if seat == 0 else 0
    first = s.deck_size + s.hand_size[player]
    while cell >= first:
        player += 2 if player + 1 == seat else 1
        first += s.hand_size[player]
    return player


@kernel
def _first_cell(s: State, seat: Int, player: Int) -> Int:
    """Return the first cell of a player's laid-out hand.

    The hands of all seats except `seat` follow the deck, in seat order.
    """
    first = np.int64(s.deck_size)
    for other in range(player):
        if other != seat:
            first += s.hand_size[other]
    return first


@kernel
def _faults(s: State, seat: Int, player: Int) -> Int:
    """Count the cards of a laid-out hand that contradict what a seat knows."""
    first = _first_cell(s, seat, player)
    end = first + s.hand_size[player]
    faults = 0
    for cell in range(first, end - min(s.drawn[seat, player], s.hand_size[player])):
        faults += s.deck[cell] > CARDS  # a marked card cannot be one of the hand's older cards
    for answer in range(ANSWERS):
        held, card = 0, ANSWER_CARDS[answer] + 1
        for cell in range(first, end):
            held += s.deck[cell] == card or s.deck[cell] == card + CARDS
        if s.answers[player, answer] == HELD:
            faults += held == 0
        elif s.answers[player, answer] == LACKED:
            faults += held
    return faults


@kernel
def _take_up(s: State, seat: Int) -> None:
    """Move the laid-out cards into the hands, and unmark the cards of the deck."""
    cell = np.int64(s.deck_size)
    for player in range(s.players):
        if player != seat:
            for _ in range(s.hand_size[player]):
                s.hand[player, (s.deck[cell] - 1) % CARDS] += 1
                s.deck[cell] = 0
                cell += 1
    for i in range(s.deck_size):
        if s.deck[i] > CARDS:
            s.deck[i] -= CARDS
