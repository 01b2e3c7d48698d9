"""TD(lambda) training of position judges: the `learner` and its `games`."""

from armarl_training.learners.td.td_learner import TD

__all__ = ["TD"]
