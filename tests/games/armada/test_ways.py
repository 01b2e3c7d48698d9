"""The scripted player's map: the costs are those of the cheapest paths."""

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


def cheapest(s, by_land, by_sea, cost):
    """The same costs, by relaxing all borders until nothing changes."""
    cost, before = cost.astype(int), None
    while before is None or (cost != before).any():
        before = cost.copy()
        for borders, tolls in ((s["land_borders"], by_land), (s["sea_borders"], by_sea)):
            for place in range(s["places"]):
                for to in s["border_to"][borders[place] : borders[place + 1]]:
                    cost[to] = min(cost[to], cost[place] + tolls[place])
    return cost


def test_borders_and_sets_of_neighbours_are_those_of_the_chart():
    game = make_game("armada", players=2)
    s, chart = game.new_states(0)[0], game.attributes["chart"]
    seen = 0
    for place, neighbours in enumerate(chart.neighbours):
        land = {to for to in neighbours if to < TERRITORIES}
        assert int(s["land_near"][place]) == sum(1 << to for to in land)
        squares = sum(1 << (to - TERRITORIES) for to in set(neighbours) - land)
        assert int(s["sea_near"][place]) & (1 << 64) - 1 == squares
        for borders in (s["land_borders"], s["sea_borders"]):
            for border in range(borders[place], borders[place + 1]):
                assert border_from(s, border) == place
                assert s["border_to"][border] in neighbours
                seen += 1
    assert seen == 2 * len(chart.borders)


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
