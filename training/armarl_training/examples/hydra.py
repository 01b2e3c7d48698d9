"""Hydra: compose, change and sweep the configurations of `armarl train`.

    python -m armarl_training.examples.hydra total_decisions=50_000
    python -m armarl_training.examples.hydra --multirun seed=1,2,3 ppo.epochs=2,4
    python -m armarl_training.examples.hydra --config-name armadora-3p

To change a setting that the configuration file does not contain, begin with `++`, as in
`++evaluation.games=200`. Every run is in the folder `run` of its Hydra job. `armarl evaluate`
accepts this folder.
"""

from __future__ import annotations

from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import start_run


def train(settings: DictConfig) -> float:
    """Train, and return the win rate against greedy, which Hydra's sweepers can maximise."""
    config = TrainingConfig.model_validate(OmegaConf.to_container(settings))
    run = start_run(config, Path(HydraConfig.get().runtime.output_dir) / "run")
    if not run.train():
        raise KeyboardInterrupt  # an interrupted run has no result
    strength = run.evaluate(run.export())
    path = run.export(strength)
    rates = {match["standings"][1]["player"]: match["standings"][0] for match in strength}
    print(f"{path}: wins {100 * rates['greedy']['win_rate']:.1f} % against greedy")
    return float(rates["greedy"]["win_rate"])


if __name__ == "__main__":
    run_by = hydra.main(version_base=None, config_path="../configs", config_name="armadora-ppo")
    run_by(train)()
