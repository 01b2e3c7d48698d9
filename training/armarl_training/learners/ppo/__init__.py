"""Proximal policy optimisation in all seats (Schulman et al., 2017).

`learner` is the outline, to be read first. A rollout: `games`, `rollout`, `openings`, `looks`,
and how it is read, `reading`. The update: `losses`, `minibatch`, `passes` through the `networks`,
`adam`. How a CPU does it fast: `sparse`, threads in a `crew`, a `workspace` for each.
"""

from armarl_training.learners.ppo.ppo_learner import PPO

__all__ = ["PPO"]
