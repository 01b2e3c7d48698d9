"""The scripted player's map: costs are those of the cheapest ways."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from armarl import make_game
from armarl.armada.greedy import row_of
from armarl.armada.state import acting_colour
from armarl.armada.style_columns import FAR
from armarl.armada.styles import STYLES
from armarl.armada.ways import set_goals, set_tolls, spread_costs


def cheapest(s, by_land, by_sea, cost):
    """The same by going over all borders until nothing changes."""
    cost, before = cost.astype(int), None
    while before is None or (cost != before).any():
        before = cost.copy()
        for borders, tolls in ((s["land_borders"], by_land), (s["sea_borders"], by_sea)):
            for place in range(s["places"]):
                for to in s["border_to"][borders[place] : borders[place + 1]]:
                    cost[to] = min(cost[to], cost[place] + tolls[place])
    return cost


@pytest.mark.parametrize("players", [2, 4])
def test_costs_are_of_the_cheapest_ways(players):
    game = make_game("armada", players=players)
    states, _ = tiny.positions(game, 30)
    changed = 0
    for s in states:
        colour = acting_colour(s)
        style = STYLES[row_of(s, 0, colour)]
        cost, by_land, by_sea = (np.zeros_like(s["gold"]) for _ in range(3))
        set_tolls(s, style, colour, by_land, by_sea)
        set_goals(s, style, colour, cost)
        wanted = cheapest(s, by_land, by_sea, cost)
        goals = cost.copy()
        scratch = (np.zeros_like(s["sea_near"]) for _ in range(2))
        spread_costs(s, by_land, by_sea, cost, *scratch)
        np.testing.assert_array_equal(cost, wanted)
        changed += (cost != goals).sum()
        assert (goals[: s["places"]] < FAR).any()
    assert changed > 100
