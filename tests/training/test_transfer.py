"""The parts of a policy that remain when it is trained at another table of its game."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny
from armarl.games.armada.chart.loading import STANDARD
from armarl.games.make_game import make_game
from armarl.policies.saved_policy import load_policy
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learners.ppo.ppo_learner import PPO
from armarl_training.learning.transfer import at_table, shared_entries
from armarl_training.run.run import Run

TABLES = [{"players": n, "cards": cards} for n in (2, 3, 4) for cards in (False, True)]


@pytest.mark.parametrize("there", TABLES, ids=str)
@pytest.mark.parametrize("here", TABLES, ids=str)
def test_shared_entries_are_at_the_same_place_of_the_same_block(here, there):
    before, after = (make_game("armada", **options).observation for options in (here, there))
    shared = shared_entries(before, after)
    assert shared.shape == (after.size,)
    old = before.views(np.arange(before.size, dtype=np.float32))
    new = after.views(shared.astype(np.float32))
    for name, found in new.items():
        if name not in old:
            assert (found == -1).all()
            continue
        for place in np.ndindex(found.shape):
            known = all(at < size for at, size in zip(place, old[name].shape, strict=True))
            assert found[place] == (old[name][place] if known else -1)


def test_weights_keep_their_entries_and_actions(tmp_path):
    plain, cards = (make_game("armada", players=3, cards=cards) for cards in (False, True))
    policy = load_policy(tiny.policy(tmp_path, cards))
    moved = at_table(policy, plain)
    entry, action = plain.observation.slices["gold"], plain.actions.id(plain.actions.text(700))
    same, its = cards.observation.slices["gold"], cards.actions.id(plain.actions.text(700))
    first = next(name for name in policy.tensors if name.endswith("0.weight"))
    assert np.array_equal(moved.tensors[first][:, entry], policy.tensors[first][:, same])
    last = max(name for name in policy.tensors if name.startswith("policy.") and "bias" in name)
    assert moved.tensors[last][action] == policy.tensors[last][its]
    back = at_table(moved, cards)
    known = np.isin(cards.actions.texts, plain.actions.texts)
    assert np.array_equal(back.tensors[last][known], policy.tensors[last][known])
    assert not known.all()
    assert not back.tensors[last][~known].any()


def test_a_transferred_policy_plays_the_same_where_it_sees_the_same(tmp_path):
    """The tables are the policy's own, and one whose first position looks the same."""
    game = make_game("armada", players=3)
    policy = load_policy(tiny.policy(tmp_path, game))
    assert at_table(policy, game) is policy
    longer = make_game("armada", players=3, max_turns=600)
    moved, states = at_table(policy, longer), longer.new_states([1, 2])
    seats = longer.statuses(states)[1]
    here = game.new_states([1, 2])
    first = moved.probabilities(states, seats), policy.probabilities(here, seats)
    assert np.allclose(*first, atol=1e-6)


def test_a_policy_without_plain_layers_cannot_change_its_table(tmp_path):
    three = make_game("armadora", players=3)
    settings = tiny.settings(network={"widths": [16], "channels": 4})
    looking_at_cells = Run(TrainingConfig.model_validate(settings), tmp_path).learner
    for policy in (load_policy("armadora-2p"), looking_at_cells.policy(average=False)):
        with pytest.raises(ValueError, match="only a policy of plain layers"):
            at_table(policy, three)
    with pytest.raises(ValueError, match="plays armada, not armadora"):
        at_table(load_policy("armada-2p"), three)
    chart = STANDARD.read_text("utf-8") + "\n[borders]\npart G1 G2\n"
    with pytest.raises(ValueError, match="on another board"):
        at_table(load_policy("armada-2p"), make_game("armada", players=3, chart=chart))


@pytest.mark.parametrize("options", [{"players": players} for players in (2, 3, 4)], ids=str)
def test_a_critic_starts_from_the_values_of_the_policy(tmp_path, options):
    settings = tiny.settings(options=options, network={"widths": [16, 8]})
    learner = Run(TrainingConfig.model_validate(settings), tmp_path).learner
    assert isinstance(learner, PPO)
    game = make_game("armadora", **options)
    learner.begin_with(learner.policy(average=False))
    inputs = game.observation.size
    privileged = torch.rand(5, learner.critic[0].in_features)
    advice = torch.zeros(5, 0, dtype=torch.int64)
    expected = learner.actor(privileged[:, :inputs], advice)[:, -1]
    logits = learner.critic(privileged)
    assert torch.allclose(logits[:, 0], 2 * expected, atol=1e-5)
    assert torch.allclose(logits.sum(dim=1), torch.zeros(5), atol=1e-5)
    if game.players == 4:  # in games of four, two teams play
        assert torch.allclose(logits[:, 2], logits[:, 0])
