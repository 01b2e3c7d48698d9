"""Jobs that can be done anywhere, and what a worker must know to do them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from armarl.core.game import Game
from armarl.games import catalogue
from armarl.players.protocol import Player, everybody
from armarl.players.registry import Factory, PlayerLike, register_player, registered
from armarl.players.simple_players import HumanPlayer
from armarl.roster.make_player import make_player

if TYPE_CHECKING:
    pass


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
