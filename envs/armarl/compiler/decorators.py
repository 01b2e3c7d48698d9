"""Decorators that compile functions with Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from armarl.compiler.kernel_cache import keep
from armarl.compiler.parts import make_kernel, make_part

PLAIN_PYTHON = bool(numba.config.DISABLE_JIT)
"""True if the rules run as plain Python, under `NUMBA_DISABLE_JIT=1`. This is slow, but a debugger
can step into the rules. The games are the same, byte for byte."""

if PLAIN_PYTHON:
    np.seterr(over="ignore")  # compiled arithmetic on uint64 also wraps silently

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_ANY_ORDER = frozenset({"reassoc", "nsz", "contract"})  # LLVM's flags that allow any order of sums

F = TypeVar("F", bound=Callable[..., Any])


def kernel(
    function: F, *, inline: bool = False, entry: bool = True, freedom: frozenset[str] = frozenset()
) -> F:
    """Compile a function on first use. A kernel may not allocate, raise, or use Python objects.

    Kernels are compiled without Numba's runtime. The runtime would count references to every array
    that a kernel touches, and the counting takes longer than the work of many kernels. Code that
    allocates needs the runtime, so such code does not compile.

    Args:
        function: the function to compile.
        inline: True compiles the function into its callers.
        entry: whether Python may call the function. If so, the first call from Python also compiles
            it for Python. False is for functions that only kernels call.
        freedom: LLVM's fast-math flags for floating-point arithmetic.
    """
    if PLAIN_PYTHON:
        return function
    options: dict[str, Any] = {"forceinline": inline, **_OPTIONS}
    if freedom:
        options["fastmath"] = set(freedom)
    return cast(F, (make_kernel if entry else make_part)(function, keep, **options))


def direct(function: F, *arguments: Any) -> F:
    """Call a kernel, and return a function that calls its machine code without Numba's dispatcher.

    The dispatcher looks at the types of all arguments to choose the machine code. This takes more
    than half of the time of a short call.

    Args:
        function: a kernel.
        arguments: arguments for a first call. All later calls must have arguments of the same
            types, and all their arrays must be writable. Nothing checks this.
    """
    function(*arguments)
    if PLAIN_PYTHON:
        return function
    dispatcher = cast(Any, function)
    compiled = dispatcher.overloads[tuple(map(dispatcher.typeof_pyval, arguments))]
    return cast(F, compiled.entry_point)


def inlined(function: F) -> F:
    """Compile a kernel into its callers. Use it for functions that innermost loops call.

    This saves the cost of calls, which pass seven numbers per array. But the kernel is compiled
    again in each caller, so the first use takes longer.
    """
    return kernel(function, inline=True)


def part(function: F) -> F:
    """Compile an `inlined` kernel that only kernels call. It has no entry point for Python."""
    return kernel(function, inline=True, entry=False)


def summed(function: F) -> F:
    """Compile an `inlined` kernel whose sums may be computed in any order, to vectorise them.

    Use it only for learning. The last digits may differ on another kind of processor.
    """
    return kernel(function, inline=True, freedom=_ANY_ORDER)


def compared(function: F) -> F:
    """Compile a kernel like `summed` that finds the largest number. The kernel may ignore NaNs."""
    return kernel(function, inline=True, freedom=_ANY_ORDER | {"nnan"})


def merged(function: F) -> F:
    """Merge a kernel into its caller before the caller is compiled.

    Use it for functions with only one caller. Numba would otherwise compile and optimise such a
    function twice: separately and in the caller.
    """
    if PLAIN_PYTHON:
        return function
    return cast(F, numba.njit(inline="always", **_OPTIONS)(function))
