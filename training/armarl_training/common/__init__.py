"""Helpers of training that know no learner: run folders, processes, hardware, plots."""
