"""The examples with training tools do what docs/environments/frameworks.md says."""

import runpy
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from armarl.policies.saved_policy import read_policy_metadata

SMALL = [
    *("total_decisions=512", "environments=16", "network.widths=[8]", "network.advisers=[]"),
    *("ppo.rollout_length=16", "ppo.minibatch=128", "ppo.epochs=1"),
    *("evaluation.games=4", "evaluation.workers=1", "evaluation.progress_games=0"),
]


def test_minari_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    import minari

    from armarl_training.examples.minari import record

    record("armadora/test-v0", "greedy", games=6)
    data = minari.load_dataset("armadora/test-v0")
    assert data.total_episodes == 6
    wins = 0
    for episode in data:
        masks = episode.observations["action_mask"][:-1]
        assert masks[np.arange(len(episode.actions)), episode.actions].all()
        assert episode.observations["action_mask"][-1].all()
        assert set(episode.rewards[:-1]) <= {0}
        wins += episode.rewards[-1] > 0
    assert wins >= 4
    env = data.recover_environment()
    assert isinstance(env, gymnasium.Env)
    observation, _ = env.reset(seed=0)
    assert np.array_equal(observation["observation"], data[0].observations["observation"][0])


def test_wandb_run(tmp_path, monkeypatch):
    import wandb

    from armarl_training.examples.wandb import train

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    log = train(tmp_path / "run", SMALL)
    wandb.teardown()  # before this call, wandb's service may not have written all data
    assert log.parent.parent == tmp_path / "run"
    assert [path.stat().st_size > 1000 for path in log.glob("run-*.wandb")] == [True]
    assert (tmp_path / "run" / "policy.safetensors").exists()


def test_optuna_study(tmp_path):
    import optuna

    from armarl_training.examples.optuna import search

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search(tmp_path, 1, SMALL, games=4)
    study = search(tmp_path, 1, SMALL, games=4)  # continues the study
    assert len(study.trials) == 2
    for trial in study.trials:
        run = tmp_path / f"{trial.number:03d}"
        ppo = read_policy_metadata(run / "policy.safetensors")["training"]["config"]["ppo"]
        assert ppo["epochs"] == trial.params["epochs"]
        assert ppo["learning_rate"] == pytest.approx(trial.params["learning_rate"], rel=1e-3)
        assert 0 <= trial.value <= 1


def test_hydra_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["hydra", *(f"++{one}" for one in SMALL), "seed=7", "hydra.run.dir=out"]
    )
    runpy.run_module("armarl_training.examples.hydra", run_name="__main__")
    metadata = read_policy_metadata(Path("out", "run", "policy.safetensors"))
    assert metadata["training"]["config"]["seed"] == 7
    assert metadata["training"]["decisions"] >= 512
    assert [one["games"] for one in metadata["strength"]] == [4, 4]
