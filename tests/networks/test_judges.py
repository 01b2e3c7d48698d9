"""Judges of positions: their inputs, NumPy against torch, saving, loading, and errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from armarl.games.make_game import make_game
from armarl.networks.judge import JudgeNetwork, check_judge, layout_of, survey_of
from armarl.networks.judge_kernels import weights_of
from armarl.networks.policy_network import NetworkError
from armarl.policies.afterstates import Afterstates
from armarl.policies.network_players import SHARPNESS, JudgingPlayer
from armarl.policies.safetensors_file import FORMAT, PolicyError, read_tensors, write_tensors
from armarl.policies.saved_policy import load_policy, read_policy_metadata, save_policy
from armarl_training.networks.value_networks import Judge
from judges import GAME, VARIANTS, judge_of

# --- positions after actions ---------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_legal_action_is_tried_separately(variant):
    """The compiled judge gives each resulting position the same value as NumPy."""
    game = make_game("armadora", **variant)
    states, seats = tiny.positions(game, 30)
    before, tensors = states.tobytes(), judge_of(game).tensors()
    found = Afterstates(game).worths(states, seats, weights_of(game, tensors))
    assert states.tobytes() == before
    decisions, actions = map(np.ascontiguousarray, np.nonzero(game.legal_masks(states)))
    assert np.array_equal(found.decisions, decisions)
    assert np.array_equal(found.actions, actions)
    assert np.array_equal(found.decisions[found.first], np.arange(states.size))
    dealt = game.determinised(states, seats, np.zeros(states.size, np.int64))
    after = game.taken(dealt, decisions)
    game.apply(after, np.arange(after.size), actions)
    surveys = Afterstates(game).surveys(after, seats[decisions])
    wanted = JudgeNetwork(game, tensors).worths(surveys)
    np.testing.assert_allclose(found.worths, wanted, atol=1e-5)
    assert np.ptp(wanted) > 0.01


def test_the_worth_of_actions_does_not_depend_on_the_batch():
    """The values of a state are the same in any batch."""
    states, seats = tiny.positions(GAME, 120)
    player = JudgingPlayer(GAME, judge_of(GAME).tensors())
    together = player.logits(states, seats)
    for i in range(0, states.size, 17):
        alone = player.logits(states[i : i + 1], seats[i : i + 1])
        np.testing.assert_array_equal(alone[0], together[i])


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_hidden_information_changes_no_choice(variant):
    game = make_game("armadora", **variant)
    states, seats = tiny.positions(game, 30)
    player = JudgingPlayer(game, judge_of(game).tensors())
    logits = player.logits(states, seats)
    np.testing.assert_array_equal(player.logits(game.concealed(states, seats), seats), logits)
    dealt = game.determinised(states, seats, np.arange(states.size))
    np.testing.assert_array_equal(player.logits(dealt, seats), logits)


def test_seats_and_states_out_of_range_are_refused():
    """Compiled loops would read out of bounds."""
    states, seats = tiny.positions(GAME, 5)
    player = JudgingPlayer(GAME, judge_of(GAME).tensors())
    other = make_game("armadora", players=3).new_states(np.arange(states.size))
    for ask in (player.logits, player.values):
        with pytest.raises(ValueError, match="seats"):
            ask(states, seats + 2)
        with pytest.raises(ValueError, match="seats"):
            ask(states, seats[1:].copy())
        with pytest.raises(ValueError, match=r"another variant|3 players"):
            ask(other, seats)
    with pytest.raises(ValueError, match=r"another variant|3 players"):
        Afterstates(GAME).parts(other)


def test_a_game_without_a_survey_is_refused():
    armada = make_game("armada", players=2)
    with pytest.raises(ValueError, match="armada has no survey"):
        survey_of(armada)
    with pytest.raises(NetworkError, match="armada has no survey"):
        check_judge(armada, judge_of(GAME).tensors(), "relu", 0)


# --- the network ---------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_numpy_and_torch_give_the_same_values(variant):
    game = make_game("armadora", **variant)
    judge = judge_of(game)
    check_judge(game, judge.tensors(), "relu", 0)
    surveys = Afterstates(game).surveys(*tiny.positions(game, 40))
    with torch.no_grad():
        returns, taken, leads = judge(torch.from_numpy(surveys))
    found, lead = JudgeNetwork(game, judge.tensors()).values(surveys)
    assert taken.shape == (len(surveys), layout_of(game).prizes, layout_of(game).sides)
    np.testing.assert_allclose(found, torch.tanh(returns / 2).numpy(), atol=1e-4)
    np.testing.assert_allclose(lead, leads.numpy(), atol=1e-4)
    assert np.ptp(found) > 0.01
    again = judge_of(game, seed=1)
    again.take_over(judge.tensors())
    assert all(
        np.array_equal(again.tensors()[name], tensor) for name, tensor in judge.tensors().items()
    )


def test_a_judge_of_another_shape_is_not_copied():
    with pytest.raises(ValueError, match="different widths"):
        Judge(GAME, (12, 8), (7,)).take_over(judge_of(GAME).tensors())


# --- players and files ---------------------------------------------------------------------------


def test_a_judge_plays_the_action_with_the_best_next_position():
    states, seats = tiny.positions(GAME, 40)
    player = JudgingPlayer(GAME, judge_of(GAME).tensors())
    found = Afterstates(GAME).worths(states, seats, weights_of(GAME, player.tensors))
    best = np.maximum.reduceat(found.worths, found.first)
    chosen = player.choose(states, seats, np.zeros(states.size))
    logits = player.logits(states, seats)
    np.testing.assert_allclose(logits[np.arange(states.size), chosen], SHARPNESS * best)
    spread = player.probabilities(states, seats)
    np.testing.assert_allclose(spread.sum(axis=1), 1)
    assert ((spread > 0) <= (GAME.legal_masks(states) == 1)).all()
    values = player.think(states, seats, np.zeros(states.size)).value
    assert (np.abs(values) <= 1).all()


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_loaded_judge_plays_as_the_saved_one(tmp_path, variant):
    game = make_game("armadora", **variant)
    path, tensors = tmp_path / "judge.safetensors", judge_of(game).tensors()
    save_policy(path, game, tensors, "relu")
    states, seats = tiny.positions(game, 20)
    loaded = load_policy(path, game)
    assert isinstance(loaded, JudgingPlayer)
    np.testing.assert_array_equal(
        loaded.logits(states, seats), JudgingPlayer(game, tensors).logits(states, seats)
    )
    assert read_policy_metadata(path)["survey"] == survey_of(game).hash


def changed(**changes):
    """Return a judge's tensors with some replaced, or removed if the new value is None."""
    tensors = judge_of(GAME).tensors()
    for name, tensor in changes.items():
        name = name.replace("_", ".")
        if tensor is None:
            del tensors[name]
        else:
            tensors[name] = tensor
    return tensors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"near_0_bias": None}, "lacks its weight or bias"),
        ({"near_0_weight": np.zeros((12, 5), np.float32)}, "does not fit its input"),
        ({"far_0_weight": np.zeros((9, 20), np.float32)}, "layer far.0 does not fit"),
        (
            {"direct_0_weight": None, "direct_0_bias": None},
            "the part `direct` must have at least 1 layer, not 0",
        ),
        ({"direct_0_weight": np.full((1, 1), np.nan, np.float32)}, "not finite"),
        ({"policy_0_weight": np.zeros((1, 1), np.float32)}, "do not belong to any"),
        ({"whole_1_bias": np.zeros(1, np.float64)}, "float32"),
        (
            {"prizes_1_weight": np.zeros((3, 8), np.float32), "prizes_1_bias": np.zeros(3, "f4")},
            "`prizes` has 3 outputs instead of 2",
        ),
    ],
    ids=str,
)
def test_judges_that_do_not_fit_are_refused(tmp_path, changes, message):
    with pytest.raises(PolicyError, match=message):
        save_policy(tmp_path / "judge.safetensors", GAME, changed(**changes), "relu")
    assert not list(tmp_path.iterdir())


