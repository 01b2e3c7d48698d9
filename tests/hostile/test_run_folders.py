"""Folders of runs with links, damage and files of others, and folders that cannot be written."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import tiny
from armarl.policies.safetensors_file import PolicyError
from armarl_training.common.run_folder import RunError
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.run.config_checks import resolve_precision
from armarl_training.run.progress import ProgressLog
from armarl_training.run.run import resume_run, start_run

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")


@posix
@pytest.mark.parametrize("name", ["lock", "pool", "progress.csv", "config.yaml", "x"])
def test_links_in_a_run_folder_are_not_followed(folder: Path, name: str, tmp_path: Path) -> None:
    """Regression: the target of a linked `lock` was emptied.

    All policies in the target of a linked `pool` were removed.
    """
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept = [elsewhere / ".bashrc.old.1", elsewhere / "mine.safetensors", elsewhere / "file"]
    for path in kept:
        path.write_text("mine", encoding="utf-8")
    target = folder / name
    if target.is_file():
        kept[2].write_bytes(target.read_bytes())
        target.unlink()
        target.symlink_to(kept[2])
    else:
        target.symlink_to(elsewhere)
    before = [path.read_bytes() for path in kept]
    with pytest.raises(RunError, match="is a link"):
        resume_run(folder)
    assert [path.read_bytes() for path in kept] == before


@posix
@pytest.mark.parametrize("name", ["lock", "progress.csv", "config.yaml", "checkpoint.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_pipe_or_folder_in_place_of_a_file_is_refused(folder: Path, name: str, kind: str) -> None:
    (folder / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).mkdir()
    with pytest.raises((RunError, ConfigError, PolicyError), match=name.replace(".", r"\.")):
        resume_run(folder)


def test_a_refused_folder_is_not_locked(folder: Path) -> None:
    """Regression: the error kept the lock, so a second try found the folder in use."""
    whole = (folder / "config.yaml").read_bytes()
    (folder / "config.yaml").write_bytes(b"seed: x")
    with pytest.raises(ConfigError) as caught:
        resume_run(folder)
    (folder / "config.yaml").write_bytes(whole)
    resume_run(folder)
    assert caught.value


def test_a_configuration_is_written_completely_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: half a file remained, so the run could be neither resumed nor started again."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    config = TrainingConfig(**tiny.settings(options={"board": "mini"}))
    monkeypatch.setattr("armarl.common.files.os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        start_run(config, tmp_path / "run")
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["lock"]
    start_run(config, tmp_path / "run")  # the folder is not locked
    assert load_config(tmp_path / "run" / "config.yaml") == resolve_precision(config)


def test_a_damaged_table_is_refused(folder: Path) -> None:
    """Regression: rows without decisions or with huge numbers ended the run at its next plot."""
    rows = (b"0,nan", b"inf,1", b"1e400,1", b"-5,1", b"0.5,1", b",1", b"0,1e308")
    tables = [b"decisions,rating\n" + row + b"\n" for row in rows]
    for content in (b"decisions\nmany\n", b"\xff", b"a,b\n1,2,3\n", b"minutes\n1\n", *tables):
        (folder / "progress.csv").write_bytes(content)
        with pytest.raises(RunError, match="remove it to start a new table"):
            resume_run(folder)


def test_a_pool_folder_keeps_files_of_others(folder: Path) -> None:
    """Regression: all policies in the folder that were not the run's own were removed."""
    (folder / "pool").mkdir(exist_ok=True)
    for name in ("mine.safetensors", "000000000001.safetensors"):
        (folder / "pool" / name).write_bytes(b"x")
    resume_run(folder).save()
    assert [path.name for path in (folder / "pool").iterdir()] == ["mine.safetensors"]


def test_runs_that_do_not_fit_into_memory_are_refused(tmp_path: Path) -> None:
    """The first array that is too large raises the error, before the machine runs out of memory."""
    settings = tiny.settings(environments=512, ppo={"rollout_length": 1 << 24})
    with pytest.raises(ConfigError, match="more memory than there is"):
        start_run(TrainingConfig(**settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_wide_table_with_short_rows_is_read_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the time per row grew with the number of columns, so 3 MB took hours."""
    names = ["decisions", *(f"c{i}" for i in range(1000))]
    (tmp_path / "progress.csv").write_text(",".join(names) + "\n1\n", "utf-8")
    with pytest.raises(RunError, match="remove it to start a new table"):
        ProgressLog(tmp_path).take_up(10)
    (tmp_path / "progress.csv").write_text("\n", "utf-8")
    ProgressLog(tmp_path).take_up(10)


POOL = {"share": 0.5, "earlier": 1.0, "snapshot_every": 256, "pool_size": 2}


@pytest.mark.parametrize("kind", ["a file", "folders", "nothing"])
def test_a_pool_that_cannot_be_written_does_not_end_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """Regression: the training ended without a checkpoint, or with one that lacked its pool."""
    settings = tiny.settings(options={"board": "mini"}, opponents=POOL, total_decisions=2048)
    pool, reports = tmp_path / "run" / "pool", []

    def spoil(report: Any) -> None:
        reports.append(report)
        if kind == "folders":
            for taken in range(256, 2304, 256):
                if not (pool / f"{taken:012d}.safetensors").exists():
                    (pool / f"{taken:012d}.safetensors").mkdir(parents=True)
        elif len(reports) == 2 if kind == "a file" else pool.is_dir():
            shutil.rmtree(pool, ignore_errors=True)
            if kind == "a file":
                pool.write_text("x")

    assert start_run(TrainingConfig(**settings), tmp_path / "run").train(spoil)
    told = [line for line in caplog.messages if line.endswith("the training continues")]
    assert len(told) == (kind == "a file")
    if kind == "a file":
        pool.unlink()
    with resume_run(tmp_path / "run") as run:
        assert run.decisions >= 2048
        assert bool(run.pool.snapshots) == (kind != "a file")
