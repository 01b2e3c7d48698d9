"""The scripted greedy player of Armada: legal, fair, repeatable, and stronger than chance."""

from __future__ import annotations

import numpy as np
import pytest

from armarl.game import Game, States, make_game
from armarl.matches import play_match
from armarl.players import GreedyPlayer, RandomPlayer
from reference.armada.checks import VARIANTS, variant_name

GAMES = 24
EVERY_VARIANT = pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)


def choices(game: Game, states: States, draws: np.ndarray) -> np.ndarray:
    seats = game.statuses(states)[1]
    return GreedyPlayer(game).choose(game.concealed(states, seats), seats, draws)


def positions(game: Game) -> States:
    """Positions of games that greedy players play, with a random action now and then."""
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
def test_choices_are_legal_repeatable_and_blind_to_what_is_hidden(variant):
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
    # Even shown the whole state, it uses only what its seat is shown.
    assert (GreedyPlayer(game).choose(states, seats, draws) == actions).all()


@EVERY_VARIANT
def test_it_beats_random_play(variant):
    """And soon: next to no game is cut short at half the usual length, about 1 in 100."""
    game = make_game("armada", **variant, max_turns=200)
    match = play_match(game, ["greedy", "random"], games=12, seed=1)
    greedy, random = match.standings
    assert greedy.wins >= 11
    assert random.wins == 0


@pytest.mark.parametrize("players", [2, 4])
def test_ties_are_broken_fairly(players):
    """All actions that are ever chosen in a position are chosen equally often, whatever their ids.

    A border's id says where on the board it lies, so that a habit among ids favours a lair.
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
    assert excess < 5 * np.sqrt(2 * freedom)  # chi-square over all positions


def test_its_games_seldom_stall():
    """Of games between four, 3 in 100 used to last for ever; the bound is 2 of 150."""
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
