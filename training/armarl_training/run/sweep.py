"""`armarl sweep`: runs of one configuration, some of whose settings Optuna searches for.

The folder: `sweep.yaml` (the configuration and what is searched for), `study.db` (Optuna's), a run
in a folder of its own for every trial, `sweep.csv` and `sweep.svg`. A sweep that was stopped, or
killed, goes on where it was, in the middle of a trial, too.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.common.files import (
    CONFIG_FILE,
    lock_folder,
    read_text,
    refuse_to_write_over,
    write_text,
)
from armarl.common.messages import brief
from armarl.policies.safetensors_file import PolicyError
from armarl.workers.jobs import ClusterError
from armarl_training.common.run_folder import LockError, RunError
from armarl_training.common.svg_plots import COLOURS, Axes, picture, text
from armarl_training.config.training_config import (
    MOST_BYTES,
    ConfigError,
    TrainingConfig,
    load_config,
    split_setting,
)
from armarl_training.config.yaml_text import dumped, parsed
from armarl_training.learning.learner import find_maker
from armarl_training.run.config_checks import check_players, first_policy, reach_cluster
from armarl_training.run.run import POOL, Run, resume_run, start_run

if TYPE_CHECKING:
    import optuna

# What says by which matches a policy is measured: trials that differ in it could not be compared.
MEASURE = ("game", "options", "evaluation")
SWEEP, STUDY, TABLE, PLOT = "sweep.yaml", "study.db", "sweep.csv", "sweep.svg"
_NUMBER = r"([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}(:log)?", re.IGNORECASE)


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; whole ones if both are. With `log` each power is as likely."""

    low: float
    high: float
    log: bool = False

    def suggest(self, trial: optuna.Trial, key: str) -> None:
        """Have Optuna choose."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            trial.suggest_int(key, self.low, self.high, log=self.log)
        else:
            trial.suggest_float(key, self.low, self.high, log=self.log)


@dataclass(frozen=True)
class Choice:
    """One of some values, each as JSON."""

    values: tuple[str, ...]

    def suggest(self, trial: optuna.Trial, key: str) -> None:
        """Have Optuna choose."""
        trial.suggest_categorical(key, self.values)


Space = dict[str, Range | Choice]


def read_space(settings: list[str]) -> tuple[Space, list[str]]:
    """What to search for, and the settings that stay as they are given.

    Args:
        settings: `key=1e-4..3e-3:log`, `key=1..4`, `key=relu,tanh`, `key=[64],[128,64]`; anything
            else, `key=value`, stays.

    Raises:
        ConfigError: a range whose ends are not in order, or no YAML; a key that is given twice, or
            one that all trials must share.
    """
    space: Space = {}
    fixed: list[str] = []
    seen: set[str] = set()
    for setting in settings:
        key, _, words = (part.strip() for part in split_setting(setting))
        if key in seen:
            raise ConfigError(f"{key[:100]} is given twice: give it once")
        seen.add(key)
        if match := _RANGE.fullmatch(words):
            space[key] = _range(setting, *match.groups())
            continue
        if _RANGE.match(words):
            raise ConfigError(f"{setting[:100]!r}: after low..high stands nothing, or :log")
        try:
            values = parsed(f"[{words}]")
        except ValueError as error:
            raise ConfigError(f"{setting[:100]!r}: the values are no YAML: {error}") from error
        if isinstance(values, list) and len(values) > 1:
            space[key] = Choice(tuple(dict.fromkeys(json.dumps(value) for value in values)))
        else:
            fixed.append(setting)
    _refuse_other_measures(space)
    return space, fixed


def _refuse_other_measures(space: Space) -> None:
    for key in space:
        if key.split(".")[0] in MEASURE:
            raise ConfigError(
                f"{key[:100]} says by which games trials are measured, so that it cannot be "
                "searched for: give it one value, and search in a sweep for each"
            )


def _range(setting: str, first: str, last: str, log: str | None) -> Range:
    try:
        low, high = (
            int(end) if re.fullmatch("[+-]?[0-9]+", end) else float(end) for end in (first, last)
        )
    except ValueError as error:
        raise ConfigError(f"{setting[:100]!r}: {error}") from error
    if low >= high or (log and low <= 0):
        raise ConfigError(
            f"{setting[:100]!r}: a range is written low..high, with low below high"
            + (" and, with :log, above 0" if log else "")
        )
    return Range(low, high, log is not None)


class Sweep:
    """A sweep in a folder."""

    def __init__(
        self, config: str | Path, settings: list[str], folder: Path, *, code: bool = False
    ) -> None:
        """Begin, or go on with, a sweep.

        Args:
            code: whether players, or the learner, may be `module:Class`, which is imported.

        Raises:
            ConfigError: the configuration cannot be used, or nothing is searched for; no folder is
                left.
            RunError: the folder holds a run, or another sweep, or another process is at it.
            ClusterError: nobody answers at `ray`; no folder is left, either.
        """
        if (folder / CONFIG_FILE).exists() and not (folder / SWEEP).exists():
            raise RunError(f"{folder} is a run's, and a sweep holds runs: give another --folder")
        self.space, fixed = read_space(settings)
        if not self.space:
            raise ConfigError(
                "nothing is searched for: give ranges or choices, such as "
                "ppo.learning_rate=1e-4..3e-3:log or ppo.epochs=1,2,4"
            )
        self.config, self.folder = load_config(config, fixed), folder
        self._code = code
        self._check_space()
        self._check_players()
        reach_cluster(self.config)
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock_folder(folder, RunError)
        try:
            self._agree()
            self._study = self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the folder."""
        self._lock.close()

    @property
    def best(self) -> optuna.trial.FrozenTrial | None:
        """The trial whose policy won most, once there is one."""
        finished = [trial for trial in self._study.trials if trial.value is not None]
        return max(finished, key=lambda trial: trial.value or 0.0, default=None)

    def run(
        self,
        trials: int,
        told: Callable[[str], None] = lambda _text: None,
        train: Callable[[Run], bool] = Run.train,
    ) -> bool:
        """Train until there are so many trials; True when it came to the end.

        Args:
            told: called with a line on each trial.
            train: trains a run, and may show how it comes on; False when it was stopped.

        Raises:
            OSError: a run, or the table, could not be written.
            LockError: another process is at the folder of a trial, with which a sweep goes on.
            ClusterError: the cluster cannot be reached.
        """
        from optuna.trial import TrialState

        for trial in self._study.get_trials(states=(TrialState.RUNNING,)):  # was killed in it
            if trial.params.keys() != self.space.keys():  # or before all of it was drawn
                self._study.tell(trial.number, state=TrialState.FAIL)
                continue
            if not self._train(trial.number, trial.params, told, train):
                return False
        while len(self._study.trials) < trials:
            self._study.sampler = self._sampler(len(self._study.trials))
            trial = self._study.ask()
            for key, values in self.space.items():
                values.suggest(trial, key)
            if not self._train(trial.number, trial.params, told, train):
                return False
        return True

    def _train(
        self,
        number: int,
        chosen: dict[str, Any],
        told: Callable[[str], None],
        train: Callable[[Run], bool],
    ) -> bool:
        """One trial, from its start or from where it was; False when it was stopped."""
        from optuna.trial import TrialState

        folder = self.folder / f"{number:03d}"
        words = ", ".join(_settings(chosen)) or "stopped before it began"
        try:
            config = self._settle(chosen)
            if (folder / CONFIG_FILE).exists():
                begun = load_config(folder / CONFIG_FILE)
                if begun != _as_begun(config, begun):
                    raise RunError(f"{folder} holds a run with other settings: remove it")
                begin = partial(resume_run, folder, code=self._code)
            else:
                begin = partial(start_run, config, folder, code=self._code)
            with begin() as run:
                if not train(run):
                    return False
                strength = run.evaluate(run.export())
                run.export(strength)
        except (OSError, ImportError, ClusterError, LockError):  # no settings are to blame
            raise
        except Exception as error:  # a player of one's own may raise anything
            self._study.tell(number, state=TrialState.FAIL)
            told(f"trial {number}: {words}: failed: {brief(_reason(error), 300)}")
        else:
            rate = float(np.mean([match["standings"][0]["win_rate"] for match in strength]))
            self._study.tell(number, rate)
            told(f"trial {number}: {words}: won {100 * rate:.1f} %")
        self._show()
        return True

    def _settle(self, chosen: dict[str, Any]) -> TrainingConfig:
        """The configuration of a trial.

        Raises:
            ConfigError: it cannot be used.
        """
        if chosen.keys() - self.space.keys():
            raise ConfigError("it was begun with other settings")
        return self.config.overridden(_settings(chosen), "a trial's configuration")

    def _check_space(self) -> None:
        """Refuse settings that there are not, and values that none of them may have.

        What some trials alone make impossible together is told when they come.
        """
        for key, values in self.space.items():
            for word in _ends(values):
                try:
                    self._settle({key: word})
                except ConfigError as error:
                    if any(f"\n  {key}{mark}" in str(error) for mark in ":."):
                        raise

    def _check_players(self) -> None:
        """Refuse a game and players that there are not, and of which every trial would fail.

        Where others are searched for, the first of each are looked at.
        """
        try:
            config = self._settle({key: _ends(values)[0] for key, values in self.space.items()})
        except ConfigError:  # first values that do not go together
            config = self.config
        game, _ = check_players(config, self.folder / POOL, code=self._code)
        first_policy(config, game)
        find_maker(config.learner, code=self._code)

    def _agree(self) -> None:
        """Note what the sweep is of; or see that it is the same as before."""
        path = self.folder / SWEEP
        wanted = {
            "config": self.config.model_dump(mode="json"),
            "space": {key: {**asdict(values)} for key, values in self.space.items()},
        }
        said = json.loads(json.dumps(wanted))
        try:
            found = parsed(read_text(path, MOST_BYTES))
        except FileNotFoundError:
            ours = (STUDY, TABLE, PLOT)
            refuse_to_write_over(self.folder, ours, f"no sweep ({SWEEP})", RunError)
            write_text(path, dumped(said))
            return
        except ValueError as error:
            raise RunError(f"{path} is damaged: {error}") from error
        if found != said:
            raise RunError(
                f"{self.folder} holds a sweep of another configuration or other settings: give "
                "the same ones to go on with it, or another --folder"
            )

    def _open(self) -> optuna.Study:
        try:
            import optuna
        except ImportError as error:
            raise ImportError(
                f"a sweep needs Optuna ({error}): pip install 'armarl[sweep]'"
            ) from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        path = self.folder / STUDY
        try:
            return optuna.create_study(
                storage=f"sqlite:///{path}",
                study_name="sweep",
                direction="maximize",
                load_if_exists=True,
            )
        except Exception as error:  # of SQLAlchemy, which is Optuna's own affair
            raise RunError(f"{path} cannot be used: {brief(error, 300)}") from error

    def _sampler(self, trial: int) -> optuna.samplers.BaseSampler:
        """Draws alike for a trial however often the sweep was stopped before it."""
        import optuna

        (seed,) = np.random.SeedSequence([self.config.seed, trial]).generate_state(1)
        return optuna.samplers.TPESampler(seed=int(seed))

    def _show(self) -> None:
        """Write the table, best trial first, and the plot."""
        trials = [trial for trial in self._study.trials if trial.value is not None]
        trials.sort(key=lambda trial: -(trial.value or 0.0))
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["trial", "win_rate", *self.space])
        for trial in trials:
            chosen = [trial.params.get(key, "") for key in self.space]
            writer.writerow([trial.number, f"{trial.value:.4f}", *chosen])
        write_text(self.folder / TABLE, table.getvalue())
        found = [(trial.params, trial.value or 0.0) for trial in trials]
        write_text(self.folder / PLOT, plot(self.space, found))


