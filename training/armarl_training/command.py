"""`armarl train`: a run from a configuration to a saved and measured policy."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

# Threads that spin while they wait starve each other as soon as the machine has other work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from armarl_training.config import ConfigError, load_config
from armarl_training.learner import Run, resume_run, start_run


def train(
    config: Path | None, settings: list[str], folder: Path | None, resume: Path | None
) -> int:
    """Train to the end, save and measure the policy; returns the exit status."""
    run = _open(config, settings, folder, resume)
    print(
        f"training {run.game.name} ({run.game.players} players) in {run.folder}: "
        f"{run.config.total_decisions:,} decisions. Ctrl-C stops it; "
        f"`armarl train --resume {run.folder}` goes on"
    )
    with _ProgressBar(run) as progress:
        finished = run.train(progress.update)
    if not finished:
        print(f"stopped after {run.decisions:,} decisions; resume it with --resume {run.folder}")
        return 130
    path = run.export()
    print(f"saved {path}; measuring it ...")
    strength = run.evaluate(path)
    run.export(strength)
    for match in strength:
        policy, opponent = match["standings"]
        print(
            f"against {opponent['player']}: won {100 * policy['win_rate']:.1f} % of "
            f"{match['games']} games (95 % interval {100 * policy['low']:.1f} to "
            f"{100 * policy['high']:.1f} %; {100 * policy['fair']:.0f} % would be even)"
        )
    return 0


def _open(
    config: Path | None, settings: list[str], folder: Path | None, resume: Path | None
) -> Run:
    if resume is not None:
        if config is not None or folder is not None:
            raise ConfigError("a resumed run keeps its configuration: give --resume FOLDER alone")
        return resume_run(resume)
    if config is None:
        raise ConfigError("give a configuration, such as configs/armadora-quick.yaml, or --resume")
    return start_run(load_config(config, settings), folder or Path("runs") / config.stem)


class _ProgressBar:
    """Decisions done, speed, time left, and the mean returns against each opponent."""

    def __init__(self, run: Run) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._run = run
        self._start = run.decisions
        self._live = sys.stdout.isatty()
        self._printed = 0.0
        self._bar = Progress(
            TextColumn("{task.completed:,.0f} decisions"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(),
            disable=not self._live,
        )
        self._task = self._bar.add_task(
            "", total=run.config.total_decisions, completed=run.decisions
        )

    def __enter__(self) -> _ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()

    def update(self, done: int, total: int, returns: dict[str, float]) -> None:
        """Show progress; on something else than a terminal, a line every 15 seconds."""
        seconds = self._run.seconds - self._run.seconds_before
        speed = (done - self._start) / max(seconds, 1e-9)
        against = "  ".join(f"{name} {mean:+.2f}" for name, mean in returns.items())
        text = f"{speed:,.0f}/s  mean return: {against}"
        self._bar.update(self._task, completed=done, description=text)
        if not self._live and self._run.seconds - self._printed > 15:
            self._printed = self._run.seconds
            print(f"{done:,} of {total:,} decisions  {text}", flush=True)
