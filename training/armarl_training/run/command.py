"""`armarl train`: a run from a configuration to a saved and measured policy."""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import Any

# Threads that spin while they wait starve each other as soon as the machine has other work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import ConfigError, load_config
from armarl_training.run.progress import EVENTS
from armarl_training.run.run import Report, Run, resume_run, start_run


def train(
    config: str | Path | None,
    settings: list[str],
    folder: Path | None,
    resume: Path | None,
    *,
    code: bool = False,
) -> int:
    """Train to the end, save and measure the policy; returns the exit status.

    Args:
        code: whether players, or the learner, may be `module:Class`, which is imported.
    """
    with _open(config, settings, folder, resume, code) as run:
        again = f"armarl train --resume {shlex.quote(str(run.folder))}{' --code' * code}"
        return _train_and_measure(run, again)


def _train_and_measure(run: Run, again: str) -> int:
    """Say what comes, train, and save the policy with its strength; returns the exit status.

    Args:
        again: the command that goes on with the run.
    """
    print(_announced(run, again))
    if run.config.ray is not None and run.config.shards == 1:
        print("with shards=1 the games are played here; the cluster plays the matches at the end")
    if not _train(run):
        print(f"stopped after {run.decisions:,} decisions; `{again}` goes on")
        return 130
    path = run.export()
    print(f"saved {path}; measuring it ...")
    strength = run.evaluate(path)
    run.export(strength)
    for match in strength:
        print(_told(match))
    return 0


def _announced(run: Run, again: str) -> str:
    """What comes: a training, or nothing more of one that is through."""
    table = f"{run.game.name} ({run.game.players} players) in {run.folder}"
    if run.done >= 1:
        return (
            f"the training of {table} is through: {run.decisions:,} decisions in "
            f"{run.seconds / 60:.3g} minutes; `{again} total_decisions=...` (or "
            "time_limit_minutes=...) makes it longer"
        )
    limit = run.config.time_limit_minutes
    most = f", {limit:g} minutes at most" if limit else ""
    decisions = f"{run.config.total_decisions:,} decisions"
    return f"training {table}: {decisions}{most}. Ctrl-C stops it; `{again}` goes on"


def _told(match: dict[str, Any]) -> str:
    """What a match that measured the policy says, in a line."""
    policy, opponent = match["standings"]
    cut_short = f"; {policy['cut_short']} cut short" if policy["cut_short"] else ""
    return (
        f"against {opponent['player']}: won {100 * policy['win_rate']:.1f} % of "
        f"{match['games']} games (95 % interval {100 * policy['low']:.1f} to "
        f"{100 * policy['high']:.1f} %; {100 * policy['fair']:.0f} % would be even{cut_short})"
    )


def sweep(
    config: Path, settings: list[str], folder: Path | None, trials: int, *, code: bool = False
) -> int:
    """Train with settings that are searched for; returns the exit status."""
    from contextlib import closing

    from armarl_training.run.sweep import PLOT, TABLE, Sweep

    if trials < 1:
        raise ConfigError(f"--trials must be 1 or more, not {trials}")
    folder = folder or Path("runs") / f"sweep-{config.stem}"
    _refuse_files(folder)
    with closing(Sweep(config, settings, folder, code=code)) as search:
        print(
            f"{trials} trials in {folder}, searching for {', '.join(search.space)}. Ctrl-C stops "
            "it; the same command goes on"
        )
        finished = search.run(trials, _say, _train)
        if not finished:
            print(f"stopped; the same command goes on in {folder}")
            return 130
        best = search.best
        if best is None:
            print("no trial came to its end", file=sys.stderr)
            return 1
        path = folder / f"{best.number:03d}"
        print(f"best: {path} won {100 * (best.value or 0):.1f} %. See {folder / TABLE}, {PLOT}")
    return 0


def _say(words: str) -> None:
    print(words, flush=True)


def _train(run: Run) -> bool:
    """Train, and show how it comes on; True when it came to the end."""
    with _ProgressBar(run) as progress:
        return run.train(progress.update)


def _open(
    config: str | Path | None,
    settings: list[str],
    folder: Path | None,
    resume: Path | None,
    code: bool,
) -> Run:
    if resume is not None:
        if folder is not None:
            raise ConfigError("a resumed run stays in its folder: leave out --run")
        changes = [*([str(config)] if config else []), *settings]  # the first word is one, too
        if wrong := [change for change in changes if "=" not in change]:
            raise ConfigError(
                "a resumed run keeps its configuration: give --resume FOLDER alone, or with "
                f"settings key=value, not {wrong[0]}"
            )
        _refuse_files(resume)
        return resume_run(resume, changes, code=code)
    if config is None:
        raise ConfigError("give a configuration, such as armadora-quick, or --resume")
    folder = folder or Path("runs") / Path(config).stem
    _refuse_files(folder)
    return start_run(load_config(config, settings), folder, code=code)


def _refuse_files(folder: Path) -> None:
    """Refuse, before anything is done for it, a run's or a sweep's folder that cannot be one.

    Raises:
        RunError: it is a file, or lies beneath one, or a file stands where TensorBoard's folder is.
    """
    for path in (folder / EVENTS, folder, *folder.parents):
        if path.exists() and not path.is_dir():
            raise RunError(f"{path} is a file, and a folder is wanted there: name another")


class _ProgressBar:
    """Decisions done, speed, time left, rating, and the mean returns against each opponent."""

    def __init__(self, run: Run) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._start, self._begun = run.decisions, run.seconds
        self._live = sys.stdout.isatty()
        self._printed = run.seconds
        self._bar = Progress(
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(),
            disable=not self._live,
        )
        self._task = self._bar.add_task("", total=1.0)

    def __enter__(self) -> _ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.stop()

    def update(self, report: Report) -> None:
        """Show progress; on something else than a terminal, a line every 15 seconds."""
        text = report.headline or self._text(report)
        self._bar.update(self._task, completed=report.done, description=text)
        if not self._live and report.seconds - self._printed > 15:
            self._printed = report.seconds
            print(text, flush=True)

    def _text(self, report: Report) -> str:
        speed = (report.decisions - self._start) / max(report.seconds - self._begun, 1e-9)
        minutes = report.seconds_left / 60
        left = f"{minutes:.1f} min left" if math.isfinite(minutes) else ""
        against = "  ".join(f"{name} {mean:+.2f}" for name, mean in report.returns.items())
        rating = f"rating {report.rating:+z.0f}  " if report.rating is not None else ""
        learned = f"{report.decisions:,} decisions  {speed:,.0f}/s"
        return f"{learned}  {left}  {rating}mean return: {against}"
