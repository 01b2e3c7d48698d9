"""`armarl sweep`: Optuna searches for good settings with training runs of one configuration.

A folder (`--folder`) stores `sweep.yaml` (the configuration and the search space), `study.db`
(Optuna's study), a run folder for every trial, `sweep.csv` and `sweep.svg`. If the command was
stopped or killed, even in the middle of a trial, run it again to continue.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armarl.common.csv_table import csv_text
from armarl.common.files import (
    CONFIG_FILE,
    lock_folder,
    read_text,
    refuse_to_write_over,
    write_text,
)
from armarl.common.messages import brief, printable
from armarl.policies.safetensors_file import PolicyError
from armarl.workers.jobs import ClusterError
from armarl_training.common.run_folder import LockError, RunError
from armarl_training.common.side_files import SideFiles
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

# Settings that decide how a policy is measured. Trials that differ in them cannot be compared.
MEASURE = ("game", "options", "evaluation")
SWEEP, STUDY, TABLE, PLOT = "sweep.yaml", "study.db", "sweep.csv", "sweep.svg"
_NUMBER = r"([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}(:log)?", re.IGNORECASE)


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, integers if both ends are integers.

    `log` samples on a logarithmic scale.
    """

    low: float
    high: float
    log: bool = False

    def suggest(self, trial: optuna.Trial, key: str) -> None:
        """Let Optuna choose a number."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            trial.suggest_int(key, self.low, self.high, log=self.log)
        else:
            trial.suggest_float(key, self.low, self.high, log=self.log)


@dataclass(frozen=True)
class Choice:
    """One of several values, each as JSON."""

    values: tuple[str, ...]

    def suggest(self, trial: optuna.Trial, key: str) -> None:
        """Let Optuna choose a value."""
        trial.suggest_categorical(key, self.values)


Space = dict[str, Range | Choice]


def read_space(settings: list[str]) -> tuple[Space, list[str]]:
    """Split settings into the search space and the settings that all trials share.

    Args:
        settings: ranges and choices such as `key=1e-4..3e-3:log`, `key=1..4`, `key=relu,tanh` and
            `key=[64],[128,64]`. Any other `key=value` is the same in all trials.

    Raises:
        ConfigError: the ends of a range are not in order, a value is not YAML, a key is given
            twice, or a range or choice is for a key that must be the same in all trials.

    Example:
        >>> from armarl_training.run.sweep import read_space
        >>> space, fixed = read_space(["ppo.epochs=1..4", "seed=3"])
        >>> space
        {'ppo.epochs': Range(low=1, high=4, log=False)}
        >>> fixed
        ['seed=3']
    """
    space: Space = {}
    fixed: list[str] = []
    seen: set[str] = set()
    for setting in settings:
        key, _, words = (part.strip() for part in split_setting(setting))
        if key in seen:
            raise ConfigError(f"{key[:100]} is given twice; give it once")
        seen.add(key)
        if match := _RANGE.fullmatch(words):
            space[key] = _range(setting, *match.groups())
            continue
        if _RANGE.match(words):
            raise ConfigError(f"{setting[:100]!r}: only :log may follow low..high")
        try:
            values = parsed(f"[{words}]")
        except ValueError as error:
            raise ConfigError(
                f"{setting[:100]!r}: the values are not valid YAML: {error}"
            ) from error
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
                f"{key[:100]} changes the games by which trials are compared, so a sweep cannot "
                "vary it; give it one value, and run one sweep per value"
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
            f"{setting[:100]!r}: write a range as low..high, with low below high"
            + (" and above 0 because of :log" if log else "")
        )
    return Range(low, high, log is not None)


class Sweep:
    """A sweep in a folder. It locks the folder until it is closed.

    Attributes:
        space: the search space, by setting.
        config: the configuration that all trials start from.
        folder: the sweep's folder.
    """

    def __init__(
        self, config: str | Path, settings: list[str], folder: Path, *, code: bool = False
    ) -> None:
        """Start a sweep, or continue the one in the folder.

        Args:
            config: path or name of a configuration.
            settings: settings to search for, and settings that all trials share, see `read_space`.
            folder: the sweep's folder. It is created if needed.
            code: whether to allow players, a learner and a reward of the form `module:name`,
                which are imported.

        Raises:
            ConfigError: the configuration cannot be used, or there is nothing to search for. No
                folder is created.
            RunError: the folder contains a run or another sweep, or another process uses it.
            ClusterError: no cluster answers at the address `ray`. No folder is created.
        """
        if (folder / CONFIG_FILE).exists() and not (folder / SWEEP).exists():
            raise RunError(f"{folder} contains a run, not a sweep; choose another --folder")
        self.space, fixed = read_space(settings)
        if not self.space:
            raise ConfigError(
                "there is nothing to search for; give ranges or choices, such as "
                "ppo.learning_rate=1e-4..3e-3:log or ppo.epochs=1,2,4"
            )
        self.config, self.folder = load_config(config, fixed), folder
        self._files = SideFiles(folder, "the sweep")
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
        """Unlock the folder."""
        self._lock.close()

    @property
    def best(self) -> optuna.trial.FrozenTrial | None:
        """The trial with the highest win rate; None if no trial has finished yet."""
        finished = [trial for trial in self._study.trials if trial.value is not None]
        return max(finished, key=lambda trial: trial.value or 0.0, default=None)

    def run(
        self,
        trials: int,
        told: Callable[[str], None] = lambda _text: None,
        train: Callable[[Run], bool] = Run.train,
    ) -> bool:
        """Run trials until the sweep has `trials` of them.

        Args:
            trials: total number of trials, including those of earlier calls.
            told: function that is called with one line of text about each trial.
            train: function that trains a run and may show its progress. It returns False if it was
                stopped.

        Returns:
            True if all trials are done, False if `train` was stopped.

        Raises:
            OSError: a run or the table could not be written.
            LockError: another process uses the folder of a trial that this sweep continues.
            ClusterError: the cluster cannot be reached.
        """
        from optuna.trial import TrialState

        # A trial is still marked as running if the sweep was stopped or killed during the trial.
        for trial in self._study.get_trials(states=(TrialState.RUNNING,)):
            if trial.params.keys() != self.space.keys():  # killed before all settings were drawn
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
        """Run one trial, from its start or its checkpoint. Return False if it was stopped."""
        from optuna.trial import TrialState

        folder = self.folder / f"{number:03d}"
        words = ", ".join(_settings(chosen)) or "stopped before it started"
        try:
            config = self._settle(chosen)
            if (folder / CONFIG_FILE).exists():
                begun = load_config(folder / CONFIG_FILE)
                if begun != _as_begun(config, begun):
                    raise RunError(f"{folder} contains a run with other settings; remove it")
                begin = partial(resume_run, folder, code=self._code)
            else:
                begin = partial(start_run, config, folder, code=self._code)
            with begin() as run:
                if not train(run):
                    return False
                strength = run.evaluate(run.export())
                run.export(strength)
        except (OSError, ImportError, ClusterError, LockError):  # not caused by the settings
            raise
        except Exception as error:  # user code may raise anything
            self._study.tell(number, state=TrialState.FAIL)
            told(f"trial {number}: {words}: failed: {brief(_reason(error), 300)}")
        else:
            rate = float(np.mean([match["standings"][0]["win_rate"] for match in strength]))
            self._study.tell(number, rate)
            told(f"trial {number}: {words}: won {100 * rate:.1f} %")
        self._show()
        return True

    def _settle(self, chosen: dict[str, Any]) -> TrainingConfig:
        """Return the configuration of a trial.

        Raises:
            ConfigError: the configuration cannot be used.
        """
        if chosen.keys() - self.space.keys():
            raise ConfigError(
                "the trial in the study has settings that are not in this sweep: "
                f"{', '.join(sorted(chosen.keys() - self.space.keys()))}"
            )
        return self.config.overridden(_settings(chosen), "a trial's configuration")

    def _check_space(self) -> None:
        """Refuse unknown settings, and values that no trial could use.

        If values are wrong only in combination, the trials that draw this combination fail.
        """
        for key, values in self.space.items():
            for word in _ends(values):
                try:
                    self._settle({key: word})
                except ConfigError as error:
                    if any(f"\n  {printable(key)}{mark}" in str(error) for mark in ":."):
                        raise

    def _check_players(self) -> None:
        """Refuse a game or players that do not exist, because every trial would fail with them.

        Only the first value of each setting in the search space is checked.
        """
        try:
            config = self._settle({key: _ends(values)[0] for key, values in self.space.items()})
        except ConfigError:  # the first values cannot be combined
            config = self.config
        game, _ = check_players(config, self.folder / POOL, code=self._code)
        first_policy(config, game)
        find_maker(config.learner, code=self._code)

    def _agree(self) -> None:
        """Write the sweep's configuration and space, or check that they equal those in the file."""
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
                f"{self.folder} contains a sweep of another configuration or with other settings; "
                "use the same command to continue it, or choose another --folder"
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
                storage=optuna.storages.RDBStorage("sqlite:///study.db", _opening(path)),
                study_name="sweep",
                direction="maximize",
                load_if_exists=True,
            )
        except Exception as error:  # SQLAlchemy's errors; we do not import SQLAlchemy
            raise RunError(f"{path} cannot be used: {brief(error, 300)}") from error

    def _sampler(self, trial: int) -> optuna.samplers.BaseSampler:
        """Return a sampler whose draws do not depend on how often the sweep was stopped."""
        import optuna

        (seed,) = np.random.SeedSequence([self.config.seed, trial]).generate_state(1)
        return optuna.samplers.TPESampler(seed=int(seed))

    def _show(self) -> None:
        """Write the table, with the best trial first, and the plot, if they can be written."""
        trials = [trial for trial in self._study.trials if trial.value is not None]
        trials.sort(key=lambda trial: -(trial.value or 0.0))
        rows = (
            [trial.number, f"{trial.value:.4f}", *(trial.params.get(key, "") for key in self.space)]
            for trial in trials
        )
        table = csv_text(["trial", "win_rate", *self.space], rows)
        found = [(trial.params, trial.value or 0.0) for trial in trials]
        self._files.attempt(TABLE, lambda: write_text(self.folder / TABLE, table))
        self._files.attempt(PLOT, lambda: write_text(self.folder / PLOT, plot(self.space, found)))


