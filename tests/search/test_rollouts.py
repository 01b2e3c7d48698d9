"""The rollout player: the information it uses, the actions it finds, and its thoughts."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from armarl import make_game
from armarl.core import threads
from armarl.players.protocol import Thinker
from armarl.players.simple_players import GreedyPlayer
from armarl.roster.make_player import make_player
from armarl.search import RolloutPlayer, SearchPlayer
from searching import asked, evaluations, same, won_positions
from variants import every_game, every_variant


@every_variant
def test_the_player_uses_no_hidden_information(variant):
    game = variant.make()
    states, seats = tiny.positions(game, 6)
    draws = np.random.default_rng(1).random(states.size)
    others = game.determinised(states, seats, np.arange(states.size))
    player = RolloutPlayer(game, 12, turns=2, longest=30)
    found = player.think(game.concealed(states, seats), seats, draws)
    for truth in (states, others):
        assert same(found, player.think(truth, seats, draws))


@every_game
def test_threads_and_batches_change_no_choice(variant):
    game = variant.make()
    states, seats, draws = asked(game, 6)
    player = RolloutPlayer(game, 20, turns=2, longest=40)
    before, found = threads.get_threads(), []
    for number in (1, 3):
        threads.set_threads(number)
        found.append(player.think(states, seats, draws))
    threads.set_threads(before)
    assert same(*found)
    alone = player.think(states[2:3], seats[2:3], draws[2:3])
    assert same(alone, [part[2:3] for part in found[0]])


@every_game
def test_thoughts_have_only_legal_actions_and_include_the_choice(variant):
    game = variant.make()
    states, seats, draws = asked(game)
    player = RolloutPlayer(game, 64, turns=2, longest=20, candidates=8)
    assert isinstance(player, Thinker)
    thoughts = player.think(states, seats, draws)
    legal = game.legal_masks(states) == 1
    assert (thoughts.visits[~legal] == 0).all()
    assert np.array_equal((thoughts.visits > 0).sum(axis=1), np.minimum(legal.sum(axis=1), 8))
    assert (thoughts.visits.sum(axis=1) <= 64).all()
    assert np.array_equal(np.isnan(thoughts.values), thoughts.visits == 0)
    assert (np.abs(thoughts.values[thoughts.visits > 0]) <= 1 + 1e-9).all()
    several = legal.sum(axis=1) > 1
    actions = player.choose(states, seats, draws)
    chosen = thoughts.probabilities.argmax(axis=1)
    assert np.array_equal(actions[several], chosen[several])
    rows = np.arange(states.size)
    assert np.allclose(thoughts.value, thoughts.values[rows, chosen])
    most = thoughts.visits.max(axis=1)
    assert (thoughts.visits[rows, chosen] == most).all()  # successive halving kept the choice


def test_without_turns_the_values_are_evaluations_of_the_next_positions():
    """In Armada without cards nothing is hidden, so one deal gives the evaluation itself."""
    game = make_game("armada", players=2)
    states, seats, draws = asked(game, 4)
    thoughts = RolloutPlayer(game, 1, turns=0, candidates=1480).think(states, seats, draws)
    for i in range(states.size):
        legal = np.flatnonzero(game.legal_masks(states[i : i + 1])[0])
        after = np.repeat(states[i : i + 1], legal.size)
        game.apply(after, np.arange(legal.size), legal)
        steady = after["thrown"] == 0  # no die was rolled
        expected = evaluations(game, after)[:, seats[i]]
        assert np.allclose(thoughts.values[i, legal][steady], expected[steady])


@pytest.mark.parametrize(
    ("name", "style"), [("armadora", None), ("armadora", "bold"), ("armada", "admiral")]
)
def test_with_great_doubt_the_player_follows_the_script(name, style):
    game = make_game(name, players=2)
    states, seats, draws = asked(game, 8)
    player = RolloutPlayer(game, 60, turns=2, doubt=1e9, style=style)
    found, scripted = player.choose(states, seats, draws), GreedyPlayer(game, style)
    lots = np.random.default_rng(0).random(300)
    for i, action in enumerate(found):
        many = [np.repeat(part[i : i + 1], lots.size) for part in (states, seats)]
        assert action in scripted.choose(*many, lots)


def test_an_unknown_style_is_refused():
    with pytest.raises(ValueError, match="no style 'rude' in armada; its styles: conqueror, "):
        make_player("rollout:60,style=rude", make_game("armada"))


@pytest.mark.parametrize("players", [2, 4])
def test_the_player_takes_a_forced_win(players):
    game = make_game("armadora", players=players)
    states, seats = won_positions(game, 3)
    player = RolloutPlayer(game, 400, turns=-1, candidates=300)
    every = live = np.arange(states.size)
    chance = game.new_chance(every)
    while live.size:
        seen, movers, draws = game.questions(states, live, chance)
        game.apply(states, live, player.choose(seen, movers, draws))
        live = every[game.statuses(states)[0] == 0]
    assert (game.returns(states, every)[every, seats] == 1).all()


def test_a_time_limit_lets_every_action_be_tried_once():
    game = make_game("armadora", players=2)
    states, seats, draws = asked(game, 3)
    thoughts = RolloutPlayer(game, milliseconds=5).think(states, seats, draws)
    legal = game.legal_masks(states).sum(axis=1, dtype=np.int64)
    assert np.array_equal((thoughts.visits > 0).sum(axis=1), np.minimum(legal, 32))


def test_each_game_names_its_best_search():
    armada, armadora = make_game("armada"), make_game("armadora")
    assert type(make_player("search:40", armada)) is RolloutPlayer
    assert type(make_player("search:40", armadora)) is SearchPlayer
    assert make_player("search:milliseconds=5", armada).name == "search:milliseconds=5"
    with pytest.raises(ValueError, match="not both"):
        make_player("search:40,milliseconds=5", armada)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be from 1 to"),
        ({"candidates": 1}, "candidates must be 2 or more"),
        ({"turns": -2}, "turns must be -1 or more"),
        ({"doubt": -0.1}, "doubt must be 0 or more"),
        ({"reward": "gems"}, "reward must be"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RolloutPlayer(make_game("armadora"), **options)
