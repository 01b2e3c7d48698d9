"""How several threads share a batch of games, within compiled code."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON

TAKEN, PLAYED, CALL = range(3)  # of `progress`: numbers of shares, and the number of the call
# How often a thread looks whether it may go on, before it goes to sleep: some 100 microseconds.
_PATIENCE = 80_000

_INTEGER = types.int64
_INTEGERS = types.Array(_INTEGER, 1, "C")


class Body(Protocol):
    """What happens to game `i` of a batch; `thread` chooses a row of what no two threads share."""

    def __call__(self, batch: Any, i: int, thread: int, /) -> None: ...


# Numba has such instructions for GPUs alone.


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_and_add(typing_context: Any, numbers: Any, i: Any, addend: Any) -> Any:
    """`numbers[i] += addend` in one step, for int64; returns what was there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return _INTEGER(_INTEGERS, _INTEGER, _INTEGER), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load(typing_context: Any, numbers: Any, i: Any) -> Any:
    """`numbers[i]`, int64, as it is now, whoever has written it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return _INTEGER(_INTEGERS, _INTEGER), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """To `numbers[i]`, the first two arguments."""
    array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _fetch_and_add_alone(numbers: NDArray[np.int64], i: int, addend: int) -> int:
    """The same in plain Python, where one thread plays all games."""
    before = int(numbers[i])
    numbers[i] += addend
    return before


if PLAIN_PYTHON:
    _fetch_and_add, _load = _fetch_and_add_alone, lambda numbers, i: int(numbers[i])


def body(batch: Any, i: int, thread: int) -> None:
    """Stands for the body that `take_shares` is compiled with (see `armarl.binding`)."""
    raise NotImplementedError


def take_shares(
    calls: NDArray[np.int64],
    progress: NDArray[np.int64],
    bounds: NDArray[np.int64],
    thread: int,
    batch: Any,
) -> None:
    """Play one share of the games of a batch after another, until all of them are taken.

    Thread 0 then waits for the others; and they for its next call, since to be woken takes long.
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
