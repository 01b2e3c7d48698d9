"""Jobs that can run on any worker, and the registered players and games that a worker needs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from armarl.games import catalogue
from armarl.players.registry import Factory, register_player, registered

Work = Callable[[Any], Any]


class ClusterError(RuntimeError):
    """A cluster that cannot be reached or failed to run a job. The message gives the reason.

    Example:
        >>> from armarl import ClusterError, RayCluster
        >>> try:
        ...     RayCluster("127.0.0.1:1").connect()  # no Ray cluster listens here
        ... except ClusterError as error:
        ...     print(str(error).partition(" (")[0])
        there is no Ray cluster at '127.0.0.1:1'
    """


@runtime_checkable
class Cluster(Protocol):
    """Workers on other machines, such as `armarl.workers.ray_cluster.RayCluster`."""

    def results(self, work: Work, jobs: Sequence[Any]) -> Generator[Any, None, None]:
        """Yield the result of `work` for every job, in the order of the jobs."""
        ...


Workers = int | Cluster  # a number of processes on this machine, or a cluster


class Known(NamedTuple):
    """The registered players and games of a process, which the process's workers also need."""

    players: list[tuple[str, Factory, bool]]
    games: tuple[catalogue.GameEntry, ...]

    @classmethod
    def here(cls) -> Known:
        """Return all players and games that are registered in this process."""
        return cls(registered(), catalogue.entries())

    def learn(self) -> None:
        """Register these players and games in this process."""
        for entry in self.games:
            catalogue.add(entry)
        for name, factory, around in self.players:
            register_player(name, factory, around=around, replace=True)


def check_workers(workers: Workers) -> None:
    """Check that `workers` is a number of processes or a cluster.

    Raises:
        TypeError: `workers` is neither.
        ValueError: the number is below 1.
    """
    if isinstance(workers, bool) or not isinstance(workers, int | Cluster):
        raise TypeError(f"workers must be a number of processes or a cluster, not {workers!r}")
    if isinstance(workers, int) and workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")
