"""The games in play, in shards that each have chance of their own, played here or on a cluster.

What a shard plays depends on itself, its number, the networks and the pool alone. So it plays the
same wherever it is played, and once more where a worker of the cluster died.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from armarl.common.files import CONFIG_FILE
from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.workers.spread import spread, workers_at
from armarl_training.common.process import settle
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learning.opponent_pool import OpponentPool
from armarl_training.learning.saving import Saved, section

Tensors = Mapping[str, NDArray[Any]]
Weights = Mapping[str, Any]  # arrays, or torch's tensors


class Games(Protocol):
    """A shard: games in play, who sits in them, and their chance.

    Attributes:
        recent: by opponent, the learner's last returns against it.
    """

    @property
    def recent(self) -> Mapping[str, Sequence[float]]: ...

    def in_play(self) -> NDArray[np.int64]:
        """The pool's slots of who sits in games under way; LEARNER is among them."""
        ...

    def play(self, networks: Weights, done: float) -> Any:
        """Play a rollout.

        Args:
            networks: the learner's weights by name, as it is agreed between it and its games.
            done: the part of the training that is over, in [0, 1].

        Returns:
            What is learned from; the next call may write into the same arrays.
        """
        ...

    def save(self) -> Saved:
        """All that its future depends on."""
        ...

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved.

        Raises:
            ValueError: it was saved with other numbers of games, or is damaged.
        """
        ...


# From the configuration, the game, the pool and the shard's number; a function that can be imported
Deal = Callable[[TrainingConfig, Game, OpponentPool, int], Games]


class Job(NamedTuple):
    """A rollout of a shard, for a worker of a cluster."""

    deal: Deal
    config: TrainingConfig
    pool: OpponentPool
    number: int  # of the shard
    saved: Saved
    networks: dict[str, Any]
    done: float


class Shards:
    """All games in play.

    Attributes:
        parts: the shards.
    """

    def __init__(self, deal: Deal, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        """Deal the games.

        Raises:
            ConfigError: they shall be played on a cluster, and Ray is not installed.
        """
        self._deal, self._config, self._pool = deal, config, pool
        self._cluster = None
        if config.ray is not None and config.shards > 1:
            try:
                self._cluster = workers_at(config.ray, config.shards)
            except ImportError as error:
                raise ConfigError(f"ray: {error}") from error
        self.parts = [deal(config, game, pool, number) for number in range(config.shards)]

    def play(self, networks: Weights, done: float) -> list[Any]:
        """A rollout of every shard; see `Games.play`.

        Raises:
            ClusterError: the cluster cannot be reached, or workers died again and again.
        """
        if self._cluster is None:
            return [part.play(networks, done) for part in self.parts]
        jobs = [
            Job(self._deal, self._config, self._pool, k, part.save(), dict(networks), done)
            for k, part in enumerate(self.parts)
        ]
        found: list[Any] = []
        # All have come back before any is put in place, so an error leaves all as they were.
        for played, saved in list(spread(play_shard, jobs, self._cluster)):
            self.parts[len(found)].restore(*saved)
            found.append(played)
        return found

    def recent(self) -> dict[str, float]:
        """Mean returns of the last games against each opponent."""
        returns: dict[str, list[float]] = {}
        for part in self.parts:
            for name, last in part.recent.items():
                returns.setdefault(name, []).extend(last)
        return {name: float(np.mean(last)) for name, last in sorted(returns.items())}

    def in_play(self) -> NDArray[np.int64]:
        """See `Games.in_play`."""
        return np.unique(np.concatenate([part.in_play().reshape(-1) for part in self.parts]))

    def save(self) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
        """The shards, as `games/NUMBER/NAME`, and their values."""
        arrays: dict[str, NDArray[Any]] = {}
        values: list[dict[str, Any]] = []
        for number, part in enumerate(self.parts):
            own, beside = part.save()
            arrays |= {f"games/{number}/{name}": array for name, array in own.items()}
            values.append(beside)
        return arrays, values

    def restore(self, tensors: Tensors, values: Sequence[Mapping[str, Any]]) -> None:
        """Be as it was when it was saved.

        Raises:
            ValueError: it was saved with another number of shards or games, or is damaged.
        """
        games = section(tensors, "games")
        numbers = {name.partition("/")[0] for name in games}
        wanted = {str(number) for number in range(len(self.parts))}
        if numbers != wanted or len(values) != len(wanted):
            raise ValueError(f"it has other shards than the {len(wanted)} of {CONFIG_FILE}")
        for number, part in enumerate(self.parts):
            part.restore(section(games, str(number)), values[number])


def play_shard(job: Job) -> tuple[Any, Saved]:
    """A rollout of a shard, and the shard behind it: in a worker of a cluster."""
    settle(job.config.threads)
    game = _game(job.config.game, json.dumps(job.config.options))
    part = job.deal(job.config, game, job.pool, job.number)
    part.restore(*job.saved)
    return part.play(job.networks, job.done), part.save()


@cache
def _game(name: str, options: str) -> Game:
    return make_game(name, **json.loads(options))


def flat(array: Any) -> Any:
    """The first two axes as one, also where there are no columns: nothing may be hidden."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
