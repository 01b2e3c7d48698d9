"""The learner of judges: its returns match the definition, and its data are checked."""

from __future__ import annotations

import numpy as np
import pytest

import tiny
from armarl.core.verbs import ENDED, PLAYING
from armarl.games.make_game import make_game
from armarl.roster.make_player import make_player
from armarl_training.config.sections import OpponentConfig
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learners.td.td_learner import TD
from armarl_training.learning.advantages import lambda_returns
from armarl_training.learning.imitation import play_imitation_games
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import saved_networks
from armarl_training.run.run import start_run

SETTINGS = {"learner": "td", "opponents": {"share": 0.5, "earlier": 0}}


def learner(tmp_path, **changes):
    config = TrainingConfig(**tiny.settings(**{**SETTINGS, **changes}))
    game = make_game(config.game, **config.options)
    return TD(config, game, OpponentPool(game, config.opponents, tmp_path))


@pytest.mark.parametrize("value_lambda", [0.0, 0.7, 1.0])
def test_returns_match_their_definition(value_lambda):
    rng = np.random.default_rng(0)
    steps, games, outcomes = 12, 5, (3, 2)
    ends = np.where(rng.random((steps, games)) < 0.2, ENDED, PLAYING).astype(np.int8)
    values = rng.random((steps + 1, games, *outcomes)).astype(np.float32)
    true = rng.random((steps, games, *outcomes)).astype(np.float32)
    cut = rng.random((steps, games)) < 0.2
    found = lambda_returns(ends, cut, true, values, value_lambda)
    for t, i in np.ndindex(steps, games):
        # The return is the mean of the n-step returns, weighted by lambda^(n - 1). The last return
        # gets the remaining weight. If an action cuts the trace, the value before this action gets
        # it.
        wanted, weight, k = np.zeros(outcomes), 1.0, t
        while True:
            if cut[k, i]:
                wanted += weight * values[k, i]
                break
            over = ends[k, i] != PLAYING
            last = over or k == steps - 1
            share = 1.0 if last else 1 - value_lambda
            wanted += weight * share * (true[k, i] if over else values[k + 1, i])
            if last:
                break
            weight, k = weight * value_lambda, k + 1
        np.testing.assert_allclose(found[t, i], wanted, rtol=1e-5)


@pytest.mark.parametrize("options", [{"players": 2}, {"players": 3}, {"players": 4}], ids=str)
def test_final_targets_are_the_outcomes_of_games(tmp_path, options):
    """A seat's targets are its return and each side's share of each prize, its own side first."""
    td = learner(tmp_path, options=options, environments=64, td={"rollout_length": 120})
    played = td.shards.parts[0]._rollout()
    steps, games = np.nonzero(played.ends != PLAYING)
    assert steps.size == len(played.last) > 10
    true = played.outcomes[steps, games]
    sides = max(td._game.sides) + 1
    parts = true[..., 1:].reshape(*true.shape[:2], -1, sides)
    # In the targets of all seats, the same sides take the prizes.
    assert ((true >= 0) & (true <= 1)).all()
    for seat in range(td._game.players):
        after = (seat + 1) % td._game.players
        np.testing.assert_array_equal(parts[:, seat, :, 1], parts[:, after, :, 0])
    # If one side took the most gold, it got all stakes. If several sides did, no other side won.
    stakes = played.last[..., : parts.shape[2]]
    gold = (parts[..., 0] * stakes).sum(axis=2)
    most = gold > gold.max(axis=1, keepdims=True) - 1e-3
    alone = most.sum(axis=1) == td._game.players // sides
    assert alone.mean() > 0.5
    lost = (1 - 1 / (sides - 1)) / 2
    np.testing.assert_array_equal(true[alone, :, 0], np.where(most[alone], 1, lost))
    assert most[true[..., 0] > true[..., 0].min(axis=1, keepdims=True)].all()


def test_an_update_brings_predictions_closer_to_outcomes(tmp_path):
    """The test measures predictions on finished games."""
    td = learner(tmp_path, environments=64, td={"rollout_length": 60, "epochs": 3})
    losses = [td.iterate(0.0)["prize_loss"] for _ in range(4)]
    assert losses[-1] < 0.95 * losses[0]


def test_a_head_start_learns_the_outcomes_of_a_teacher_s_games(tmp_path):
    td = learner(tmp_path, td={"learning_rate": 3e-3})
    data = play_imitation_games(
        td._game, make_player("greedy", td._game), 64, 0.1, "win", np.random.default_rng(0)
    )
    assert data.ends.size == 64
    guessed = [td.imitate(data, 3e-3) for _ in range(4)]
    assert guessed[-1] > max(guessed[0], 0.6)


def test_random_openings_are_not_learned_as_decisions(tmp_path):
    openings = {"openings": 1.0, "opening_length": 1, "exploration": 0.0, "rollout_length": 1}
    td = learner(tmp_path, td=openings, opponents={"share": 0})
    games = td.shards.parts[0]
    assert (games.openings == 1).all()
    td.iterate(0.0)
    assert td.decisions == 0
    assert (games.openings == 0).all()
    td.iterate(0.0)
    assert td.decisions == games.states.size


def test_positions_before_a_random_action_are_not_learned_from(tmp_path):
    only_random = {"exploration": 1.0, "openings": 0.0, "cut_traces": True}
    td = learner(tmp_path, td={**only_random, "rollout_length": 90}, opponents={"share": 0})
    samples = td.shards.parts[0].play(saved_networks({"judge": td.judge}), 0.0)
    assert len(samples.targets) > 0
    assert np.isin(samples.targets[:, 0], [0, 0.5, 1]).all()  # the outcomes of finished games
    td = learner(tmp_path, td={**only_random, "rollout_length": 1}, opponents={"share": 0})
    before = td.judge.tensors()
    assert td.iterate(0.0) == {}
    for name, weights in td.judge.tensors().items():
        np.testing.assert_array_equal(weights, before[name])


def test_a_game_without_a_survey_is_refused(tmp_path):
    settings = TrainingConfig(**tiny.settings(**SETTINGS, game="armada"))
    with pytest.raises(ConfigError, match="learner td: armada has no survey"):
        start_run(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_lineups_give_one_side_to_the_learner_and_the_others_to_the_pool(tmp_path):
    game = make_game("armadora", players=4)
    config = OpponentConfig(share=1.0, earlier=0, players={"random": 1.0})
    pool = OpponentPool(game, config, tmp_path)
    found = pool.lineups(np.random.default_rng(0), 200)
    assert {tuple(row) for row in found.tolist()} == {(-1, 0, -1, 0), (0, -1, 0, -1)}
