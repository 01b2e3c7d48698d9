"""The chart of Armada as a graph, for networks with a node per place and an edge per border."""

from __future__ import annotations

import numpy as np

from armarl.core.observation_table import Board
from armarl.games.armada.actions import CENTRAL, TERRITORIES, directed_borders
from armarl.games.armada.chart.geography import COLOURS, Chart

BORDER_KINDS = ("land to land", "land to sea", "sea to land", "sea to sea")


def board_of(chart: Chart) -> Board:
    """Return the chart as a graph. Edges are in the order of the actions `move` and `attack`.

    Each place has the features of the observation blocks that have an entry per place, and
    `lair[k]`: 1 if the place is in the lair of the k-th colour, counted in play order from the
    observing seat's own colour. Constant features tell whether the place is sea, has a city, has
    the Centre post, or has another post.
    """
    places = range(len(chart.places))
    to_land, to_sea = directed_borders(chart)
    edges = np.array(to_land + to_sea).T
    sea = np.array([chart.is_sea(place) for place in places])
    territories = chart.territories
    lairs = np.array([COLOURS.index(t.lair) if t.lair in COLOURS else -1 for t in territories])
    of_place = np.concatenate([lairs, np.full(len(places) - TERRITORIES, -1)])
    posts = [t.post for t in territories] + [None] * (len(places) - TERRITORIES)
    cities = [t.city for t in territories] + [False] * (len(places) - TERRITORIES)
    return Board(
        shape=(len(places),),
        along={
            "places": {"": np.arange(len(places))},
            "territories": {"": np.arange(TERRITORIES)},
            "central": {"": np.arange(CENTRAL, TERRITORIES)},
        },
        derived={
            (f"lair[{k}]", "colour"): np.where(of_place < 0, -1, (of_place - k) % len(COLOURS))
            for k in range(len(COLOURS))
        },
        constants={
            "sea": sea.astype(np.float32),
            "city": np.array(cities, np.float32),
            "centre": np.array([post == "Centre" for post in posts], np.float32),
            "post": np.array([post not in (None, "Centre") for post in posts], np.float32),
        },
        edges=edges,
        edge_kinds=2 * sea[edges[0]] + sea[edges[1]],
        kinds=BORDER_KINDS,
    )
