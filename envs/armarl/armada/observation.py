"""What a seat of Armada observes: the blocks and the compiled functions that fill them.

`observation_table` declares the observation and `observe` writes it, in the same order. Colours are
seen from one of the seat's own: first itself, then the others in play order, nobody's included.
That is the colour which decides, if it is the seat's; else the seat's next one in play order.
Places are those of the chart, in its order (`Chart.places`), with its fixed adjacency.
"""

from __future__ import annotations

import numpy as np

from armarl.armada.actions import CENTRAL, MOST_PIECES, TERRITORIES
from armarl.armada.knowledge import HELD, LACKED, known_top
from armarl.armada.state import (
    ALL_CARDS,
    ANSWER_ATTACK,
    ANSWER_DEFENCE,
    ANSWER_RAID,
    ANSWERS,
    CARDS,
    CENTRALS,
    COPIES,
    COUPS,
    FACES,
    FOUR,
    MORE_COUPS,
    NOBODY,
    OVER,
    PLACE_NATIVES,
    PLACE_RECRUITS,
    SHIPS,
    STAGE_NAMES,
    STAGES,
    TRIBES,
    acting_colour,
    cities_owned,
    enemy_cities_owned,
    in_victory,
    owned_in,
    posts_owned,
    territories_of,
)
from armarl.compiled import inlined, kernel
from armarl.tables import Block, ObservationTable

_PIECES = 10.0  # scale of numbers of pieces in one place
_TRIBES = 4.0
_HAND = 10.0
_IDLE = 8.0
_MOST_COUPS = int(COUPS + MORE_COUPS)
_MOST_ON_FACE = int(abs(FACES).max())


def observation_table(players: int, places: int, max_turns: int, cards: bool) -> ObservationTable:
    """The blocks of a variant's observation, on a chart of so many places."""
    n, c = players, FOUR
    copies = tuple(float(number) for number in COPIES)
    blocks = [
        Block("bands", (c, places), MOST_PIECES, _PIECES, "public", "bands of the colour there"),
        Block("owner", (c, TERRITORIES), 1, 1.0, "public", "the colour's flag on the territory"),
        Block("gold", (places,), MOST_PIECES, _PIECES, "public", "gold there"),
        Block("ship", (places,), 1, 1.0, "public", "a ship there; on land, not launched"),
        Block("explored", (CENTRALS,), 1, 1.0, "public", "the central territory is explored"),
        Block("tribes_own", (CENTRALS,), 1, 1.0, "public", "it bears the tribes' flag"),
        Block("tribes", (CENTRALS,), MOST_PIECES, _TRIBES, "public", "tribes there"),
        Block("reserve", (c,), MOST_PIECES, float(MOST_PIECES), "public", "bands in the reserve"),
        Block("claim", (c,), 1, 1.0, "public", "the colour has claimed victory (ADA-28)"),
        Block("victory", (c,), 1, 1.0, "public", "the colour is in victory now (ADA-27)"),
        Block("lairs", (c, c), 7, 4.0, "public", "territories owned of green's to orange's lair"),
        Block("cities", (c, c), 3, 3.0, "public", "cities owned there"),
        Block("enemy_cities", (c,), 12, 4.0, "public", "cities owned in enemy lairs (ADA-27)"),
        Block("posts", (c,), 5, 3.0, "public", "trading posts owned"),
        Block("central", (c,), CENTRALS, 4.0, "public", "central territories owned"),
        Block(
            "supply",
            (3,),
            MOST_PIECES,
            (float(MOST_PIECES), float(MOST_PIECES), float(SHIPS)),
            "public",
            "supply of gold and tribes, ships in the box",
        ),
        Block("colour", (c,), 1, 1.0, "public", "one-hot: the own colour, green to orange"),
        Block("neutral", (c,), 1, 1.0, "public", "the colour is nobody's (ADA-12)"),
        Block("acting", (c,), 1, 1.0, "public", "its turn or raid is under way"),
        Block("turn", (c,), 1, 1.0, "public", "its turn is under way; in a raid, interrupted"),
        Block("to_move", (n,), 1, 1.0, "public", "this seat is to move, oneself first"),
        Block("stage", (STAGES,), 1, 1.0, "public", "one-hot: " + ", ".join(STAGE_NAMES)),
        Block(
            "coups",
            (2,),
            _MOST_COUPS,
            float(COUPS),
            "public",
            "coups left of the turn or raid, and of the interrupted turn",
        ),
        Block("raid", (1,), 1, 1.0, "public", "a raid is under way"),
        Block("enrolled", (1,), 1, 1.0, "public", "enrolment is used up (ADA-31)"),
        Block("more_coups", (1,), 1, 1.0, "public", "more-coups is used up (ADA-32)"),
        Block("turns_left", (1,), max_turns, float(max_turns), "public", "until ADA-30"),
        Block("idle", (1,), _IDLE, _IDLE, "public", "turns that ended by themselves (ADA-26)"),
        Block("origin", (places,), 1, 1.0, "public", "whence the chain under way goes"),
        Block("target", (places,), 1, 1.0, "public", "whither it goes, or where bands are due"),
        Block("used", (TERRITORIES,), 1, 1.0, "public", "territory which the card has used"),
        Block("count", (1,), MOST_PIECES, _PIECES, "public", "bands chosen, ships or bands placed"),
        Block("due", (1,), MOST_PIECES, _PIECES, "public", "bands, gold or rolls still due"),
        Block("hits", (1,), _MOST_ON_FACE, 2.0, "public", "hits of the roll that may be answered"),
        Block("losses", (1,), _MOST_ON_FACE, 2.0, "public", "its losses"),
        Block("rolled", (1,), _MOST_ON_FACE, _TRIBES, "public", "tribes die to be placed"),
    ]
    if cards:
        blocks += [
            Block("hand", (CARDS,), 8, copies, "own", "own cards by kind"),
            Block("played", (CARDS,), 8, copies, "public", "cards played, by kind"),
            Block("looked", (CARDS,), 8, copies, "own", "cards one's strategist has looked at"),
            Block("offered", (CARDS,), 1, 1.0, "own", "one-hot: the card that `take` would take"),
            Block("hand_sizes", (n,), ALL_CARDS, _HAND, "public", "cards held, oneself first"),
            Block("deck_size", (1,), ALL_CARDS, float(ALL_CARDS), "public", "cards in the deck"),
            Block("peeked", (1,), ALL_CARDS, _HAND, "public", "cards the strategist has looked at"),
            Block("remembered", (CARDS,), 8, copies, "own", "cards known to be left in the deck"),
            Block("drawn", (n,), ALL_CARDS, _HAND, "own", "of which this seat may have drawn some"),
            Block("held", (n, ANSWERS), 1, 1.0, "public", "holds attack, defence, raid for sure"),
            Block("lacked", (n, ANSWERS), 1, 1.0, "public", "has none of them for sure"),
        ]
    return ObservationTable(blocks)


