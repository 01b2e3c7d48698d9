"""Levels of processors, for kernels that are compiled on one machine and run on others.

Numba compiles for this machine's processor, and the code may fail on another one. The x86-64 psABI
defines levels, such as x86-64-v3. Code for a level runs on every processor that has the features of
this level.
"""

from __future__ import annotations

import os
import sys

import llvmlite.binding as llvm

_LEVEL_2 = frozenset({"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
_LEVEL_3 = _LEVEL_2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}
_LEVEL_4 = _LEVEL_3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}

LEVELS = {"x86-64-v4": _LEVEL_4, "x86-64-v3": _LEVEL_3, "x86-64-v2": _LEVEL_2}
"""The LLVM features of each level, best level first."""


def usable_levels() -> tuple[str, ...]:
    """Return the levels that this machine's processor supports, best first.

    Example:
        >>> set(usable_levels()) <= set(LEVELS)
        True
    """
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know the features of this processor
        return ()
    found = {name for name, has_it in features.items() if has_it}
    return tuple(level for level, wanted in LEVELS.items() if wanted <= found)


def compile_for(level: str) -> None:
    """Compile all kernels of this process for a level.

    Raises:
        ValueError: the level is unknown, or this machine's processor does not support it.
        RuntimeError: Numba is already imported.
    """
    if level not in usable_levels():
        choices = ", ".join(usable_levels()) or "none"
        raise ValueError(
            f"this machine cannot compile for {level!r}; the levels that it can use are: {choices}"
        )
    if "numba" in sys.modules:
        raise RuntimeError("Numba is already imported; choose a CPU level before its first import")
    os.environ |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
