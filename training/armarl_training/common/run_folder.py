"""The folder of a run."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from armarl.common.files import lock_folder


class RunError(RuntimeError):
    """A run folder that cannot be used so; the message says what would be right."""


class LockError(RunError):
    """A run's folder that cannot be had to oneself: somebody is at work there, or it has links."""


def lock_run(folder: Path) -> IO[str]:
    """Keep other processes from training in a folder, as long as the returned file is open.

    Raises:
        LockError: see `lock_folder`.
    """
    return lock_folder(folder, LockError)
