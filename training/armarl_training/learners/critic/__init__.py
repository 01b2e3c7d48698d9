"""Training of critics of scripted play: value networks that improve a scripted player's choices.

Start with `critic_learner`. `critic_games` plays its games.
"""

from armarl_training.learners.critic.critic_learner import CriticLearner

__all__ = ["CriticLearner"]
