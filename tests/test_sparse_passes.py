"""Passes over what is not zero and what is legal: held to those over everything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from armarl import make_game
from armarl_training.config import NetworkConfig, TrainingConfig
from armarl_training.devices import OnCpu
from armarl_training.entries import entries_of, is_sparse
from armarl_training.passes import RecordedPasses
from armarl_training.ppo_networks import Actor, PlainCritic, make_actor, make_critic
from armarl_training.quantities import Quantities
from armarl_training.run import Run
from armarl_training.saving import weights_of
from armarl_training.sparse_passes import SparsePasses, suit, use_sparse
from armarl_training.workspace import Workspace

GAMES = [
    ("armada", {"players": 2}),
    ("armada", {"players": 3, "cards": True}),
    ("armadora", {"players": 3}),
    ("armadora", {"players": 4, "advanced": True}),
]


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_entries_are_what_is_not_zero(name, options):
    device = OnCpu(make_game(name, **options))
    rng = np.random.default_rng(0)
    for dtype in (np.uint8, np.int16):
        for size, secrets, density in ((1, 0, 0.5), (16, 3, 1.0), (335, 40, 0.06), (31, 17, 0.0)):
            rows = rng.integers(1, 200, (50, size + secrets)).astype(dtype)
            rows *= rng.random(rows.shape) < density
            seen, rest = np.ascontiguousarray(rows[:, :size]), np.ascontiguousarray(rows[:, size:])
            entries = entries_of(device, seen, rest)
            found = np.zeros_like(rows)
            for i, (start, end) in enumerate(zip(entries.starts, entries.starts[1:], strict=False)):
                columns = entries.columns[start:end]
                assert (np.diff(columns.astype(int)) > 0).all()
                found[i, columns] = entries.quantities[start:end]
            assert np.array_equal(found, rows)


def test_which_games_are_sparse():
    assert is_sparse(make_game("armada", players=2))
    assert is_sparse(make_game("armada", players=4, cards=True))
    assert not is_sparse(make_game("armadora", players=2))


def _learner(name, options, folder, **network):
    settings = tiny.settings(
        game=name,
        options=options,
        network=network,
        ppo={"rollout_length": 12, "minibatch": 64, "precision": "float32", "looks": 1},
    )
    return Run(TrainingConfig(**settings), folder).learner


@pytest.mark.parametrize(("name", "options"), GAMES)
@pytest.mark.parametrize(
    "network",
    [
        {"widths": [24, 16], "critic_widths": [8, 40], "advisers": ["greedy"]},
        {"widths": [12], "activation": "relu"},
        {"widths": [9, 7, 5], "critic_widths": [5, 7, 11]},
    ],
)
def test_gradients_are_those_of_passes_over_everything(name, options, network, tmp_path):
    learner = _learner(name, options, tmp_path, **network)
    rng = np.random.default_rng(0)
    with torch.no_grad():  # policies at the start are alike
        for weights in learner._parameters:
            weights += torch.from_numpy(rng.normal(0, 0.1, weights.shape).astype(np.float32))
    playing = weights_of({"actor": learner.actor, "critic": learner.critic})
    (rollout,) = learner.shards.play(playing, 0.0)
    rows = np.flatnonzero(rollout.learners.reshape(-1))
    found = []

    def keep(parts):
        taken.append([sum(each) for each in zip(*parts, strict=True)])
        return torch.zeros(())

    for sparse in (False, True):
        learner._sparse = sparse
        learner._rng = np.random.default_rng(1)
        learner._take_step = keep
        taken = []
        statistics = learner._update(rollout, rows, *learner.reckon(rollout), 0.02)
        found.append((taken, statistics))
    (whole, whole_statistics), (few, statistics) = found
    assert len(whole) == len(few) > 1
    for these, others in zip(whole, few, strict=True):
        assert len(these) == len(others) == len(learner._parameters)
        for one, other, weights in zip(these, others, learner._parameters, strict=True):
            assert other.shape == weights.shape
            assert other.is_contiguous()
            scale = float(one.abs().max())
            torch.testing.assert_close(other, one, atol=1e-5 * scale + 1e-9, rtol=1e-4)
    for name, figure in whole_statistics.items():
        assert statistics[name] == pytest.approx(figure, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_what_is_said_is_what_other_passes_say(name, options):
    game = make_game(name, **options)
    device, kept = OnCpu(game), Quantities(game)
    config = NetworkConfig(widths=(20, 12), advisers=("greedy", "greedy"))
    torch.manual_seed(0)
    actor, critic = make_actor(game, config), make_critic(game, config, kept)
    assert isinstance(actor, Actor)
    assert isinstance(critic, PlainCritic)
    states = game.new_states(np.arange(30))
    seats = game.statuses(states)[1]
    observations, masks = game.views(states, seats)
    quantities = np.zeros(observations.shape, kept.dtype)
    secrets = np.zeros((30, kept.secrets), kept.dtype)
    kept.keep(observations, quantities)
    kept.keep_secrets(states, seats, secrets)
    legal = masks.astype(bool)
    advice = np.stack([legal.argmax(axis=1)] * 2, axis=1)
    factors = (1 / kept.truth_scales).astype(np.float32)
    workspace = Workspace(device.place)
    passes = SparsePasses(device, actor, critic, factors)
    entries = entries_of(device, quantities, secrets)
    bits = np.packbits(legal, axis=1)
    logits, outlooks = passes.say(entries, bits, advice, workspace)
    truth = np.concatenate([quantities, secrets], axis=1) * factors
    recorded = RecordedPasses(actor, critic)
    said = recorded.say(torch.from_numpy(truth), torch.from_numpy(advice), workspace).numpy()
    actions = len(game.actions)
    np.testing.assert_allclose(logits[legal], said[:, :actions][legal], atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(outlooks, said[:, actions + 1 :], atol=1e-5, rtol=1e-5)


def test_where_they_suit():
    def suits(game="armada", **changes):
        settings = {"total_decisions": 1, "game": game, "network": {"widths": [8]}} | changes
        return suit(TrainingConfig(**settings), make_game(game))

    assert suits()
    assert suits(network={"widths": [8], "critic_widths": [9], "advisers": ["greedy"]})
    assert not suits(network={"widths": [8], "critic_widths": [8, 8]})
    assert not suits(ppo={"magnet": 1.0})
    assert not suits(learner="maskable_ppo")
    assert not suits(device="cuda")
    assert not suits("armadora")
    brief = {"total_decisions": 1, "game": "armada", "ppo": {"precision": "bfloat16"}}
    assert not use_sparse(TrainingConfig(**brief), make_game("armada"))
