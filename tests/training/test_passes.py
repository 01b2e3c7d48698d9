"""Hand-written passes through actor and critic are equal to automatic differentiation."""

from __future__ import annotations

import pytest
import torch

from armarl import make_game
from armarl_training.config.sections import NetworkConfig
from armarl_training.learners.ppo.networks import make_actor, make_critic
from armarl_training.learners.ppo.update.buffers import Workspace
from armarl_training.learners.ppo.update.dense_passes import (
    MOST_UNITS,
    PlainActorCritic,
    PlainPasses,
    RecordedPasses,
    actor_critic_of,
    passes_of,
)
from armarl_training.networks.integer_observations import IntegerObservations


@pytest.mark.parametrize(("precision", "apart"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize(
    ("name", "players", "widths", "critic_widths"),
    [
        ("armadora", 3, (24, 16), (8, 40)),
        ("armadora", 2, (9, 7, 5), (5, 7, 9)),
        ("armada", 2, (8,), None),
    ],
)
def test_hand_written_passes_are_equal_to_automatic_differentiation(
    name, players, widths, critic_widths, activation, precision, apart
):
    game = make_game(name, players=players)
    config = NetworkConfig(widths=widths, critic_widths=critic_widths, activation=activation)
    kept = IntegerObservations(game)
    torch.manual_seed(0)
    actor, critic = make_actor(game, config), make_critic(game, config, kept)
    written, recorded = passes_of(actor, critic, precision), RecordedPasses(actor, critic)
    assert isinstance(written, PlainPasses)
    n, advice = 40, torch.zeros((40, 0), dtype=torch.int64)
    privileged = torch.rand(n, kept.privileged_scales.size).to(precision)
    gradient = torch.randn(n, len(game.actions) + 1 + players).to(precision)
    workspace = Workspace(torch.device("cpu"))
    ours, theirs = (way.forward(privileged, advice, workspace) for way in (written, recorded))
    torch.testing.assert_close(ours.outputs, theirs.outputs, atol=apart, rtol=apart)
    playing = actor_critic_of(actor, critic, precision)
    assert isinstance(playing, PlainActorCritic)
    played = playing.act(privileged, advice, workspace)
    torch.testing.assert_close(played, theirs.outputs, atol=apart, rtol=apart)
    parameters = [*actor.parameters(), *critic.parameters()]
    pairs = zip(
        written.backward(ours, gradient, workspace),
        recorded.backward(theirs, gradient, workspace),
        strict=True,
    )
    for (found, wanted), weights in zip(pairs, parameters, strict=True):
        assert found.shape == weights.shape
        assert found.dtype == torch.float32
        assert found.is_contiguous()
        scale = wanted.abs().max()
        torch.testing.assert_close(found / scale, wanted / scale, atol=apart, rtol=apart)


def test_other_networks_use_automatic_differentiation():
    game = make_game("armadora")
    kept = IntegerObservations(game)
    for config in (
        NetworkConfig(widths=(8,), critic_widths=(8, 8)),
        NetworkConfig(widths=(8,), advisers=("greedy",)),
        NetworkConfig(widths=(8,), channels=4),
        NetworkConfig(widths=(MOST_UNITS,)),
    ):
        actor, critic = make_actor(game, config), make_critic(game, config, kept)
        for made in (passes_of, actor_critic_of):
            assert isinstance(made(actor, critic, torch.float32), RecordedPasses)
