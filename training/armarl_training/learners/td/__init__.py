"""TD(lambda) training of position judges: `td_learner` and its `td_games`."""

from armarl_training.learners.td.td_learner import TD

__all__ = ["TD"]
