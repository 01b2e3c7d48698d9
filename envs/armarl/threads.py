"""Compiled loops over many games, on several threads of this process.

A batch is cut into parts of consecutive games, which waiting threads and the caller play; the loops
run without the interpreter's lock. A game is touched by one thread only and no loop looks from one
game to another, so the number of threads changes no result. Batches may be played from several
threads at once, and a forked process gets threads of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

# In a part: with fewer, to hand the part over takes longer than to play it.
LEAST_GAMES = 64
LEAST_GAMES_OF_LIGHT_LOOPS = 2048  # those that neither observe nor look for legal actions


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(number: int | None) -> None:
    """Play batches of games on this many threads; None stands for all cores.

    The environment variable `ARMARL_THREADS` sets the same at the start.

    Raises:
        ValueError: the number is below 1.
    """
    global _threads
    if number is not None and number < 1:
        raise ValueError(f"the number of threads must be 1 or more, not {number}")
    _threads = available_cores() if number is None else number


def get_threads() -> int:
    """The number of threads on which batches of games are played."""
    return _threads


def parts_of(games: int, least: int | None = None) -> int:
    """The number of parts into which a batch is cut, each of at least so many games."""
    return max(1, min(_threads, games // (least or LEAST_GAMES)))


def run(loop: Callable[..., None], games: int, *arguments: Any, least: int | None = None) -> None:
    """Call `loop(first, last, part, *arguments)` for each part of a batch.

    Args:
        loop: works on the games `first` to `last - 1`; `part` is the number of the part, for what
            no two threads may share.
        games: number of games in the batch.
        least: of them in a part; LEAST_GAMES if None.
    """
    number = parts_of(games, least)
    if number == 1:
        loop(0, games, 0, *arguments)
        return
    bounds = [games * part // number for part in range(number + 1)]
    parts = [
        _Part(loop, (bounds[part], bounds[part + 1], part, *arguments)) for part in range(number)
    ]
    _workers().take(parts[1:])
    for part in parts:
        part.play()  # the first one, and any other that no thread has begun: they may be busy
    for part in parts:
        part.wait()


class _Part:
    """A part of a batch, which whoever comes first plays."""

    def __init__(self, loop: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._loop, self._arguments = loop, arguments
        self._begun, self._done = Lock(), Lock()
        self._error: BaseException | None = None
        self._done.acquire()

    def play(self) -> None:
        if not self._begun.acquire(blocking=False):
            return
        try:
            self._loop(*self._arguments)
        except BaseException as error:  # a loop that does not compile: the caller is told
            self._error = error
        finally:
            self._done.release()

    def wait(self) -> None:
        self._done.acquire()
        if self._error is not None:
            raise self._error


class _Workers:
    """Threads that wait for parts; quicker at hand than those of an executor."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.number = 0
        self._queue: SimpleQueue[_Part] = SimpleQueue()

    def take(self, parts: list[_Part]) -> None:
        while self.number < len(parts):
            self.number += 1
            Thread(target=self._work, name=f"armarl-{self.number}", daemon=True).start()
        for part in parts:
            self._queue.put(part)

    def _work(self) -> None:
        while True:
            self._queue.get().play()


def _workers() -> _Workers:
    """The threads of this process."""
    global _all_workers
    if _all_workers.process != os.getpid():
        _all_workers = _Workers()
    return _all_workers


def _threads_at_start() -> int:
    chosen = os.environ.get("ARMARL_THREADS")
    if chosen is None:
        return available_cores()
    if not chosen.isdecimal() or int(chosen) < 1:
        raise ValueError(f"ARMARL_THREADS must be a number from 1 on, not {chosen!r}")
    return int(chosen)


_threads = _threads_at_start()
_all_workers = _Workers()
