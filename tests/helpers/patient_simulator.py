"""A faster CUDA simulator of Numba: threads that need not wait for each other run in turn.

The simulator starts a Python thread for each simulated thread, and polls these threads. Here the
simulated threads of a block run one after another in one Python thread. There are two exceptions:
kernels that synchronise threads, and code inside `at_once`. For these exceptions, the simulator
sleeps while it waits, instead of polling.

The loop over all actions in `pack` is compiled, as the rules are. As plain Python it took four
fifths of the time of a step. With `NUMBA_DISABLE_JIT=1` it remains plain Python.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.cuda.simulator.kernel import BlockManager, BlockThread
from numba.cuda.simulator.kernelapi import Dim3
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON, kernel
from armarl.core import batch_loops
from armarl.devices import cuda_kernels

# Seconds between two checks whether a thread has ended or waits for the others.
LONGEST = 0.001
run_at_once = BlockManager.run
compiled_pack = kernel(batch_loops.pack_singly)
_at_once = False


def is_alive(thread: Any) -> bool:
    if not thread.syncthreads_blocked:
        thread.join(LONGEST)
    return threading.Thread.is_alive(thread)


def run(block: Any, place: tuple[int, ...], *arguments: Any) -> None:
    """Run the threads of a block, in place of Numba's `BlockManager.run`."""
    if _at_once or "syncthreads" in block._f.__code__.co_names:
        run_at_once(block, place, *arguments)
        return
    # The simulator reads the position in the grid from the current Python thread.
    thread: Any = threading.current_thread()
    thread.blockIdx = Dim3(*place)
    for place_in_block in np.ndindex(*block._block_dim):
        thread.threadIdx = Dim3(*place_in_block)
        block._f(*arguments)


def pack(mask: NDArray[np.int8], packed: NDArray[np.int32]) -> None:
    compiled_pack(mask, packed)


@contextmanager
def at_once() -> Iterator[None]:
    """Run the threads of blocks at the same time, to find threads that disturb each other."""
    global _at_once
    _at_once = True
    try:
        yield
    finally:
        _at_once = False


BlockThread.is_alive = is_alive
BlockManager.run = run
if not PLAIN_PYTHON:
    cuda_kernels.OWN[batch_loops.pack] = pack