@kernel
def perspective(s, seat):
    """The colour from which a seat sees the game."""
    colour = acting_colour(s)
    if s.stage == ANSWER_RAID:
        colour = (s.colour[0] + s.asked) % FOUR
    elif s.stage == ANSWER_DEFENCE and s.to_move == seat:
        colour = np.int64(s.owner[s.target])
    while s.seat_of[colour] != seat:
        colour = (colour + 1) % FOUR
    return colour


@kernel
def observe(s, seat, out):
    """Write the observation of a seat into `out`, float32 of shape (size,)."""
    own = perspective(s, seat)
    at = _board(s, own, out, 0)
    out[at:] = 0
    at = _standing(s, own, out, at)
    at = _turn(s, own, seat, out, at)
    at = _chain(s, out, at)
    if s.cards:
        _cards(s, seat, out, at)


# LLVM makes vector instructions of loops over a slice of `out`, not of those with `out[at + i]`.
# Products with float64's nearest to 1 / scale, rounded to float32, are what divisions would give.


@inlined
def _scaled(numbers, first, size, scale, out, at):
    """Write numbers divided by their scale."""
    block = out[at : at + size]
    for i in range(block.size):
        block[i] = numbers[first + i] * (1 / scale)
    return at + size


@inlined
def _equal(numbers, first, size, number, out, at):
    """Write 1 where a number is this one, else 0."""
    block = out[at : at + size]
    for i in range(block.size):
        block[i] = numbers[first + i] == number
    return at + size


@inlined
def _bands(s, colour, out, at):
    """Write the bands of a colour in all places."""
    block = out[at : at + s.places]
    for place in range(block.size):
        block[place] = s.bands[place] * (s.owner[place] == colour) * (1 / _PIECES)
    return at + s.places


@inlined
def _board(s, own, out, at):
    """bands, owner, gold, ship, explored, tribes_own, tribes."""
    for k in range(FOUR):
        at = _bands(s, (own + k) % FOUR, out, at)
    for k in range(FOUR):
        at = _equal(s.owner, 0, TERRITORIES, (own + k) % FOUR, out, at)
    at = _scaled(s.gold, 0, s.places, _PIECES, out, at)
    at = _scaled(s.ship, 0, s.places, 1.0, out, at)
    explored = out[at : at + CENTRALS]
    for i in range(explored.size):
        explored[i] = s.owner[CENTRAL + i] != NOBODY
    at = _equal(s.owner, CENTRAL, CENTRALS, TRIBES, out, at + CENTRALS)
    return _scaled(s.tribes, CENTRAL, CENTRALS, _TRIBES, out, at)


