"""Helpers for training with any learner: run folders, random streams, hardware, plots."""
