"""The scripted greedy player of Armada is legal, fair, repeatable, and better than random play."""

from __future__ import annotations

import numpy as np
import pytest

from armarl import play_match
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.armada.scripted.distance_maps import set_goals
from armarl.games.armada.scripted.greedy import row_of
from armarl.games.armada.state import CLAIM_DUE, LAIR
from armarl.games.armada.style_columns import (
    AHEAD,
    ALARMED,
    CITY_GARRISON,
    CITY_GOAL,
    CLOSE,
    DEFEND_GOAL,
    EARLY,
    EARLY_ROUNDS,
    FAR,
    HOME_LATER_GOAL,
    MAN_CITY_GOAL,
    NEARLY_GOAL,
    PARTNER_GOAL,
    PLAIN,
    RETAKE_GOAL,
    STANCES,
    TABLES,
)
from armarl.games.armada.styles import FIRST_ROWS, GREEDY_STYLES, STYLES
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer, RandomPlayer
from reference.armada.checks import VARIANTS, variant_name

GAMES = 24
EVERY_VARIANT = pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)


def choices(game: Game, states: States, draws: np.ndarray) -> np.ndarray:
    seats = game.statuses(states)[1]
    return GreedyPlayer(game).choose(game.concealed(states, seats), seats, draws)


def positions(game: Game) -> States:
    """Return positions from games between greedy players with some random actions."""
    rng = np.random.default_rng(game.players)
    states, random = game.new_states(np.arange(GAMES)), RandomPlayer(game)
    found = []
    for step in range(10**6):
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if going.size == 0:
            return np.concatenate(found)
        states, seats = game.taken(states, going), seats[going]
        if step % 9 == 0:
            found.append(states.copy())
        actions = choices(game, states, rng.random(going.size))
        chance = random.choose(states, seats, rng.random(going.size))
        actions = np.where(rng.random(going.size) < 0.2, chance, actions)
        game.apply(states, np.arange(going.size), actions)
    raise AssertionError("the games never end")


@EVERY_VARIANT
def test_choices_are_legal_and_repeatable_and_do_not_depend_on_hidden_information(variant):
    game = make_game("armada", **variant, max_turns=30)
    states = positions(game)
    assert states.size > 20 * GAMES
    stages = {int(stage) for stage in states["stage"]}
    assert len(stages) >= (8 if variant["cards"] else 4)
    draws = np.random.default_rng(1).random(states.size)
    actions = choices(game, states, draws)
    assert game.legal_masks(states)[np.arange(states.size), actions].all()
    before = states.tobytes()
    assert (choices(game, states[::-1].copy(), draws[::-1].copy())[::-1] == actions).all()
    assert states.tobytes() == before
    seats = game.statuses(states)[1]
    dealt = game.determinised(states, seats, np.arange(states.size))
    assert dealt.tobytes() != before
    assert (choices(game, dealt, draws) == actions).all()
    # Even if it gets the whole state, it uses only what its seat is shown.
    assert (GreedyPlayer(game).choose(states, seats, draws) == actions).all()


@EVERY_VARIANT
def test_it_beats_random_play(variant):
    """Few games reach the turn limit: all ships are scuttled (ADA-24), or a card is left (ADA-29).

    In 96 games of each variant, the greedy player won 99.7 percent with two players and 96 percent
    with more. All other games reached the limit, except one that a random player won. The bounds
    are more than three standard deviations lower, so the test passes for nearly all random numbers.
    """
    game = make_game("armada", **variant, max_turns=200)
    match = play_match(game, ["greedy", "random"], games=48, seed=1)
    greedy, random = match.standings
    assert greedy.wins >= (46 if variant["players"] == 2 else 40)
    assert random.wins <= 1
    assert greedy.wins + greedy.cut_short + random.wins == match.games


@pytest.mark.parametrize("players", [2, 4])
def test_ties_are_broken_fairly(players):
    """The best actions of a position are chosen equally often, no matter which ids they have.

    The ids of borders follow the board, so a preference for some ids would favour a lair.
    """
    game = make_game("armada", players=players, max_turns=30)
    states = positions(game)
    rng, size = np.random.default_rng(2), 400
    excess, freedom = 0.0, 0
    for state in states:
        chosen = choices(game, np.full(size, state), rng.random(size))
        _, counts = np.unique(chosen, return_counts=True)
        expected = size / counts.size
        excess += ((counts - expected) ** 2 / expected).sum() - (counts.size - 1)
        freedom += counts.size - 1
    assert freedom > 100
    assert excess < 5 * np.sqrt(2 * freedom)  # chi-square statistic over all positions


def test_few_of_its_games_last_until_the_turn_limit():
    """Regression: with four players, 3 of 100 games never ended. The bound is 2 of 150."""
    game = make_game("armada", players=4)
    states, player = game.new_states(np.arange(1000, 1150)), GreedyPlayer(game)
    rng = np.random.default_rng(3)
    while True:
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if going.size == 0:
            break
        actions = player.choose(game.taken(states, going), seats[going], rng.random(going.size))
        game.apply(states, going, actions)
    assert (statuses == 2).sum() <= 2


