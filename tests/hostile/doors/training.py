"""Fuzzers of configurations, checkpoints and the folders of runs."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from armarl.policies.safetensors_file import PolicyError, read_tensors
from armarl_training.common.run_folder import RunError
from armarl_training.config.learner_kinds import LEARNERS as KINDS
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.learning.saving import refuse_diverged
from armarl_training.run import checkpoint
from armarl_training.run.config_checks import check_players
from armarl_training.run.progress import CURVE, EVENTS, TABLE, ProgressLog
from armarl_training.run.run import Run, resume_run, start_run
from doors import folder, refused
from doors.files import json_text, odd, sealed, spoil_json, spoilt_tensor
from doors.games import damaged

REFUSALS = (ConfigError, PolicyError, RunError)
LEARNERS = ("ppo", "td", "critic", "maskable_ppo")


def _small(learner: str) -> TrainingConfig:
    """Return the configuration of a run whose iterations take milliseconds."""
    return TrainingConfig.model_validate(
        {
            "learner": learner,
            "options": {"board": "mini"},
            "total_decisions": 64,
            "environments": 4,
            "threads": 1,
            "network": {"widths": [4], "advisers": ["greedy"] * (learner == "critic")},
            **{
                own: {"rollout_length": 4, "minibatch": 8, "epochs": 1}
                for own in {KINDS[learner].section} - {"critic"}
            },
            "opponents": {"share": 0.5, "snapshot_every": 16, "pool_size": 2},
            "evaluation": {"games": 2, "workers": 1, "progress_games": 0},
        }
    )


# --- configurations ------------------------------------------------------------------------------

BOMBS: tuple[Callable[[], bytes], ...] = (
    lambda: b"a: &a [x, x]\n" + b"".join(b"b%d: &b%d [*a, *a]\n" % (i, i) for i in range(30)),
    lambda: b"a: &a {x: 1}\n<<: *a\n",
    lambda: b"total_decisions: 1" + b"0" * 5000,
    lambda: b"options: " + b"[" * 50_000,
    lambda: b"options: " + b"{a: " * 20_000,
    lambda: b"".join(b" " * i + b"a:\n" for i in range(1200)),
    lambda: b"- " * 3000,
    lambda: b"? " * 3000,
    lambda: b"!!python/object/apply:os.system [exit]",
    lambda: b"seed: !!int '0x" + b"f" * 5000 + b"'",
    lambda: b"seed: 1:" + b"59:" * 3000 + b"1",
    lambda: b"seed: 0b" + b"1" * 9000,
    lambda: b"seed: 2001-99-99",
    lambda: b"seed: 2001-12-14t21:59:43.10-99:99",
    lambda: b"seed: !!float ''",
    lambda: b"seed: !!binary '*'",
    lambda: b"seed: !!timestamp 'x'",
    lambda: b"!!set {seed, total_decisions}",
    lambda: b"!!omap [seed: 1]",
    lambda: b"!!pairs [total_decisions: 1]",
    lambda: b"? [a]\n: 1\n",
    lambda: b"? {a: 1}\n: 1\n",
    lambda: b"1: 2\ntotal_decisions: 5\n",
    lambda: b"null: 2\ntotal_decisions: 5\n",
    lambda: b"=: 2\n",
    lambda: "seed: ٣\ntotal_decisions: 5\n".encode(),
    lambda: b"\xff\xfeseed: 1",
    lambda: b"a\0b: 1",
    lambda: b"--- 1\n--- 2\n",
    lambda: b"%YAML 9.9\n--- {}\n",
    lambda: b"seed: 'x" + b"y" * 100_000,
    lambda: b"total_decisions: 5\ngame: " + b"x" * 100_000,
    lambda: b"total_decisions: .inf\nseed: .nan\n",
    lambda: b"total_decisions: 5\nseed: [1, [2, [3]]]\n",
)


@cache
def _dumped() -> str:
    return _small("ppo").dump()


@cache
def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(_dumped())
    return settings


def configs(rng: np.random.Generator) -> str:
    """Damage YAML and `key=value`. If accepted, the configuration can be written and read again."""
    kind = int(rng.integers(8))
    if kind == 0:
        content = BOMBS[rng.integers(len(BOMBS))]()
    elif kind == 1:
        content = damaged(_short_text(rng).encode(), rng)
    elif kind == 2:
        content = _short_text(rng).encode()
    else:
        content = json_text(_short_settings(rng), rng).encode()
    path = folder() / "run.yaml"
    path.write_bytes(content)
    overrides = [_override(rng) for _ in range(rng.integers(3))]
    try:
        config = load_config(path, overrides)
        dumped = config.dump()
        check_players(config, path.parent)
    except ConfigError as error:
        return refused(error)
    path.write_text(dumped, encoding="utf-8")
    assert load_config(path) == config
    return "accepted"


def _short_text(rng: np.random.Generator) -> str:
    """Return some lines of a complete configuration."""
    lines = _dumped().splitlines()
    first = int(rng.integers(len(lines)))
    return "total_decisions: 64\n" + "\n".join(lines[first : first + rng.integers(1, 9)]) + "\n"


def _short_settings(rng: np.random.Generator) -> dict[str, Any]:
    """Return some settings, one of them damaged."""
    names = rng.permutation(sorted(_settings()))[: rng.integers(1, 5)].tolist()
    some = {name: _settings()[name] for name in ["total_decisions", *names]}
    if rng.integers(4):
        some = {**some, "options": {"players": int(rng.integers(6)), "board": "mini"}}
    spoilt = spoil_json(some, rng)
    return spoilt if isinstance(spoilt, dict) else {"total_decisions": spoilt}


def _override(rng: np.random.Generator) -> str:
    paths = [*_settings(), "ppo.epochs", "network.widths", "options.chart", "options.players"]
    paths += ["", ".", "ppo.", ".ppo", "ppo.epochs.x", "a.b.c", "opponents.players.greedy"]
    values = ["1", "true", "null", "[", "{", "*a", "&a 1", "!!str 1", "x" * 1000, "9" * 5000]
    values += ["[" * 20_000, "1e999", "0x7", "{a: {b: 1}}", "\x00", "= 1", str(odd(rng))[:99]]
    path = paths[rng.integers(len(paths))]
    return f"{path}={values[rng.integers(len(values))]}" if rng.integers(20) else path


# --- checkpoints ---------------------------------------------------------------------------------


@cache
def _good(learner: str) -> Path:
    """Return the folder of a run that was stopped halfway."""
    path = folder() / f"good-{learner}"
    with start_run(_small(learner), path) as run:
        for _ in range(4):
            run.learner.iterate(0.5)
            if run.pool.due(run.decisions, run.learner.in_play):
                run.pool.take(run.learner.policy(average=False), run.decisions)
        run.save()
        assert run.pool.snapshots
    return path


@cache
def _content(learner: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any], bytes]:
    path = _good(learner) / checkpoint.FILE
    tensors, values = read_tensors(path, checkpoint.FORMAT)
    return {name: tensor.copy() for name, tensor in tensors.items()}, values, path.read_bytes()


@cache
def _run(learner: str) -> Run:
    path = folder() / f"run-{learner}"
    shutil.copytree(_good(learner), path)
    return resume_run(path)


def prepare_checkpoints() -> None:
    for learner in set(LEARNERS):
        _content(learner)
        _run(learner).learner.iterate(0.5)


def checkpoints(rng: np.random.Generator) -> str:
    """Damage a checkpoint, or forge it with a correct checksum.

    If accepted, continue its training.
    """
    learner = LEARNERS[rng.integers(len(LEARNERS))]
    run = _run(learner)
    (run.folder / checkpoint.FILE).write_bytes(_bad_checkpoint(learner, rng))
    try:
        details = checkpoint.restore(run.folder, run.game, run.learner, run.pool)
    except PolicyError as error:
        return refused(error)
    assert details is not None
    return _train_on(run)


def _bad_checkpoint(learner: str, rng: np.random.Generator) -> bytes:
    tensors, values, whole = _content(learner)
    if rng.integers(4) == 0:
        return damaged(whole, rng)
    tensors = dict(tensors)
    for _ in range(rng.integers(3)):
        _spoil_tensor(tensors, rng)
    for _ in range(rng.integers(3)):
        values = spoil_json(values, rng)
    return sealed(tensors, json_text(values, rng), rng)


def _spoil_tensor(tensors: dict[str, NDArray[Any]], rng: np.random.Generator) -> None:
    sections = sorted({name.split("/")[0] for name in tensors})
    section = sections[rng.integers(len(sections))]
    names = sorted(name for name in tensors if name.startswith(section))
    name = names[rng.integers(len(names))]
    kind = rng.integers(6)
    if kind == 0 and len(tensors) > 1:
        del tensors[name]
    elif kind == 1:
        tensors[f"{section}/{('0/x', '99/step', 'x', '', '-1/exp_avg')[rng.integers(5)]}"] = (
            tensors[name]
        )
    elif kind == 2 and tensors[name].size:
        changed = tensors[name].copy()
        flat = changed.reshape(-1).view(np.uint8)
        flat[rng.integers(flat.size)] ^= np.uint8(1 << rng.integers(8))
        tensors[name] = changed
    else:
        tensors[name] = spoilt_tensor(tensors[name], rng)


def _train_on(run: Run) -> str:
    """Train one more iteration.

    The games must stay valid. Weights that are NaN must raise an error.
    """
    try:
        with np.errstate(all="ignore"):
            run.learner.iterate(0.5)
        saved = run.learner.save()[0]
        refuse_diverged(saved)
    except RunError as error:
        return refused(error)
    for name, array in saved.items():
        if name.startswith("games/") and name.endswith("/states"):
            states = np.ascontiguousarray(array).view(run.game.blank.dtype).reshape(-1)
            run.game.check_states(states)
    return "accepted"


# --- folders -------------------------------------------------------------------------------------


def prepare_runs() -> None:
    prepare_checkpoints()


def runs(rng: np.random.Generator) -> str:
    """Remove, damage or replace files of a run's folder, and then resume the run."""
    learner = LEARNERS[rng.integers(len(LEARNERS))]
    path = folder() / "spoilt"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(_good(learner), path, ignore=shutil.ignore_patterns("tensorboard"))
    for _ in range(rng.integers(1, 3)):
        _spoil_folder(path, learner, rng)
    changes = [_override(rng)] if rng.integers(6) == 0 else None
    before = (path / "config.yaml").read_bytes() if (path / "config.yaml").is_file() else None
    try:
        run = resume_run(path, changes)
    except REFUSALS as error:
        _check(before, path)
        return refused(error)
    with run:
        assert not list(path.rglob(".*half-written-by-armarl")), "temporary files remain"
        assert run.config == load_config(path / "config.yaml")
        return _train_on(run)


