"""The compiled loop with which several threads take shares of a batch of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON

# Indices into `progress`: the number of shares taken, the number of shares played, and the running
# number of the current call.
TAKEN, PLAYED, CALL = range(3)
_PATIENCE = 80_000  # number of polls before a thread sleeps, about 100 microseconds
_LINE, _MOST_LINES = 64, 16  # bytes of a cache line; maximum number of lines to prefetch per row
_AHEAD = 2  # number of games from the game being played to the game being prefetched

_INTEGER = types.int64
_INTEGERS = types.Array(_INTEGER, 1, "C")
_PACKED = types.Array(types.int32, 2, "C")


Body: TypeAlias = Callable[..., None]
"""The work for game `i` of a batch: `body(batch, i, thread)`. `thread` selects scratch rows that no
two threads share. A body may have one more parameter, `fixed` (`armarl.core.binding`)."""


# Numba has no atomic operations for CPUs, and no prefetch, so they are defined here.


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_and_add(typing_context: Any, numbers: Any, i: Any, addend: Any) -> Any:
    """Do `numbers[i] += addend` atomically, for int64. Return the old value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return _INTEGER(_INTEGERS, _INTEGER, _INTEGER), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing_context: Any, numbers: Any, i: Any) -> Any:
    """Load `numbers[i]` (int64) atomically, to see the values that other threads have written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return _INTEGER(_INTEGERS, _INTEGER), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a pointer to `numbers[i]`. `numbers` and `i` are the first two arguments."""
    array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, batch: Any, i: Any) -> Any:
    """Start to load the state of game `i`, and its packed mask if `batch` has packed masks.

    In a large batch, the state and the mask are not in the processor's nearest caches. A prefetch
    hides the time that they take to arrive. It never fails, so `i` may be beyond the last game.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, half, word = ir.IntType(8), ir.IntType(32), ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), half, half, half])
        load = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for rows, value in _prefetched(builder, signature.args[0], arguments[0]):
            array = context.make_array(rows)(context, builder, value)
            step = builder.extract_value(array.strides, 0)  # negative in a reversed array
            data = builder.bitcast(array.data, byte.as_pointer())
            row = builder.gep(data, [builder.mul(arguments[1], step)])
            size = word(rows.dtype.size) if rows != _PACKED else step
            lines = builder.udiv(builder.add(size, word(_LINE - 1)), word(_LINE))
            most = builder.icmp_unsigned("<", lines, word(_MOST_LINES))
            lines = builder.select(most, lines, word(_MOST_LINES))
            with cgutils.for_range(builder, lines) as loop:
                line = builder.gep(row, [builder.mul(loop.index, word(_LINE))])
                builder.call(load, [line, half(0), half(3), half(1)])  # read data into all caches
        return context.get_dummy_value()

    return types.void(batch, _INTEGER), generate


def _prefetched(builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return the types and values of the arrays in a batch whose rows are prefetched.

    These are the first array of records, which contains the states, and the packed masks, which
    are the only rows of int32. The processor's own prefetcher loads the other rows, because they
    are read or written from end to end.
    """
    arrays = list(_arrays(builder, kind, value))
    states = [found for found in arrays if isinstance(found[0].dtype, types.Record)]
    return states[:1] + [found for found in arrays if found[0] == _PACKED]


def _arrays(builder: Any, kind: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the type and value of each array in a tuple."""
    if isinstance(kind, types.Array):
        yield kind, value
    elif isinstance(kind, types.BaseTuple):
        for k, member in enumerate(kind):
            yield from _arrays(builder, member, builder.extract_value(value, k))


def _fetch_and_add_alone(numbers: NDArray[np.int64], i: int, addend: int) -> int:
    """Do `_fetch_and_add` in plain Python, where one thread plays all games."""
    before = int(numbers[i])
    numbers[i] += addend
    return before


if PLAIN_PYTHON:
    _fetch_and_add, _load = _fetch_and_add_alone, lambda numbers, i: int(numbers[i])
    _prefetch = lambda batch, i: None  # noqa: E731


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

    Thread 0, the caller's thread, then waits until all shares are played. The other threads poll
    for the next call for a while, because waking a sleeping thread takes long.
    """
    if thread == 0:
        progress[CALL] = _fetch_and_add(calls, 0, 1) + 1
    shares = bounds.size - 1
    while True:
        share = _fetch_and_add(progress, TAKEN, 1)
        if share >= shares:
            break
        for i in range(bounds[share], bounds[share + 1]):
            _prefetch(batch, i + _AHEAD)
            body(batch, i, thread)
        _fetch_and_add(progress, PLAYED, 1)
    for _ in range(_PATIENCE):
        if thread == 0:
            if _load(progress, PLAYED) == shares:
                return
        elif _load(calls, 0) != progress[CALL]:
            return
