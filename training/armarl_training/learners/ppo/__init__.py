"""Proximal policy optimisation (PPO) in all seats (Schulman et al., 2017).

Start with `learner`, which outlines the algorithm. The rollout is in `games`, `rollout`, `openings`
and `looks`; `reading` turns its data into network inputs. The update is in `losses`, `minibatch`,
`passes` (through the `networks`) and `adam`. Speed on a CPU comes from `sparse`, from the threads
of a `crew`, and from a `workspace` for each thread.
"""

from armarl_training.learners.ppo.ppo_learner import PPO

__all__ = ["PPO"]
