"""PPO's update: minibatches, losses, passes through the networks, and the optimiser."""
