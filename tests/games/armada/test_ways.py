"""The costs that the scripted player computes are those of the cheapest paths."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from armarl import make_game
from armarl.games.armada.actions import TERRITORIES
from armarl.games.armada.scripted.distance_maps import set_goals, set_tolls, spread_costs
from armarl.games.armada.scripted.greedy import row_of
from armarl.games.armada.state import acting_colour, border_from
from armarl.games.armada.style_columns import FAR
from armarl.games.armada.styles import STYLES


def cheapest(s, fixed, by_land, by_sea, cost):
    """Return the same costs, computed by relaxing all borders until nothing changes."""
    cost, before = cost.astype(int), None
    while before is None or (cost != before).any():
        before = cost.copy()
        for borders, tolls in ((fixed["land_borders"], by_land), (fixed["sea_borders"], by_sea)):
            for place in range(s["places"]):
                for to in fixed["border_to"][borders[place] : borders[place + 1]]:
                    cost[to] = min(cost[to], cost[place] + tolls[place])
    return cost


def test_borders_and_neighbours_are_those_of_the_chart():
    game = make_game("armada", players=2)
    fixed, chart = game.fixed, game.attributes["chart"]
    seen = 0
    for place, neighbours in enumerate(chart.neighbours):
        land = {to for to in neighbours if to < TERRITORIES}
        assert int(fixed["land_near"][place]) == sum(1 << to for to in land)
        squares = sum(1 << (to - TERRITORIES) for to in set(neighbours) - land)
        assert int(fixed["sea_near"][place]) & (1 << 64) - 1 == squares
        for borders in (fixed["land_borders"], fixed["sea_borders"]):
            for border in range(borders[place], borders[place + 1]):
                assert border_from(border, fixed) == place
                assert fixed["border_to"][border] in neighbours
                seen += 1
    assert seen == 2 * len(chart.borders)


@pytest.mark.parametrize("players", [2, 4])
def test_costs_are_those_of_the_cheapest_ways(players):
    game = make_game("armada", players=players)
    fixed, (states, _) = game.fixed, tiny.positions(game, 30)
    changed = 0
    for s in states:
        colour = acting_colour(s)
        style = STYLES[row_of(s, 0, colour, fixed)]
        cost, by_land, by_sea = (np.zeros_like(s["gold"]) for _ in range(3))
        set_tolls(s, style, colour, by_land, by_sea, fixed)
        set_goals(s, style, colour, cost, fixed)
        wanted = cheapest(s, fixed, by_land, by_sea, cost)
        goals = cost.copy()
        scratch = (np.zeros(FAR + 1, np.int64) for _ in range(2))
        spread_costs(s, by_land, by_sea, cost, *scratch, fixed)
        np.testing.assert_array_equal(cost, wanted)
        changed += (cost != goals).sum()
        assert (goals[: s["places"]] < FAR).any()
    assert changed > 100
