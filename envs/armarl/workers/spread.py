"""Run jobs in worker processes on this machine, or on a cluster.

A job is the argument of an importable function. The result of the function must depend only on the
job. The result is then the same on every worker, even if the job is started again.
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
    """Yield the result of `work` for every job, in order.

    The workers know the same registered players and games as this process.

    Raises:
        RuntimeError: a process was killed, a script without a `__main__` guard starts itself
            again, or a job contains a class or function that the processes cannot import.
        ClusterError: the cluster cannot be reached, or it failed to run a job.
    """
    if not isinstance(workers, int):
        yield from workers.results(work, jobs)
    elif min(workers, len(jobs)) <= 1:
        for job in jobs:  # `map` would end silently if a job raised StopIteration
            yield work(job)
    else:
        yield from in_processes(work, jobs, min(workers, len(jobs)))


def workers_at(cluster: str | None, processes: int | None) -> Workers:
    """Return a Ray cluster, or a number of processes on this machine.

    Args:
        cluster: address of a Ray cluster. None: use processes on this machine.
        processes: number of processes, or number of jobs at the same time on a cluster. None: the
            number of available cores; for a cluster, see `RayCluster`.

    Raises:
        ImportError: Ray is not installed.
        ValueError: `processes` is out of the range that `RayCluster` allows.
    """
    if cluster is None:
        return threads.available_cores() if processes is None else processes
    return _ray_cluster(cluster, processes)


def reach(cluster: str) -> None:
    """Connect to a Ray cluster before there are jobs for it, to learn early if it does not answer.

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
            f"a Ray cluster needs one more package ({error}): pip install 'armarl[ray]'"
        ) from error
    return RayCluster(address, jobs_at_once)
