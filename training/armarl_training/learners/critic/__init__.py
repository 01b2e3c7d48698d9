"""Training of critics of scripted play: the `learner` and its `games`."""

from armarl_training.learners.critic.critic_learner import CriticLearner

__all__ = ["CriticLearner"]