def test_a_judge_of_another_survey_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, judge_of(GAME).tensors(), "relu")
    monkeypatch.setattr("armarl.policies.policy_checks.survey_of", lambda game: game.observation)
    with pytest.raises(PolicyError, match="has the survey hash"):
        load_policy(path, GAME)


def test_another_survey_is_reported_before_the_layers(tmp_path):
    """The error names the survey, not the layer whose shape differs because of the survey."""
    path = tmp_path / "judge.safetensors"
    save_policy(path, GAME, judge_of(GAME).tensors(), "relu")
    tensors, metadata = read_tensors(path, FORMAT)
    narrower = {**tensors, "near.0.weight": tensors["near.0.weight"][:, :-1].copy()}
    write_tensors(path, narrower, {**metadata, "survey": "0" * 16})
    with pytest.raises(PolicyError, match=r"has the survey hash .*; train it again"):
        load_policy(path, GAME)


def test_a_judge_in_a_game_without_a_survey_is_refused(tmp_path):
    armada, path = make_game("armada", players=2), tmp_path / "judge.safetensors"
    save_policy(path, GAME, judge_of(GAME).tensors(), "relu")
    tensors, metadata = read_tensors(path, FORMAT)
    write_tensors(path, tensors, {**metadata, "variant": armada.variant})
    with pytest.raises(PolicyError, match="armada has no survey"):
        load_policy(path, armada)
