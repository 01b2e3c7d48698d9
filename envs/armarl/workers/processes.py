"""Run jobs in worker processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from armarl.core import threads
from armarl.workers.jobs import Known, Work


def in_processes(work: Work, jobs: Sequence[Any], number: int) -> Generator[Any, None, None]:
    """Yield the result of `work` for every job, in order, from `number` processes.

    Raises:
        RuntimeError: a process was killed, a script without a `__main__` guard starts itself
            again, or a job contains a class or function that the processes cannot import.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(_GUARD)  # this is a worker process that runs the user's script again
    context = multiprocessing.get_context("spawn")
    each = max(1, min(threads.get_threads(), threads.available_cores() // number))
    with ProcessPoolExecutor(number, context, _prepare, (Known.here(), each)) as pool:
        with _without_ctrl_c():  # a process that starts here blocks Ctrl-C until `_prepare`
            futures = [pool.submit(_do, work, job) for job in jobs]
        try:
            for future in futures:
                yield future.result()
        except BrokenProcessPool as error:
            hint = _NOT_IN_A_MODULE if _is_interactive() else _GUARD
            raise RuntimeError(
                f"a worker process ended before its job was done: it was killed (perhaps the "
                f"machine ran out of memory), or it could not start. {hint}"
            ) from error
        except BaseException as error:  # such as Ctrl-C, or a caller that needs no more results
            _kill(pool)  # do not wait: a job may never end
            if isinstance(error, pickle.PicklingError):
                raise RuntimeError(f"{error}. {_NOT_IN_A_MODULE}") from error
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _kill(pool: ProcessPoolExecutor) -> None:
    """End the worker processes immediately. (Python 3.14 has `kill_workers` for this.)"""
    for process in list((pool._processes or {}).values()):
        process.kill()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Block Ctrl-C in a `with` block. Processes that start in it block Ctrl-C until `_prepare`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _do(work: Work, job: Any) -> Any:
    """Run a job. An error that cannot be pickled is replaced by a RuntimeError with its text."""
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
    "With several workers, each worker starts the script again, so its main code must be "
    "under `if __name__ == '__main__':`"
)

_NOT_IN_A_MODULE = (
    "Workers import the classes and functions that they need, so they cannot use those of a "
    "notebook or an interactive session: define them in a module, or use workers=1"
)


def _is_interactive() -> bool:
    """Return whether the main program is not a file, as in a notebook."""
    return not hasattr(sys.modules.get("__main__"), "__file__")


def _prepare(known: Known, threads_each: int) -> None:
    """Prepare a worker process: thread count, Ctrl-C, and registered players and games.

    Ctrl-C ends the worker without a message. The main process reports the end of the worker.
    """
    threads.set_threads(threads_each)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in a shell's background job
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, name="armarl-parent", daemon=True).start()
    known.learn()


def _end_with_parent() -> None:
    """End this process when its parent has ended. Otherwise this process would run forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
