"""How likely each player is to win a position of Armada, all hands and the deck being known.

For search that is cut at a depth. Each colour has a strength, the exponential of a weighted sum of
what it owns and mans and of how near it is to ADA-27. Players win in the proportion of their
colours' strengths, unless the game is cut short before.

The weights were fitted by the likelihood of the winners in positions of games between greedy
players of whose actions 5, 20 or 50 in 100 were random, without and with cards. Those for two
players are of games of an earlier greedy player: one fit to all games of this one did no better.
"""

from __future__ import annotations

import math

import numpy as np

from armarl.compiler.decorators import kernel
from armarl.compiler.types import Int, Real, Returns, State
from armarl.games.armada.actions import TERRITORIES
from armarl.games.armada.rules.scoring import CITIES_ASKED, POSTS_ASKED
from armarl.games.armada.state import (
    ALL_POSTS,
    CENTRE,
    FOUR,
    LAIR,
    LAIR_HELD,
    acting_colour,
    colours_playing,
    enemy_cities_owned,
    lairs_held,
    owned_in,
    post_place,
    posts_owned,
    territories_of,
)

MOST_MEN = 5  # on a post; more are no more use there

# The columns of WEIGHTS: what is added to the logarithm of a colour's strength for ...
(
    HOLDS_LAIR,  # a lair of which it owns 4 territories
    POST,  # each post that it owns
    CENTRE_POST,  # the Centre, besides
    BAND_ON_POST,  # each band there
    ENEMY_CITY,  # each, up to the 4 asked for
    CENTRAL_TERRITORY,  # each
    ONE_SHORT,  # one territory less than ADA-27 asks for
    VICTORY,  # all of them
    CLAIM,  # all of them, and victory claimed
    CLAIM_AHEAD,  # then, each colour that plays before this one may win
    BAND,  # each on the board
    BAND_OUT,  # each of these that is not in its own lair, besides
    GOLD,  # each piece with it
    CREW,  # each ship that it crews
    CARD,  # each card of the player
    COUP,  # each coup left of its turn, while that is under way
) = range(16)
WEIGHTS = np.array(  # with two players, and with more
    [
        [
            0.52,
            0.15,
            0.095,
            0.052,
            0.1,
            0.068,
            0.14,
            0.85,
            3.1,
            -0.68,
            0.034,
            0.056,
            0.011,
            0.22,
            0.12,
            0.023,
        ],
        [
            0.5,
            0.11,
            0.234,
            -0.098,
            0.42,
            0.029,
            0.42,
            1.25,
            4.5,
            -1.03,
            0.062,
            0.02,
            -0.008,
            0.3,
            0.125,
            0.028,
        ],
    ]
)

ROUNDS = 7.0  # that games last, on average, from a position on


@kernel
def evaluate(s: State, out: Returns) -> None:
    """Write the expected "win" return of every seat into `out`, float64 of shape (players,).

    In any position that is not over; nothing may be hidden in it. The estimates add up to 0.
    """
    total = 0.0
    out[:] = 0.0
    for colour in range(FOUR):
        if s.seat_of[colour] >= 0:
            strength = math.exp(_log_strength(s, colour))
            out[s.seat_of[colour]] += strength
            total += strength
    ends = _chance_to_end(s)
    for player in range(s.players):
        out[player] = ends * (s.players * out[player] / total - 1.0) / (s.players - 1.0)


@kernel
def _chance_to_end(s: State) -> Real:
    """That somebody wins before ADA-30 cuts the game short."""
    turns_left = np.float64(s.max_turns) - max(np.float64(s.turn), 0.0)
    return 1.0 - math.exp(-turns_left / (ROUNDS * colours_playing(s)))


@kernel
def _log_strength(s: State, colour: Int) -> Real:
    """The weighted sum of all that a colour has."""
    row, owned = np.int64(s.players > 2), territories_of(s, colour)
    total = WEIGHTS[row, HOLDS_LAIR] * (lairs_held(owned) > 0)
    total += WEIGHTS[row, POST] * posts_owned(s, owned)
    total += WEIGHTS[row, CENTRE_POST] * ((owned >> post_place(s, CENTRE)) & 1)
    total += WEIGHTS[row, BAND_ON_POST] * _bands_on_posts(s, colour)
    total += WEIGHTS[row, ENEMY_CITY] * min(enemy_cities_owned(s, owned, colour), CITIES_ASKED)
    total += WEIGHTS[row, CENTRAL_TERRITORY] * owned_in(owned, FOUR)
    total += WEIGHTS[row, CARD] * np.int64(s.hand_size[s.seat_of[colour]])
    if colour == acting_colour(s):
        total += WEIGHTS[row, COUP] * np.int64(s.coups[s.raid])
    return total + _worth_of_pieces(s, row, colour) + _worth_of_victory(s, row, colour, owned)


@kernel
def _worth_of_pieces(s: State, row: Int, colour: Int) -> Real:
    """Bands, gold and ships."""
    bands, at_home, gold, crews = 0, 0, 0, 0
    for place in range(s.places):
        own = s.owner[place] == colour
        bands += own * np.int64(s.bands[place])
        gold += own * np.int64(s.gold[place])
    for place in range(colour * LAIR, (colour + 1) * LAIR):
        at_home += (s.owner[place] == colour) * np.int64(s.bands[place])
    for place in range(TERRITORIES, s.places):
        crews += s.owner[place] == colour
    return (
        WEIGHTS[row, BAND] * bands
        + WEIGHTS[row, BAND_OUT] * (bands - at_home)
        + WEIGHTS[row, GOLD] * gold
        + WEIGHTS[row, CREW] * crews
    )


@kernel
def _bands_on_posts(s: State, colour: Int) -> Int:
    """Bands on own posts, at most so many on each."""
    bands = 0
    for post in range(ALL_POSTS):
        place = post_place(s, post)
        if s.owner[place] == colour:
            men: Int = np.int64(s.bands[place])
            bands += min(men, MOST_MEN)
    return bands


@kernel
def _worth_of_victory(s: State, row: Int, colour: Int, owned: Int) -> Real:
    """How near a colour is to ADA-27, and in victory to ADA-28."""
    missing = _missing(s, colour, owned)
    if missing > 1:
        return 0.0
    if missing == 1:
        return WEIGHTS[row, ONE_SHORT]
    if not s.claims[colour]:
        return WEIGHTS[row, VICTORY]
    return WEIGHTS[row, CLAIM] + WEIGHTS[row, CLAIM_AHEAD] * (
        (colour - np.int64(s.colour[0])) % FOUR
    )


@kernel
def _missing(s: State, colour: Int, owned: Int) -> Int:
    """ADA-27: how many territories a colour would have to own besides to be in victory."""
    most = 0
    for lair in range(FOUR):
        most = max(most, owned_in(owned, lair))
    centre = (owned >> post_place(s, CENTRE)) & 1
    by_posts = max(POSTS_ASKED - posts_owned(s, owned), 1 - centre)
    by_cities = max(CITIES_ASKED - enemy_cities_owned(s, owned, colour), 0)
    return max(LAIR_HELD - most, 0) + min(by_posts, by_cities)
