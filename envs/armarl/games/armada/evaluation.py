"""Estimates of each player's result in an Armada position, with all hands and the deck known.

Depth-limited search uses these estimates. Each colour has a strength: the exponential of a weighted
sum of its territories, bands, gold, ships and cards, and of its nearness to victory (ADA-27). The
win probability of a player is proportional to the sum of the strengths of its colours, unless the
game is cut short first.

The weights were fitted to the winners by maximum likelihood, on positions from games between greedy
players that played 5, 20 or 50 percent of their actions at random, with and without cards. The
weights for two players come from games of an earlier greedy player. Weights fitted to all games of
the current player were no better.
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
    CLAIM_DUE,
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

MOST_MEN = 5  # maximum number of bands counted on a post

# The columns of WEIGHTS. Each weight is added to the logarithm of a colour's strength for the item
# named here.
(
    HOLDS_LAIR,  # owning at least 4 territories of any lair
    POST,  # each post owned
    CENTRE_POST,  # owning the Centre, in addition to POST
    BAND_ON_POST,  # each band on one of the colour's posts, up to MOST_MEN per post
    ENEMY_CITY,  # each city owned in an enemy lair, up to the 4 that ADA-27 needs
    CENTRAL_TERRITORY,  # each central territory owned
    ONE_SHORT,  # being one territory short of victory (ADA-27)
    VICTORY,  # being in victory without a claim that is due (ADA-28)
    CLAIM,  # being in victory with a claim that is due
    CLAIM_AHEAD,  # each colour whose turn comes before the due claim is judged
    BAND,  # each band on the board
    BAND_OUT,  # each band outside the colour's own lair, in addition to BAND
    GOLD,  # each piece of gold on the colour's territories and ships
    CREW,  # each ship that the colour crews
    CARD,  # each card in the player's hand
    COUP,  # each coup left in the colour's turn or raid under way
) = range(16)
WEIGHTS = np.array(  # first row: two players; second row: three or four
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

ROUNDS = 7.0  # average number of rounds from a position to the end of its game


@kernel
def evaluate(s: State, out: Returns, fixed: State) -> None:
    """Write the expected "win" return of every seat into `out`, float64, shape (players,).

    The game must not be over, and the state must not be concealed. The estimates add up to 0.
    """
    total = 0.0
    out[:] = 0.0
    for colour in range(FOUR):
        if s.seat_of[colour] >= 0:
            strength = math.exp(_log_strength(s, colour, fixed))
            out[s.seat_of[colour]] += strength
            total += strength
    ends = _chance_to_end(s)
    for player in range(s.players):
        out[player] = ends * (s.players * out[player] / total - 1.0) / (s.players - 1.0)


@kernel
def _chance_to_end(s: State) -> Real:
    """Return the probability that a player wins before ADA-30 cuts the game short."""
    turns_left = np.float64(s.max_turns) - max(np.float64(s.turn), 0.0)
    return 1.0 - math.exp(-turns_left / (ROUNDS * colours_playing(s)))


@kernel
def _log_strength(s: State, colour: Int, fixed: State) -> Real:
    """Return the weighted sum for a colour: the logarithm of its strength."""
    row, owned = np.int64(s.players > 2), territories_of(s, colour)
    total = WEIGHTS[row, HOLDS_LAIR] * (lairs_held(owned) > 0)
    total += WEIGHTS[row, POST] * posts_owned(owned, fixed)
    total += WEIGHTS[row, CENTRE_POST] * ((owned >> post_place(CENTRE, fixed)) & 1)
    total += WEIGHTS[row, BAND_ON_POST] * _bands_on_posts(s, colour, fixed)
    total += WEIGHTS[row, ENEMY_CITY] * min(
        enemy_cities_owned(s, owned, colour, fixed), CITIES_ASKED
    )
    total += WEIGHTS[row, CENTRAL_TERRITORY] * owned_in(owned, FOUR)
    total += WEIGHTS[row, CARD] * np.int64(s.hand_size[s.seat_of[colour]])
    if colour == acting_colour(s):
        total += WEIGHTS[row, COUP] * np.int64(s.coups[s.raid])
    return (
        total + _worth_of_pieces(s, row, colour) + _worth_of_victory(s, row, colour, owned, fixed)
    )


@kernel
def _worth_of_pieces(s: State, row: Int, colour: Int) -> Real:
    """Return the terms of the weighted sum for bands, gold and ships."""
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
def _bands_on_posts(s: State, colour: Int, fixed: State) -> Int:
    """Return the number of bands on a colour's posts. At most MOST_MEN per post are counted."""
    bands = 0
    for post in range(ALL_POSTS):
        place = post_place(post, fixed)
        if s.owner[place] == colour:
            men: Int = np.int64(s.bands[place])
            bands += min(men, MOST_MEN)
    return bands


@kernel
def _worth_of_victory(s: State, row: Int, colour: Int, owned: Int, fixed: State) -> Real:
    """Return the terms of the weighted sum for nearness to victory and a claim (ADA-27, 28)."""
    missing = _missing(s, colour, owned, fixed)
    if missing > 1:
        return 0.0
    if missing == 1:
        return WEIGHTS[row, ONE_SHORT]
    if s.claims[colour] != CLAIM_DUE:
        return WEIGHTS[row, VICTORY]
    return WEIGHTS[row, CLAIM] + WEIGHTS[row, CLAIM_AHEAD] * (
        (colour - np.int64(s.colour[0])) % FOUR
    )


@kernel
def _missing(s: State, colour: Int, owned: Int, fixed: State) -> Int:
    """ADA-27: return how many more territories a colour needs to be in victory."""
    most = 0
    for lair in range(FOUR):
        most = max(most, owned_in(owned, lair))
    centre = (owned >> post_place(CENTRE, fixed)) & 1
    by_posts = max(POSTS_ASKED - posts_owned(owned, fixed), 1 - centre)
    by_cities = max(CITIES_ASKED - enemy_cities_owned(s, owned, colour, fixed), 0)
    return max(LAIR_HELD - most, 0) + min(by_posts, by_cities)
