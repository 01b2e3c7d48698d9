"""PPO's update: minibatches, losses, passes, and the optimiser."""
