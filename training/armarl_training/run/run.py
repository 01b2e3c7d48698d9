"""One training run in a folder, from a configuration to a saved and measured policy.

The folder contains:

- `config.yaml`: all settings,
- `checkpoint.safetensors`: the full state of the run,
- `pool/`: earlier versions of the policy, and copies of the policies that were named by path,
- `policy.safetensors`: the policy at the last checkpoint,
- `best.safetensors`: the best policy so far against the anchors (`evaluation.opponents`),
- `progress.csv`, `curve.svg` and `tensorboard/`: the progress of the training.

A run may begin with a *head start*, in which the learner imitates a teacher (`imitation`). A run
that was stopped or killed resumes from its last checkpoint. It then continues exactly as it would
have without the interruption.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from armarl.arena.policy_card import WINS
from armarl.common.files import (
    BEST_FILE,
    CONFIG_FILE,
    POLICY_FILE,
    refuse_to_write_over,
    remove_temporaries,
    write_text,
)
from armarl.common.messages import brief, tell
from armarl.matches.match import play_match
from armarl.players.player_specs import Spec
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import read_policy, save_policy
from armarl.workers.spread import workers_at
from armarl_training.common.hardware import hardware
from armarl_training.common.kept_policies import as_kept, keep_policies
from armarl_training.common.process import settle
from armarl_training.common.random_streams import Stream, generator
from armarl_training.common.run_folder import RunError, lock_run
from armarl_training.common.side_files import SideFiles
from armarl_training.config.training_config import (
    MOST_BYTES,
    ConfigError,
    TrainingConfig,
    load_config,
)
from armarl_training.learning.imitation import play_imitation_games
from armarl_training.learning.learner import find_maker, make_learner
from armarl_training.learning.opponent_pool import training_player
from armarl_training.learning.saving import refuse_diverged
from armarl_training.run.anchors import Anchors
from armarl_training.run.checkpoint import FILE as CHECKPOINT
from armarl_training.run.checkpoint import restore, save_checkpoint
from armarl_training.run.config_checks import (
    check_players,
    enough_memory,
    first_policy,
    measures_and_teachers,
    reach_cluster,
    resolve_precision,
)
from armarl_training.run.progress import COLUMNS, CURVE, RATING, RETURNS, TABLE, ProgressLog

POOL = "pool"
_WRITTEN = (POLICY_FILE, BEST_FILE, CHECKPOINT, TABLE, CURVE)  # files that a run writes
_MOST_IN_VAIN = 100  # maximum number of successive iterations without a decision to learn from


@dataclass(frozen=True)
class Report:
    """Progress report of a run, passed to the `watch` callback of `Run.train`.

    Attributes:
        decisions: number of decisions learned from so far.
        done: fraction of the training that is over, by decisions or by the clock, in [0, 1].
        seconds: training time so far, including the time before the run was resumed.
        returns: the learner's mean return in its latest games, by opponent.
        rating: rating at the last checkpoint, in Elo points above the first of
            `evaluation.opponents`. None until the policy has been rated against the current
            anchors.
        headline: text to show instead of the usual numbers, such as the progress of the head
            start. Empty otherwise.
        seconds_left: estimated time left, from the average pace since the run was started or
            resumed. Infinite before the pace is known.

    Example:
        >>> from armarl_training import Report
        >>> report = Report(decisions=5000, done=0.25, seconds=60.0, returns={"greedy": -0.1})
        >>> f"{report.done:.0%} done, {report.returns['greedy']:+.2f} against greedy"
        '25% done, -0.10 against greedy'
    """

    decisions: int
    done: float
    seconds: float
    returns: dict[str, float]
    rating: float | None = None
    headline: str = ""
    seconds_left: float = math.inf


Watch = Callable[[Report], None]


class Run:
    """A training run in a folder: its learner, its opponents, its clock and its checkpoints.

    Create one with `start_run` or `resume_run`. The run locks its folder, so that no other process
    trains there, until `train` ends or the run is closed. A `with` block closes it.

    Attributes:
        config: the configuration, in which `resolve_precision` has set `ppo.precision`.
        folder: the run's folder.
        game: the game that the learner learns.
        learner: the learner, see `armarl_training.learning.learner.Learner`.
        pool: the opponents in training.

    Example:
        >>> import tempfile
        >>> from armarl_training import load_config
        >>> from armarl_training import start_run
        >>> config = load_config("armadora-quick", ["environments=2"])
        >>> with tempfile.TemporaryDirectory() as folder, start_run(config, folder) as run:
        ...     run.decisions, run.done
        (0, 0.0)
    """

    def __init__(
        self,
        config: TrainingConfig,
        folder: Path,
        *,
        code: bool = False,
        lock: IO[str] | None = None,
    ) -> None:
        """Create a run at its start. Use `start_run` or `resume_run` instead.

        Args:
            config: the configuration. The run uses `resolve_precision` to set its precision.
            folder: the run's folder.
            code: whether to allow players, a learner and a reward of the form `module:name`,
                which are imported.
            lock: the folder's lock, if the caller has it already (see `lock_run`). The run will
                release it.
        """
        self.config = config = resolve_precision(config)
        self.folder = folder
        self._code = code
        self._pool_folder = folder / POOL
        settle(config.threads)
        self.game, self.pool = check_players(config, self._pool_folder, code=code)
        make = find_maker(config.learner, code=code)
        with enough_memory():
            self.learner = make_learner(make, config, self.game, self.pool)
        self.log = ProgressLog(folder, len(set(self.game.sides)))
        self._files = SideFiles(folder, "the training")
        self.anchors = Anchors(self.game, config.evaluation, self._pool_folder)
        self.seconds_before = 0.0  # time before resuming and in earlier calls of `train`
        self.best = -1.0  # the highest mean win rate against the anchors
        self._imitated = False  # whether the head start is over
        self._measured_otherwise = False  # whether the anchors changed after the last measurement
        self._started: float | None = None  # time.monotonic() at the start of `train`
        # `seconds` and `done` after the first iteration. The first iteration says nothing about the
        # pace, because it also compiles the kernels.
        self._paced_from: tuple[float, float] | None = None
        self._lock = lock
        self._stopped = False
        # Identity of the checkpoint that this run wrote or read last, see `_stand_of`.
        self._stands: tuple[int, int] | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def hold(self) -> None:
        """Lock the folder, which must exist. If this run has the lock already, do nothing.

        Raises:
            RunError: another process, or another `Run` in this process, has the lock; or another
                `Run` has continued the training in the folder after this `Run` was closed.
        """
        if self._lock is not None:
            return
        self._lock = lock_run(self.folder)
        if _stand_of(self.folder) != self._stands:
            self.close()
            raise RunError(
                f"the run in {self.folder} was continued after this one was closed; use resume_run "
                "to continue from its last checkpoint"
            )

    def close(self) -> None:
        """Unlock the folder and close TensorBoard's file. Save nothing.

        `close` may be called more than once. A closed run can still be exported and evaluated.
        """
        self.log.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def decisions(self) -> int:
        """Number of decisions that the learner has learned from."""
        return self.learner.decisions

    @property
    def seconds(self) -> float:
        """Total time in `train`, in seconds, including the time before the run was resumed."""
        now = 0.0 if self._started is None else time.monotonic() - self._started
        return self.seconds_before + now

    @property
    def done(self) -> float:
        """Fraction of the training that is over, by decisions or by the clock, in [0, 1]."""
        parts = [self.decisions / self.config.total_decisions]
        if self.config.time_limit_minutes is not None:
            parts.append(self.seconds / (60 * self.config.time_limit_minutes))
        return min(1.0, max(parts))

    def train(self, watch: Watch | None = None) -> bool:
        """Train to the end, or until Ctrl-C or a termination signal.

        The run saves a checkpoint at the end, unless it was stopped during the head start.
        Afterwards the run is closed, even after an error. Outside the main thread, signals do not
        stop the training, but an error that `watch` raises does.

        Args:
            watch: called with a `Report` before every iteration and during the head start.

        Returns:
            True if the training is complete, False if it was stopped.

        Raises:
            RunError: another process trains in the folder, the training has diverged, or there is
                nothing to learn from.
            ConfigError: there is not enough memory.
            OSError: a checkpoint could not be written. The previous one is intact.
        """
        watch = watch or (lambda _report: None)
        self.hold()
        self._started = saved = time.monotonic()
        try:
            with self._stop_on_signal(), enough_memory():
                if not self._imitated:
                    self._imitate(watch)
                if not self._imitated:
                    return False
                vain = 0
                while self.done < 1 and not self._stopped:
                    watch(self._report())
                    began, had = self.seconds, self.decisions
                    statistics = self._iterate()
                    vain = vain + 1 if self.decisions == had else 0
                    if vain == _MOST_IN_VAIN:
                        raise RunError(
                            f"no decision to learn from in {vain} iterations in a row; perhaps "
                            "the games begin with too many random actions (see opening_length)"
                        )
                    pace = (self.decisions - had) / max(self.seconds - began, 1e-9)
                    refuse_diverged(self.learner.policy(average=False).tensors)
                    self.log.note(self._row({**statistics, "decisions_per_second": pace}))
                    if self.pool.due(self.decisions, self.learner.in_play):
                        self._files.attempt(POOL, self._take)
                    if time.monotonic() - saved > 60 * self.config.checkpoint_every_minutes:
                        self.save()
                        saved = time.monotonic()
            self.save()
        finally:
            self.seconds_before, self._started = self.seconds, None
            self.close()
        return not self._stopped

    def _take(self) -> None:
        """Add the policy to the pool."""
        self.pool.take(self.learner.policy(average=False), self.decisions)

    def _iterate(self) -> dict[str, float]:
        """Call `Learner.iterate`. If it raises an error, add a note on how to resume the run."""
        try:
            statistics = _checked(self.learner.iterate(self.done))
        except Exception as error:
            whole = self.folder / CHECKPOINT
            error.add_note(
                f"{whole} is intact; `armarl train --resume {self.folder}` continues from it"
                if whole.exists()
                else "there is no checkpoint yet; "
                f"`armarl train --resume {self.folder}` starts from the beginning"
            )
            raise
        self._paced_from = self._paced_from or (self.seconds, self.done)
        return statistics

    def save(self) -> None:
        """Measure the policy against the anchors, write the checkpoint and export the policy.

        Raises:
            RunError: the training has diverged. Earlier files stay intact.
            OSError: a file could not be written. Earlier files stay intact.
        """
        refuse_diverged(self.learner.save()[0])
        try:
            self._measure()
        finally:  # save the learned weights even if a match against an anchor fails
            self._write()
        self.export()

    def _write(self) -> None:
        """Write the table and the curve, if they can be written, and then the checkpoint."""
        details = {
            "seconds": self.seconds,
            "best": self.best,
            "imitated": self._imitated,
            "anchors": self.anchors.terms,
            "scale": self.log.scale,
        }
        try:
            self.log.draw()  # before the checkpoint: a resumed run needs all rows up to it
            save_checkpoint(self.folder, self.game, self.learner, self.pool, details)
            self._stands = _stand_of(self.folder)
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint could not be written ({error.strerror}); the previous one is "
                "intact: free some disk space and resume the run",
            ) from error

    def export(self, strength: list[dict[str, Any]] | None = None, name: str = POLICY_FILE) -> Path:
        """Write the averaged policy with its metadata.

        Args:
            strength: results of matches, as `evaluate` returns them. None: keep the results that
                the file contains, if it has the same weights.
            name: name of the file in the run's folder.

        Returns:
            The path of the file.

        Raises:
            OSError: the file could not be written. An existing file is left unchanged.
        """
        policy = self.learner.policy(average=True)
        path = self.folder / name
        save_policy(
            path,
            self.game,
            policy.tensors,
            policy.activation,
            policy.advice.advisers,
            training={
                "config": self.config.model_dump(mode="json"),
                "decisions": self.decisions,
                "minutes": round(self.seconds / 60, 1),
                "curve": self.log.measured(),
                "hardware": hardware(self.config.device),
            },
            strength=_strength_of(path, policy) if strength is None else strength,
        )
        return path

    def evaluate(self, path: Path) -> list[dict[str, Any]]:
        """Play the matches of `evaluation` with a saved policy.

        Args:
            path: path of the policy, as `export` returns it.

        Returns:
            One match result per opponent, as JSON values (`MatchResult.as_dict`).

        Raises:
            PolicyError, ValueError: the policy cannot be loaded.
            RuntimeError: a worker process was killed, or the cluster does not answer.
        """
        settings = self.config.evaluation
        ray = self.config.ray
        workers = workers_at(ray, None if ray else settings.workers)
        return [
            play_match(
                self.game, [path, opponent], settings.games, settings.seed, workers
            ).as_dict()
            for opponent in self._kept(settings.opponents)
        ]

    def _kept(self, names: Iterable[str]) -> list[Spec]:
        return [as_kept(self._pool_folder, name) for name in names]

    def keep_policies(self) -> None:
        """Copy the policies that the configuration names by path into the run's folder."""
        keep_policies(self._pool_folder, self.config.opponents.players)
        for names in measures_and_teachers(self.config).values():
            keep_policies(self._pool_folder, names)
        if self.config.start_from is not None:
            keep_policies(self._pool_folder, [Path(self.config.start_from)])

    def _with_what_is_kept(self) -> TrainingConfig:
        """Return the configuration. Its `start_from` names the run's copy of the policy, if any."""
        if self.config.start_from is None:
            return self.config
        kept = as_kept(self._pool_folder, Path(self.config.start_from)).base.name
        return self.config.model_copy(update={"start_from": kept})

    def begin(self) -> None:
        """Load the weights of the policy that `start_from` names, if it is set.

        The policy may be for other options of the game, see `transfer`.

        Raises:
            ConfigError: there is no such policy, or it does not fit the configuration.
        """
        policy = first_policy(self._with_what_is_kept(), self.game)
        if policy is None:
            return
        try:
            self.learner.begin_with(policy)
        except ValueError as error:
            raise ConfigError(f"start_from: {error}") from error

    def resume(self) -> None:
        """Restore the checkpoint in the folder, or begin if there is none yet.

        Raises:
            PolicyError: the checkpoint is damaged or belongs to another run.
        """
        details = restore(self.folder, self.game, self.learner, self.pool)
        self._stands = _stand_of(self.folder)
        if details is None:
            self.begin()
            self.log.begin_anew()
            return
        self.seconds_before, self.best = details["seconds"], details["best"]
        told = details["imitated"]
        self._imitated = self.decisions > 0 if told is None else told
        self._compare_anchors(details["anchors"], details["scale"])
        self.log.take_up(self.decisions)

    def _compare_anchors(self, before: dict[str, Any] | None, scale: int) -> None:
        """Reset the best policy and the rating scale if the anchors changed since the checkpoint.

        Args:
            before: `Anchors.terms` at the checkpoint. None if an old checkpoint lacks them.
            scale: number of the rating scale at the checkpoint.
        """
        terms, self.log.scale = self.anchors.terms, scale
        if before is None or before == terms:
            return
        self.best, self._measured_otherwise = -1.0, True
        if before.get("opponents") != terms["opponents"]:
            self.log.scale += 1

    def _report(self, headline: str = "") -> Report:
        left = math.inf
        if self._paced_from is not None and self.done > self._paced_from[1]:
            seconds, done = self._paced_from
            left = (self.seconds - seconds) * (1 - self.done) / (self.done - done)
        return Report(
            self.decisions,
            self.done,
            self.seconds,
            self.learner.recent(),
            self.log.rating(),
            headline,
            left,
        )

    def _row(self, statistics: dict[str, float]) -> dict[str, float]:
        row = {"decisions": float(self.decisions), "minutes": self.seconds / 60, **statistics}
        returns = {f"{RETURNS}{name}": mean for name, mean in self.learner.recent().items()}
        return row | returns

    def _measure(self) -> None:
        """Play a short match against each anchor, and export the policy if it is the best so far.

        Do nothing if this policy was measured already. This is so at the end of a run, and after a
        finished run was killed and resumed.
        """
        if self.config.evaluation.progress_games == 0 or self.decisions == 0:
            return
        if self.log.is_measured(self.decisions) and not self._measured_otherwise:
            return
        self._measured_otherwise = False
        player: NetworkPlayer = self.learner.policy(average=True)
        player.sample = False
        rates, rating = self.anchors.measure(player)
        wins = {f"{WINS}{opponent}": rate for opponent, rate in rates.items()}
        self.log.note(
            {"decisions": float(self.decisions), "minutes": self.seconds / 60, RATING: rating}
            | wins
        )
        mean = float(np.mean(list(rates.values())))
        if mean > self.best:
            self.best = mean
            self.export(name=BEST_FILE)

    def _imitate(self, watch: Watch) -> None:
        """Let the learner imitate the teacher's games, or as many as the time limit allows.

        A run that is stopped during this head start repeats all of it when it is resumed, because
        no checkpoint is written before the end of the head start.
        """
        settings = self.config.imitation
        rng = generator(self.config.seed, Stream.LESSONS)
        (kept,) = self._kept([settings.teacher])
        teacher = training_player(kept, self.game, code=self._code)
        for played in range(0, settings.games, settings.games_at_once):
            if self._stopped:
                return
            if self.done >= 1:
                break
            games = min(settings.games_at_once, settings.games - played)
            data = play_imitation_games(
                self.game, teacher, games, settings.exploration, self.config.reward, rng
            )
            rate = settings.learning_rate * (1 - 0.9 * played / settings.games)
            for _ in range(settings.passes):
                right = self.learner.imitate(data, rate)
            headline = f"imitated {played + games} of {settings.games} games, {right:.0%} correct"
            watch(self._report(headline))
        self._imitated = True

    @contextmanager
    def _stop_on_signal(self) -> Iterator[None]:
        """Stop at the end of the update after the first Ctrl-C or SIGTERM.

        A line on stderr acknowledges the first signal immediately. A second Ctrl-C raises
        KeyboardInterrupt, and a second SIGTERM ends the process. Do nothing outside the main
        thread, because only the main thread receives signals.
        """
        self._stopped = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: Any) -> None:
            self._stopped = True
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # stderr may be closed, or the program may be writing a line to it.
            with suppress(OSError, RuntimeError, ValueError):
                tell(
                    "\nstopping at the end of this update; a second Ctrl-C stops immediately, "
                    "without saving",
                    to=sys.stderr,
                )

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def start_run(config: TrainingConfig, folder: str | Path, *, code: bool = False) -> Run:
    """Start a new run in a folder that contains no run. Call `Run.train` to train it.

    Args:
        config: the configuration, as `load_config` returns it.
        folder: the run's folder. It is created if needed.
        code: whether to allow players, a learner and a reward of the form `module:name`,
            which are imported.

    Returns:
        The run, which has locked the folder.

    Raises:
        TypeError: `config` is not a TrainingConfig.
        ConfigError: the configuration cannot be used. No folder is created.
        RunError: the folder already contains a run, or files of one. The class is a RuntimeError.
        ClusterError: no cluster answers at the address `ray`. No folder is created.
        ImportError: the configuration names a Ray cluster, and Ray is not installed.
        OSError: the folder cannot be created, for example because it is a file.

    Example:
        >>> import tempfile
        >>> from armarl_training import load_config
        >>> from armarl_training import start_run
        >>> config = load_config("armadora-quick", ["environments=2"])
        >>> with tempfile.TemporaryDirectory() as folder, start_run(config, folder) as run:
        ...     (run.folder / "config.yaml").exists()
        True
    """
    if not isinstance(config, TrainingConfig):
        raise TypeError(
            "config must be a TrainingConfig, as load_config returns it, got "
            f"{brief(repr(config), 60)}"
        )
    folder = Path(folder)
    if (folder / CONFIG_FILE).exists():
        raise RunError(
            f"{folder} already contains a run; resume it with --resume, or name another folder"
        )
    refuse_to_write_over(folder, _WRITTEN, f"no run ({CONFIG_FILE})", RunError)
    reach_cluster(config)
    run = Run(config, folder, code=code)  # before mkdir: a bad configuration leaves no folder
    text = run.config.dump()
    if len(text.encode()) > MOST_BYTES:
        raise ConfigError(
            f"with all its settings, the configuration has {len(text.encode()):,} bytes, but a "
            f"run can store at most {MOST_BYTES:,}; name fewer players"
        )
    run.begin()
    folder.mkdir(parents=True, exist_ok=True)
    run.hold()
    try:
        if (folder / CONFIG_FILE).exists():
            raise RunError(f"{folder} already contains a run, which another process just started")
        run.keep_policies()
        write_text(folder / CONFIG_FILE, text)
    except BaseException:
        run.close()
        raise
    return run