def _opening(path: Path) -> dict[str, Any]:
    """Return SQLAlchemy's arguments to open a file, even if its path has characters such as ?."""
    return {"creator": partial(sqlite3.connect, path, timeout=60, check_same_thread=False)}


def _as_begun(config: TrainingConfig, begun: TrainingConfig) -> TrainingConfig:
    """Return a trial's configuration, with the precision of its run instead of `auto`."""
    decided = config.ppo.precision == "auto"
    return config.with_precision(begun.ppo.precision) if decided else config


def _reason(error: Exception) -> str:
    """Return the text of an error, preceded by the error's type unless ArmaRL defines it."""
    ours = isinstance(error, ConfigError | RunError | PolicyError)
    return str(error) if ours else f"{type(error).__name__}: {error}"


def _ends(values: Range | Choice) -> tuple[Any, ...]:
    return values.values if isinstance(values, Choice) else (values.low, values.high)


def _settings(chosen: dict[str, Any]) -> list[str]:
    """Return chosen values as `key=value`. Values of choices are JSON already."""
    return [
        f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in chosen.items()
    ]


_WIDTH, _HEIGHT, _LEFT, _TOP, _BETWEEN = 240, 180, 50, 34, 70


def plot(space: Space, trials: list[tuple[dict[str, Any], float]]) -> str:
    """Draw an SVG that plots the trials' win rates, in [0, 1], over the values of each setting."""
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
