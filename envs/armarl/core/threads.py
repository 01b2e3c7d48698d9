"""Run compiled loops over many games on several threads of this process.

The caller's thread and the worker threads take shares of a batch until none are left. A share is a
range of consecutive games. So no thread waits for one that started late or has longer games. The
loops run without Python's global interpreter lock (GIL). Each game is played by one thread, and its
results do not depend on other games, so the number of threads does not change any result. A caller
may play several batches at the same time, each from a separate thread. A forked process gets its
own worker threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.decorators import PLAIN_PYTHON
from armarl.compiler.work_sharing import PLAYED, TAKEN

Driver = Callable[..., None]
_NONE_LEFT = 2**62  # set as the number of the next share to stop all threads

# The minimum number of games per thread. With fewer games, calling another thread takes longer than
# playing the games in the caller's thread.
LEAST_GAMES = 64
LEAST_GAMES_OF_LIGHT_LOOPS = 512  # for loops that compute neither observations nor legal actions
MOST_THREADS = 256
LEAST_SHARE = 8  # minimum number of games in a share, except for the last share


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(number: int | None) -> None:
    """Set the number of threads that play batches of games. None uses all cores.

    The environment variable `ARMARL_THREADS` sets the initial number.

    Args:
        number: the number of threads, 1 to 256, or None.

    Raises:
        TypeError: the number is not an integer.
        ValueError: the number is below 1 or above 256.

    Example:
        >>> import armarl
        >>> from armarl.core.threads import get_threads
        >>> before = get_threads()
        >>> armarl.set_threads(2)
        >>> get_threads()
        2
        >>> armarl.set_threads(before)
    """
    global _threads
    if number is None:
        _threads = min(available_cores(), MOST_THREADS)
    else:
        _threads = whole_number("the number of threads", number, 1, MOST_THREADS)


def get_threads() -> int:
    """Return the number of threads that play batches of games.

    Example:
        >>> from armarl.core.threads import get_threads
        >>> 1 <= get_threads() <= 256
        True
    """
    return _threads


def threads_for(games: int, least: int | None = None) -> int:
    """Return the number of threads for a batch.

    If there are several threads, each has at least `least` games. None means LEAST_GAMES.
    """
    if PLAIN_PYTHON:
        return 1
    return max(1, min(_threads, games // (least or LEAST_GAMES)))


def most_threads_for(games: int, least: int | None = None) -> int:
    """Return the maximum number of threads for a batch with any setting of `set_threads`.

    Scratch memory for this number is enough, even if `set_threads` is called before the batch is
    played.
    """
    return max(1, min(MOST_THREADS, games // (least or LEAST_GAMES)))


@lru_cache
def _bounds(games: int, number: int, least: int) -> NDArray[np.int64]:
    """Return the index of the first game of each share, and the number of games as the last entry.

    Shares get smaller, so that the threads finish at about the same time. Shares are ranges, so
    that threads rarely work on neighbouring games, whose arrays share a cache line.
    """
    bounds = [0]
    while bounds[-1] < games:
        left = games - bounds[-1]
        share = max(left // (2 * number), least) if number > 1 else left
        bounds.append(bounds[-1] + min(share, left))
    return np.array(bounds)


def run(driver: Driver, games: int, batch: Any, *, least: int | None = None) -> None:
    """Call `driver` on each thread that plays a batch.

    Args:
        driver: `work_sharing.take_shares`, compiled for a body (see `armarl.core.batch_loops`).
        games: the number of games in the batch.
        batch: the first argument of the body.
        least: the minimum number of games per thread. None means LEAST_GAMES.
    """
    number = threads_for(games, least)
    workers = _workers()
    progress = np.zeros(3, np.int64)
    bounds = _bounds(games, number, min(LEAST_SHARE, least or LEAST_SHARE))
    shares, helpers = bounds.size - 1, _Helpers()
    try:
        for thread in range(1, number):
            workers.help(thread, driver, (workers.calls, progress, bounds, thread, batch), helpers)
        driver(workers.calls, progress, bounds, 0, batch)
        while progress[PLAYED] < shares:  # rare: the system has paused another thread
            if helpers.errors:
                raise helpers.errors[0]
            time.sleep(1e-5)
    finally:
        if progress[PLAYED] < shares:  # after Ctrl-C or an error, stop the other threads too
            progress[TAKEN] = _NONE_LEFT
            helpers.wait()


class _Helpers:
    """Lists of the starts, ends and errors of worker threads in one call of `run`."""

    def __init__(self) -> None:
        self.begun: list[None] = []  # lists, because appending to a list is atomic in Python
        self.ended: list[None] = []
        self.errors: list[Exception] = []

    def wait(self) -> None:
        """Wait until every thread that started has ended. Threads that start later find no work."""
        while len(self.ended) < len(self.begun):
            with suppress(KeyboardInterrupt):
                time.sleep(1e-4)


class _Workers:
    """Worker threads that wait for calls. They start a call faster than an executor's threads."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.number = 0
        self.calls = np.zeros(1, np.int64)  # the number of calls so far
        self._queue: SimpleQueue[tuple[Driver, tuple[Any, ...], _Helpers]] = SimpleQueue()

    def help(
        self, number: int, driver: Driver, arguments: tuple[Any, ...], helpers: _Helpers
    ) -> None:
        """Queue a call for the next free thread. The thread may find that no share is left."""
        if self.number < number:
            self.number += 1
            Thread(target=self._work, name=f"armarl-{self.number}", daemon=True).start()
        self._queue.put((driver, arguments, helpers))

    def _work(self) -> None:
        while True:
            driver, arguments, helpers = self._queue.get()
            helpers.begun.append(None)
            try:
                driver(*arguments)
            except Exception as error:  # the caller raises it
                helpers.errors.append(error)
            helpers.ended.append(None)
            del driver, arguments, helpers  # frees large arrays


def _workers() -> _Workers:
    """Return the worker threads of this process."""
    global _all_workers
    if _all_workers.process != os.getpid():
        _all_workers = _Workers()
    return _all_workers


def _threads_at_start() -> int:
    chosen = os.environ.get("ARMARL_THREADS")
    if chosen is None:
        return min(available_cores(), MOST_THREADS)
    if not chosen.isdecimal() or len(chosen) > 9 or not 1 <= int(chosen) <= MOST_THREADS:
        raise ValueError(f"ARMARL_THREADS must be 1 to {MOST_THREADS}, got {chosen[:20]!r}")
    return int(chosen)


_threads = _threads_at_start()
_all_workers = _Workers()
