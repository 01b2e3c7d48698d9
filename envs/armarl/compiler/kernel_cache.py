"""The disk cache of compiled kernels. It saves compiling them in every process.

A cache entry is machine code in a pickled envelope, and it is loaded and run as found. Anyone who
can write to the folder can run code as this user. So a folder is used only if no other user can
write to it or to any folder above it. Entries carry a checksum. Empty, truncated or damaged entries
are compiled again. Without a folder, or with a full disk, kernels are compiled in every process,
and a message says so.

Numba's own cache only checks the file of the function itself. It does not notice when a *callee* in
another file changes. Here the name of a cache entry depends on everything that the kernel is made
of (`fingerprint`).

Cache entries of many processes are linked into one process. Numba tells kernels of the same name
apart by a number that counts within a process. Closures share one name, whatever they close over,
so each gets a name of its own here. Otherwise one could be called in place of another.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from enum import EnumType
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_CHECKSUM_BYTES = 32
_OTHERS = stat.S_IWGRP | stat.S_IWOTH  # write permission of other users


def say(line: str) -> None:
    """Print a line to stderr, if there is one."""
    if sys.stderr is not None:
        shown = "".join(letter if letter.isprintable() else "?" for letter in line)
        print(f"armarl: {shown}", file=sys.stderr, flush=True)  # noqa: T201 (see `messages.tell`)


@cache
def _say_once(line: str) -> None:
    say(line)


# --- the folder ----------------------------------------------------------------------------------


def _from_environment(name: str) -> Path | None:
    """Return the absolute path in a variable. An empty variable counts as unset, as in XDG."""
    chosen = os.environ.get(name)
    if not chosen:
        return None
    if not Path(chosen).is_absolute():
        _say_once(f"{name} must be an absolute path, got {chosen!r}; it is ignored")
        return None
    return Path(chosen)


def _home() -> Path | None:
    with suppress(RuntimeError):  # no HOME, and no such user on this machine
        if (home := Path.home()).is_absolute():
            return home
    return None


def _folders() -> Iterator[Path]:
    """Yield the candidate cache folders, best first."""
    if chosen := _from_environment("ARMARL_CACHE_DIR"):
        yield chosen
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
    with suppress(OSError):  # there may be no folder for temporary files either
        yield Path(tempfile.gettempdir()).absolute() / f"armarl-{user}"


def _path_to(folder: Path) -> list[Path]:
    """Return the folders from the root down to this one."""
    return [*reversed(folder.parents), folder]


def fault_of(folder: Path) -> str | None:
    """Return the reason why others could change a folder's content. None means that they cannot.

    Only this user and root are trusted. Links on the path are checked, and so are their targets. If
    the folder does not exist yet, the folders above it are checked. A folder above it may be
    writable by all if its sticky bit is set, as in /tmp: then users can rename only their own
    files. On Windows modes tell nothing. There a user's profile is closed to others.
    """
    if not hasattr(os, "getuid"):
        return None
    trusted = {0, os.getuid()}
    real = folder.resolve()
    for step in (*_path_to(folder), *_path_to(real)):
        try:
            found = step.lstat()
        except FileNotFoundError:
            continue
        if found.st_uid not in trusted:
            return f"{step} belongs to another user"
        if stat.S_ISLNK(found.st_mode):
            continue
        if not stat.S_ISDIR(found.st_mode):
            return f"{step} is not a folder"
        shared = found.st_mode & _OTHERS
        if shared and (step == real or not found.st_mode & stat.S_ISVTX):
            return f"others can write to {step} (run chmod go-w to prevent this)"
    return None


def _make(folder: Path) -> None:
    """Make a folder and its parents, for this user alone, whatever the umask is."""
    for step in _path_to(folder):
        if not step.exists():
            step.mkdir(mode=0o700, exist_ok=True)


def choose_folder() -> Path | None:
    """Return the first folder that only this user can write to. Without one, warn and return None.

    If `ARMARL_CACHE_DIR` names a folder that cannot be used, a message says so as well.
    """
    faults = []
    for base in _folders():
        folder = base / "kernels"
        try:
            fault = fault_of(folder)
            if fault is None:
                folder = folder.resolve()  # no link is followed from here on
                _make(folder)
                fault = fault_of(folder)  # another user may have made it first
            if fault is None:
                tempfile.TemporaryFile(dir=folder).close()
                break
        except (OSError, ValueError, RuntimeError) as error:  # such as a null character, link loops
            fault = f"{folder}: {error}"
        faults.append(fault)
    else:
        folder = None
    if folder is None:
        say(f"no usable cache folder, so each process compiles the rules: {'; '.join(faults)}")
    elif faults and os.environ.get("ARMARL_CACHE_DIR"):
        say(f"compiled rules are cached in {folder.parent} instead: {'; '.join(faults)}")
    return folder


# --- fingerprints of kernels ---------------------------------------------------------------------

_EDITION = 2  # increase it when older cache entries must not be read
_COMPILERS = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
_KNOWN_BY_VERSION = ("builtins", "llvmlite", "math", "numba", "numba_cuda", "numpy")
_PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)


def fingerprint(dispatcher: Any) -> str:
    """Hash everything that the compiler sees of a kernel and of the kernels that it calls.

    This is their bytecode, their constants, the values of the global names that they use, and the
    versions of the compilers. So it also covers external games and the data that tables were read
    from, without a list of files. Editing a comment changes nothing.

    Raises:
        TypeError: a kernel uses a value of a kind that cannot be hashed here.
    """
    settings = [getattr(numba.config, name, None) for name in _SETTINGS]
    digest = hashlib.sha256(f"{_COMPILERS}{settings}".encode())
    _feed(dispatcher, set(), digest, {})
    return digest.hexdigest()[:32]


def _feed(value: Any, names: set[str], digest: Any, seen: dict[int, int]) -> None:
    """Add a value to the hash. For a module, add only the values of its attributes in `names`."""
    digest.update(f"{type(value).__name__}:".encode())
    if id(value) in seen:
        digest.update(str(seen[id(value)]).encode())
    elif isinstance(value, _PLAIN):
        digest.update(f"{value!r};".encode())
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype!r}{value.shape};".encode() + value.tobytes())
    elif isinstance(value, (tuple, list)):
        digest.update(f"{getattr(value, '_fields', '')}{len(value)};".encode())
        for item in value:
            _feed(item, names, digest, seen)
    elif isinstance(value, ModuleType):
        _feed_module(value, names, digest, seen)
    elif hasattr(value, "py_func"):  # a dispatcher for the CPU or a GPU
        seen[id(value)] = len(seen)
        digest.update(f"{_options(value)};".encode())
        _feed(value.py_func, names, digest, seen)
    elif isinstance(function := inspect.unwrap(value), FunctionType):  # unwraps an intrinsic
        seen[id(value)] = len(seen)
        _feed_function(function, digest, seen)
    elif isinstance(value, types.Type):
        digest.update(f"{value!r};".encode())
    elif isinstance(value, EnumType):
        digest.update(f"{ {one.name: one.value for one in list[Any](value)} };".encode())
    elif isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
        fields = getattr(value, "_fields", "")  # a NamedTuple has fields
        digest.update(f"{value.__module__}.{value.__qualname__}{fields};".encode())
    else:
        raise TypeError(f"a kernel uses {value!r}, which cannot be hashed")


def _options(dispatcher: Any) -> dict[str, Any]:
    """Return a dispatcher's options. Sets are sorted, since their order differs by process."""
    return {
        name: sorted(value) if isinstance(value, (set, frozenset)) else value
        for name, value in dispatcher.targetoptions.items()
    }