def first_turn(players: int) -> States:
    """Return a position at the start of green's first turn, as records of shape (1,)."""
    game = make_game("armada", players=players)
    states = game.new_states(np.arange(1))
    while states["turn"][0] < 0:
        game.apply(states, np.arange(1), choices(game, states, np.zeros(1)))
    return states


@pytest.mark.parametrize("style", ["conqueror", "admiral"])
@pytest.mark.parametrize("players", [2, 4])
def test_a_style_has_a_row_for_each_stance(players, style):
    """The last stance whose condition is true is used: ALARMED before AHEAD, and so on."""
    states, green, raspberry = first_turn(players), 0, 1
    state, number = states[0], GREEDY_STYLES.index(style)
    fixed = make_game("armada", players=players).fixed

    def stance() -> int:
        return row_of(state, number, green, fixed) - FIRST_ROWS[number, 2 * (players - 2)]

    assert stance() == EARLY
    state["turn"] = EARLY_ROUNDS * 4
    assert stance() == PLAIN
    # Cities of raspberry and orange, which are enemies in both variants.
    for n, city in enumerate([3, 4, 5, 9]):
        state["owner"][fixed["cities"][city]] = green
        assert stance() == (PLAIN, PLAIN, CLOSE, AHEAD)[n]
    state["turn"] = 0
    assert stance() == AHEAD
    state["claims"][green] = CLAIM_DUE
    assert stance() == AHEAD
    state["claims"][raspberry] = CLAIM_DUE
    assert stance() == ALARMED


def test_only_the_admiral_has_other_rows_at_each_table():
    admiral = GREEDY_STYLES.index("admiral")
    found = {name: set() for name in GREEDY_STYLES}
    for players in (2, 3, 4):
        for cards in (False, True):
            game = make_game("armada", players=players, cards=cards)
            state = game.new_states(1)[0]
            for number, name in enumerate(GREEDY_STYLES):
                found[name].add(int(row_of(state, number, 0, game.fixed)))
    assert {name: len(rows) for name, rows in found.items()} == {
        name: TABLES if number == admiral else 1 for number, name in enumerate(GREEDY_STYLES)
    }
    assert len(set.union(*found.values())) == len(GREEDY_STYLES) - 1 + TABLES
    assert FIRST_ROWS[-1, -1] + STANCES == len(STYLES)


def goals(state: np.void, row: int) -> dict[int, int]:
    """Return the goals of green by place, for the numbers in a row of the style."""
    cost = np.empty(state["bands"].size, np.int8)
    set_goals(state, STYLES[row], 0, cost, make_game("armada").fixed)
    return {place: int(cost[place]) for place in np.flatnonzero(cost < FAR)}


def test_goals_are_places_to_take_to_free_and_to_guard():
    """The goals of green (and blue, its second colour) follow the style, even in green's lair."""
    states = first_turn(2)
    state, row = states[0], FIRST_ROWS[GREEDY_STYLES.index("admiral"), 0] + PLAIN
    numbers, cities = STYLES[row], make_game("armada").fixed["cities"].astype(int)
    green, raspberry, _, orange = range(4)
    before = goals(state, row)
    assert {before[place] for place in cities[3:6]} == {numbers[CITY_GOAL]}
    assert not set(before) & {*cities[:3], *cities[6:9]}  # of green and of blue
    state["owner"][cities[0]] = raspberry
    state["owner"][cities[6]] = orange
    state["bands"][[cities[0], cities[6]]] = 0
    found = goals(state, row)
    assert found[cities[0]] == min(numbers[HOME_LATER_GOAL], numbers[RETAKE_GOAL])  # 6 are left
    assert found[cities[6]] == numbers[PARTNER_GOAL]
    state["owner"][cities[[1, 2]]] = raspberry  # now green lacks one city
    assert goals(state, row)[cities[1]] == min(numbers[NEARLY_GOAL], found[cities[0]])
    assert goals(state, row)[cities[6]] == numbers[PARTNER_GOAL]  # it belongs to another colour
    state["owner"][cities[4]] = green
    state["bands"][cities[4]] = 0
    for other in np.flatnonzero(STYLES[:, MAN_CITY_GOAL] < FAR):
        guarded = goals(state, other).get(cities[4], FAR)
        assert guarded == (STYLES[other, MAN_CITY_GOAL] if STYLES[other, CITY_GARRISON] else FAR)
    assert (STYLES[:, CITY_GARRISON] > 0).any()


def test_an_undefended_place_beside_an_enemy_is_a_goal():
    """The place is in green's lair and has no city, because cities have their own cost."""
    states = first_turn(2)
    state, row = states[0], FIRST_ROWS[GREEDY_STYLES.index("admiral"), 0] + PLAIN
    green, raspberry = 0, 1
    fixed = make_game("armada").fixed
    first = fixed["land_borders"]
    own = next(
        place
        for place in range(LAIR)
        if place not in fixed["cities"] and fixed["border_to"][first[place]] < LAIR
    )
    beside = fixed["border_to"][first[own]]
    state["bands"][[own, beside]] = 0, 3
    assert own not in goals(state, row)
    state["owner"][beside] = raspberry
    assert goals(state, row)[own] == STYLES[row, DEFEND_GOAL] < FAR
    state["bands"][own] = 1
    assert own not in goals(state, row)
    assert state["owner"][own] == green
