"""The costs that the scripted player computes are those of the cheapest paths."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from armarl import make_game
from armarl.games.armada.actions import ATTACK, MOVE, SAIL, TERRITORIES
from armarl.games.armada.scripted.distance_maps import (
    STRANDED,
    entry_toll,
    set_goals,
    set_tolls,
    spread_costs,
)
from armarl.games.armada.scripted.greedy import row_of
from armarl.games.armada.state import ORDER, acting_colour, border_from, city_place, has_ship
from armarl.games.armada.style_columns import BLOCKED, EMBARK, FAR
from armarl.games.armada.styles import STYLES
from armarl.players.simple_players import GreedyPlayer


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


def test_costs_from_goals_at_sea_are_those_of_the_cheapest_ways():
    """Regression: squares among the first 64 places counted twice, so last costs were missing."""
    game = make_game("armada", players=2)
    fixed, (states, _) = game.fixed, tiny.positions(game, 30)
    rng = np.random.default_rng(0)
    for s in states:
        colour = acting_colour(s)
        style = STYLES[row_of(s, 0, colour, fixed)]
        by_land, by_sea = np.zeros_like(s["gold"]), np.zeros_like(s["gold"])
        set_tolls(s, style, colour, by_land, by_sea, fixed)
        cost = np.full_like(by_land, FAR)
        cost[rng.integers(TERRITORIES, s["places"], size=6)] = rng.integers(9, size=6)
        wanted = cheapest(s, fixed, by_land, by_sea, cost)
        scratch = (np.zeros(FAR + 1, np.int64) for _ in range(2))
        spread_costs(s, by_land, by_sea, cost, *scratch, fixed)
        np.testing.assert_array_equal(cost, wanted)


def scripted_positions(game):
    """Return positions from games between greedy players."""
    states, player = game.new_states(np.arange(12)), GreedyPlayer(game)
    rng, found = np.random.default_rng(0), []
    for step in range(240):
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if step % 7 == 0:
            found.append(states[going].copy())
        questions = game.concealed(game.taken(states, going), seats[going]), seats[going]
        game.apply(states, going, player.choose(*questions, rng.random(going.size)))
    return np.concatenate(found)


def plain_tolls(s, style, colour, fixed):
    """Return the costs of entering each place from land and from sea, place by place."""
    by_land, by_sea = {}, {}
    for to in range(s["places"]):
        by_land[to] = by_sea[to] = entry_toll(s, style, to, colour)
        if to >= TERRITORIES:
            by_land[to] += style[EMBARK] if has_ship(s, to) else STRANDED
            by_sea[to] += style[BLOCKED] if has_ship(s, to) else 0
    for city in range(len(fixed["cities"])):
        place = city_place(city, fixed)
        if has_ship(s, place) and s["owner"][place] == colour:
            for border in range(fixed["sea_borders"][place], fixed["sea_borders"][place + 1]):
                square = int(fixed["border_to"][border])
                if not has_ship(s, square):
                    by_land[square] = by_sea[square] + style[EMBARK]
    return tuple([min(toll, FAR) for toll in tolls.values()] for tolls in (by_land, by_sea))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_tolls_are_those_of_each_place(players):
    game = make_game("armada", players=players, cards=True)
    fixed, states = game.fixed, scripted_positions(game)
    found = set()
    for s in states:
        colour = acting_colour(s)
        style = STYLES[row_of(s, 0, colour, fixed)]
        by_land, by_sea = np.zeros_like(s["gold"]), np.zeros_like(s["gold"])
        set_tolls(s, style, colour, by_land, by_sea, fixed)
        wanted = plain_tolls(s, style, colour, fixed)
        assert by_land[: s["places"]].tolist() == wanted[0]
        assert by_sea[: s["places"]].tolist() == wanted[1]
        found |= set(wanted[0]) | set(wanted[1])
    assert len(found) > 10
    assert (FAR in found) == (players == 2)  # only the partner's bands block the way


@pytest.mark.parametrize("players", [2, 3, 4])
def test_orders_across_a_border_start_from_bands_and_exclude_each_other(players):
    """The scripted player looks for moves, attacks and voyages only where the colour has bands."""
    game = make_game("armada", players=players, cards=True)
    fixed, states = game.fixed, scripted_positions(game)
    first, seen = fixed["first"], {SAIL: 0, MOVE: 0, ATTACK: 0}
    for s, mask in zip(states, game.legal_masks(states), strict=True):
        borders = []
        for family in seen:
            found = np.flatnonzero(mask[first[family] : first[family + 1]])
            borders += (
                found + (fixed["sea_borders"][TERRITORIES] if family == SAIL else 0)
            ).tolist()
            seen[family] += found.size
        assert len(set(borders)) == len(borders)
        for border in borders:
            place = border_from(border, fixed)
            assert s["stage"] == ORDER
            assert s["owner"][place] == acting_colour(s)
            assert s["bands"][place] > 0
    assert min(seen.values()) > 20
