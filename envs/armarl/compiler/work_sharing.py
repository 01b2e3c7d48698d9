"""The compiled loop with which several threads take shares of a batch of games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON

# Indices of `progress`: the number of shares taken, the number of shares played, and the number of
# the call.
TAKEN, PLAYED, CALL = range(3)
_PATIENCE = 80_000  # number of polls before a thread sleeps, about 100 microseconds

_INTEGER = types.int64
_INTEGERS = types.Array(_INTEGER, 1, "C")


Body: TypeAlias = Callable[..., None]
"""The work for game `i` of a batch: `body(batch, i, thread)`. `thread` selects scratch rows that no
two threads share. A body may have one more parameter, `fixed` (`armarl.core.binding`)."""


# Numba has atomic operations only for GPUs, so the two for a CPU are defined here.


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_and_add(typing_context: Any, numbers: Any, i: Any, addend: Any) -> Any:
    """Do `numbers[i] += addend` atomically, for int64. Return the old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return _INTEGER(_INTEGERS, _INTEGER, _INTEGER), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing_context: Any, numbers: Any, i: Any) -> Any:
    """Load `numbers[i]` (int64) atomically, including a value that another thread has written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return _INTEGER(_INTEGERS, _INTEGER), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a pointer to `numbers[i]`. `numbers` and `i` are the first two arguments."""
    array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _fetch_and_add_alone(numbers: NDArray[np.int64], i: int, addend: int) -> int:
    """Do `_fetch_and_add` in plain Python, where one thread plays all games."""
    before = int(numbers[i])
    numbers[i] += addend
    return before


if PLAIN_PYTHON:
    _fetch_and_add, _load = _fetch_and_add_alone, lambda numbers, i: int(numbers[i])


def body(batch: Any, i: int, thread: int) -> None:
    """Stand in for the body that `armarl.core.binding` compiles into `take_shares`."""
    raise NotImplementedError


def take_shares(
    calls: NDArray[np.int64],
    progress: NDArray[np.int64],
    bounds: NDArray[np.int64],
    thread: int,
    batch: Any,
) -> None:
    """Play one share of a batch after another, until all are taken.

    Thread 0 then waits for the other threads. The other threads poll for the next call for a while,
    because waking a thread takes long.
    """
    if thread == 0:
        progress[CALL] = _fetch_and_add(calls, 0, 1) + 1
    shares = bounds.size - 1
    while True:
        share = _fetch_and_add(progress, TAKEN, 1)
        if share >= shares:
            break
        for i in range(bounds[share], bounds[share + 1]):
            body(batch, i, thread)
        _fetch_and_add(progress, PLAYED, 1)
    for _ in range(_PATIENCE):
        if thread == 0:
            if _load(progress, PLAYED) == shares:
                return
        elif _load(calls, 0) != progress[CALL]:
            return
