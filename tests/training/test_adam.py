"""The fused steps of Adam are equal to torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from armarl_training.learners.ppo.update.adam import Adam, lay_out_by_input
from armarl_training.learning.saving import restore_optimiser, saved_optimiser
from armarl_training.networks.layers import make_linear


def _layers():
    torch.manual_seed(0)
    return nn.ModuleList([make_linear(70, 33, 1.0), make_linear(33, 5, 1.0)])


def _optimiser(layers):
    return torch.optim.Adam(layers.parameters(), lr=3e-3, eps=1e-5, fused=True)


@pytest.mark.parametrize("longest", [0.5, 1e3])  # with and without clipping
@pytest.mark.parametrize("turned", [False, True])
def test_steps_and_moments_are_equal_to_torch(longest, turned):
    ours, theirs = _layers(), _layers()
    averages = [weights.detach().clone() for weights in theirs[0].parameters()]
    if turned:
        lay_out_by_input(ours[0])
        assert torch.equal(ours[0].weight, theirs[0].weight)
    our_averages = [weights.detach().clone() for weights in ours[0].parameters()]
    our_optimiser, their_optimiser = _optimiser(ours), _optimiser(theirs)
    adam = Adam(our_optimiser, list(ours.parameters()), our_averages)
    for k in range(12):
        gradients = [torch.randn(weights.shape) for weights in theirs.parameters()]
        for weights, gradient in zip(theirs.parameters(), gradients, strict=True):
            weights.grad = gradient.clone()
        for optimiser in (our_optimiser, their_optimiser):
            optimiser.param_groups[0]["lr"] = 3e-3 / (1 + k)
        norm = nn.utils.clip_grad_norm_(theirs.parameters(), longest)
        their_optimiser.step()
        torch._foreach_lerp_(averages, [one.detach() for one in theirs[0].parameters()], 0.25)
        assert adam.step(gradients, longest, 0.25) == pytest.approx(float(norm), rel=1e-5)
        if k == 5:  # as if the run continued from a checkpoint
            restore_optimiser(our_optimiser, saved_optimiser(our_optimiser))
            adam = Adam(our_optimiser, list(ours.parameters()), our_averages)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    for one, other in zip(our_averages, averages, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    saved, wanted = saved_optimiser(our_optimiser), saved_optimiser(their_optimiser)
    assert saved.keys() == wanted.keys()
    for name, moments in wanted.items():
        np.testing.assert_allclose(saved[name], moments, rtol=1e-4, atol=1e-7)


def test_before_the_first_step_moments_are_zero():
    layers = _layers()
    optimiser = _optimiser(layers)
    Adam(optimiser, list(layers.parameters()), [])
    assert not any(array.any() for array in saved_optimiser(optimiser).values())
