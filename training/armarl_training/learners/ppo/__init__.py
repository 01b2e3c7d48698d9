"""Proximal policy optimisation (PPO) in all seats (Schulman et al., 2017).

Start with `ppo_learner`, which outlines the algorithm. `rollout` plays the games. `update` turns
their data into network inputs and takes the gradient steps, with the modules `losses`, `minibatch`,
`dense_passes` (through the `networks`) and `adam`. `incremental` makes the passes faster on a CPU.
"""

from armarl_training.learners.ppo.ppo_learner import PPO

__all__ = ["PPO"]