@kernel
def _standing(s, own, out, at):
    """reserve, claim, victory, lairs, cities, enemy_cities, posts, central, supply."""
    for k in range(FOUR):
        colour = (own + k) % FOUR
        owned = territories_of(s, colour)
        out[at + k] = s.reserve[colour] / np.float32(MOST_PIECES)
        out[at + FOUR + k] = s.claims[colour]
        out[at + 2 * FOUR + k] = in_victory(s, colour)
        lairs = at + (3 + k) * FOUR
        for lair in range(FOUR):
            out[lairs + lair] = owned_in(owned, lair) / np.float32(4)
            out[lairs + FOUR * FOUR + lair] = cities_owned(s, owned, lair) / np.float32(3)
        i = at + 11 * FOUR + k
        out[i] = enemy_cities_owned(s, owned, colour) / np.float32(4)
        out[i + FOUR] = posts_owned(s, owned) / np.float32(3)
        out[i + 2 * FOUR] = owned_in(owned, FOUR) / np.float32(4)
    at += 14 * FOUR
    out[at] = s.supply_gold / np.float32(MOST_PIECES)
    out[at + 1] = s.supply_tribes / np.float32(MOST_PIECES)
    out[at + 2] = s.box / np.float32(SHIPS)
    return at + 3


@kernel
def _turn(s, own, seat, out, at):
    """colour to idle."""
    out[at + own] = 1
    if s.neutral >= 0:
        out[at + FOUR + (s.neutral - own) % FOUR] = 1
    out[at + 2 * FOUR + (acting_colour(s) - own) % FOUR] = 1
    out[at + 3 * FOUR + (s.colour[0] - own) % FOUR] = 1
    at += 4 * FOUR
    out[at + (s.to_move - seat) % s.players] = s.stage != OVER
    at += s.players
    out[at + s.stage] = 1
    at += STAGES
    out[at] = s.coups[s.raid] / np.float32(COUPS)
    if s.raid:
        out[at + 1] = s.coups[0] / np.float32(COUPS)
    out[at + 2] = s.raid
    out[at + 3] = s.enrolled[s.raid]
    out[at + 4] = s.more_coups[s.raid]
    out[at + 5] = (s.max_turns - max(s.turn, 0)) / np.float32(s.max_turns)
    out[at + 6] = s.idle / np.float32(_IDLE)
    return at + 7


@kernel
def _chain(s, out, at):
    """origin, target, used, count, due, hits, losses, rolled."""
    if s.origin >= 0:
        out[at + s.origin] = 1
    at += s.places
    if s.target >= 0:
        out[at + s.target] = 1
    at += s.places
    if s.used >= 0:
        out[at + s.used] = 1
    at += TERRITORIES
    out[at] = s.count / np.float32(_PIECES)
    out[at + 1] = s.due / np.float32(_PIECES)
    if s.stage == ANSWER_ATTACK or s.stage == ANSWER_DEFENCE:
        out[at + 2] = max(s.roll, 0) / np.float32(2)
        out[at + 3] = max(-s.roll, 0) / np.float32(2)
    elif s.stage == PLACE_RECRUITS or s.stage == PLACE_NATIVES:
        out[at + 4] = s.roll / np.float32(_TRIBES)
    return at + 5


@kernel
def _cards(s, seat, out, at):
    """hand, played, looked, offered, hand_sizes, deck_size, peeked, and `_memory`."""
    for card in range(CARDS):
        copies = np.float32(COPIES[card])
        out[at + card] = s.hand[seat, card] / copies
        out[at + CARDS + card] = s.played[card] / copies
    at += 2 * CARDS
    looked = known_top(s, seat)
    for i in range(s.deck_size - looked, s.deck_size):
        card = s.deck[i] - 1
        out[at + card] += 1 / np.float32(COPIES[card])
    if looked > 0:
        out[at + CARDS + s.deck[s.deck_size - looked] - 1] = 1
    at += 2 * CARDS
    for k in range(s.players):
        out[at + k] = s.hand_size[(seat + k) % s.players] / np.float32(_HAND)
    out[at + s.players] = s.deck_size / np.float32(ALL_CARDS)
    out[at + s.players + 1] = s.looked / np.float32(_HAND)
    _memory(s, seat, out, at + s.players + 2)


@kernel
def _memory(s, seat, out, at):
    """remembered, drawn, held, lacked."""
    for card in range(CARDS):
        out[at + card] = s.remembered[seat, card] / np.float32(COPIES[card])
    at += CARDS
    for k in range(s.players):
        player = (seat + k) % s.players
        out[at + k] = s.drawn[seat, player] / np.float32(_HAND)
        for answer in range(ANSWERS):
            i = at + s.players + k * ANSWERS + answer
            out[i] = s.answers[player, answer] == HELD
            out[i + s.players * ANSWERS] = s.answers[player, answer] == LACKED
