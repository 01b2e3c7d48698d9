"""A training run: start, checkpoint, resume, progress, sweeps."""