def resume_run(folder: str | Path, changes: list[str] | None = None, *, code: bool = False) -> Run:
    """Resume the run in a folder from its last checkpoint, or from its start if it has none yet.

    If this fails, the configuration in the folder does not change.

    Args:
        folder: the run's folder.
        changes: settings to change, as `key=value`. `CHANGEABLE` in `config.training_config` lists
            the settings that may change.
        code: whether to allow players, a learner and a reward of the form `module:name`,
            which are imported.

    Returns:
        The run, which has locked the folder.

    Raises:
        TypeError: `changes` is not a list of strings.
        RunError: the folder contains no run, or another process or `Run` trains there. The class is
            a RuntimeError.
        ConfigError: a setting cannot change, or not to this value; or the configuration in the
            folder cannot be used.
        PolicyError: the checkpoint is damaged, or belongs to another run.
        ClusterError: no cluster answers at the address `ray`.

    Example:
        >>> import tempfile
        >>> from armarl_training import load_config
        >>> from armarl_training import resume_run, start_run
        >>> config = load_config("armadora-quick", ["environments=2"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     start_run(config, folder).close()
        ...     with resume_run(folder, ["total_decisions=5000"]) as run:
        ...         print(run.config.total_decisions)
        5000
    """
    folder = Path(folder)
    if not (folder / CONFIG_FILE).is_file():
        raise RunError(f"{folder} contains no run: it has no {CONFIG_FILE}")
    lock = lock_run(folder)
    try:
        kept = load_config(folder / CONFIG_FILE)
        config = kept.changed(changes) if changes else kept
        reach_cluster(config)
        run = Run(config, folder, code=code, lock=lock)
        run.resume()
        _refuse_less_than_done(run, kept)
        remove_temporaries(folder)
        if run.config != kept:
            run.keep_policies()
            write_text(folder / CONFIG_FILE, run.config.dump())
    except BaseException:
        lock.close()
        raise
    return run


