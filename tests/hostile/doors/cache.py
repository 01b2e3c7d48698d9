"""Fuzzer of the kernel cache: damaged entries."""

from __future__ import annotations

from functools import cache as once
from pathlib import Path
from typing import Any

import numba
import numpy as np

from armarl.compiler.kernel_cache import KernelCache
from doors import folder


def _sum(x: int, y: int) -> int:
    return x + y


@once
def _entry() -> tuple[Any, Any, Path, bytes]:
    entries = folder() / "cache"
    entries.mkdir()
    dispatcher = numba.njit(_sum)
    dispatcher._cache = KernelCache(dispatcher, entries)
    dispatcher(1, 2)
    (path,) = entries.iterdir()
    return dispatcher, dispatcher.signatures[0], path, path.read_bytes()


def cache(rng: np.random.Generator) -> str:
    """A damaged cache entry is not used."""
    dispatcher, signature, path, whole = _entry()
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
    path.write_bytes(content)
    found = dispatcher._cache.load_overload(signature, dispatcher.targetctx)
    if bytes(content) == whole:
        return "accepted"
    assert found is None, "a damaged entry was used"
    return "refused"