def _check(before: bytes | None, path: Path) -> None:
    """Check that a refused folder keeps its configuration, and other files are unchanged."""
    assert _elsewhere().read_text("utf-8") == "not yours"
    assert before is None or (path / "config.yaml").read_bytes() == before


def _spoil_folder(path: Path, learner: str, rng: np.random.Generator) -> None:
    names = ("config.yaml", "checkpoint.safetensors", "progress.csv", "lock", "pool")
    target, kind = path / names[rng.integers(len(names))], int(rng.integers(9))
    if target.name == "pool" and target.is_dir():
        selves = sorted(target.iterdir())
        target = selves[rng.integers(len(selves))] if selves and rng.integers(4) else target
    if kind == 0:
        _remove(target)
    elif kind == 1:
        _remove(target)
        target.mkdir()
    elif kind == 2:
        _remove(target)
        target.symlink_to((_elsewhere(), "/dev/zero", target.name)[rng.integers(3)])
    elif kind == 3:
        _remove(target)
        os.mkfifo(target)
    elif kind == 4:
        for name in (".config.yaml.123", ".checkpoint.safetensors.99999999", "pool/.x.y.7"):
            if (path / name).parent.is_dir():
                (path / name).write_bytes(b"half")
    elif kind == 5 and _is_plain(path / "config.yaml"):
        settings = {**_settings(), "learner": learner}
        (path / "config.yaml").write_text(json_text(spoil_json(settings, rng), rng), "utf-8")
    elif kind == 6 and not (path / checkpoint.FILE).is_dir():
        _remove(path / checkpoint.FILE)
        (path / checkpoint.FILE).write_bytes(_bad_checkpoint(learner, rng))
    elif _is_plain(target):
        target.write_bytes(damaged(target.read_bytes(), rng))


