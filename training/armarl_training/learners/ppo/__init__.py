"""Proximal policy optimisation (PPO) in all seats (Schulman et al., 2017).

Start with `ppo_learner`, which outlines the algorithm. `rollout` plays the games. `update` turns
their data into network inputs and takes the gradient steps. Its module `dense_passes` runs the
networks forward and backward. If few inputs change from decision to decision, `incremental` runs
them faster on a CPU.
"""

from armarl_training.learners.ppo.ppo_learner import PPO

__all__ = ["PPO"]
