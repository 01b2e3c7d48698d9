"""Helpers of training that do not depend on a learner: run folders, processes, hardware, plots."""
