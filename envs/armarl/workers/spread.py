"""Jobs spread over worker processes of this machine, or over a cluster.

A job is what a function that can be imported is called with; it depends on nothing else, so whoever
does it, and however often it is begun, its result is the same.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from armarl.core import threads
from armarl.workers.jobs import Work, Workers
from armarl.workers.processes import in_processes

if TYPE_CHECKING:
    from armarl.workers.ray_cluster import RayCluster


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
        yield from in_processes(work, jobs, min(workers, len(jobs)))


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
