"""Every learner can train in a game from outside the package, and its policy can play."""

import numpy as np
import pytest

import tiny
from armarl.games.make_game import make_game
from armarl.roster.make_player import make_player
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import start_run
from variants import KUHN_POKER  # importing it registers the game


@pytest.mark.parametrize("learner", ["ppo", "maskable_ppo"])
@pytest.mark.parametrize("variant", KUHN_POKER[:2], ids=str)
def test_every_learner_can_train_on_kuhn_poker(learner, variant, tmp_path):
    options = dict(variant.options)
    settings = tiny.settings(game="kuhn_poker", options=options, learner=learner)
    run = start_run(TrainingConfig(**settings), tmp_path)
    begun = run.learner.policy(average=False).tensors["policy.0.bias"].copy()
    assert run.train()
    assert not np.array_equal(run.learner.policy(average=False).tensors["policy.0.bias"], begun)
    game = make_game("kuhn_poker", **options)
    player = make_player(tmp_path / "policy.safetensors", game)
    states = game.new_states(np.arange(50))
    seats = np.zeros(50, np.int64)
    actions = player.choose(game.concealed(states, seats), seats, np.linspace(0, 0.99, 50))
    assert game.legal_masks(states)[np.arange(50), actions].all()
