"""Compiled loops over many games, on several threads of this process.

A batch is cut into parts of consecutive games, and every thread runs the same loop on its part. A
game is touched by one thread only and no loop looks from one game to another, so the number of
threads changes no result. Python's own threads serve, since the loops run without the interpreter's
lock: they survive a fork, and they may be used from several threads at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

LEAST_GAMES = 64  # in a part: with fewer, to hand the part over takes longer than to play it

_pool: tuple[int, int, ThreadPoolExecutor] | None = None  # process, threads, executor


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


def parts_of(games: int) -> int:
    """The number of parts into which a batch is cut."""
    return max(1, min(_threads, games // LEAST_GAMES))


def run(loop: Callable[..., None], games: int, *arguments: Any) -> None:
    """Call `loop(first, last, part, *arguments)` for each part of a batch.

    Args:
        loop: works on the games `first` to `last - 1`; `part` is the number of the part, for what
            no two threads may share.
        games: number of games in the batch.
    """
    parts = parts_of(games)
    if parts == 1:
        loop(0, games, 0, *arguments)
        return
    bounds = [games * part // parts for part in range(parts + 1)]
    others: list[Future[None]] = [
        _executor(parts).submit(loop, bounds[part], bounds[part + 1], part, *arguments)
        for part in range(1, parts)
    ]
    loop(0, bounds[1], 0, *arguments)
    for part, other in enumerate(others, 1):
        if other.cancel():  # not begun yet: the machine is busy with something else
            loop(bounds[part], bounds[part + 1], part, *arguments)
        else:
            other.result()


def _executor(parts: int) -> ThreadPoolExecutor:
    """The threads of this process; a forked one gets its own."""
    global _pool
    if _pool is None or _pool[0] != os.getpid() or _pool[1] < parts - 1:
        executor = ThreadPoolExecutor(parts - 1, thread_name_prefix="armarl")
        _pool = (os.getpid(), parts - 1, executor)
    return _pool[2]


def _threads_at_start() -> int:
    chosen = os.environ.get("ARMARL_THREADS")
    if chosen is None:
        return available_cores()
    if not chosen.isdecimal() or int(chosen) < 1:
        raise ValueError(f"ARMARL_THREADS must be a number from 1 on, not {chosen!r}")
    return int(chosen)


_threads = _threads_at_start()
