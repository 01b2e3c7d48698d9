"""Fixtures for tests with hostile input."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import start_run


@pytest.fixture(params=["ppo", "td", "critic", "maskable_ppo"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of a run with a checkpoint. No process trains there."""
    settings = tiny.settings(learner=request.param, options={"board": "mini"})
    with start_run(TrainingConfig(**settings), tmp_path / "run") as run:
        run.learner.iterate(0.5)
        run.save()
    return tmp_path / "run"
