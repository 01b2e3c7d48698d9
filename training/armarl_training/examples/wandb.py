"""Weights & Biases: train a run and log it. The log is offline unless WANDB_MODE is set.

python -m armarl_training.examples.wandb --run runs/logged total_decisions=50_000
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import wandb

from armarl_training.config.training_config import load_config
from armarl_training.run.run import Report, start_run


def train(folder: Path, settings: list[str]) -> Path:
    """Train with the configuration `armadora-ppo` and some changes. Return the log's folder."""
    run = start_run(load_config("armadora-ppo", settings), folder)
    with wandb.init(
        project="armarl",
        dir=folder,
        mode=os.environ.get("WANDB_MODE", "offline"),
        config=run.config.model_dump(mode="json"),
    ) as log:

        def watch(report: Report) -> None:
            log.log({f"return/{name}": mean for name, mean in report.returns.items()})
            log.log({"decisions": report.decisions, "minutes": report.seconds / 60})

        if not run.train(watch):
            raise KeyboardInterrupt  # an interrupted run has no result
        strength = run.evaluate(run.export())
        for match in strength:
            own, other = match["standings"]
            log.summary[f"wins/{other['player']}"] = own["win_rate"]
        policy = wandb.Artifact("policy", type="model")
        policy.add_file(str(run.export(strength)))
        log.log_artifact(policy)
        return Path(log.dir).parent


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("runs/logged"))
    parser.add_argument("settings", nargs="*", metavar="key=value")
    options = parser.parse_args()
    print(train(options.run, options.settings))


if __name__ == "__main__":
    main()
