"""How the rules are compiled: one decorator, one cache, one announcement.

Numba caches machine code per source file and does not notice when a *callee* in another file
changes. The cache folder is therefore named after a hash of every source that may hold a kernel:
after any change a fresh folder is used, and no stale code can run.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event

PACKAGE = Path(__file__).parent
_SHARED = ("compiled.py", "bits.py", "randomness.py", "loops.py", "shares.py")


def _kernel_sources() -> list[Path]:
    """Every file of the game folders, and the shared files that hold kernels."""
    shared = [PACKAGE / name for name in _SHARED]
    return shared + sorted(path for path in PACKAGE.glob("*/*") if path.is_file())


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _kernel_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    """Where this user's caches live; `ARMARL_CACHE_DIR` overrides it."""
    if chosen := os.environ.get("ARMARL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "armarl"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "armarl"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "armarl"


def _writable_cache_folder() -> Path:
    """The cache folder of these sources; a private temporary one where the user's is read-only."""
    name = f"kernels-{_source_hash()}"
    folder = _user_cache_folder() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        user = os.getuid() if hasattr(os, "getuid") else "user"
        folder = Path(tempfile.gettempdir()) / f"armarl-{user}" / name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


CACHE_FOLDER = _writable_cache_folder()


def kernel(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Compile a rule on first use. Kernels use no allocation, no exception and no Python object."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(
        CACHE_FOLDER
    )  # read while decorating; the user's own setting stays
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
    finally:
        numba.config.CACHE_DIR = before


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel that is compiled into its callers, for what innermost loops call.

    A call hands over seven numbers for each array, and counts references to it. But it is compiled
    again in each of them: mind the time of the first use.
    """
    return kernel(function, inline=True)


def specialise(template: Callable[..., Any], name: str, verbs: dict[str, Any]) -> Any:
    """Compile a loop that is written once for every game, with one game's verbs in place.

    A closure would do the same, but Numba cannot cache a closure over compiled functions.
    """
    copy = types.FunctionType(template.__code__, {**template.__globals__, **verbs})
    copy.__name__ = copy.__qualname__ = name  # by which the cache knows it
    return kernel(copy)


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says on stderr, once per process, that kernels are not in the cache and are compiled."""

    made = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__ or ""  # made by `exec`: it has none
        if not self.made and module.startswith("armarl."):
            self.made = True
            print(
                "armarl: compiling the rules for this machine (once; 10 to 40 seconds) ...",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcement())
