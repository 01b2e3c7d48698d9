"""The disk cache of compiled kernels, so that not every process compiles them.

`cache_folders` chooses the folders that are searched, and the entries that are trusted. Each entry
has a checksum against accidental damage. Empty, truncated or damaged entries are compiled again.
Without a folder to write to, or with a full disk, kernels are compiled in every process, and a
message says so.

A process may load entries that many processes have compiled. Numba distinguishes kernels of the
same name by a number that is unique only within a process. The closures of one function have the
same name, whatever they close over, so each closure gets a unique name here. Otherwise one closure
could be called in place of another.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from armarl.compiler.cache_folders import FOLDERS, Folders, open_file, read_file, write_file
from armarl.compiler.cpu_levels import LEVELS, usable_levels
from armarl.compiler.fingerprints import fingerprint
from armarl.compiler.parts import Part
from armarl.compiler.progress import say_once

_EDITION = 4  # increase this number when older cache entries must not be read
_CHECKSUM_BYTES = 32

# --- one process compiles, the others wait -------------------------------------------------------

_LOCKS = ".locks"  # the name of the file in which each entry has a byte that a process can lock
_PAUSE = 0.05  # seconds between attempts to lock a byte
_patience = 300.0  # seconds that this process still waits for others, which may be suspended


@cache
def _lock_file(folder: Path) -> int:
    """Open a folder's lock file and keep it open, because closing it would release all locks.

    Raises:
        OSError: the folder is not writable, or others may have made the file.
    """
    descriptor = open_file(folder / _LOCKS, os.O_RDWR | os.O_CREAT, 0o600)
    if hasattr(os, "fchmod"):  # a user who can read the file can lock it and make this process wait
        with suppress(OSError):  # the file belongs to root
            os.fchmod(descriptor, 0o600)
    return descriptor


def _try_to_lock(descriptor: int, place: int) -> bool:
    """Lock a byte of a file. Return False if another process has locked it.

    The operating system releases the locks of a process when the process ends.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(descriptor, place, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):  # POSIX and Windows raise these for a locked byte
        return False
    return True