def _refuse_less_than_done(run: Run, kept: TrainingConfig) -> None:
    """Refuse a new limit of a resumed run that the run has already passed.

    Raises:
        ConfigError: `total_decisions` or `time_limit_minutes` is below what the run has used.
    """
    total, limit = run.config.total_decisions, run.config.time_limit_minutes
    ends = f"use total_decisions={run.decisions} to end it now"
    if total != kept.total_decisions and total < run.decisions:
        raise ConfigError(
            f"total_decisions={total}: the run has already learned from {run.decisions:,} "
            f"decisions; {ends}"
        )
    if limit is not None and limit != kept.time_limit_minutes and 60 * limit < run.seconds:
        raise ConfigError(
            f"time_limit_minutes={limit:g}: the run has already taken "
            f"{run.seconds / 60:.3g} minutes; {ends}"
        )


def _checked(statistics: Any) -> dict[str, float]:
    """Check the statistics that `Learner.iterate` returned, which become columns of the table.

    Raises:
        TypeError: the statistics are not a mapping with names as keys.
        ValueError: a name is reserved for a column that the run writes.
    """
    if not isinstance(statistics, Mapping) or not all(isinstance(k, str) for k in statistics):
        raise TypeError(
            "a learner's iterate must return statistics by name, got "
            f"{brief(repr(statistics), 100)}"
        )
    for name in statistics:
        if name in COLUMNS or name.startswith((WINS, RETURNS)):
            raise ValueError(
                f"a learner's iterate returned {name!r}, but the run has that column already "
                f"(reserved: {', '.join(COLUMNS)}, {WINS}*, {RETURNS}*); choose another name"
            )
    return dict(statistics)


def _stand_of(folder: Path) -> tuple[int, int] | None:
    """Return the modification time and inode of a folder's checkpoint, or None if it has none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    found = path.stat()
    return found.st_mtime_ns, found.st_ino


def _strength_of(path: Path, policy: NetworkPlayer) -> list[Any]:
    """Return the measured strength in a policy file if it has exactly these weights, else []."""
    try:
        tensors, metadata = read_policy(path)
    except (PolicyError, FileNotFoundError):
        return []
    same = tensors.keys() == policy.tensors.keys() and all(
        np.array_equal(tensor, policy.tensors[name]) for name, tensor in tensors.items()
    )
    measured = metadata.get("strength")
    return measured if same and isinstance(measured, list) else []
