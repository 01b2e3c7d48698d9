"""Sparse passes over changes and legal actions give the same results as dense passes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from armarl import make_game
from armarl.environments.self_play_batch import SelfPlayBatch
from armarl_training.config.sections import NetworkConfig
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.incremental.changes import entries_of, shares_of
from armarl_training.learners.ppo.incremental.decision_chains import chain_length, chains_of
from armarl_training.learners.ppo.incremental.first_layer import LatestOutputs
from armarl_training.learners.ppo.incremental.passes import (
    incremental_passes,
)
from armarl_training.learners.ppo.incremental.suitability import suit, use_incremental
from armarl_training.learners.ppo.networks import make_actor, make_critic
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.learners.ppo.update.dense_passes import RecordedPasses
from armarl_training.learning.saving import weights_of
from armarl_training.networks.integer_observations import IntegerObservations
from armarl_training.networks.learner_devices import OnCpu
from armarl_training.run.run import Run

GAMES = [
    ("armada", {"players": 2}),
    ("armada", {"players": 3, "cards": True}),
    ("armadora", {"players": 3}),
    ("armadora", {"players": 4, "advanced": True}),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
@pytest.mark.parametrize(
    ("size", "secrets", "density"), [(1, 0, 0.5), (16, 3, 1.0), (335, 40, 0.06), (31, 17, 0.0)]
)
def test_entries_are_the_changes_between_rows(dtype, size, secrets, density):
    device = OnCpu(make_game("armadora"))
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 200, (50, size + secrets)).astype(dtype)
    rows *= rng.random(rows.shape) < density
    alike = -(rng.random(size + secrets) < 0.5).astype(np.int16)
    alike[[0, min(size, size + secrets - 1)]] = 0
    chosen, anew = rng.permutation(50)[:30], rng.random(30) < 0.3
    anew[0] = True
    factors = rng.choice([0.5, 1.0, 4.0], size + secrets).astype(np.float32)
    entries = entries_of(
        device,
        features=rows[:, :size],
        secrets=rows[:, size:],
        factors=factors,
        alike=alike,
        chosen=chosen,
        anew=anew,
    )
    assert entries.starts.size == 31
    now = np.zeros(size + secrets, int)
    for i, (start, end) in enumerate(zip(entries.starts, entries.starts[1:], strict=False)):
        columns, noted = entries.columns[start:end], np.zeros(size + secrets, int)
        assert (np.diff(columns.astype(int)) > 0).all()
        assert entries.changes[start:end].all()
        noted[columns] = entries.changes[start:end] / factors[columns]
        change = noted.copy()
        for k in range(1, change.size):
            change[k] += change[k - 1] if alike[k] else 0
        now = change if anew[i] else now + change
        assert np.array_equal(now, rows[chosen[i]])


@pytest.mark.parametrize("length", [1, 3, 100])
def test_chains_are_successive_decisions_of_a_seat(length):
    rng = np.random.default_rng(0)
    steps, games = 20, 7
    learners, movers = rng.random((steps, games)) < 0.7, rng.integers(3, size=(steps, games))
    chains = chains_of(learners, movers, length)
    assert np.array_equal(np.sort(chains.rows), np.flatnonzero(learners))
    at, game = np.divmod(chains.rows, games)
    who = np.stack([game, movers.reshape(-1)[chains.rows], at // length])
    for k in range(1, at.size):
        assert chains.anew[k] == (who[:, k] != who[:, k - 1]).any()
        assert chains.anew[k] or at[k] > at[k - 1]
    assert chains.anew[0]
    assert chains.anew.sum() == len(set(zip(*who.tolist(), strict=True)))  # no chain is split


def test_chains_are_dealt_whole_to_minibatches():
    rng = np.random.default_rng(0)
    chains = chains_of(rng.random((32, 40)) < 0.8, rng.integers(2, size=(32, 40)), 8)
    dealt = list(chains.dealt(rng, 5, 2))
    assert len(dealt) == 5
    places = np.concatenate([part for parts in dealt for part in parts])
    assert np.array_equal(np.sort(places), np.arange(chains.rows.size))
    sizes = [sum(map(len, parts)) for parts in dealt]
    assert max(sizes) - min(sizes) <= 16
    for part in (part for parts in dealt for part in parts):
        assert chains.anew[part[0]]
        on = ~chains.anew[part]
        assert np.array_equal(part[on], part[np.flatnonzero(on) - 1] + 1)
        assert part[-1] + 1 == chains.rows.size or chains.anew[part[-1] + 1]
    again = next(chains.dealt(np.random.default_rng(1), 5, 2))
    assert not np.array_equal(again[0], dealt[0][0])
    nobody = chains_of(np.zeros((4, 4), bool), np.zeros((4, 4), int), 2)
    assert [len(part) for parts in nobody.dealt(rng, 1, 2) for part in parts] == [0, 0]


def test_chains_are_short_enough_for_many_of_them_in_a_minibatch():
    assert chain_length(4096, 32, 2) == 32
    assert chain_length(1024, 64, 2) == 8
    assert chain_length(64, 64, 4) == 1


def test_shares_of_entries_and_legal_actions_are_measured():
    armada, armadora = shares_of(make_game("armada")), shares_of(make_game("armadora"))
    assert not armada.alike.any()  # each feature has two bytes
    assert armada.after < armada.anew < 0.1
    assert armada.legal < 0.1
    assert armadora.after < 0.05
    assert armadora.legal > 0.3
    table = make_game("armadora").observation
    told = {block.name for block in table.blocks if armadora.alike[table.slices[block.name]].any()}
    assert told >= {"territory_size", "territory_gold", "territory_points", "territory_hidden"}
    assert not told & {"warriors", "palisades", "gold"}


def _learner(name, options, folder, looks, **network):
    """Return a learner with opponents in some games, or with lookahead and no opponents."""
    settings = tiny.settings(
        game=name,
        options=options,
        network=network,
        ppo={"rollout_length": 12, "minibatch": 64, "precision": "float32", "looks": looks},
        opponents={"share": 0.0 if looks else 0.5},
    )
    return Run(TrainingConfig(**settings), folder).learner


@pytest.mark.parametrize(("name", "options"), GAMES)
@pytest.mark.parametrize(
    "network",
    [
        {"widths": [24, 16], "critic_widths": [8, 40], "advisers": ["greedy"]},
        {"widths": [12], "activation": "relu"},
        {"widths": [1]},
        {"widths": [9, 7, 5], "critic_widths": [5, 7, 11]},
        {"widths": [72, 130], "critic_widths": [64, 8]},
    ],
)
@pytest.mark.parametrize("looks", [0, 1])
def test_gradients_are_equal_to_those_of_dense_passes(
    name, options, network, looks, tmp_path, monkeypatch
):
    monkeypatch.setattr("armarl_training.learners.ppo.incremental.decision_chains.FEWEST", 8)
    learner = _learner(name, options, tmp_path, looks, **network)
    rng = np.random.default_rng(0)
    with torch.no_grad():  # initial policies would be nearly uniform
        for weights in learner._parameters:
            weights += torch.from_numpy(rng.normal(0, 0.1, weights.shape).astype(np.float32))
    playing = weights_of({"actor": learner.actor, "critic": learner.critic})
    (rollout,) = learner.shards.play(playing, 0.0)
    rows = np.flatnonzero(rollout.learners[:-1].reshape(-1))
    chains = learner._chains(rollout)
    assert chains.anew.sum() < rows.size / 2
    found = []

    def dealt(rows, minibatches, parts):
        for shares in chains.dealt(learner._rng, minibatches, parts):
            yield [chains.rows[share] for share in shares]

    def keep(parts):
        taken.append([sum(each) for each in zip(*parts, strict=True)])
        return torch.zeros(())

    learner._dealt = dealt
    for sparse in (False, True):
        learner._incremental = sparse
        learner._rng = np.random.default_rng(1)
        learner._take_step = keep
        taken = []
        statistics = learner._update(rollout, rows, *learner.compute_advantages(rollout), 0.02)
        found.append((taken, statistics))
    (whole, whole_statistics), (few, statistics) = found
    assert len(whole) == len(few) > 1
    for these, others in zip(whole, few, strict=True):
        assert len(these) == len(others) == len(learner._parameters)
        for one, other, weights in zip(these, others, learner._parameters, strict=True):
            assert other.shape == weights.shape
            if min(weights.shape) > 1:
                assert other.stride() == weights.stride()  # otherwise each step would copy one
            scale = float(one.abs().max())
            torch.testing.assert_close(other, one, atol=1e-5 * scale + 1e-9, rtol=1e-4)
    for name, figure in whole_statistics.items():
        assert statistics[name] == pytest.approx(figure, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    "network",
    [
        {"widths": (20, 12), "advisers": ("greedy", "greedy")},
        {"widths": (70, 66, 12), "critic_widths": (9, 65, 130)},
        {"widths": (5,), "activation": "relu"},
        {"widths": (9, 10), "activation": "relu"},
    ],
)
@pytest.mark.parametrize(("name", "options"), GAMES)
def test_sparse_passes_along_games_give_the_outputs_of_dense_passes(name, options, network):
    game = make_game(name, **options)
    device, kept = OnCpu(game), IntegerObservations(game)
    config = NetworkConfig(**network)
    advisers = config.advisers
    torch.manual_seed(0)
    actor, critic = make_actor(game, config), make_critic(game, config, kept)
    factors, workspace = (1 / kept.privileged_scales).astype(np.float32), Workspace(device.place)
    passes = incremental_passes(device, game, actor, critic, factors)
    recorded = RecordedPasses(actor, critic)
    batch, latest = SelfPlayBatch(game, 30), LatestOutputs(kept, 30, passes.first.units)
    turn, rng = batch.reset(seed=3), np.random.default_rng(0)
    passes.first.begin(latest)
    for step in range(60):
        features = np.zeros(turn.observations.shape, kept.dtype)
        secrets = np.zeros((30, kept.secrets), kept.dtype)
        kept.keep(turn.observations, features)
        kept.keep_secrets(batch.states, turn.seats, secrets)
        legal = turn.masks.astype(bool)
        advice = np.stack([legal.argmax(axis=1)] * 2, axis=1)[:, : len(advisers)]
        logits, critic_logits = passes.act(
            latest=latest,
            features=features,
            secrets=secrets,
            movers=turn.seats,
            masks=np.packbits(legal, axis=1),
            advice=advice,
            workspace=workspace,
        )
        privileged = torch.from_numpy(np.concatenate([features, secrets], axis=1) * factors)
        outputs = recorded.act(privileged, torch.from_numpy(advice), workspace).numpy()
        actions, near = len(game.actions), {"atol": 1e-5, "rtol": 1e-5}
        legal_logits = logits[:, :actions][legal]
        np.testing.assert_allclose(legal_logits, outputs[:, :actions][legal], **near)
        np.testing.assert_allclose(critic_logits, outputs[:, actions + 1 :], **near)
        if step == 40:  # change the weights
            with torch.no_grad():
                for weights in (*actor.parameters(), *critic.parameters()):
                    weights *= 0.9
            passes = incremental_passes(device, game, actor, critic, factors)
            passes.first.begin(latest)
        turn = batch.step([rng.choice(np.flatnonzero(row)) for row in legal])


def test_incremental_passes_are_used_where_they_suit():
    def suits(game="armada", **changes):
        settings = {"total_decisions": 1, "game": game, "network": {"widths": [8]}} | changes
        return suit(TrainingConfig(**settings), make_game(game))

    assert suits()
    assert suits(network={"widths": [8], "critic_widths": [9], "advisers": ["greedy"]})
    assert not suits(network={"widths": [8], "critic_widths": [8, 8]})
    assert not suits(ppo={"magnet": 1.0})
    assert not suits(learner="maskable_ppo")
    assert not suits(device="cuda")
    assert suits("armadora")
    brief = {"total_decisions": 1, "game": "armada", "ppo": {"precision": "bfloat16"}}
    assert not use_incremental(TrainingConfig(**brief), make_game("armada"))
