"""TD(lambda) training of position judges: the `learner` and its `games`."""

from armarl_training.td.learner import TD

__all__ = ["TD"]