def _as_begun(config: TrainingConfig, begun: TrainingConfig) -> TrainingConfig:
    """A trial's configuration with the precision of its run, if the machine was to decide it."""
    decided = config.ppo.precision == "auto"
    return config.with_precision(begun.ppo.precision) if decided else config


def _reason(error: Exception) -> str:
    """What we say ourselves, or what another has raised, whose message may say little alone."""
    ours = isinstance(error, ConfigError | RunError | PolicyError)
    return str(error) if ours else f"{type(error).__name__}: {error}"


def _ends(values: Range | Choice) -> tuple[Any, ...]:
    return values.values if isinstance(values, Choice) else (values.low, values.high)


def _settings(chosen: dict[str, Any]) -> list[str]:
    """As `key=value`; choices are JSON already."""
    return [
        f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in chosen.items()
    ]


_WIDTH, _HEIGHT, _LEFT, _TOP, _BETWEEN = 240, 180, 50, 34, 70


def plot(space: Space, trials: list[tuple[dict[str, Any], float]]) -> str:
    """An SVG: for every setting what the trials won, in [0, 1], over what it was."""
    rates = [rate for _, rate in trials] or [0.0]
    low, high = min(rates), max(rates)
    margin = max(0.02, 0.1 * (high - low))
    parts = []
    for k, (key, values) in enumerate(space.items()):
        left = _LEFT + k * (_WIDTH + _BETWEEN)
        log = isinstance(values, Range) and values.log
        x = (0.0, len(_ends(values)) - 1.0) if isinstance(values, Choice) else _ends(values)
        y = (max(0.0, low - margin), min(1.0, high + margin))
        axes = Axes(left, _TOP, _WIDTH, _HEIGHT, (x[0], x[-1]), y, log)
        parts += axes.frame([] if isinstance(values, Choice) else x, " %", 100)
        if isinstance(values, Choice):
            for number, word in enumerate(values.values):
                below = (axes.place(number, y[0])[0], _TOP + _HEIGHT + 18)
                parts.append(text(*below, word, anchor="middle"))
        points = [
            (float(_across(values, chosen[key])), rate) for chosen, rate in trials if key in chosen
        ]
        parts += [text(left, _TOP - 12, key), *axes.dots(points, COLOURS[k % len(COLOURS)])]
    return picture(_LEFT + len(space) * (_WIDTH + _BETWEEN), _TOP + _HEIGHT + _BETWEEN / 2, parts)


def _across(values: Range | Choice, chosen: Any) -> float:
    return values.values.index(chosen) if isinstance(values, Choice) else chosen
