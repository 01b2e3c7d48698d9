"""How the rules are compiled: one decorator, one cache (`kernel_cache`), one announcement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

from armarl.compiler.kernel_cache import keep, say

PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)
"""Whether the rules run as plain Python, under `NUMBA_DISABLE_JIT=1`: slowly, and a debugger gets
in. The games are the same, byte by byte."""

if PLAIN_PYTHON:
    np.seterr(over="ignore")  # compiled arithmetic on uint64 wraps without a word as well

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_ANY_ORDER = frozenset({"reassoc", "nsz", "contract"})  # LLVM's words

F = TypeVar("F", bound=Callable[..., Any])


def kernel(
    function: F, *, inline: bool = False, entry: bool = True, freedom: frozenset[str] = frozenset()
) -> F:
    """Compile a rule on first use. Kernels use no allocation, no exception and no Python object.

    Numba's runtime is left out: it would count references to every array that a kernel touches,
    which takes longer than many a rule. Nothing that allocates compiles without it. `freedom` is
    what LLVM may do to floating-point arithmetic.
    """
    if PLAIN_PYTHON:
        return function
    options: dict[str, Any] = {"forceinline": inline, **_OPTIONS}
    if not entry:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if freedom:
        options["fastmath"] = set(freedom)
    return cast(F, keep(numba.njit(**options)(function)))


def inlined(function: F) -> F:
    """A kernel that is compiled into its callers, for what innermost loops call.

    A call hands over seven numbers for each array. But it is compiled again in each of them: mind
    the time of the first use.
    """
    return kernel(function, inline=True)


def part(function: F) -> F:
    """An `inlined` kernel that nothing but kernels call: no entry from Python is made for it."""
    return kernel(function, inline=True, entry=False)


def summed(function: F) -> F:
    """An `inlined` kernel whose sums may be taken in any order, and so many numbers at a time.

    For learning alone: on another kind of processor the last digits may be others.
    """
    return kernel(function, inline=True, freedom=_ANY_ORDER)


def compared(function: F) -> F:
    """The same for the largest of many numbers, where one that is none may be passed over."""
    return kernel(function, inline=True, freedom=_ANY_ORDER | {"nnan"})


def merged(function: F) -> F:
    """A kernel that becomes part of its callers' source before they are compiled.

    For what has but one caller: it is neither optimised nor made machine code of by itself, which
    would be done again for the caller.
    """
    if PLAIN_PYTHON:
        return function
    return cast(F, numba.njit(inline="always", **_OPTIONS)(function))


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says on stderr, once per process, that kernels are not in the cache and are compiled."""

    made = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__ or ""  # made by `exec`: it has none
        if not self.made and module.startswith("armarl."):
            self.made = True
            say(
                "compiling what this needs for the first time on this machine (10 to 40 seconds; "
                "`armarl compile` compiles all there is) ..."
            )

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcement())
