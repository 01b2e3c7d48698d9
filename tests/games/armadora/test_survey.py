"""Armadora's survey for judges equals a slow count by squares, and contains nothing hidden."""

from __future__ import annotations

from collections import deque
from itertools import product
from typing import Any

import numpy as np
import pytest

from armarl.compiler.types import State
from armarl.core.game import Game
from armarl.games.armadora.survey import RINGS, WAYS, blocks
from armarl.games.make_game import make_game
from armarl.networks.judge import survey_of
from armarl.players.simple_players import RandomPlayer
from armarl.policies.afterstates import Afterstates

GAP = 3
SQUARES = [f"{column}{row}" for row, column in product(range(1, 6), "abcdefgh")]
MINES = ["d1", "b2", "f2", "h2", "a4", "e4", "c5", "g5"]
VARIANTS = [
    {"players": 2},
    {"players": 2, "board": "mini"},
    {"players": 3, "advanced": True},
    {"players": 4, "advanced": True, "peek": False},
]


def positions(game: Game, games: int = 12, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return states of random games, unfinished and finished."""
    rng, player = np.random.default_rng(seed), RandomPlayer(game)
    states = game.new_states(rng.integers(1 << 60, size=games))
    left = rng.integers(120, size=games)
    while True:
        statuses, seats = game.statuses(states)
        going_on = np.flatnonzero((statuses == 0) & (left > 0))
        if not going_on.size:
            return states
        left[going_on] -= 1
        chosen = player.choose(
            game.taken(states, going_on), seats[going_on], rng.random(going_on.size)
        )
        game.apply(states, going_on, chosen)


def neighbours(square: str, view: dict[str, Any]) -> list[str]:
    column, row = square
    around = [
        (chr(ord(column) + 1), row),
        (chr(ord(column) - 1), row),
        (column, chr(ord(row) + 1)),
        (column, chr(ord(row) - 1)),
    ]
    walls = {frozenset(line.split("-")) for line in view["palisades"]}
    return [
        a + b for a, b in around if a + b in SQUARES and frozenset((square, a + b)) not in walls
    ]


def steps_from(square: str, view: dict[str, Any]) -> dict[str, int]:
    """Return the number of steps to every reachable square."""
    steps, queue = {square: 0}, deque([square])
    while queue:
        here = queue.popleft()
        for there in neighbours(here, view):
            if there not in steps:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def steps_to(squares: set[str], view: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the open lines out of a set of squares, as pairs (square inside, square outside)."""
    return [
        (here, there)
        for here in squares
        for there in neighbours(here, view)
        if there not in squares
    ]


def stays_open(line: tuple[str, str], view: dict[str, Any]) -> bool:
    """Return whether the line stays open, because ARM-12 forbids a palisade or none is left."""
    with_it = {**view, "palisades": [*view["palisades"], "-".join(line)]}
    return view["palisades_left"] == 0 or min(len(steps_from(end, with_it)) for end in line) < 4


def core_of(mine: str, view: dict[str, Any]) -> set[str]:
    """Return the squares that no palisade can separate from a mine."""
    core = {mine}
    while grown := {line[1] for line in steps_to(core, view) if stays_open(line, view)}:
        core |= grown
    return core


def plain_walls(view: dict[str, Any], seat: int, players: int, mine: str) -> dict[str, Any]:
    """Return the values of the blocks on future walls, for a mine."""
    steps, core = steps_from(mine, view), core_of(mine, view)
    found: dict[str, Any] = {
        "ring_gold": np.zeros(RINGS),
        "ring_lines": np.zeros(WAYS),
        "ring_open": np.zeros(WAYS),
        "core_size": len(core),
        "core_free": len(core - set(MINES) - view["warriors"].keys()),
        "core_gold": sum(view["gold"].get(square, 0) for square in core),
        "core_points": np.zeros(players),
        "core_hidden": np.zeros(players),
    }
    for square, number in steps.items():
        if number:
            found["ring_gold"][min(number - 1, RINGS - 1)] += view["gold"].get(square, 0)
    for ring in range(WAYS):
        leading = steps_to({square for square, number in steps.items() if number <= ring + 1}, view)
        lasting = sum(stays_open(line, view) for line in leading)
        found["ring_open"][ring], found["ring_lines"][ring] = lasting, len(leading) - lasting
    for square in core & view["warriors"].keys():
        k = (view["warriors"][square]["player"] - seat) % players
        points = points_of(view["warriors"][square])
        found["core_hidden"][k] += points is None
        found["core_points"][k] += points or 0
    return found


def points_of(warrior: dict[str, Any]) -> int | None:
    """Return the points of a Warrior (ARM-30), or None if its value is hidden."""
    if warrior["value"] is None:
        return None
    reinforced = warrior.get("reinforcement") is not None
    return max(warrior["value"] - warrior.get("arrows", 0) + reinforced, 0)


def plain(game: Game, state: State, seat: int, mine: str) -> dict[str, Any]:
    """Return the values of the blocks on prizes, for a mine, counted from the seat's view."""
    view, players = game.describe(state, seat), game.players
    steps = steps_from(mine, view)
    found: dict[str, Any] = {
        "stakes": view["gold"].get(mine, 0),
        "size": len(steps),
        "gold": sum(view["gold"].get(square, 0) for square in steps),
        "ring_free": np.zeros(RINGS),
        "ring_points": np.zeros((players, RINGS)),
        "ring_hidden": np.zeros((players, RINGS)),
        "hidden_reinforced": np.zeros(players),
        "hidden_arrows": np.zeros(players),
        "tie_breaker": np.zeros(players),
    }
    for square, number in steps.items():
        if square in MINES:
            continue
        ring = min(number - 1, RINGS - 1)
        if square not in view["warriors"]:
            found["ring_free"][ring] += 1
            continue
        warrior = view["warriors"][square]
        k = (warrior["player"] - seat) % players
        token = warrior.get("reinforcement")
        if token is not None:
            found["tie_breaker"][(token - seat) % players] = 1
        if warrior["value"] is None:
            found["ring_hidden"][k, ring] += 1
            found["hidden_reinforced"][k] = max(found["hidden_reinforced"][k], token is not None)
            found["hidden_arrows"][k] += warrior.get("arrows", 0)
        else:
            found["ring_points"][k, ring] += points_of(warrior)
    return found | plain_walls(view, seat, players, mine)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_blocks_about_mines_are_equal_to_a_plain_count(variant: dict[str, Any]) -> None:
    game = make_game("armadora", **variant)
    table, afterstates = survey_of(game), Afterstates(game)
    states = positions(game)
    playing = game.statuses(states)[0] == 0  # at the end, `describe` shows more (ARM-36)
    for state in states[playing]:
        for seat in range(game.players):
            blocks = table.decode(afterstates.surveys(np.array([state]), np.array([seat])))
            for number, mine in enumerate(MINES):
                if not state["gold"][number]:  # on the mini board, most mines are off the board
                    continue
                for name, wanted in plain(game, state, seat, mine).items():
                    if name in blocks:
                        assert np.array_equal(blocks[name][0, ..., number], wanted), (name, mine)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_blocks_about_hands_and_the_turn_are_right(variant: dict[str, Any]) -> None:
    game = make_game("armadora", **variant)
    afterstates = Afterstates(game)
    for state in positions(game):
        for seat in range(game.players):
            found = survey_of(game).decode(afterstates.surveys(np.array([state]), np.array([seat])))
            seats = [(seat + k) % game.players for k in range(game.players)]
            assert found["palisades_left"][0, 0] == state["palisades_left"]
            assert found["hand"][0].tolist() == state["hand"][seat].tolist()
            assert found["passed"][0].tolist() == [state["passed"][p] for p in seats]
            sizes = [0 if state["passed"][p] else state["hand_size"][p] for p in seats]
            assert found["hand_sizes"][0].tolist() == sizes
            own = sum((v + 1) * int(n) for v, n in enumerate(state["hand"][seat]))
            assert found["points_in_hand"][0, 0] == (0 if state["passed"][seat] else 4 * own)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_hidden_information_changes_no_survey(variant: dict[str, Any]) -> None:
    game = make_game("armadora", **variant)
    states, afterstates = positions(game, 40), Afterstates(game)
    for seat in range(game.players):
        seats = np.full(states.size, seat)
        seen = afterstates.surveys(states, seats)
        assert np.array_equal(afterstates.surveys(game.concealed(states, seats), seats), seen)
        going_on = np.flatnonzero(game.statuses(states)[0] == 0)
        playing, seats = game.taken(states, going_on), seats[going_on]
        for number in range(3):
            dealt = game.determinised(playing, seats, np.full(seats.size, number))
            assert np.array_equal(afterstates.surveys(dealt, seats), seen[going_on])


def test_each_writer_fills_exactly_its_block() -> None:
    apart = blocks.observe("armadora_survey_apart", GAP)
    # These variants have all blocks; the test puts a gap between two blocks.
    for variant in VARIANTS[2:]:
        game = make_game("armadora", **variant)
        table = survey_of(game)
        for state in positions(game, 3):
            out = np.full(table.size + GAP * (len(table.blocks) + 1), np.nan, np.float32)
            apart(state, 1, out)
            expected = Afterstates(game).surveys(np.array([state]), np.array([1]))[0]
            end = 0
            for block in table.blocks:
                start = end + GAP
                end = start + block.size
                assert np.isnan(out[start - GAP : start]).all(), f"before {block.name}"
                assert np.array_equal(out[start:end], expected[table.slices[block.name]])
            assert np.isnan(out[end:]).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_values_are_within_the_declared_bounds(variant: dict[str, Any]) -> None:
    game = make_game("armadora", **variant)
    table, states = survey_of(game), positions(game, 40)
    for seat in range(game.players):
        for block in table.blocks:
            seen = Afterstates(game).surveys(states, np.full(states.size, seat))
            numbers = table.decode(seen)[block.name]
            assert (numbers >= 0).all()
            assert (numbers <= block.maximum).all(), block.name


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_shares_of_the_mines_add_up_to_the_gold_that_was_won(variant: dict[str, Any]) -> None:
    """The remainder of a shared territory (ARM-18) does not count."""
    game = make_game("armadora", **variant)
    states = positions(game, 400, seed=3)
    over = game.taken(states, np.flatnonzero(game.statuses(states)[0] == 1))
    assert over.size > 50
    parts = Afterstates(game).parts(over)
    assert ((parts >= 0) & (parts <= 1)).all()
    for state, of_seats in zip(over, parts, strict=True):
        for seat in range(game.players):
            side = game.sides[seat]
            gold = state["piles"][side].sum()
            assert (of_seats[seat] * state["gold"]).sum() == pytest.approx(gold)
