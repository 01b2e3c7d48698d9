"""Make Numba's CUDA simulator sleep while it waits for its threads, instead of polling them."""

from __future__ import annotations

import threading
from typing import Any

from numba.cuda.simulator.kernel import BlockThread

LONGEST = 0.001  # seconds: a thread may come to wait for the others meanwhile


def is_alive(thread: Any) -> bool:
    if not thread.syncthreads_blocked:
        thread.join(LONGEST)
    return threading.Thread.is_alive(thread)


BlockThread.is_alive = is_alive
