"""Compiled loops over many games, on several threads of this process.

The caller and waiting threads take shares of a batch, a few consecutive games each, until none are
left: so none waits for another that began late or has longer games. The loops run without the
interpreter's lock. A game is touched by one thread only and no loop looks from one game to another,
so the number of threads changes no result. Several batches may be played at once, each from a
thread of the caller's, and a forked process gets threads of its own.
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
_NONE_LEFT = 2**62  # in place of the number of the next share

# For each thread: with fewer, to call it takes longer than to play them.
LEAST_GAMES = 64
LEAST_GAMES_OF_LIGHT_LOOPS = 512  # those that neither observe nor look for legal actions
MOST_THREADS = 256
LEAST_SHARE = 8  # games that a thread takes at once


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(number: int | None) -> None:
    """Play batches of games on this many threads; None stands for all cores.

    The environment variable `ARMARL_THREADS` sets the same at the start.

    Raises:
        TypeError: the number is no integer.
        ValueError: it is below 1 or above MOST_THREADS.
    """
    global _threads
    if number is None:
        _threads = min(available_cores(), MOST_THREADS)
    else:
        _threads = whole_number("the number of threads", number, 1, MOST_THREADS)


def get_threads() -> int:
    """The number of threads on which batches of games are played."""
    return _threads


def threads_for(games: int, least: int | None = None) -> int:
    """The number of threads that play a batch: each has at least so many games."""
    if PLAIN_PYTHON:
        return 1
    return max(1, min(_threads, games // (least or LEAST_GAMES)))


def most_threads_for(games: int, least: int | None = None) -> int:
    """The threads that may ever play a batch: scratch for so many is enough, whatever
    `set_threads` says by the time at which the batch is played."""
    return max(1, min(MOST_THREADS, games // (least or LEAST_GAMES)))


@lru_cache
def _bounds(games: int, number: int, least: int) -> NDArray[np.int64]:
    """Where the shares of a batch begin, and its end: first large shares, then ever smaller ones.

    So the threads end together, and seldom work on neighbours, which lie in one line of the cache.
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
        driver: `shares.take_shares`, compiled for a body.
        games: number of games in the batch.
        batch: what the body takes.
        least: of the games for each thread; LEAST_GAMES if None.
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
        while progress[PLAYED] < shares:  # a thread has lost its core
            if helpers.errors:
                raise helpers.errors[0]
            time.sleep(1e-5)
    finally:
        if progress[PLAYED] < shares:  # Ctrl-C, or an error: no thread goes on behind our back
            progress[TAKEN] = _NONE_LEFT
            helpers.wait()


class _Helpers:
    """The threads that help with one call: which have begun and ended, and what went wrong."""

    def __init__(self) -> None:
        self.begun: list[None] = []  # lists, since adding to one is a single step of Python
        self.ended: list[None] = []
        self.errors: list[Exception] = []

    def wait(self) -> None:
        """Wait until all that have begun have ended; those to come will find nothing to do."""
        while len(self.ended) < len(self.begun):
            with suppress(KeyboardInterrupt):
                time.sleep(1e-4)


class _Workers:
    """Threads that wait for calls; quicker at hand than those of an executor."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.number = 0
        self.calls = np.zeros(1, np.int64)  # how many callers have made
        self._queue: SimpleQueue[tuple[Driver, tuple[Any, ...], _Helpers]] = SimpleQueue()

    def help(
        self, number: int, driver: Driver, arguments: tuple[Any, ...], helpers: _Helpers
    ) -> None:
        """Have a call made as soon as a thread is free; by then no share may be left."""
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
            except Exception as error:  # the caller tells it
                helpers.errors.append(error)
            helpers.ended.append(None)
            del driver, arguments, helpers  # large arrays


def _workers() -> _Workers:
    """The threads of this process."""
    global _all_workers
    if _all_workers.process != os.getpid():
        _all_workers = _Workers()
    return _all_workers


def _threads_at_start() -> int:
    chosen = os.environ.get("ARMARL_THREADS")
    if chosen is None:
        return min(available_cores(), MOST_THREADS)
    if not chosen.isdecimal() or len(chosen) > 9 or not 1 <= int(chosen) <= MOST_THREADS:
        raise ValueError(f"ARMARL_THREADS must be in 1 to {MOST_THREADS}, not {chosen[:20]!r}")
    return int(chosen)


_threads = _threads_at_start()
_all_workers = _Workers()