def _unlock(descriptor: int, place: int) -> None:
    if os.name == "nt":
        import msvcrt

        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock a cache entry, so that only this process compiles it. Wait while another has locked it.

    A process that compiles a kernel waits only for the kernels that this kernel calls, so two
    processes never wait for each other. If the entry cannot be locked, or the wait is too long, the
    entry is compiled without a lock.
    """
    global _patience
    try:
        descriptor = _lock_file(path.parent)
        place = int(path.name[-7:], 16)  # 7 digits of the hash: Windows locks only the first 2 GiB
        while not (is_locked := _try_to_lock(descriptor, place)) and _patience > 0:
            say_once("another process is compiling the same kernels; waiting for it ...")
            time.sleep(_PAUSE)
            _patience -= _PAUSE
    except OSError:
        is_locked = False
    try:
        yield
    finally:
        if is_locked:
            with suppress(OSError):
                _unlock(descriptor, place)


class _Compiling(threading.local):
    """The locks that this thread holds until the compilation of a kernel succeeds or fails."""

    locks: ExitStack | None = None


_compiling = _Compiling()

_levels = cache(usable_levels)

# --- cache entries -------------------------------------------------------------------------------


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache entries of one kernel: a file per signature, with a checksum and pickled code."""

    def __init__(self, dispatcher: Any, folders: Folders) -> None:
        self._dispatcher, self._folders = dispatcher, folders
        self._name: str = dispatcher.py_func.__qualname__
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(self._folders.write)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        if self._folders.write:
            for path in self._folders.write.glob(f"{self._prefix}-*"):
                path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel from the cache, or None if the cache does not contain it.

        If the entry is missing, it is locked until the dispatcher's `compile` ends, so that only
        this process compiles it.
        """
        target_context.refresh()
        names = self._entries(sig, target_context.codegen().magic_tuple())
        if not self._enabled or not names:
            return None
        for name in names:
            for folder in self._folders.read:
                if (found := self._load(folder / name, target_context)) is not None:
                    return found
        if self._folders.write is None or _compiling.locks is None:
            return None
        path = self._folders.write / names[0]
        _compiling.locks.enter_context(_alone(path))
        return self._load(path, target_context)  # another process may have compiled it by now

    def _load(self, path: Path, target_context: Any) -> Any:
        try:
            content = read_file(path)
        except FileNotFoundError:
            return None  # not compiled yet
        except OSError as error:
            say_once(f"a cache entry is not used: {error}")
            return None
        checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        try:
            if hashlib.sha256(payload).digest() != checksum:
                raise ValueError("the checksum is wrong")
            return self._unpacked(payload, target_context)
        except Exception as error:  # Numba may raise any error; then the kernel is compiled again
            say_once(f"recompiling a damaged cache entry in {path.parent} ({error})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to the cache, as a whole or not at all."""
        names = self._entries(sig, data.codegen.magic_tuple())
        if not self._enabled or not names or data.lifted or data.library.has_dynamic_globals:
            return
        if self._folders.write is None:
            reasons = "; ".join(self._folders.faults)
            say_once(f"no usable cache folder, so each process compiles the rules: {reasons}")
            return
        try:
            payload = self._packed(data)
            write_file(self._folders.write / names[0], hashlib.sha256(payload).digest() + payload)
        except (OSError, RuntimeError, pickle.PicklingError) as error:  # some kernels do not pickle
            say_once(f"compiled rules cannot be cached: {error}")

    def _packed(self, data: Any) -> bytes:
        """Return a compiled kernel as bytes, pickled by Numba."""
        packed: bytes = dumps(data._reduce())
        return packed

    def _unpacked(self, payload: bytes, target_context: Any) -> Any:
        saved = pickle.loads(payload)
        if isinstance(self._dispatcher, Part):
            return self._dispatcher.rebuilt(target_context, saved)
        return CompileResult._rebuild(target_context, *saved)

    @property
    def _compiler(self) -> str:
        """The versions of compilers that `fingerprint` omits. Subclasses override this property."""
        return ""

    @property
    def _prefix(self) -> str:
        name = f"{self._dispatcher.py_func.__module__}.{self._name}"
        return "".join(c if c.isalnum() or c in "._" else "_" for c in name)[:150]

    def _targets(self, target: tuple[str, str, str]) -> list[tuple[str, str, str]]:
        """Return the targets whose machine code runs here: the given target, then usable levels.

        A target is the triple, processor and features for which Numba compiles. A level stands for
        many processors (`cpu_levels`). A process that compiles for a level uses no other target,
        because its entries are for all machines of that level.
        """
        if target[1] in LEVELS:
            return [target]
        return [target, *((target[0], level, "") for level in _levels())]

    def _entries(self, sig: Any, target: Any) -> list[str]:
        """Return the file names of a signature, best first; none if the kernel cannot be hashed.

        A new entry gets the first name. Numba looks for an entry before it compiles, so this method
        also gives a closure its unique name.
        """
        try:
            content = fingerprint(self._dispatcher)
        except (TypeError, ValueError) as error:  # ValueError: an incomplete closure
            say_once(f"the kernel {self._prefix} is compiled in each process: {error}")
            return []
        if (function := self._dispatcher.py_func).__closure__:
            function.__qualname__ = f"{self._name}_{content}"
        keys = [(_EDITION, sig, one, self._compiler, content) for one in self._targets(target)]
        digests = (hashlib.sha256(repr(key).encode()).hexdigest()[:32] for key in keys)
        return [f"{self._prefix}-{digest}" for digest in digests]


def keep(
    dispatcher: Any, cache: type[KernelCache] = KernelCache, folders: Folders | None = None
) -> Any:
    """Give a dispatcher a disk cache. Return the dispatcher."""
    compile = dispatcher.compile

    def compile_alone(sig: Any) -> Any:
        outer = _compiling.locks
        with ExitStack() as _compiling.locks:
            try:
                return compile(sig)
            finally:
                _compiling.locks = outer

    dispatcher._cache = cache(dispatcher, folders or FOLDERS)
    dispatcher.compile = compile_alone
    return dispatcher
