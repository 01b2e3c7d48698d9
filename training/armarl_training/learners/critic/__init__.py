"""Training of critics of scripted play: `critic_learner` and its `critic_games`."""

from armarl_training.learners.critic.critic_learner import CriticLearner

__all__ = ["CriticLearner"]
