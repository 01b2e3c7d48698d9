"""Errors of a run, and the lock of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from armarl.common.files import lock_folder


class RunError(RuntimeError):
    """An error: a run's folder cannot be used as requested, or its training cannot continue.

    The message says what to do.

    Example:
        >>> import tempfile
        >>> from armarl_training import RunError, resume_run
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     try:
        ...         resume_run(folder)
        ...     except RunError as error:
        ...         print(str(error).replace(folder, "FOLDER"))
        FOLDER contains no run: it has no config.yaml
    """


class LockError(RunError):
    """An error: a run's folder cannot be locked. It may be in use, or it may contain links."""


def lock_run(folder: Path) -> IO[str]:
    """Lock a run's folder against other processes until the returned file is closed.

    Raises:
        LockError: the folder cannot be locked, see `lock_folder`.
    """
    return lock_folder(folder, LockError)
