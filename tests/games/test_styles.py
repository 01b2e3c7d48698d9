"""The scripted players' styles are legal, strong enough as opponents, and different."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from armarl import play_match
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.armada.style_columns import TABLES
from armarl.games.catalogue import OURS, game_entry
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer
from armarl.roster.make_player import make_player
from paths import HELPERS

GAMES = [entry.name for entry in OURS]


def styles(name: str) -> tuple[str, ...]:
    return game_entry(name).part("styles").GREEDY_STYLES


def positions(game: Game) -> States:
    """Return some positions of games between players of each style."""
    rng = np.random.default_rng(0)
    players = [GreedyPlayer(game, style) for style in styles(game.name)]
    states, found = game.new_states(np.arange(60)), []
    for _ in range(400):
        statuses, seats = game.statuses(states)
        going = np.flatnonzero(statuses == 0)
        if going.size == 0:
            break
        found.append(states[going[rng.random(going.size) < 0.1]])
        for number, player in enumerate(players):
            turn = going[going % len(players) == number]
            seen = game.concealed(states[turn], seats[turn])
            game.apply(states, turn, player.choose(seen, seats[turn], rng.random(turn.size)))
    return np.concatenate(found)


@pytest.mark.parametrize("name", GAMES)
def test_styles_are_legal_and_differ(name: str) -> None:
    """With the same random number, two styles choose differently in over 2 positions of 100."""
    game = make_game(name, players=3)
    states = positions(game)
    assert states.size > 300
    seats, draws = game.statuses(states)[1], np.random.default_rng(1).random(states.size)
    masks = game.legal_masks(states)
    chosen = {}
    for style in styles(name):
        chosen[style] = GreedyPlayer(game, style).choose(states, seats, draws)
        assert masks[np.arange(states.size), chosen[style]].all()
    for one, other in combinations(chosen, 2):
        assert (chosen[one] != chosen[other]).mean() > 0.02, (one, other)
    assert (chosen[styles(name)[0]] == GreedyPlayer(game).choose(states, seats, draws)).all()


@pytest.mark.parametrize(("name", "style"), [(n, s) for n in GAMES for s in styles(n)])
def test_every_style_beats_random_play(name: str, style: str) -> None:
    games = 40 if name == "armadora" else 12
    match = play_match(make_game(name), [f"greedy:style={style}", "random"], games=games, seed=1)
    greedy, random = match.standings
    assert greedy.player == f"greedy:style={style}"
    assert greedy.wins >= 0.75 * games
    assert random.wins <= 0.2 * games


@pytest.mark.parametrize("name", GAMES)
def test_one_style_is_held_out(name: str) -> None:
    module = game_entry(name).part("styles")
    assert module.HELD_OUT_STYLE in module.GREEDY_STYLES[1:]
    if name == "armadora":
        assert len(module.STYLES) == len(module.GREEDY_STYLES)
    else:
        assert module.FIRST_ROWS.shape == (len(module.GREEDY_STYLES), TABLES)


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(ValueError, match="no style 'rude' in armadora; its styles: balanced, "):
        make_player("greedy:style=rude", make_game("armadora"))
    with pytest.raises(ValueError, match="no style 'raider' in armadora"):
        make_player("greedy:style=raider", make_game("armadora"))


@pytest.mark.parametrize("style", [0, 4])
def test_a_random_number_next_to_one_keeps_its_style(style: int) -> None:
    """A sum that is rounded up would give the next style, or none."""
    game = make_game("armada")
    states, seats = game.new_states(np.arange(2)), np.zeros(2, np.int64)
    player = GreedyPlayer(game, styles("armada")[style])
    nearly_one = np.full(2, np.nextafter(1.0, 0.0))
    assert game.legal_masks(states)[np.arange(2), player.choose(states, seats, nearly_one)].all()


def test_evolution_reads_styles_from_memory() -> None:
    """The test runs in a separate process, because other kernels must not be compiled this way."""
    path = os.pathsep.join(filter(None, sys.path))
    tests = str(HELPERS / "evolved_style.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", tests]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
