"""Errors about a run's folder, and its lock."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from armarl.common.files import lock_folder


class RunError(RuntimeError):
    """An error: a run's folder cannot be used this way. The message says what to do."""


class LockError(RunError):
    """An error: a run's folder cannot be locked. Another process uses it, or it contains links."""


def lock_run(folder: Path) -> IO[str]:
    """Lock a run's folder against other processes until the returned file is closed.

    Raises:
        LockError: the folder cannot be locked, see `lock_folder`.
    """
    return lock_folder(folder, LockError)
