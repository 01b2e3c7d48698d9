"""What is common to the files of a run: written as a whole, and by one process at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

LOCK = "lock"


class RunError(RuntimeError):
    """A run folder that cannot be used so; the message says what would be right."""


def lock_folder(folder: Path) -> IO[str]:
    """Keep other processes from training in a folder, as long as the returned file is open.

    The lock is the operating system's, so that of a process that died is gone with it.

    Raises:
        RunError: another process, or another run of this one, trains there.
    """
    file = (folder / LOCK).open("a+", encoding="utf-8")
    try:
        _lock(file)
    except OSError as error:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise RunError(
            f"{folder} is being trained in by process {owner}: wait for it, or stop it"
        ) from error
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _lock(file: IO[str]) -> None:
    if os.name == "nt":
        import msvcrt

        file.seek(1 << 20)  # beyond the text, so that others can read it
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_text(path: Path, text: str) -> None:
    """Write a file so that `path` always holds the old text or the new one, whole."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_temporaries(folder: Path) -> None:
    """Remove what a killed process left half written, as `write_text` names it."""
    for path in [*folder.glob(".*.*.[0-9]*"), *folder.glob("*/.*.*.[0-9]*")]:
        path.unlink(missing_ok=True)
