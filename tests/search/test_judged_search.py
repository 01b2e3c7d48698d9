"""Search with a judge of positions: the information it uses, the wins it finds, and errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tiny
from armarl.core import threads
from armarl.games.make_game import make_game
from armarl.players.simple_players import GreedyPlayer
from armarl.policies.network_players import JudgingPlayer
from armarl.policies.saved_policy import save_policy
from armarl.roster.make_player import make_player
from armarl.search import JudgeSearchPlayer, PolicySearchPlayer
from judges import GAME, VARIANTS, judge_of
from searching import won_positions


def searcher(game, simulations=24, **options):
    judge = JudgingPlayer(game, judge_of(game).tensors())
    return JudgeSearchPlayer(game, judge, simulations, **options)


def asked(game, number=6, seed=0):
    states, seats = tiny.positions(game, number, seed=seed)
    return states, seats, np.random.default_rng(seed).random(states.size)


def same(one, other):
    for name in ("probabilities", "values", "visits", "value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_search_uses_no_hidden_information(variant):
    game = make_game("armadora", **variant)
    states, seats, draws = asked(game)
    thoughts = searcher(game).think(states, seats, draws)
    dealt = game.determinised(states, seats, np.arange(states.size))
    assert dealt.tobytes() != states.tobytes()
    same(thoughts, searcher(game).think(dealt, seats, draws))
    same(thoughts, searcher(game).think(game.concealed(states, seats), seats, draws))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_thoughts_have_only_legal_actions_and_add_up(variant):
    game = make_game("armadora", **variant)
    states, seats, draws = asked(game, 20)
    player = searcher(game)
    thoughts = player.think(states, seats, draws)
    masks = game.legal_masks(states)
    assert not thoughts.visits[masks == 0].any()
    assert (thoughts.visits.sum(axis=1) == 24).all()
    assert (np.nan_to_num(np.abs(thoughts.values)) <= 1).all()
    np.testing.assert_array_equal(thoughts.probabilities.sum(axis=1), 1)
    chosen = player.choose(states, seats, draws)
    several = masks.sum(axis=1) > 1
    np.testing.assert_array_equal(chosen[several], thoughts.probabilities.argmax(axis=1)[several])


def test_threads_and_batches_change_no_search():
    states, seats, draws = asked(GAME, 9)
    together = searcher(GAME).think(states, seats, draws)
    before = threads.get_threads()
    try:
        threads.set_threads(3)
        same(together, searcher(GAME).think(states, seats, draws))
    finally:
        threads.set_threads(before)
    alone = searcher(GAME).think(states[4:5], seats[4:5], draws[4:5])
    np.testing.assert_array_equal(alone.visits[0], together.visits[4])


def test_one_simulation_plays_as_the_judge_does():
    states, seats, draws = asked(GAME, 30)
    judge = JudgingPlayer(GAME, judge_of(GAME).tensors())
    player = JudgeSearchPlayer(GAME, judge, 1)
    np.testing.assert_array_equal(
        player.choose(states, seats, draws), judge.choose(states, seats, draws)
    )


@pytest.mark.parametrize("players", [2, 3])
def test_search_with_a_blank_judge_finds_wins_at_the_end_of_games(players):
    """All other players have passed and the side is ahead, so the search must not lose."""
    game = make_game("armadora", players=players)
    states, seats = won_positions(game, 8)
    blank = {name: np.zeros_like(weights) for name, weights in judge_of(game).tensors().items()}
    player = JudgeSearchPlayer(game, JudgingPlayer(game, blank), 300, exploration=2.0)
    every = np.arange(states.size)
    chance, live = game.new_chance(every), every
    while live.size:
        seen, movers, draws = game.questions(states, live, chance)
        game.apply(states, live, player.choose(seen, movers, draws))
        live = every[game.statuses(states)[0] == 0]
    assert (game.returns(states, every)[every, seats] == 1).all()


def test_a_full_tree_can_still_be_searched(monkeypatch):
    from armarl.search import judged

    states, seats, draws = asked(GAME)
    monkeypatch.setattr(judged, "MEMORY", 3 * 16 * len(GAME.actions))
    thoughts = searcher(GAME, 50).think(states, seats, draws)
    assert (thoughts.visits.sum(axis=1) == 50).all()


def test_a_time_limit_ends_the_search():
    states, seats, draws = asked(GAME, 2)
    player = searcher(GAME, None, milliseconds=20)
    assert player.name.endswith("+search:20ms")
    assert (player.think(states, seats, draws).visits.sum(axis=1) >= 8).all()


def test_a_specification_can_wrap_a_judge_in_search(tmp_path):
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, judge_of(GAME).tensors(), "relu", strength=[])
    made = make_player(f'"{path}"+search:30,exploration=1', GAME)
    assert isinstance(made, JudgeSearchPlayer)
    other = tiny.policy(tmp_path, GAME)
    assert isinstance(make_player(f'"{other}"+search:8', GAME), PolicySearchPlayer)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "simulations must be from 1 to"),
        ({"milliseconds": 0}, "milliseconds must be above 0"),
        ({"simulations": 5, "milliseconds": 5}, "either simulations or milliseconds"),
        ({"exploration": -1}, "exploration must be 0 to"),
        ({"sharpness": float("nan")}, "sharpness must be 0 to"),
        ({"reward": "fame"}, "fame"),
    ],
)
def test_wrong_options_are_refused(options, message):
    judge = JudgingPlayer(GAME, judge_of(GAME).tensors())
    with pytest.raises(ValueError, match=message):
        JudgeSearchPlayer(GAME, judge, **options)
    with pytest.raises(ValueError, match="judge of positions, got greedy"):
        JudgeSearchPlayer(GAME, GreedyPlayer(GAME))


def test_thoughts_are_empty_out_of_turn():
    """Regression: probabilities summed to 1, and the value of a finished game was NaN."""
    over = GAME.new_states(np.arange(4))
    GAME.playouts(over, seeds=np.arange(4))
    states, movers, draws = asked(GAME, 4)
    every, seats = np.concatenate([over, states]), np.concatenate([np.zeros(4, int), 1 - movers])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thoughts = searcher(GAME).think(every, seats, np.resize(draws, every.size))
    assert not thoughts.probabilities.any()
    assert not thoughts.visits.any()
    assert np.isnan(thoughts.values).all()
    np.testing.assert_array_equal(thoughts.value[:4], GAME.returns(over, np.arange(4))[:, 0])
    assert (np.abs(thoughts.value[4:]) <= 1).all()


def test_a_budget_must_be_a_whole_number_and_a_game_a_game():
    with pytest.raises(TypeError, match=r"simulations must be an integer, not 2\.5"):
        searcher(GAME, 2.5)
    with pytest.raises(TypeError, match="sharpness must be a number, not 'high'"):
        searcher(GAME, sharpness="high")
    with pytest.raises(TypeError, match="game must be a Game, as make_game returns it"):
        JudgeSearchPlayer("armadora", JudgingPlayer(GAME, judge_of(GAME).tensors()))
