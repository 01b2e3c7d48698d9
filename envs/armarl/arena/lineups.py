"""Who meets whom, and in which seats.

A *lineup* says who holds each side of the game, or with mixed teams each seat. It is played in
several *arrangements*, and each of them, an entrant for every seat, is a *table*.
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
MOST_LINEUPS = 100_000
MOST_ENTRANTS = 100  # their intervals, of all pairs, take a core a minute or two
_ALL_UP_TO = 3  # places of which all arrangements are played


def lineups(
    entrants: int, game: Game, kind: str = "round-robin", mixed: bool = False
) -> list[Lineup]:
    """The lineups of a tournament, as numbers of entrants.

    Args:
        kind: "round-robin", everybody with everybody; "ladder", each with those next to him in the
            order given; "field", the first against the others, who do not meet without him.
        mixed: every place at the table is an entrant's own, so that partners are strangers.

    With fewer entrants than places the last ones hold several, in every way: A B B, A A B.

    Raises:
        ValueError: fewer than 2 entrants or more than MOST_ENTRANTS, no such kind, or more than
            MOST_LINEUPS lineups.
    """
    places = _places(game, mixed)
    if entrants < 2:
        raise ValueError(f"a tournament needs 2 players or more, not {entrants}")
    if entrants > MOST_ENTRANTS:
        raise ValueError(f"a tournament has {MOST_ENTRANTS:,} players at most, not {entrants:,}")
    if kind not in KINDS:
        raise ValueError(f"there is no kind of tournament {kind!r}; there is {', '.join(KINDS)}")
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
            f"{entrants:,} players make {number:,} lineups, more than {MOST_LINEUPS:,}; a ladder "
            "has few"
        )


def tables(lineup: Lineup, game: Game, mixed: bool = False, every: bool = False) -> list[Lineup]:
    """The arrangements of a lineup: which entrant holds each seat.

    All of them for up to 3 places, for mixed teams, and with `every`; for 4 different entrants a
    Latin square in which each comes once to every place, and once right after each other
    (Williams, 1949).
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
    """What part of each side an entrant is, (tables, sides, entrants): see `ratings.Tally`."""
    sides = np.array(game.sides)
    found = np.zeros((len(seatings), sides.max() + 1, entrants))
    for t, table in enumerate(seatings):
        for seat, entrant in enumerate(table):
            found[t, sides[seat], entrant] += 1 / (sides == sides[seat]).sum()
    return found


def _places(game: Game, mixed: bool) -> int:
    return game.players if mixed else len(set(game.sides))


def _filled(group: Lineup, places: int) -> list[Lineup]:
    """A group that is too small for the table, with each of its members doubled in turn."""
    if len(group) == places:
        return [group]
    spare = places - len(group)
    return [tuple(sorted((*group, *(group[i],) * spare))) for i in range(len(group))]


def _latin_square(size: int) -> list[list[int]]:
    """A row-complete Latin square of even size: every ordered pair stands side by side once."""
    first = [i // 2 if i % 2 == 0 else size - 1 - i // 2 for i in range(size)]
    return [[(number + row) % size for number in first] for row in range(size)]