def _feed_module(module: ModuleType, names: set[str], digest: Any, seen: dict[int, int]) -> None:
    digest.update(f"{module.__name__};".encode())
    if module.__name__.split(".")[0] not in _KNOWN_BY_VERSION:
        for name in sorted(names & vars(module).keys()):
            digest.update(f"{name}=".encode())
            _feed(vars(module)[name], names, digest, seen)


def _feed_function(function: FunctionType, digest: Any, seen: dict[int, int]) -> None:
    if function.__module__ and function.__module__.split(".")[0] in _KNOWN_BY_VERSION:
        digest.update(f"{function.__module__}.{function.__qualname__};".encode())
        return
    names = _feed_code(function.__code__, function.__doc__, digest)
    for name in sorted(names & function.__globals__.keys()):
        digest.update(f"{name}=".encode())
        _feed(function.__globals__[name], names, digest, seen)
    for cell in function.__closure__ or ():
        _feed(cell.cell_contents, names, digest, seen)
    _feed(function.__defaults__, names, digest, seen)


def _feed_code(code: CodeType, doc: str | None, digest: Any) -> set[str]:
    """Add bytecode and constants, without the docstring, to the hash. Return the names used."""
    names = set(code.co_names)
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)  # profilers change others
    known = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    digest.update(f"{known}{code.co_argcount},{flags};".encode() + code.co_code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _feed_code(constant, None, digest)
        elif doc is None or constant != doc:
            digest.update(f"{constant!r};".encode())
    return names


# --- cache entries -------------------------------------------------------------------------------


class KernelCache(_Cache):  # type: ignore[misc]
    """The cache entries of one kernel. A file per signature has a checksum and Numba's envelope."""

    def __init__(self, dispatcher: Any, folder: Path) -> None:
        self._dispatcher, self._folder = dispatcher, folder
        self._name: str = dispatcher.py_func.__qualname__
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        for path in self._folder.glob(f"{self._prefix}-*"):
            path.unlink(missing_ok=True)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel from the cache, or None if there is none."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        if not self._enabled or path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None  # usually not compiled yet
        checksum, payload = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        try:
            if hashlib.sha256(payload).digest() != checksum:
                raise ValueError("the checksum is wrong")
            return self._unpacked(payload, target_context)
        except Exception as error:  # Numba may raise anything, and the entry can be made again
            _say_once(f"recompiling a damaged cache entry in {self._folder} ({error})")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled kernel to the cache, as a whole or not at all."""
        path = self._path(sig, data.codegen)
        if not self._enabled or path is None or data.lifted or data.library.has_dynamic_globals:
            return
        try:
            payload = self._packed(data)
            _write(path, hashlib.sha256(payload).digest() + payload)
        except (OSError, RuntimeError, pickle.PicklingError) as error:  # Numba cannot pack all
            _say_once(f"compiled rules cannot be cached: {error}")

    def _packed(self, data: Any) -> bytes:
        """Return Numba's envelope of a compiled kernel."""
        packed: bytes = dumps(data._reduce())
        return packed

    def _unpacked(self, payload: bytes, target_context: Any) -> Any:
        return CompileResult._rebuild(target_context, *pickle.loads(payload))

    @property
    def _compiler(self) -> str:
        """Versions of further compilers that are not in every kernel's `fingerprint`."""
        return ""

    @property
    def _prefix(self) -> str:
        name = f"{self._dispatcher.py_func.__module__}.{self._name}"
        return "".join(c if c.isalnum() or c in "._" else "_" for c in name)[:150]

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """Return the file of a signature, or None if the kernel cannot be hashed.

        Numba calls this before it compiles, so a closure gets its own name in time.
        """
        try:
            content = fingerprint(self._dispatcher)
        except (TypeError, ValueError) as error:  # ValueError: an incomplete closure
            _say_once(f"{self._prefix} is compiled in each process: {error}")
            return None
        if (function := self._dispatcher.py_func).__closure__:
            function.__qualname__ = f"{self._name}_{content}"
        key = (_EDITION, sig, codegen.magic_tuple(), self._compiler, content)
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return self._folder / f"{self._prefix}-{digest}"


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all, even if other processes write it at the same time."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


FOLDER = choose_folder()


def keep(dispatcher: Any, cache: type[KernelCache] = KernelCache) -> Any:
    """Give a dispatcher a disk cache, if there is a cache folder."""
    if FOLDER is not None:
        dispatcher._cache = cache(dispatcher, FOLDER)
    return dispatcher
