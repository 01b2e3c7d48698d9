"""Fuzzer of the kernel cache. Entries are damaged, or another user may have written them."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import socket
import stat
from contextlib import suppress
from functools import cache as once
from pathlib import Path
from typing import Any

import numba
import numpy as np

from armarl.compiler.cache_folders import Folders
from armarl.compiler.kernel_cache import keep
from doors import folder

_run = False  # whether a planted entry was executed


def _sum(x: int, y: int) -> int:
    return x + y


def _note_that_it_runs() -> None:
    global _run
    _run = True


class _Spy:
    def __reduce__(self) -> tuple[Any, ...]:
        return _note_that_it_runs, ()


@once
def _entry() -> tuple[Any, Any, Path, bytes]:
    entries = folder() / "cache"
    entries.mkdir()
    dispatcher = keep(numba.njit(_sum), folders=Folders((entries,), entries))
    dispatcher(1, 2)
    (path,) = entries.glob("[!.]*")
    return dispatcher, dispatcher.signatures[0], path, path.read_bytes()


def cache(rng: np.random.Generator) -> str:
    """Check that an entry is used only if it is whole and nobody else can have written it."""
    dispatcher, signature, path, whole = _entry()
    payload = pickle.dumps(_Spy())
    foreign = hashlib.sha256(payload).digest() + payload
    kinds = (whole, _damaged(whole, rng), foreign)
    content = kinds[rng.integers(3)]
    may_be_used = _place(path, content, rng, must_be_refused=content is foreign)
    found = dispatcher._cache.load_overload(signature, dispatcher.targetctx)
    _remove(path)
    assert not _run, "a planted entry was run"
    assert (found is not None) == (may_be_used and content == whole)
    return "refused" if found is None else "accepted"


def _damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(4)
        if kind == 0 and content:
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del content[rng.integers(len(content) + 1) :]
        elif kind == 2:
            content += rng.bytes(int(rng.integers(1, 100)))
        else:
            content = bytearray(rng.bytes(len(content)))
    return bytes(content)


def _place(path: Path, content: bytes, rng: np.random.Generator, *, must_be_refused: bool) -> bool:
    """Write an entry, or something else, to a path.

    Return whether only this user can have written it.
    """
    _remove(path)
    kind = rng.integers(8)
    if kind == 0 and hasattr(os, "mkfifo"):
        os.mkfifo(path)
        return False
    if kind == 1:
        path.mkdir()
        return False
    if kind == 2 and hasattr(socket, "AF_UNIX"):
        # Binding may fail, because the path may be too long for a socket.
        with socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.bind(str(path))
        return False
    file = path.with_name(".elsewhere") if kind == 3 else path
    file.write_bytes(content)
    mode = int(rng.integers(0o1000)) | stat.S_IRUSR
    if must_be_refused and os.name == "posix":
        mode |= (stat.S_IWGRP, stat.S_IWOTH)[rng.integers(2)]
    file.chmod(mode)
    is_own = True
    if hasattr(os, "getuid") and os.getuid() == 0:
        owner = int(rng.choice([0, 0, 0, 1, 12345]))
        os.chown(file, owner, int(rng.integers(3)))
        is_own = owner == 0
    if file != path:
        path.symlink_to(file)
        return False
    return is_own and not mode & (stat.S_IWGRP | stat.S_IWOTH)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
