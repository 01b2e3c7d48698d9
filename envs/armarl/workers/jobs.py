"""Jobs that can be done anywhere, and what a worker must know to do them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from armarl.games import catalogue
from armarl.players.registry import Factory, register_player, registered

Work = Callable[[Any], Any]


class ClusterError(RuntimeError):
    """A cluster that cannot be reached, or did not do a job; the message says why."""


@runtime_checkable
class Cluster(Protocol):
    """Workers on other machines, such as `armarl.workers.ray_cluster.RayCluster`."""

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


def check_workers(workers: Workers) -> None:
    """Raise ValueError for fewer than 1 process, TypeError for what is neither."""
    if isinstance(workers, bool) or not isinstance(workers, int | Cluster):
        raise TypeError(f"workers is a number of processes, or a cluster, not {workers!r}")
    if isinstance(workers, int) and workers < 1:
        raise ValueError(f"it takes at least 1 worker, not {workers}")
