"""Matches and tournaments on a Ray cluster. Needs the package `ray`.

    from armarl.workers.ray_cluster import RayCluster

    play_tournament(game, players, deals=1000, workers=RayCluster("auto"), folder="runs/arena")

Every job is a Ray task with one core. If its worker is killed or its machine is lost, Ray starts
the job again elsewhere. A job's result is the same on every machine. Nodes that join later also get
jobs. All nodes must have the same source files of ArmaRL, and every job checks this on its node.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError, RayTaskError

from armarl.common.messages import log
from armarl.common.numbers import whole_number
from armarl.core.threads import set_threads
from armarl.workers.jobs import ClusterError, Known, Work

_HOME = Path(__file__).resolve().parents[1]  # the folder of the package `armarl`
RETRIES = 5  # number of times that a job is started again after its worker or node died
_MOST_WORKERS = 100_000
_PAUSE = 1.0  # seconds between checks for new nodes
_PATIENCE = 10.0  # seconds to wait for an answer from an address


@dataclass
class Share:
    """The share of the work that one worker has done.

    Attributes:
        jobs: number of jobs.
        seconds: total time of these jobs.
    """

    jobs: int = 0
    seconds: float = 0.0


class RayCluster:
    """The workers of a Ray cluster. Needs the package `ray` (extra `ray`).

    Pass a `RayCluster` as the argument `workers` of `play_match` or `play_tournament`. If Ray is
    already initialised in this process, its cluster is used, whatever the address.

    Attributes:
        address: address of the cluster.
        workers: number of jobs at the same time, or None for twice the number of cores.
        retries: number of times that a job is started again after its worker or node died.
        shares: the share of each worker. A key is the node's name and the process id, `NODE/PID`.

    Example:
        >>> from armarl import RayCluster
        >>> cluster = RayCluster("local", workers=4)  # connects when it gets jobs
        >>> cluster.address, cluster.workers, cluster.shares
        ('local', 4, {})
    """

    def __init__(
        self, address: str = "auto", workers: int | None = None, retries: int = RETRIES
    ) -> None:
        """Store the settings. The connection is made at the first job or call of `connect`.

        Args:
            address: "auto" is the cluster that this process or machine belongs to (`ray start`), or
                the cluster in RAY_ADDRESS. "local" starts a new cluster on this machine. Otherwise
                `host:port`, or `ray://host:port` from outside the cluster.
            workers: number of jobs at the same time, 1 to 100,000. None: twice the number of cores,
                so that every free core finds a waiting job.
            retries: number of times that a job is started again after its worker or node died, 0 to
                100,000.

        Raises:
            TypeError: `workers` or `retries` is not an integer.
            ValueError: `workers` or `retries` is out of range.
        """
        self.address = address
        self.workers = workers
        if workers is not None:
            whole_number("workers", workers, 1, _MOST_WORKERS)
        self.retries = whole_number("retries", retries, 0, _MOST_WORKERS)
        self.shares: dict[str, Share] = {}

    def results(self, work: Work, jobs: Sequence[Any]) -> Generator[Any, None, None]:
        """Yield the result of `work` for every job, in the order of the jobs.

        Args:
            work: an importable function of one job.
            jobs: the jobs, which must be picklable.

        Raises:
            ClusterError: the cluster cannot be reached, a job's workers died too many times, or a
                node has other source files of ArmaRL.
            Exception: any error that `work` raises.
        """
        self.connect()
        task = ray.remote(num_cpus=1, max_retries=self.retries)(_do)
        known = ray.put((_sources(_package(work)), Known.here()))
        waiting = iter(enumerate(jobs))
        running: dict[Any, int] = {}
        done: dict[int, Any] = {}
        # After an error, running jobs are not cancelled: they finish, or end with this process.
        # Cancelling is unsafe: Ray 2.60 aborts the calling process if a job ends at that moment.
        for number in range(len(jobs)):
            while number not in done:
                for k, job in islice(waiting, max(0, self._at_once() - len(running))):
                    running[task.remote(known, work, job)] = k
                for ref in ray.wait(list(running), timeout=_PAUSE)[0]:
                    done[running.pop(ref)] = self._result(ref)
            yield done.pop(number)

    def connect(self) -> None:
        """Connect now instead of at the first job, to learn early if the cluster does not answer.

        Raises:
            ClusterError: the cluster cannot be reached.
        """
        if ray.is_initialized():  # the caller has already chosen a cluster
            return
        here = {"include_dashboard": False} if self.address == "local" else {}
        log(f"connecting to Ray at {self.address} ...")
        try:
            _knock(os.environ.get("RAY_ADDRESS", "") if self.address == "auto" else self.address)
            ray.init(self.address, log_to_driver=False, **here)
        except (OSError, OverflowError, RayError, RuntimeError, ValueError) as error:
            raise ClusterError(
                f"there is no Ray cluster at {self.address!r} ({error}); start one with "
                "`ray start --head`, give another address, or use `local`"
            ) from error

    def _at_once(self) -> int:
        cores = int(ray.cluster_resources().get("CPU", 0))
        return self.workers or max(1, 2 * cores)

    def _result(self, ref: Any) -> Any:
        try:
            result: _Result = ray.get(ref)
        except RayTaskError as error:
            raise error.cause from None
        except RayError as error:
            raise ClusterError(
                f"a job was started {self.retries + 1} times, and its worker or node died each "
                f"time, perhaps because memory ran out: {error}"
            ) from error
        share = self.shares.setdefault(result.worker, Share())
        share.jobs += 1
        share.seconds += result.seconds
        return result.value


class _Result(NamedTuple):
    value: Any
    worker: str
    seconds: float


def _do(asked: tuple[str, Known], work: Work, job: Any) -> _Result:
    """Run a job in a worker of the cluster."""
    sources, known = asked
    if sources != _sources(_package(work)):
        raise ClusterError(
            f"node {platform.node()} has ArmaRL sources ({_HOME}) that differ from those of the "
            "process that sent the job; install the same ArmaRL on every node, so that results do "
            "not differ"
        )
    set_threads(1)  # the job has one core
    known.learn()
    begun = time.perf_counter()
    value = work(job)
    worker = f"{platform.node()}/{os.getpid()}"
    return _Result(value, worker, time.perf_counter() - begun)


def _knock(address: str) -> None:
    """Check that a server listens at `host:port`, because Ray itself would try for minutes.

    Raises:
        OSError: no server listens there.
        OverflowError: the port number is out of range.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def _package(work: Work) -> str:
    """Return the name of the top-level package or module that defines a function."""
    return work.__module__.partition(".")[0]


@cache
def _sources(package: str) -> str:
    """Return a digest of the source files of `armarl` and of another package."""
    digest = sha256()
    for home in [_HOME, *getattr(sys.modules[package], "__path__", [])]:
        for path in sorted(Path(home).rglob("*.py")):
            digest.update(path.relative_to(home).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
