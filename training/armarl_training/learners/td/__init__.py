"""TD(lambda) training of judges: networks that estimate the value of a position for every seat.

Start with `td_learner`. `td_games` plays its games.
"""

from armarl_training.learners.td.td_learner import TD

__all__ = ["TD"]
