"""Shards: groups of running games with their own random numbers, played here or on a cluster.

The games of a shard depend only on the shard's state and number, the networks and the pool. A shard
therefore plays the same games on any machine, even if its rollout is repeated because a worker of
the cluster died.
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
    """A shard: running games, their lineups (the player in each seat) and their random state.

    Attributes:
        recent: the learner's latest returns, by opponent.
    """

    @property
    def recent(self) -> Mapping[str, Sequence[float]]: ...

    def in_play(self) -> NDArray[np.int64]:
        """Return the pool slots of all players in running games. LEARNER may be among them."""
        ...

    def play(self, networks: Weights, done: float) -> Any:
        """Play a rollout.

        Args:
            networks: the learner's weights by name. Each kind of learner has its own names.
            done: the fraction of the training that is over, in [0, 1].

        Returns:
            The data to learn from. The next call may overwrite these arrays.
        """
        ...

    def save(self) -> Saved:
        """Return the full state of the shard."""
        ...

    def restore(self, arrays: Tensors, values: Mapping[str, Any]) -> None:
        """Restore the state that `save` returned.

        Raises:
            ValueError: the state was saved with another number of games, or is damaged.
        """
        ...


# Function that creates a shard from the configuration, the game, the pool and the shard's number.
# Workers import it, so it must be a module-level function or class.
Deal = Callable[[TrainingConfig, Game, OpponentPool, int], Games]


class Job(NamedTuple):
    """A rollout of a shard, for a worker of a cluster."""

    deal: Deal
    config: TrainingConfig
    pool: OpponentPool
    number: int  # number of the shard
    saved: Saved
    networks: dict[str, Any]
    done: float


class Shards:
    """All running games of a learner, as a list of shards.

    Attributes:
        parts: the shards.
    """

    def __init__(self, deal: Deal, config: TrainingConfig, game: Game, pool: OpponentPool) -> None:
        """Create all shards, and start their games.

        Raises:
            ConfigError: the configuration names a cluster, and Ray is not installed.
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
        """Play a rollout of every shard, see `Games.play`.

        Raises:
            ClusterError: the cluster cannot be reached, or workers died repeatedly.
        """
        if self._cluster is None:
            return [part.play(networks, done) for part in self.parts]
        jobs = [
            Job(self._deal, self._config, self._pool, k, part.save(), dict(networks), done)
            for k, part in enumerate(self.parts)
        ]
        found: list[Any] = []
        # Wait for all shards before restoring any, so that an error leaves all unchanged.
        for played, saved in list(spread(play_shard, jobs, self._cluster)):
            self.parts[len(found)].restore(*saved)
            found.append(played)
        return found

    def recent(self) -> dict[str, float]:
        """Return the mean return of the latest games against each opponent."""
        returns: dict[str, list[float]] = {}
        for part in self.parts:
            for name, last in part.recent.items():
                returns.setdefault(name, []).extend(last)
        return {name: float(np.mean(last)) for name, last in sorted(returns.items())}

    def in_play(self) -> NDArray[np.int64]:
        """See `Games.in_play`."""
        return np.unique(np.concatenate([part.in_play().reshape(-1) for part in self.parts]))

    def save(self) -> tuple[dict[str, NDArray[Any]], list[dict[str, Any]]]:
        """Return the arrays of all shards, named `games/NUMBER/NAME`, and their values."""
        arrays: dict[str, NDArray[Any]] = {}
        values: list[dict[str, Any]] = []
        for number, part in enumerate(self.parts):
            own, beside = part.save()
            arrays |= {f"games/{number}/{name}": array for name, array in own.items()}
            values.append(beside)
        return arrays, values

    def restore(self, tensors: Tensors, values: Sequence[Mapping[str, Any]]) -> None:
        """Restore the state that `save` returned.

        Raises:
            ValueError: the state was saved with another number of shards or games, or is damaged.
        """
        games = section(tensors, "games")
        numbers = {name.partition("/")[0] for name in games}
        wanted = {str(number) for number in range(len(self.parts))}
        if numbers != wanted or len(values) != len(wanted):
            raise ValueError(
                f"the games must have {len(wanted)} shards, as {CONFIG_FILE} does, got "
                f"{len(numbers)}"
            )
        for number, part in enumerate(self.parts):
            part.restore(section(games, str(number)), values[number])


def play_shard(job: Job) -> tuple[Any, Saved]:
    """Play a rollout of a shard in a worker. Return the rollout and the new state of the shard."""
    settle(job.config.threads)
    game = _game(job.config.game, json.dumps(dict(job.config.options)))
    part = job.deal(job.config, game, job.pool, job.number)
    part.restore(*job.saved)
    return part.play(job.networks, job.done), part.save()


@cache
def _game(name: str, options: str) -> Game:
    return make_game(name, **json.loads(options))


def flat(array: Any) -> Any:
    """Merge the first two axes. Other axes may have size 0, as in games without hidden features."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
