"""Jobs in worker processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from armarl.core import threads
from armarl.workers.jobs import Known, Work


def in_processes(work: Work, jobs: Sequence[Any], number: int) -> Generator[Any, None, None]:
    """Yield `work` of every job, in order, from `number` processes of this machine.

    Raises:
        RuntimeError: a process was killed, or a script without a `__main__` guard starts itself.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(_GUARD)  # this is such a process, and runs the script that started it
    context = multiprocessing.get_context("spawn")
    each = max(1, min(threads.get_threads(), threads.available_cores() // number))
    with ProcessPoolExecutor(number, context, _prepare, (Known.here(), each)) as pool:
        with _without_ctrl_c():  # they start here, and must be ready before one reaches them
            futures = [pool.submit(_do, work, job) for job in jobs]
        try:
            for future in futures:
                yield future.result()
        except BrokenProcessPool as error:
            raise RuntimeError(
                f"a worker process has ended before its work: it was killed, for want of memory "
                f"perhaps, or it could not start. {_GUARD}"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Ctrl-C waits meanwhile; in processes that start here, until they let it come."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do(work: Work, job: Any) -> Any:
    """Do a job; an error that cannot travel between processes is told by one that can."""
    try:
        return work(job)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            told = RuntimeError(f"{type(error).__name__}: {error}")
            for note in getattr(error, "__notes__", ()):
                told.add_note(note)
            raise told from None
        raise


_GUARD = (
    "With several workers a script is started once more in each of them, so what it does "
    "must stand under `if __name__ == '__main__':`"
)


def _prepare(known: Known, threads_each: int) -> None:
    """Make a worker process ready: players and games by name, its share of the cores, and Ctrl-C
    ends it without a word. (The process that waits for it tells of it.)
    """
    threads.set_threads(threads_each)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as of a shell's background jobs
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name="armarl-parent", daemon=True).start()
    known.learn()


def _end_with_parent() -> None:
    """End this process when the one that waits for it is gone: else it would stay for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
