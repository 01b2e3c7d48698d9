"""Training runs with their checkpoints and progress, sweeps, and searches for best responses."""