def _is_plain(path: Path) -> bool:
    """Return whether writing to `path` writes to the run's folder."""
    return path.is_file() and not path.is_symlink()


@cache
def _elsewhere() -> Path:
    """Return a file outside the run's folder."""
    path = folder() / "elsewhere"
    path.write_text("not yours", "utf-8")
    return path


def _remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        with contextlib.suppress(OSError):  # TensorBoard's thread may still write into it
            shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


# --- files that show the progress of a training --------------------------------------------------


class _Events:
    """A writer of TensorBoard's events that may fail at any call."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._fail()

    def _fail(self, *_arguments: object) -> None:
        if self._rng.integers(20) == 0:
            raise (OSError("full"), ValueError("closed"), KeyError("x"), MemoryError())[
                self._rng.integers(4)
            ]

    add_scalar = flush = close = _fail


def side_files(rng: np.random.Generator) -> str:
    """Write a log of progress while its files and folder are damaged."""
    from torch.utils import tensorboard

    path = folder() / "side"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    real, log, said = tensorboard.SummaryWriter, ProgressLog(path), io.StringIO()
    if rng.integers(20):  # usually not the real one, because it starts a thread
        tensorboard.SummaryWriter = lambda *_a, **_k: _Events(rng)
    threading.excepthook = lambda _arguments: None  # ignore the error of TensorBoard's thread
    rows = int(rng.integers(1, 8))
    try:
        with contextlib.redirect_stderr(said):
            for decisions in range(rows):
                if rng.integers(3) == 0:
                    _spoil_side(path, rng)
                log.note({"decisions": float(decisions), "minutes": 0.5, "return/x": 0.25})
                if rng.integers(2):
                    log.draw()
                if rng.integers(8) == 0:
                    log.close()
            log.close()
            log.draw()
    finally:
        tensorboard.SummaryWriter, threading.excepthook = real, threading.__excepthook__
    assert [row["decisions"] for row in log.rows] == list(range(rows)), "rows are lost"
    lines = said.getvalue().splitlines()
    assert all(line.endswith("the training continues") for line in lines)
    assert len(lines) <= 3 * rows + 2, "a failure is told again and again"
    if TABLE in log._files.failed:
        return "refused"
    again = ProgressLog(path)
    again.take_up(rows)
    assert again.rows == log.rows
    return "accepted"


def _spoil_side(path: Path, rng: np.random.Generator) -> None:
    target = path / (TABLE, CURVE, EVENTS)[rng.integers(3)]
    kind = int(rng.integers(5))
    if kind == 0:
        shutil.rmtree(path, ignore_errors=True)
    elif kind == 1:
        path.mkdir(exist_ok=True)
    elif path.is_dir():
        _remove(target)
        if kind == 2:
            target.mkdir()
        elif kind == 3:
            target.symlink_to("/dev/full")
