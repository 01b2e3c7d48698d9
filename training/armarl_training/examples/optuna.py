"""Optuna: search for settings that maximise the trained policy's win rate against greedy.

python -m armarl_training.examples.optuna --folder runs/search --trials 20
"""

from __future__ import annotations

import argparse
from pathlib import Path

import optuna

from armarl import play_match
from armarl_training.config.training_config import load_config
from armarl_training.run.run import start_run


def search(folder: Path, trials: int, settings: list[str], games: int = 400) -> optuna.Study:
    """Train one run per trial, each in its own folder. Return the study with the win rates."""

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("learning_rate", 1e-4, 3e-3, log=True)
        entropy = trial.suggest_float("entropy", 1e-4, 1e-2, log=True)
        epochs = trial.suggest_int("epochs", 1, 4)
        chosen = [f"learning_rate={rate:.3e}", f"entropy={entropy:.3e}", f"epochs={epochs}"]
        changes = [*settings, *(f"ppo.{setting}" for setting in chosen)]
        run = start_run(load_config("armadora-ppo", changes), folder / f"{trial.number:03d}")
        if not run.train():
            raise KeyboardInterrupt  # an interrupted run has no result
        match = play_match(run.game, [run.export(), "greedy"], games, seed=1)
        return match.standings[0].win_rate

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=0),
        storage=f"sqlite:///{folder / 'study.db'}",
        study_name="armadora-ppo",
        load_if_exists=True,
    )
    study.optimize(objective, trials)
    return study


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("runs/search"))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("settings", nargs="*", metavar="key=value", default=["ppo.minibatch=512"])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    study = search(options.folder, options.trials, options.settings)
    print(f"{100 * study.best_value:.1f} % with {study.best_params}")


if __name__ == "__main__":
    main()
