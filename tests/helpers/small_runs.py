"""Runs of a few seconds that are stopped or killed, for tests of runs and checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np

import tiny
from armarl.policies.safetensors_file import read_tensors
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run import checkpoint
from armarl_training.run.run import start_run
from processes import started

ROLLOUT = 256  # decisions between two updates of these runs
TOTAL = 6 * ROLLOUT


def config(**changes):
    if changes.get("learner") == "critic":
        improved = {"improved_games": 1, "improved_from": 0.8}
        # The learner `critic` plays whole games between updates, so it gets fewer environments.
        changes = {"environments": 3, "critic": improved, **changes}
    return TrainingConfig(**tiny.settings(**{"total_decisions": TOTAL, **changes}))


def signals(number, *, after):
    """Return a watch function that sends this process a signal after some updates."""
    seen = []

    def watch(report):
        if not report.headline:
            seen.append(report.decisions)
            if len(seen) == after + 1:
                os.kill(os.getpid(), number)

    return watch


def in_another_process(program, **environment):
    """Run a Python program in a separate process with one thread. See `processes.started`."""
    paths = os.pathsep.join(sys.path)
    return started(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths, **environment},
    )


def stopped_run(folder, **changes):
    """Return a run that was stopped after its first update."""
    run = start_run(config(**changes), folder)
    assert not run.train(signals(signal.SIGINT, after=0))
    return run


def contents(run):
    """Return the contents of a run's checkpoint, except times."""
    tensors, progress = read_tensors(run.folder / checkpoint.FILE, checkpoint.FORMAT)
    return tensors, {**progress, "run": None}


def assert_equal(one, other):
    (tensors, progress), (other_tensors, other_progress) = contents(one), contents(other)
    assert progress == other_progress
    assert set(tensors) == set(other_tensors)
    for name, tensor in tensors.items():
        assert np.array_equal(tensor, other_tensors[name]), name
