"""Folders of runs and of tournaments: files are written as a whole, and by one process at a time.

Such a folder may come from somebody else, so links in it are not followed, and what is no file is
not waited for.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from armarl.common.messages import brief

LOCK = "lock"
_HALF = ".half-written-by-armarl"  # at the end of a name
# Of a run.
POLICY_FILE, BEST_FILE, CONFIG_FILE = "policy.safetensors", "best.safetensors", "config.yaml"


def lock_folder(folder: Path, refused: type[RuntimeError]) -> IO[str]:
    """Keep other processes from working in a folder, as long as the returned file is open.

    The lock is the operating system's, so that of a process that died is gone with it.

    Raises:
        refused: another process, or another caller in this one, works there; or there are links in
            the folder, through which files elsewhere would be written or removed.
    """
    for path in folder.iterdir():
        if path.is_symlink():
            raise refused(f"{path} is a link: what belongs to a folder lies in it")
    try:
        file = _open_lock(folder / LOCK)
    except OSError as error:
        hint = ", remove it" if (folder / LOCK).exists() else ""
        raise refused(f"{folder / LOCK} cannot be locked{hint}: {error}") from error
    try:
        _lock(file)
    except OSError as error:
        file.seek(0)
        owner = brief(file.read(20)) or "unknown"
        file.close()
        raise refused(
            f"{folder} is being worked in by process {owner}: wait for it, or stop it"
        ) from error
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _open_lock(path: Path) -> IO[str]:
    """Open the file, which is written later: so no link is followed, and no pipe waited for.

    Raises:
        OSError: it is something else than a file, or may not be written.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    return os.fdopen(os.open(path, flags, 0o666), "r+", encoding="utf-8", errors="replace")


def _lock(file: IO[str]) -> None:
    if os.name == "nt":
        import msvcrt

        file.seek(1 << 20)  # beyond the text, so that others can read it
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_text(path: Path, most: int) -> str:
    """The text of a file of at most so many bytes.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is no file, or no text, or larger.
    """
    if not path.is_file():
        if path.exists():
            raise ValueError("it is no file")
        raise FileNotFoundError(f"there is no file {path}")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it is larger than {most:,} bytes")
    return content.decode("utf-8")


def check_writable(path: Path) -> None:
    """Check before long work that its result can be written.

    Raises:
        ValueError: there is no folder for it, or it is one itself.
        PermissionError: it may not be written.
    """
    if not path.resolve().parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file that could be written")
    if not os.access(path if path.exists() else path.resolve().parent, os.W_OK):
        raise PermissionError(f"{path} may not be written: give another file")


def refuse_to_write_over(
    folder: Path, names: Iterable[str], without: str, refused: type[RuntimeError]
) -> None:
    """Check a folder in which we begin for files that are somebody's and that we would write.

    Args:
        without: what the folder lacks, by which the files would be ours.

    Raises:
        refused: it has one.
    """
    for name in names:
        if (folder / name).exists():
            raise refused(
                f"{folder} has a {name}, and {without}: name another folder, so that nothing is "
                "written over"
            )


def append_whole(path: Path, content: bytes) -> None:
    """Add to a file all of the content, or nothing.

    Raises:
        OSError: the disk is full or not writable; the file is as long as it was.
    """
    with _named(path), path.open("ab", buffering=0) as file:
        if not path.is_file():  # such as /dev/stdout, which has no length
            file.write(content)
            return
        length, left = file.seek(0, os.SEEK_END), memoryview(content)
        try:
            while left:
                left = left[file.write(left) :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(length)
            raise


def write_text(path: Path, text: str) -> None:
    """As `write_bytes`, in UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that `path` always holds the old content or the new one, whole.

    Where `path` is a link, the file takes its place, and what it led to is as it was.

    Raises:
        OSError: the disk is full or not writable; what was at `path` is untouched.
    """
    # By a number that no other writer has, in another thread or behind the same number of process.
    temporary = path.with_name(f".{path.name}.{secrets.randbits(63)}{_HALF}")
    try:
        with _named(path), temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say which file an error of the disk is about: of a write it names none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def remove_temporaries(folder: Path) -> None:
    """Remove what a killed process left half written, as `write_text` names it; a name that
    nobody else gives, since users' own files may lie beside ours."""
    name = f".*.[0-9]*{_HALF}"
    for path in [*folder.glob(name), *folder.glob(f"*/{name}")]:
        if path.is_file():
            path.unlink(missing_ok=True)
