"""One training run in a folder, from a configuration to a saved and measured policy.

The folder: `config.yaml` (all settings), `checkpoint.safetensors` (everything the run depends on),
`pool/` (earlier selves, and the policies that were named by path), `policy.safetensors` (as of the
last checkpoint), `best.safetensors` (the best against the anchors so far), `progress.csv`,
`curve.svg` and `tensorboard/`. A run that was stopped, or killed, goes on from its last checkpoint
exactly as it would have gone on then.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
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
from armarl.common.messages import brief
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
from armarl_training.config.training_config import (
    MOST_BYTES,
    ConfigError,
    TrainingConfig,
    load_config,
)
from armarl_training.learning.imitation import play_lessons
from armarl_training.learning.learner import check_learner, find_maker
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
_WRITTEN = (POLICY_FILE, BEST_FILE, CHECKPOINT, TABLE, CURVE)  # by a run
_MOST_IN_VAIN = 100  # iterations in a row in which there is nothing to learn from


@dataclass(frozen=True)
class Report:
    """How far a run is.

    Attributes:
        decisions: learned from so far.
        done: part of the training that is over, by decisions or by the clock, in [0, 1].
        seconds: spent so far, over all parts of the run.
        returns: the learner's mean returns in its last games, by opponent.
        rating: at the last checkpoint, in Elo points over the first of `evaluation.opponents`;
            None before the first by these.
        headline: what goes on, if it is not the usual.
        seconds_left: at the pace of this part of the run; infinite at its start.
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

    `start_run` and `resume_run` make it. It holds the folder, so that nobody else trains there,
    until it has trained or is closed; `with` closes it.
    """

    def __init__(
        self,
        config: TrainingConfig,
        folder: Path,
        *,
        code: bool = False,
        lock: IO[str] | None = None,
    ) -> None:
        """A run at its start.

        Args:
            config: the run's is the same, its precision resolved, see `resolve_precision`.
            code: whether players, or the learner, may be `module:Class`, which is imported.
            lock: of the folder, see `lock_run`, if it is held already; the run's own then.
        """
        self.config = config = resolve_precision(config)
        self.folder = folder
        self._code = code
        self._pool_folder = folder / POOL
        settle(config.threads)
        self.game, self.pool = check_players(config, self._pool_folder, code=code)
        make = find_maker(config.learner, code=code)
        with enough_memory():
            self.learner = check_learner(make(config, self.game, self.pool), config.learner)
        self.log = ProgressLog(folder, len(set(self.game.sides)))
        self.anchors = Anchors(self.game, config.evaluation, self._pool_folder)
        self.seconds_before = 0.0  # spent by earlier parts of this run, and calls of `train`
        self.best = -1.0  # the highest mean win rate against the anchors
        self._imitated = False  # whether the head start is over
        self._measured_otherwise = False  # by other anchors than those that there are now
        self._started: float | None = None  # while it trains, by time.monotonic
        # Seconds and part done after the first iteration, in which kernels are compiled.
        self._paced_from: tuple[float, float] | None = None
        self._lock = lock
        self._stopped = False
        # By what the checkpoint is known again that this run wrote or read last.
        self._stands: tuple[int, int] | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def hold(self) -> None:
        """Keep others from training in the folder, which there is; once more it does nothing.

        Raises:
            RunError: another process, or another run in this one, holds it; or one has gone on
                there since this one was closed.
        """
        if self._lock is not None:
            return
        self._lock = lock_run(self.folder)
        if _stand_of(self.folder) != self._stands:
            self.close()
            raise RunError(
                f"the run in {self.folder} has gone on since this one was closed: take it up by "
                "resume_run"
            )

    def close(self) -> None:
        """Let go of the folder, and of TensorBoard's file; nothing is saved.

        It can be called again. A closed run can still be exported and evaluated.
        """
        self.log.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def decisions(self) -> int:
        return self.learner.decisions

    @property
    def seconds(self) -> float:
        """Time spent in training, over all parts of the run; the clock runs in `train` alone."""
        now = 0.0 if self._started is None else time.monotonic() - self._started
        return self.seconds_before + now

    @property
    def done(self) -> float:
        """The part of the training that is over, by decisions or by the clock."""
        parts = [self.decisions / self.config.total_decisions]
        if self.config.time_limit_minutes is not None:
            parts.append(self.seconds / (60 * self.config.time_limit_minutes))
        return min(1.0, max(parts))

    def train(self, watch: Watch | None = None) -> bool:
        """Train to the end, or until a signal asks to stop; True when it came to the end.

        The run is closed then, and behind an error, too. Outside of the main thread no signal stops
        it, and only its end, or an error that `watch` raises, ends it.

        Raises:
            RunError: another process trains in the folder; or the training has diverged.
            ConfigError: there is not enough memory.
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
                            f"there was no decision to learn from in {vain} iterations in a row: "
                            "the games begin with too many random actions, perhaps"
                        )
                    pace = (self.decisions - had) / max(self.seconds - began, 1e-9)
                    refuse_diverged(self.learner.policy(average=False).tensors)
                    self.log.note(self._row({**statistics, "decisions_per_second": pace}))
                    if self.pool.due(self.decisions, self.learner.in_play):
                        self.pool.take(self.learner.policy(average=False), self.decisions)
                    if time.monotonic() - saved > 60 * self.config.checkpoint_every_minutes:
                        self.save()
                        saved = time.monotonic()
            self.save()
        finally:
            self.seconds_before, self._started = self.seconds, None
            self.close()
        return not self._stopped

    def _iterate(self) -> dict[str, float]:
        """See `Learner.iterate`; what goes wrong in it is told of with what is kept."""
        try:
            statistics = _checked(self.learner.iterate(self.done))
        except Exception as error:
            whole = self.folder / CHECKPOINT
            error.add_note(
                f"{whole} is whole: `armarl train --resume {self.folder}` goes on from there"
                if whole.exists()
                else f"there was no checkpoint yet; {self.folder} begins anew with --resume"
            )
            raise
        self._paced_from = self._paced_from or (self.seconds, self.done)
        return statistics

    def save(self) -> None:
        """Measure the policy against the anchors, write the checkpoint and export the policy.

        Raises:
            RunError: the training has diverged; what was saved before is whole.
            OSError: it could not be written; likewise.
        """
        refuse_diverged(self.learner.save()[0])
        try:
            self._measure()
        finally:  # what was learnt is kept even if an anchor fails
            self._write()
        self.export()

    def _write(self) -> None:
        """Write the checkpoint, and the table and curve first."""
        details = {
            "seconds": self.seconds,
            "best": self.best,
            "imitated": self._imitated,
            "anchors": self.anchors.terms,
            "scale": self.log.scale,
        }
        try:
            self.log.draw()  # first: of rows beyond the checkpoint a resumed run takes no notice
            save_checkpoint(self.folder, self.game, self.learner, self.pool, details)
            self._stands = _stand_of(self.folder)
        except OSError as error:
            raise OSError(
                error.errno,
                f"the checkpoint could not be written ({error.strerror}); the one before it is "
                "whole: make room and resume the run",
            ) from error

    def export(self, strength: list[dict[str, Any]] | None = None, name: str = POLICY_FILE) -> Path:
        """Write the policy with its metadata.

        Args:
            strength: results of matches; those of before stay while the weights are the same.
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
        """Play the configured matches with the saved policy."""
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
        """Copy the policies that the configuration names by path into the folder."""
        keep_policies(self._pool_folder, self.config.opponents.players)
        for names in measures_and_teachers(self.config).values():
            keep_policies(self._pool_folder, names)
        if self.config.start_from is not None:
            keep_policies(self._pool_folder, [Path(self.config.start_from)])

    def _with_what_is_kept(self) -> TrainingConfig:
        """The configuration that begins with the copy of a policy, where there is one."""
        if self.config.start_from is None:
            return self.config
        kept = as_kept(self._pool_folder, Path(self.config.start_from)).base.name
        return self.config.model_copy(update={"start_from": kept})

    def begin(self) -> None:
        """Begin with the weights of the saved policy that the configuration names, if it does.

        It may be of another table of the game; see `transfer`.

        Raises:
            ConfigError: there is no such policy, or it does not fit.
        """
        policy = first_policy(self._with_what_is_kept(), self.game)
        if policy is None:
            return
        try:
            self.learner.begin_with(policy)
        except ValueError as error:
            raise ConfigError(f"start_from: {error}") from error

    def resume(self) -> None:
        """Go on from the checkpoint in the folder, or begin, if it has none yet.

        Raises:
            PolicyError: the checkpoint is damaged or of another run.
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
        """Begin anew what the anchors decide, if they are others than at the checkpoint.

        Args:
            before: their terms then, if it says so.
            scale: of the ratings then.
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
        """A short match against each anchor; the best policy so far is kept.

        Nothing is measured twice at the end, or where a finished run is killed and taken up again.
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
        """The head start, or as much of it as there is time for.

        A run that is stopped during it begins it again: of it nothing is saved.
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
            lessons = play_lessons(
                self.game, teacher, games, settings.exploration, self.config.reward, rng
            )
            rate = settings.learning_rate * (1 - 0.9 * played / settings.games)
            for _ in range(settings.passes):
                right = self.learner.imitate(lessons, rate)
            headline = f"imitated {played + games} of {settings.games} games, {right:.0%} right"
            watch(self._report(headline))
        self._imitated = True

    @contextmanager
    def _stop_on_signal(self) -> Iterator[None]:
        """The first Ctrl-C, or request to terminate, stops after the update; a second at once.

        In another thread than the main one, which alone gets signals, nothing is done about them.
        """
        self._stopped = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: Any) -> None:
            self._stopped = True
            signal.signal(signal.SIGINT, signal.default_int_handler)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def start_run(config: TrainingConfig, folder: str | Path, *, code: bool = False) -> Run:
    """Begin a new run in a folder that holds none.

    Args:
        code: whether players, or the learner, may be `module:Class`, which is imported.

    Raises:
        TypeError: it is no configuration.
        ConfigError: the configuration cannot be used; no folder is left.
        RunError: the folder holds a run.
        ClusterError: nobody answers at `ray`; likewise.
    """
    if not isinstance(config, TrainingConfig):
        raise TypeError(
            "config must be a TrainingConfig, as load_config returns it, not "
            f"{brief(repr(config), 60)}"
        )
    folder = Path(folder)
    if (folder / CONFIG_FILE).exists():
        raise RunError(f"{folder} holds a run already: resume it with --resume, or name another")
    refuse_to_write_over(folder, _WRITTEN, f"no run ({CONFIG_FILE})", RunError)
    reach_cluster(config)
    run = Run(config, folder, code=code)  # first, so that a refused configuration leaves no folder
    text = run.config.dump()
    if len(text.encode()) > MOST_BYTES:
        raise ConfigError(
            f"with all its settings the configuration takes {len(text.encode()):,} bytes, and a "
            f"run keeps {MOST_BYTES:,} at most: name fewer players"
        )
    run.begin()
    folder.mkdir(parents=True, exist_ok=True)
    run.hold()
    try:
        if (folder / CONFIG_FILE).exists():
            raise RunError(f"{folder} holds a run already, which has begun just now")
        run.keep_policies()
        write_text(folder / CONFIG_FILE, text)
    except BaseException:
        run.close()
        raise
    return run


def resume_run(folder: str | Path, changes: list[str] | None = None, *, code: bool = False) -> Run:
    """Go on with the run in a folder, from its last checkpoint (or its start, if it has none yet).

    Args:
        changes: settings as `key=value`, of those that `TrainingConfig.changed` lets be changed.
        code: whether players, or the learner, may be `module:Class`, which is imported.

    Raises:
        RunError: the folder holds no run, or another process trains there.
        ConfigError: a setting that a run cannot change, or not to this value.
        PolicyError: the checkpoint is damaged.
        ClusterError: nobody answers at `ray`. Whatever was refused, the configuration stays.
    """
    folder = Path(folder)
    if not (folder / CONFIG_FILE).is_file():
        raise RunError(f"{folder} holds no run: there is no {CONFIG_FILE} in it")
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
    """Refuse another end of a resumed run, if that would lie before where the run is.

    Raises:
        ConfigError: it does.
    """
    total, limit = run.config.total_decisions, run.config.time_limit_minutes
    ends = f"total_decisions={run.decisions} ends it there"
    if total != kept.total_decisions and total < run.decisions:
        raise ConfigError(
            f"total_decisions={total}: the run has learnt from {run.decisions:,} already; {ends}"
        )
    if limit is not None and limit != kept.time_limit_minutes and 60 * limit < run.seconds:
        raise ConfigError(
            f"time_limit_minutes={limit:g}: it has taken {run.seconds / 60:.3g} already; {ends}"
        )


def _checked(statistics: Any) -> dict[str, float]:
    """What an iteration has returned, if it can stand beside the columns of the run itself.

    Raises:
        TypeError: it is no mapping of names.
        ValueError: it has a name of these.
    """
    if not isinstance(statistics, Mapping) or not all(isinstance(k, str) for k in statistics):
        raise TypeError(
            f"a learner's iterate returns statistics by name, not {brief(repr(statistics), 100)}"
        )
    for name in statistics:
        if name in COLUMNS or name.startswith((WINS, RETURNS)):
            raise ValueError(
                f"a learner's iterate has returned {name!r}, which is a column of the run's own "
                f"({', '.join(COLUMNS)}, {WINS}*, {RETURNS}*): call it otherwise"
            )
    return dict(statistics)


def _stand_of(folder: Path) -> tuple[int, int] | None:
    """By what the checkpoint in a folder is known from another one; None: there is none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    found = path.stat()
    return found.st_mtime_ns, found.st_ino


def _strength_of(path: Path, policy: NetworkPlayer) -> list[Any]:
    """What was measured of the policy in a file, if it has these very weights."""
    try:
        tensors, metadata = read_policy(path)
    except (PolicyError, FileNotFoundError):
        return []
    same = tensors.keys() == policy.tensors.keys() and all(
        np.array_equal(tensor, policy.tensors[name]) for name, tensor in tensors.items()
    )
    measured = metadata.get("strength")
    return measured if same and isinstance(measured, list) else []
