"""Lineups: the groups of players that meet, and their seats.

An *entrant* is a player of a tournament. A *lineup* assigns an entrant to each side of the game, or
to each seat if teams are mixed. A lineup plays every deal in several *arrangements*. Each
arrangement gives a *table*, which has one entrant for each seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from armarl.core.game import Game

Lineup = tuple[int, ...]
KINDS = ("round-robin", "ladder", "field")
MOST_LINEUPS = 100_000  # maximum number of lineups in a tournament
# Maximum number of players in a tournament. With this many players, computing the confidence
# intervals of all pairs takes a minute or two on one core.
MOST_ENTRANTS = 100
_ALL_UP_TO = 3  # with up to this many places, all arrangements are always played


def lineups(
    entrants: int, game: Game, kind: str = "round-robin", mixed: bool = False
) -> list[Lineup]:
    """Return the lineups of a tournament as tuples of entrant numbers.

    A place is a side of the game, or a seat if teams are mixed. If there are fewer entrants than
    places, one entrant also fills all spare places. There is a lineup for each choice of this
    entrant, such as A A B and A B B.

    Args:
        entrants: number of players in the tournament.
        game: the variant that is played.
        kind: "round-robin": every group of entrants meets. "ladder": only neighbours in the given
            order meet. "field": the first entrant meets the others, which never meet without it.
        mixed: whether each seat is a place, so that partners may be different players.

    Raises:
        ValueError: there are fewer than 2 entrants or more than MOST_ENTRANTS, the kind is
            unknown, or there would be more than MOST_LINEUPS lineups.

    Example:
        >>> from armarl import make_game
        >>> lineups(3, make_game("armadora"), "ladder")
        [(0, 1), (1, 2)]
        >>> lineups(2, make_game("armadora", players=3))
        [(0, 0, 1), (0, 1, 1)]
    """
    places = _places(game, mixed)
    if entrants < 2:
        raise ValueError(f"a tournament needs at least 2 players, not {entrants}")
    if entrants > MOST_ENTRANTS:
        raise ValueError(f"a tournament takes at most {MOST_ENTRANTS:,} players, not {entrants:,}")
    if kind not in KINDS:
        raise ValueError(f"unknown kind of tournament {kind!r}; choose from {', '.join(KINDS)}")
    together = min(places, entrants)
    if kind == "ladder":
        groups = [tuple(range(i, i + together)) for i in range(entrants - together + 1)]
    elif kind == "field":
        _refuse_too_many(entrants, comb(entrants - 1, together - 1))
        groups = [(0, *others) for others in combinations(range(1, entrants), together - 1)]
    else:
        _refuse_too_many(entrants, comb(entrants, together))
        groups = list(combinations(range(entrants), together))
    return [full for group in groups for full in _filled(group, places)]


def _refuse_too_many(entrants: int, number: int) -> None:
    if number > MOST_LINEUPS:
        raise ValueError(
            f"{entrants:,} players make {number:,} lineups, but at most {MOST_LINEUPS:,} are "
            'allowed; kind "ladder" makes fewer'
        )


def tables(lineup: Lineup, game: Game, mixed: bool = False, every: bool = False) -> list[Lineup]:
    """Return the arrangements of a lineup. Each is a tuple with the entrant in each seat.

    All arrangements are returned if there are up to 3 places, an entrant is repeated, teams are
    mixed, or `every` is true. For 4 different entrants the arrangements otherwise form a Latin
    square: each entrant has every place once, and directly follows each other entrant once
    (Williams, 1949).

    Example:
        >>> from armarl import make_game
        >>> tables((0, 1), make_game("armadora"))
        [(0, 1), (1, 0)]
        >>> tables((0, 1, 2, 3), make_game("armada", players=4))
        [(0, 3, 1, 2), (1, 0, 2, 3), (2, 1, 3, 0), (3, 2, 0, 1)]
    """
    places = len(lineup)
    teams = mixed and len(set(game.sides)) < game.players
    if places <= _ALL_UP_TO or every or teams or len(set(lineup)) < places:
        orders = sorted(set(permutations(lineup)))
    else:
        orders = [tuple(lineup[i] for i in row) for row in _latin_square(places)]
    if places == game.players:
        return orders
    return [tuple(order[side] for side in game.sides) for order in orders]


def members(seatings: Sequence[Lineup], game: Game, entrants: int) -> NDArray[np.float64]:
    """Return the fraction of each side's seats that each entrant has, (tables, sides, entrants)."""
    sides = np.array(game.sides)
    found = np.zeros((len(seatings), sides.max() + 1, entrants))
    for t, table in enumerate(seatings):
        for seat, entrant in enumerate(table):
            found[t, sides[seat], entrant] += 1 / (sides == sides[seat]).sum()
    return found


def _places(game: Game, mixed: bool) -> int:
    return game.players if mixed else len(set(game.sides))


def _filled(group: Lineup, places: int) -> list[Lineup]:
    """Return the lineups of a group of entrants, sorted.

    If the group has fewer members than places, there is one lineup for each member. In it, this
    member also fills all spare places.
    """
    if len(group) == places:
        return [group]
    spare = places - len(group)
    return [tuple(sorted((*group, *(group[i],) * spare))) for i in range(len(group))]


def _latin_square(size: int) -> list[list[int]]:
    """Return a row-complete Latin square of even size.

    Every ordered pair of different numbers is adjacent in exactly one row.
    """
    first = [i // 2 if i % 2 == 0 else size - 1 - i // 2 for i in range(size)]
    return [[(number + row) % size for number in first] for row in range(size)]
