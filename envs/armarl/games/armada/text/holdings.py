"""A colour's progress to victory (ADA-27) in a view: its land, lairs, posts and cities."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from armarl.games.armada.chart.geography import CENTRAL, Chart
from armarl.games.armada.text.describe import colours_of


class Holdings(NamedTuple):
    """The territories that a colour owns, as ADA-27 counts them.

    Attributes:
        land: the number of territories.
        lair: the lair in which the colour owns the most territories, or "" if it owns none.
        in_lair: the number of territories that the colour owns in that lair.
        posts: the names of the colour's trading posts.
        cities: the number of cities that the colour owns outside its player's lairs.
    """

    land: int
    lair: str
    in_lair: int
    posts: tuple[str, ...]
    cities: int


def holdings(view: dict[str, Any], chart: Chart, colour: str) -> Holdings:
    """Return the holdings of a colour in a view."""
    players = range(len(view["hand_sizes"]))
    home = next(own for player in players if colour in (own := colours_of(view, player)))
    owned = [t for t in chart.territories if view["territories"][t.name]["owner"] == colour]
    in_lairs = Counter(t.lair for t in owned if t.lair != CENTRAL)
    lair, most = max(in_lairs.items(), key=lambda found: found[1], default=("", 0))
    posts = tuple(t.post for t in owned if t.post)
    cities = sum(t.city and t.lair not in home for t in owned)
    return Holdings(len(owned), lair, most, posts, cities)
