"""The cache folders of compiled kernels: the folders to search, and the folder for new kernels.

A cache entry is pickled machine code. This code is run without a check, so anyone who can write an
entry can run code as this user. Therefore only this user and root are trusted: a folder is used
only if no other user can write to it or to any folder above it, and an entry is read only if no
other user owns it or can write to it.

A folder need not be writable. A container image or an administrator can prepare a folder for all
users.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from armarl.compiler.progress import say, say_once

OF_PACKAGE = Path(__file__).resolve().parents[1] / "kernels"
"""The folder of kernels in the installed package. ArmaRL only reads it, unless `ARMARL_CACHE_DIR`
is the package's folder."""

_CHOSEN = "ARMARL_CACHE_DIR"
_MOST_LINKS = 40  # maximum number of links on the path to a folder, as in Linux
_OTHERS = stat.S_IWGRP | stat.S_IWOTH  # write permission of other users
# Flags that open a file without following a link, and without waiting for a pipe.
_CAREFULLY = 0
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _CAREFULLY |= getattr(os, _flag, 0)


class Folders(NamedTuple):
    """The folders of compiled kernels.

    Attributes:
        read: the folders that are searched for a kernel, in this order.
        write: the folder for new kernels, which is one of `read`. None if there is none.
        faults: for each folder that was tried without success, the reason why it is not writable.
    """

    read: tuple[Path, ...]
    write: Path | None
    faults: tuple[str, ...] = ()


# --- choice of folders ---------------------------------------------------------------------------


def _from_environment(name: str) -> Path | None:
    """Return the path in an environment variable, or None if it is unset, empty or relative."""
    chosen = os.environ.get(name)
    if not chosen:
        return None
    if not Path(chosen).is_absolute():
        say_once(f"{name} must be an absolute path, got {chosen!r}; the path is ignored")
        return None
    return Path(chosen)


def _home() -> Path | None:
    with suppress(RuntimeError):  # HOME is not set, and the user is unknown on this machine
        if (home := Path.home()).is_absolute():
            return home
    return None


def _own_folders() -> Iterator[Path]:
    """Yield the possible cache folders of this user, best first."""
    home = _home()
    if sys.platform == "win32":
        if local := _from_environment("LOCALAPPDATA") or (home and home / "AppData" / "Local"):
            yield local / "armarl"
    elif sys.platform == "darwin":
        if home:
            yield home / "Library" / "Caches" / "armarl"
    elif caches := _from_environment("XDG_CACHE_HOME") or (home and home / ".cache"):
        yield caches / "armarl"
    user = os.getuid() if hasattr(os, "getuid") else "user"
    with suppress(OSError):  # there may be no folder for temporary files
        yield Path(tempfile.gettempdir()).absolute() / f"armarl-{user}"


def choose_folders() -> Folders:
    """Return the folders of compiled kernels, up to the first one that can be written to.

    The folders are, in this order, the package's folder, the folder in `ARMARL_CACHE_DIR`, and the
    user's own folders. A folder that cannot be written to is still read. Several users may share
    the folder in `ARMARL_CACHE_DIR`, so it is created with the permissions of the umask. The user's
    own folder is created for this user only. If the folder in `ARMARL_CACHE_DIR` can be neither
    read nor written, a message says so.
    """
    read: list[Path] = []
    faults: list[str] = []
    if OF_PACKAGE.is_dir():
        if fault := fault_of(OF_PACKAGE):
            say(f"the kernels of this installation are not used: {fault}")
        else:
            read.append(OF_PACKAGE.resolve())
    chosen = _from_environment(_CHOSEN)
    candidates = [(chosen, 0o755)] if chosen else []
    candidates += [(folder, 0o700) for folder in _own_folders()]
    for base, mode in candidates:
        folder, fault = _made(base / "kernels", mode)
        if folder and folder not in read:
            read.append(folder)
        if not fault:
            return Folders(tuple(read), folder, tuple(faults))
        faults.append(fault)
        if base == chosen and not folder:
            say(f"{_CHOSEN} is not used: {fault}")
    return Folders(tuple(read), None, tuple(faults))


