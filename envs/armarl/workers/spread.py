"""Jobs spread over worker processes of this machine, or over a cluster.

A job is what a function that can be imported is called with; it depends on nothing else, so whoever
does it, and however often it is begun, its result is the same.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from armarl.core import threads
from armarl.core.game import Game
from armarl.games import catalogue
from armarl.players import (
    Factory,
    HumanPlayer,
    Player,
    PlayerLike,
    everybody,
    make_player,
    register_player,
    registered,
)

if TYPE_CHECKING:
    from armarl.workers.ray_cluster import RayCluster

Work = Callable[[Any], Any]


class ClusterError(RuntimeError):
    """A cluster that cannot be reached, or did not do a job; the message says why."""


@runtime_checkable
class Cluster(Protocol):
    """Workers on other machines, such as `armarl.ray_cluster.RayCluster`."""

    def results(self, work: Work, jobs: Sequence[Any]) -> Generator[Any, None, None]:
        """`work` of every job, in the order of the jobs."""
        ...


Workers = int | Cluster  # so many processes of this machine, or a cluster


class Known(NamedTuple):
    """What this process calls by name, and a worker must know as well."""

    players: list[tuple[str, Factory, bool]]
    games: tuple[catalogue.GameEntry, ...]

    @classmethod
    def here(cls) -> Known:
        """What has been registered in this process."""
        return cls(registered(), catalogue.entries())

    def learn(self) -> None:
        """Register it in this process."""
        for entry in self.games:
            catalogue.add(entry)
        for name, factory, around in self.players:
            register_player(name, factory, around=around, replace=True)


def spread(work: Work, jobs: Sequence[Any], workers: Workers) -> Generator[Any, None, None]:
    """`work` of every job in their order, by workers that know the same players and games.

    Raises:
        RuntimeError: a process was killed, or a script without a `__main__` guard starts itself
            over and over; of a cluster, see there.
    """
    if not isinstance(workers, int):
        yield from workers.results(work, jobs)
    elif min(workers, len(jobs)) <= 1:
        for job in jobs:  # a StopIteration of a job would end `map` without a word
            yield work(job)
    else:
        yield from _in_processes(work, jobs, min(workers, len(jobs)))


def workers_at(cluster: str | None, processes: int | None) -> Workers:
    """A cluster of Ray by its address, or so many processes of this machine.

    Args:
        processes: None: as many as there are cores; of a cluster, jobs at once.

    Raises:
        ImportError: Ray is not installed.
        ValueError: fewer than 1.
    """
    if cluster is None:
        return threads.available_cores() if processes is None else processes
    return _ray_cluster(cluster, processes)


def reach(cluster: str) -> None:
    """Connect to a cluster of Ray, or hear that nobody answers, before there are jobs for it.

    Raises:
        ImportError: Ray is not installed.
        ClusterError: the cluster cannot be reached.
    """
    _ray_cluster(cluster, None).connect()


def _ray_cluster(address: str, jobs_at_once: int | None) -> RayCluster:
    try:
        from armarl.workers.ray_cluster import RayCluster
    except ImportError as error:
        raise ImportError(
            f"a cluster of Ray needs one more package ({error}): pip install 'armarl[ray]'"
        ) from error
    return RayCluster(address, jobs_at_once)


def sent(players: Sequence[PlayerLike], game: Game, workers: Workers) -> list[PlayerLike]:
    """Players as jobs name them. On other machines nobody finds the files of this one, so that
    players go there as they are, with the weights of their policies."""
    if isinstance(workers, int):
        return list(players)
    return [make_player(player, game) for player in players]


def workers_for(players: Iterable[Player], workers: Workers) -> Workers:
    """The same; but where a person is asked, at this terminal, all is played in this process."""
    asked = (one for player in players for one in everybody(player))
    return 1 if any(isinstance(one, HumanPlayer) for one in asked) else workers


def check_workers(workers: Workers) -> None:
    """Raise ValueError for fewer than 1 process, TypeError for what is neither."""
    if isinstance(workers, bool) or not isinstance(workers, int | Cluster):
        raise TypeError(f"workers is a number of processes, or a cluster, not {workers!r}")
    if isinstance(workers, int) and workers < 1:
        raise ValueError(f"it takes at least 1 worker, not {workers}")


def _in_processes(work: Work, jobs: Sequence[Any], number: int) -> Generator[Any, None, None]:
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
