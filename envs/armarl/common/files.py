"""Files in the folders of runs and tournaments, written atomically and by one process at a time.

A folder may come from someone else. So nothing is written through a link in the folder, and a pipe
or a device in the folder cannot block the process.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from armarl.common.messages import brief

LOCK = "lock"
_HALF = ".half-written-by-armarl"  # the suffix of temporary files
_PORTION = 1 << 20  # number of bytes in one read
_AT_ONCE, _NO_LINK = getattr(os, "O_NONBLOCK", 0), getattr(os, "O_NOFOLLOW", 0)
# The names of the files in a run's folder.
POLICY_FILE, BEST_FILE, CONFIG_FILE = "policy.safetensors", "best.safetensors", "config.yaml"
# The first bytes, in lower case, by which `check_replaceable` recognises each kind of file.
_BEGINNINGS = {"HTML": b"<!doctype html", "SVG": b"<svg", "PNG": b"\x89png\r\n\x1a\n"}


def lock_folder(folder: Path, refused: type[RuntimeError]) -> IO[str]:
    """Lock a folder against other processes, as long as the returned file is open.

    The operating system releases the lock when the process dies.

    Raises:
        refused: another process, or another caller in this process, holds the lock; the lock file
            cannot be opened; or the folder contains a link, through which a file elsewhere could be
            written or removed.
    """
    for path in folder.iterdir():
        if path.is_symlink():
            raise refused(f"{path} is a link: replace the link with the file itself")
    try:
        file = _open_lock(folder / LOCK)
    except OSError as error:
        hint = "; remove this file" if (folder / LOCK).exists() else ""
        raise refused(f"{folder / LOCK} cannot be locked{hint}: {error}") from error
    try:
        _lock(file)
    except OSError as error:
        file.seek(0)
        owner = brief(file.read(20)) or "unknown"
        file.close()
        raise refused(
            f"{folder} is in use by process {owner}: wait for that process, or stop it"
        ) from error
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _open_lock(path: Path) -> IO[str]:
    """Open the lock file to read and write it, without following a link or waiting for a pipe.

    Raises:
        OSError: the path is not a file, or is not writable.
    """
    flags = os.O_RDWR | os.O_CREAT | _NO_LINK | _AT_ONCE
    if path.exists() and not path.is_file():
        raise OSError("it is not a file")
    return os.fdopen(os.open(path, flags, 0o666), "r+", encoding="utf-8", errors="replace")


def _lock(file: IO[str]) -> None:
    if os.name == "nt":
        import msvcrt

        file.seek(1 << 20)  # a byte beyond the text, so that others can read the text
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def open_to_read(path: Path) -> BinaryIO:
    """Open a file to read its bytes.

    Another process may replace the file at any time. So the file is checked after it is opened, and
    a pipe at its path cannot block this process.

    Raises:
        FileNotFoundError: the path does not exist.
        ValueError: the path is not a file.
        OSError: the file cannot be read.
    """
    if not path.is_file():
        if path.exists():
            raise ValueError("it is not a file")
        raise FileNotFoundError(f"there is no file {path}")
    return _open_regular(path, "rb")


def open_to_change(path: Path) -> BinaryIO:
    """Open a file to read and write its bytes, with the same checks as in `open_to_read`.

    Raises:
        ValueError: the path is not a file.
        OSError: the file does not exist, or may not be written.
    """
    return _open_regular(path, "r+b")


def shorten(path: Path, length: int) -> None:
    """Truncate a file of a run or tournament to `length` bytes, without following a link.

    Raises:
        ValueError: the path is not a file.
        OSError: the path is a link, or the file may not be written.
    """
    with _open_regular(path, "r+b", _NO_LINK) as file:
        file.truncate(length)
        os.fsync(file.fileno())


def _open_regular(path: Path, mode: str, more: int = 0) -> BinaryIO:
    """Open a file, and check that it is a regular file. `more` contains additional flags.

    Raises:
        ValueError: the path is not a file.
        OSError: the file cannot be opened.
    """
    file: BinaryIO = open(path, mode, opener=_opener(more))  # type: ignore[assignment]  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError("it is not a file")
    return file


def read_bytes(path: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes.

    The file is opened with `open_to_read`. Another process may change the file during the read, so
    its bytes are copied into this process's memory. If the file were memory-mapped instead, another
    process could crash this one by truncating the file.

    Raises:
        FileNotFoundError: the path does not exist.
        ValueError: the path is not a file, or the file has more than `most` bytes.
        OSError: the file cannot be read.
    """
    with open_to_read(path) as file:
        parts, left = [], most + 1
        while left and (part := file.read(min(left, _PORTION))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise ValueError(f"it is larger than {most:,} bytes")
    return b"".join(parts)


def _opener(more: int = 0) -> Callable[[str, int], int]:
    """Return an opener for `open` that does not wait for a pipe. `more`: additional flags."""
    return lambda path, flags: os.open(path, flags | _AT_ONCE | more, 0o666)


def read_text(path: Path, most: int) -> str:
    """Read a text file of at most `most` bytes with `read_bytes`.

    Raises:
        FileNotFoundError: the path does not exist.
        ValueError: the path is not a file, or the file has more than `most` bytes or is not UTF-8
            text.
    """
    return read_bytes(path, most).decode("utf-8")


def check_writable(path: Path) -> None:
    """Check before a long computation that its result can be written.

    Raises:
        ValueError: the folder for the file does not exist, or the path is a folder itself.
        PermissionError: the file is not writable.
    """
    if not path.resolve().parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write")
    if not os.access(path if path.exists() else path.resolve().parent, os.W_OK):
        raise PermissionError(f"{path} is not writable; name another file")


def check_replaceable(path: Path, kind: str) -> None:
    """Check that a page or picture can be written, and that it replaces only a file of its kind.

    An empty file may be replaced too.

    Args:
        path: the file that will be written.
        kind: "HTML", "SVG" or "PNG".

    Raises:
        ValueError: the file contains something else, for example a policy or records; or as in
            `check_writable`.
        OSError: the file cannot be read or is not writable.
    """
    check_writable(path)
    if not path.is_file():
        return
    with open_to_read(path) as file:
        content = file.read(_PORTION)
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip().lower()  # an editor may add a BOM
    if content and not start.startswith(_BEGINNINGS[kind]):
        raise ValueError(
            f"{path} exists and does not begin like {kind}, so nothing replaces it: "
            "name another file"
        )


def refuse_to_write_over(
    folder: Path, names: Iterable[str], without: str, refused: type[RuntimeError]
) -> None:
    """Check that a folder contains no files that a new run or tournament would overwrite.

    Args:
        folder: the folder.
        names: the names of the files that would be written.
        without: a phrase for the error message that says what the folder lacks, such as "no
            tournament".
        refused: the class of the error.

    Raises:
        refused: the folder contains one of the files.
    """
    for name in names:
        if (folder / name).exists():
            raise refused(
                f"{folder} has a {name}, but {without}: name another folder, so that nothing is "
                "overwritten"
            )


def append_whole(path: Path, content: bytes, *, ours: bool = False) -> None:
    """Append all of the content to a file, or nothing. A pipe without a reader raises an error.

    Args:
        path: the file, which is created if it does not exist.
        content: the bytes.
        ours: whether the file belongs to a run or tournament. If so, no link is followed.

    Raises:
        OSError: the disk is full or not writable. The file keeps its old length.
    """
    opener = _opener(_NO_LINK if ours else 0)
    with _named(path), open(path, "ab", buffering=0, opener=opener) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a pipe, or /dev/stdout
            if _AT_ONCE:
                os.set_blocking(file.fileno(), True)  # the reader of a pipe may be slow
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
    """Write text with `write_bytes`, as UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically: `path` always contains either the old or the new content.

    If `path` is a link, the file replaces the link. The target of the link is unchanged.

    Raises:
        OSError: the disk is full or not writable. The old content at `path` is unchanged.
    """
    # The name contains a random number instead of the process id, because another thread, or a
    # process on another machine, may have the same process id.
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
    """Add the file's name to disk errors, because errors in writes do not contain the name."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files that a killed process left behind.

    Only files with names of the form that `write_bytes` creates are removed, because the folder may
    also contain files of the user.
    """
    name = f".*.[0-9]*{_HALF}"
    for path in [*folder.glob(name), *folder.glob(f"*/{name}")]:
        if path.is_file():
            path.unlink(missing_ok=True)
