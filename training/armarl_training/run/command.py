"""Entry points of `armarl train`, `armarl sweep` and `armarl exploit`."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

# Without this setting, waiting threads spin, and slow down the others if the machine is busy.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from armarl.common.messages import printable, tell
from armarl.players.player_specs import as_spec
from armarl.policies.paths import label
from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import ConfigError, load_config
from armarl_training.run.exploit import GAMES, Exploit, Trained, only_against, recipe_for
from armarl_training.run.progress import CURVE, EVENTS
from armarl_training.run.run import Report, Run, resume_run, start_run


def train(
    config: str | Path | None,
    settings: list[str],
    folder: Path | None,
    resume: Path | None,
    *,
    against: str | None = None,
    code: bool = False,
) -> int:
    """Train to the end, then save and measure the policy.

    Args:
        config: path or name of a configuration. With `resume`: None or a `key=value` change.
        settings: changes as `key=value`.
        folder: folder of a new run. None: `runs/NAME`, with the name of the configuration.
        resume: folder of a run to resume. None: start a new run.
        against: player specification of the only opponent. None: the opponents of the
            configuration.
        code: whether to allow players, a learner and a reward of the form `module:name`,
            which are imported.

    Returns:
        The exit status: 0, or 130 if the run was stopped.
    """
    if against is not None:
        if resume is not None:
            raise ConfigError("a resumed run keeps its opponents: leave out --against")
        settings = [*only_against(against), *settings]
    with _open(config, settings, folder, resume, code) as run:
        again = f"armarl train --resume {shlex.quote(str(run.folder))}{' --code' * code}"
        return _train_and_measure(run, again)


def _train_and_measure(run: Run, again: str) -> int:
    """Announce the run, train, and save the policy with its strength. Return the exit status.

    Args:
        again: the command that resumes the run.
    """
    tell(_announced(run, again))
    if run.config.ray is not None and run.config.shards == 1:
        tell(
            "with shards=1, this machine plays the training games; the cluster plays only the "
            "matches at the end"
        )
    if not _train(run):
        tell(f"stopped after {run.decisions:,} decisions; continue with `{again}`")
        return 130
    path = run.export()
    tell(f"saved {path}; the learning curve is {run.folder / CURVE}. Measuring the policy ...")
    strength = run.evaluate(path)
    run.export(strength)
    for match in strength:
        tell(_told(match))
    return 0


def _announced(run: Run, again: str) -> str:
    """Return the line that announces the training, or says that it is already complete."""
    table = f"{run.game.name} ({run.game.players} players) in {run.folder}"
    if run.done >= 1:
        return (
            f"the training of {table} is complete: {run.decisions:,} decisions in "
            f"{run.seconds / 60:.3g} minutes; extend it with `{again} total_decisions=...` (or "
            "time_limit_minutes=...)"
        )
    limit = run.config.time_limit_minutes
    most = f", at most {limit:g} minutes" if limit else ""
    decisions = f"{run.config.total_decisions:,} decisions"
    return f"training {table}: {decisions}{most}. Ctrl-C stops it; continue with `{again}`"


def _told(match: dict[str, Any]) -> str:
    """Return the result of a match that measured the policy, as one line of text."""
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
    """Search for good settings with training runs.

    Args:
        config: path or name of a configuration.
        settings: settings to search for, and settings that all trials share, see `read_space`.
        folder: folder of the sweep. None: `runs/sweep-NAME`, with the name of the configuration.
        trials: number of trials, at least 1.
        code: whether to allow players, a learner and a reward of the form `module:name`,
            which are imported.

    Returns:
        The exit status: 0, or 1 if every trial failed, or 130 if the sweep was stopped.
    """
    from contextlib import closing

    from armarl_training.run.sweep import PLOT, TABLE, Sweep

    if trials < 1:
        raise ConfigError(f"--trials must be 1 or more, got {trials}")
    folder = folder or Path("runs") / f"sweep-{config.stem}"
    _refuse_files(folder)
    with closing(Sweep(config, settings, folder, code=code)) as search:
        tell(
            f"{trials} trials in {folder}, searching for {', '.join(search.space)}. Ctrl-C stops "
            "the sweep; continue with the same command"
        )
        finished = search.run(trials, tell, _train)
        if not finished:
            tell(f"stopped; continue in {folder} with the same command")
            return 130
        best = search.best
        if best is None:
            tell("no trial finished", to=sys.stderr)
            return 1
        path = folder / f"{best.number:03d}"
        tell(f"best: {path} won {100 * (best.value or 0):.1f} %. See {folder / TABLE}, {PLOT}")
    return 0


def exploit(player: str, folder: Path | None, *, code: bool = False, **recipe: Any) -> int:
    """Train best responses to a player, and measure the best one on fresh deals.

    Args:
        player: the player specification.
        folder: folder of the results. None: `runs/exploit-PLAYER`.
        code: whether to allow players and a learner of the form `module:name`.
        recipe: further arguments of `recipe_for`.

    Returns:
        The exit status: 0, or 130 if the command was stopped.
    """
    from contextlib import closing

    if folder is None:
        name = re.sub(r"[^\w.+=-]+", "-", label(as_spec(player)))
        folder = Path("runs") / f"exploit-{name}"
    _refuse_files(folder)
    asked = recipe_for(player, folder, code=code, **recipe)
    with closing(Exploit(asked, folder, code=code)) as search:
        again = f"continue in {folder} with the same command"
        tell(f"{asked.seeds} best responses to {player} in {folder}. Ctrl-C stops; {again}")
        try:
            if not search.run(_train, _tell_trained):
                tell(f"stopped; {again}")
                return 130
        except KeyboardInterrupt:  # Ctrl-C during a match
            tell(f"\nstopped; {again}", to=sys.stderr)
            return 130
        found = search.found
        assert found.match is not None
        assert found.best is not None
        tell(
            f"best: {search.run_folder(found.best)}, on fresh deals {_told(found.match.as_dict())}."
            f" See `armarl replay {shlex.quote(str(folder / GAMES))}`"
        )
    return 0


def _tell_trained(trained: Trained) -> None:
    tell(
        f"seed {trained.seed}: {trained.decisions:,} decisions in {trained.minutes:.3g} minutes "
        f"({trained.hardware['processor']}), {_told(trained.match.as_dict())}"
    )


def _train(run: Run) -> bool:
    """Train with a progress bar. Return True if the training is complete."""
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
            raise ConfigError("a resumed run stays in its folder; leave out --run")
        # With --resume, the argument in the place of the configuration may be a change.
        changes = [*([str(config)] if config else []), *settings]
        if wrong := [change for change in changes if "=" not in change]:
            raise ConfigError(
                "a resumed run keeps its configuration; after --resume FOLDER only settings as "
                f"key=value are allowed, not {wrong[0]}"
            )
        _refuse_files(resume)
        return resume_run(resume, changes, code=code)
    if config is None:
        raise ConfigError("give a configuration, such as armadora-quick, or --resume FOLDER")
    folder = folder or Path("runs") / Path(config).stem
    _refuse_files(folder)
    return start_run(load_config(config, settings), folder, code=code)


def _refuse_files(folder: Path) -> None:
    """Check early that no file is in the place of a folder that a run or sweep needs.

    Raises:
        RunError: the folder, one of its parents, or its folder for TensorBoard is a file.
    """
    for path in (folder / EVENTS, folder, *folder.parents):
        if path.exists() and not path.is_dir():
            raise RunError(f"{path} is a file, but must be a folder; choose another folder")


class _ProgressBar:
    """A progress bar with decisions, speed, time left, rating and mean return by opponent."""

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
        with suppress(OSError, ValueError):
            self._bar.stop()

    def update(self, report: Report) -> None:
        """Show the progress. If the output is not a terminal, print a line every 15 seconds."""
        text = printable(report.headline or self._text(report))
        with suppress(OSError, ValueError):  # a closed terminal or pipe does not end a training
            self._bar.update(self._task, completed=report.done, description=text)
            if not self._live and report.seconds - self._printed > 15:
                self._printed = report.seconds
                tell(text)

    def _text(self, report: Report) -> str:
        speed = (report.decisions - self._start) / max(report.seconds - self._begun, 1e-9)
        minutes = report.seconds_left / 60
        left = f"{minutes:.1f} min left" if math.isfinite(minutes) else ""
        against = "  ".join(f"{name} {mean:+.2f}" for name, mean in report.returns.items())
        rating = f"rating {report.rating:+z.0f}  " if report.rating is not None else ""
        learned = f"{report.decisions:,} decisions  {speed:,.0f}/s"
        return f"{learned}  {left}  {rating}mean return: {against}"
