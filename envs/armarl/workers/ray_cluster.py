"""Matches and tournaments on a cluster of Ray. Needs the package `ray`.

    from armarl.workers.ray_cluster import RayCluster

    play_tournament(game, players, deals=1000, workers=RayCluster("auto"), folder="runs/arena")

Every job is a task of Ray with a core of its own, whose worker may be killed, or its machine lost:
Ray begins it anew elsewhere, and a job's result is the same wherever it is done. Nodes that join
while it runs get jobs as well. All nodes must have the same ArmaRL, which is checked.
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

from armarl.common.numbers import whole_number
from armarl.compiler.kernel_cache import say
from armarl.core.threads import set_threads
from armarl.workers.jobs import ClusterError, Known, Work

_HOME = Path(__file__).resolve().parents[1]  # the folder of the package `armarl`
RETRIES = 5  # of a job whose worker or node died
_MOST_WORKERS = 100_000
_PAUSE = 1.0  # seconds, after which is asked whether nodes have joined
_PATIENCE = 10.0  # seconds that whoever has an address may take to answer


@dataclass
class Share:
    """What a worker has done.

    Attributes:
        jobs: how many.
        seconds: that they took.
    """

    jobs: int = 0
    seconds: float = 0.0


class RayCluster:
    """Workers of a cluster of Ray.

    Attributes:
        shares: what every worker has done, by its node's name and its process.
    """

    def __init__(
        self, address: str = "auto", workers: int | None = None, retries: int = RETRIES
    ) -> None:
        """Nothing is connected to before there are jobs, or `connect` is called.

        Args:
            address: "auto" is the cluster that this process or machine belongs to (`ray start`), or
                that RAY_ADDRESS names; "local" starts Ray on this machine; else `host:port`, or
                `ray://host:port` from outside of the cluster.
            workers: jobs at once; None: as many as there are cores, and some to wait for them.
            retries: how often a job is begun anew whose worker or node died.

        Raises:
            TypeError, ValueError: a number that is none, or out of range.
        """
        self.address = address
        self.workers = workers
        if workers is not None:
            whole_number("workers", workers, 1, _MOST_WORKERS)
        self.retries = whole_number("retries", retries, 0, _MOST_WORKERS)
        self.shares: dict[str, Share] = {}

    def results(self, work: Work, jobs: Sequence[Any]) -> Generator[Any, None, None]:
        """`work` of every job, in the order of the jobs.

        Raises:
            ClusterError: the cluster cannot be reached, or a job's workers died again and again.
            Exception: whatever `work` raises.
        """
        self.connect()
        task = ray.remote(num_cpus=1, max_retries=self.retries)(_do)
        known = ray.put((_sources(_package(work)), Known.here()))
        waiting = iter(enumerate(jobs))
        running: dict[Any, int] = {}
        done: dict[int, Any] = {}
        # After an error, jobs that are under way end by themselves, or with this process: where one
        # is cancelled that ends just then, Ray 2.60 aborts the process that asked.
        for number in range(len(jobs)):
            while number not in done:
                for k, job in islice(waiting, max(0, self._at_once() - len(running))):
                    running[task.remote(known, work, job)] = k
                for ref in ray.wait(list(running), timeout=_PAUSE)[0]:
                    done[running.pop(ref)] = self._result(ref)
            yield done.pop(number)

    def connect(self) -> None:
        """Connect now, and not before the first job: to hear early where nobody answers.

        Raises:
            ClusterError: the cluster cannot be reached.
        """
        if ray.is_initialized():  # the cluster that the caller has chosen
            return
        here = {"include_dashboard": False} if self.address == "local" else {}
        say(f"connecting to Ray at {self.address} ...")
        try:
            _knock(os.environ.get("RAY_ADDRESS", "") if self.address == "auto" else self.address)
            ray.init(self.address, log_to_driver=False, **here)
        except (OSError, OverflowError, RayError, RuntimeError, ValueError) as error:
            raise ClusterError(
                f"there is no cluster of Ray at {self.address!r} ({error}); start one with "
                "`ray start --head`, name another address, or take `local`"
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
                f"a job was begun {self.retries + 1} times, and its worker or node died each time, "
                f"for want of memory perhaps: {error}"
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
    """Do a job, in a worker of the cluster."""
    sources, known = asked
    if sources != _sources(_package(work)):
        raise ClusterError(
            f"node {platform.node()} has another ArmaRL ({_HOME}) than the process that "
            "asks: install the same on every node, so that all play the same"
        )
    set_threads(1)  # the core that the job has
    known.learn()
    begun = time.perf_counter()
    value = work(job)
    worker = f"{platform.node()}/{os.getpid()}"
    return _Result(value, worker, time.perf_counter() - begun)


def _knock(address: str) -> None:
    """Raise OSError where nobody listens at `host:port`; Ray would try for minutes.

    Raises:
        OverflowError: there is no such port.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()


def _package(work: Work) -> str:
    """The package that a function stands in, or the module."""
    return work.__module__.partition(".")[0]


@cache
def _sources(package: str) -> str:
    """A digest of the sources of this package, and of another one."""
    digest = sha256()
    for home in [_HOME, *getattr(sys.modules[package], "__path__", [])]:
        for path in sorted(Path(home).rglob("*.py")):
            digest.update(path.relative_to(home).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