def _made(folder: Path, mode: int) -> tuple[Path | None, str | None]:
    """Create a folder if it does not exist.

    Returns:
        The folder's path without links, or None if the folder may not be used or does not exist.
        The reason why the folder is not writable, or None if it is writable.
    """
    safe = None
    try:
        if fault := fault_of(folder):
            return None, fault
        real = folder.resolve()  # no link is followed from here on
        safe = real if real.is_dir() else None
        for step in _path_to(real):
            if not step.exists():
                step.mkdir(mode=mode, exist_ok=True)
        if fault := fault_of(real):  # another user may have created it first
            return None, fault
        tempfile.TemporaryFile(dir=real).close()
        return real, None
    except (OSError, ValueError, RuntimeError) as error:  # such as a null character or a link loop
        return safe, f"{folder}: {error}"


# --- users who may write to a folder or file -----------------------------------------------------


def _path_to(folder: Path) -> list[Path]:
    """Return the folders from the root down to this one."""
    return [*reversed(folder.parents), folder]


def _passed(folder: Path) -> Iterator[Path]:
    """Yield every folder and link on the path to a folder, and the folder itself.

    The paths to the targets of links are included.

    Raises:
        OSError: there are too many links, perhaps in a loop.
    """
    folder = folder.absolute()
    at, left, links = Path(folder.anchor), [*reversed(folder.parts[1:])], 0
    yield at
    while left:
        if (name := left.pop()) == "..":
            at = at.parent  # `at` is not a link, and its parent was yielded before
            continue
        yield (step := at / name)
        if not step.is_symlink():
            at = step
            continue
        if (links := links + 1) > _MOST_LINKS:
            raise OSError(f"{folder}: too many links")
        target = step.readlink()
        if target.is_absolute():
            at, target = Path(target.anchor), target.relative_to(target.anchor)
        left += reversed(target.parts)


def _is_foreign(found: os.stat_result) -> bool:
    """Return whether a file, folder or link belongs to a user who is not trusted."""
    return found.st_uid not in {0, os.getuid()}


def fault_of(folder: Path) -> str | None:
    """Return the reason why others could change a folder's content, or None if they cannot.

    Only this user and root are trusted. The links on the path are checked, and also the folders and
    links on the path to their targets. If the folder does not exist yet, the folders above it are
    checked. A folder above it may be writable by all if its sticky bit is set, as in /tmp: then
    users can rename only their own files. On Windows nothing is checked, because file modes have no
    meaning there, and a user's profile is closed to other users.
    """
    if not hasattr(os, "getuid"):
        return None
    real = folder.resolve()
    for step in _passed(folder):
        try:
            found = step.lstat()
        except FileNotFoundError:
            continue
        if _is_foreign(found):
            return f"{step} belongs to another user"
        if stat.S_ISLNK(found.st_mode):
            continue
        if not stat.S_ISDIR(found.st_mode):
            return f"{step} is not a folder"
        shared = found.st_mode & _OTHERS
        if shared and (step == real or not found.st_mode & stat.S_ISVTX):
            first = f"remove {folder}, which they may have changed, and " if real.exists() else ""
            return f"others can write to {step} ({first}run chmod go-w {step})"
    return None


def _fault_of_file(found: os.stat_result) -> str | None:
    """Return the reason why others could have written an open file, or None if they could not."""
    if not stat.S_ISREG(found.st_mode):
        return "it is not a file"
    if not hasattr(os, "getuid"):
        return None
    if _is_foreign(found):
        return "it belongs to another user"
    return "others can write to it" if found.st_mode & _OTHERS else None


def open_file(path: Path, flags: int, mode: int = 0o644) -> int:
    """Open a file that only this user and root can have written. Return its descriptor.

    The function follows no link and does not wait for a pipe. It checks the open file, so that the
    file cannot be replaced between the check and the use.

    Raises:
        OSError: the file cannot be opened, or others may have written it.
    """
    descriptor = os.open(path, flags | _CAREFULLY, mode)
    if fault := _fault_of_file(os.fstat(descriptor)):
        os.close(descriptor)
        raise PermissionError(f"{path}: {fault}")
    return descriptor


def read_file(path: Path) -> bytes:
    """Return the content of a file that only this user and root can have written.

    Raises:
        OSError: as in `open_file`.
    """
    with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
        return file.read()


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all, even if other processes write it at the same time.

    Anything at `path`, such as a link or a file of another user, is replaced.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(open_file(temporary, flags), "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


FOLDERS = choose_folders()
