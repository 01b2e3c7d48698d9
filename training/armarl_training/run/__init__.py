"""Training runs: start, checkpoints, resuming, progress, sweeps, searches for best responses."""
