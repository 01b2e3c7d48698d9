"""The pool: who may hold the sides that the learner does not, drawn anew for every game.

Its slots keep their meaning, since running games remember them: first the players of the
configuration in their order, then the earlier selves. One more of these than new games are played
against: the oldest only finishes its games, and the next self takes its slot once it has.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.environments.seat_loops import LEARNER
from armarl.players.player_specs import Spec, as_spec
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import load_policy, save_policy
from armarl.roster.make_player import make_player
from armarl_training.common.kept_policies import as_kept
from armarl_training.config.training_config import ConfigError, OpponentConfig
from armarl_training.learning.rates import RECENT_GAMES
from armarl_training.networks.torch_players import on_torch

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.players.protocol import Player
    from armarl.policies.network_players import NetworkPlayer

EARLIER = "earlier"  # what earlier selves are called


def training_player(name: str | Spec, game: Game, *, code: bool) -> Player:
    """A player by specification, whoever can be asked thousands of times a second.

    Args:
        code: whether `module:Class` is imported.

    Raises:
        ValueError, FileNotFoundError: there is none, or it is a person.
    """
    if as_spec(name).base.name == "human":
        raise ValueError("a person cannot be asked in training: name another player than 'human'")
    return make_player(name, game, code=code)


def _refuse_namesakes(names: Sequence[str]) -> None:
    """Raise ConfigError where two of the players are called the same, in tables and curves."""
    for name, number in Counter(names).items():
        if number > 1:
            raise ConfigError(
                f"opponents.players: there are two of the name {brief(name)}: a policy is called "
                "by its file or its run's folder, so rename one"
                + (f"; earlier selves are called {EARLIER}" if name == EARLIER else "")
            )


class OpponentPool:
    """The players of the configuration, and earlier selves, each a saved policy in a folder.

    Attributes:
        players: who holds each slot.
        snapshots: when the earlier selves were taken, in decisions, in the order of their slots.
    """

    def __init__(
        self, game: Game, config: OpponentConfig, folder: Path, *, code: bool = False
    ) -> None:
        """A pool without earlier selves.

        Args:
            code: whether the configuration may name players as `module:Class`, which is imported.

        Raises:
            ConfigError: the configuration names a player that there is not.
        """
        self._game, self._config, self._folder = game, config, folder
        try:
            self.players: list[Player] = [
                training_player(as_kept(folder, name), game, code=code) for name in config.players
            ]
        except (ValueError, FileNotFoundError) as error:
            raise ConfigError(f"opponents.players: {brief(error, 1000)}") from error
        _refuse_namesakes([*(player.name for player in self.players), EARLIER])
        self.snapshots: list[int] = []

    @property
    def has_share(self) -> bool:
        """Whether its players ever hold a side."""
        return self._config.share > 0

    @property
    def weights(self) -> list[float]:
        """The weight of each slot; the earlier selves share theirs."""
        weights = list(self._config.players.values())
        met = sorted(self.snapshots)[-self._config.pool_size :]
        share = self._config.earlier / max(len(met), 1)
        return weights + [share * (taken in met) for taken in self.snapshots]

    def draw(self, rng: np.random.Generator, games: int, sides: int) -> NDArray[np.int64]:
        """The slots of those who hold the other sides of new games, clockwise: (games, sides - 1).

        All are LEARNER where the learner plays itself.
        """
        theirs = rng.random(games) < self._config.share
        weights = np.array(self.weights)
        if weights.sum() == 0:  # no earlier self yet, and nobody else
            return np.full((games, sides - 1), LEARNER)
        slots = rng.choice(weights.size, size=(games, sides - 1), p=weights / weights.sum())
        return np.where(theirs[:, None], slots, LEARNER)

    def lineups(self, rng: np.random.Generator, games: int) -> NDArray[np.int64]:
        """Who holds each seat of new games, a slot or LEARNER: (games, players).

        The learner holds one side at least, which is drawn.
        """
        if self._config.share == 0:
            return np.full((games, self._game.players), LEARNER)
        sides = np.array(self._game.sides)
        number = int(sides.max()) + 1
        own = rng.integers(number, size=games)
        # By how far round the table a side is from the learner's.
        held = np.full((games, number), LEARNER)
        held[:, 1:] = self.draw(rng, games, number)
        return np.take_along_axis(held, (sides - own[:, None]) % number, axis=1)

    def note(
        self,
        recent: dict[str, deque[float]],
        lineups: NDArray[np.int64],
        rewards: NDArray[np.floating[Any]],
    ) -> None:
        """Note the learner's returns in games that have ended, where it had opponents.

        Args:
            recent: by opponent, the learner's last returns; written.
            lineups: (games, players), who held each seat.
            rewards: (games, players).
        """
        for i in np.flatnonzero((lineups != LEARNER).any(axis=1)).tolist():
            seat = int(np.argmin(lineups[i]))  # LEARNER is less than any slot
            for name in {self.players[slot].name for slot in lineups[i] if slot != LEARNER}:
                returns = recent.setdefault(name, deque(maxlen=RECENT_GAMES))
                returns.append(float(rewards[i, seat]))

    def due(self, decisions: int, in_play: Callable[[], NDArray[np.int64]]) -> bool:
        """Whether it is time to take the policy into the pool, and there is a slot for it.

        Args:
            in_play: the slots of those who sit in games under way.
        """
        if not (self._config.share > 0 and self._config.earlier > 0):
            return False
        if decisions - max(self.snapshots, default=0) < self._config.snapshot_every:
            return False
        return not self._full or self._oldest not in in_play()

    def take(self, policy: NetworkPlayer, decisions: int) -> None:
        """Take the policy as it is now into the pool, for the oldest one if the pool is full."""
        save_policy(
            self._path(decisions),
            self._game,
            policy.tensors,
            policy.activation,
            policy.advice.advisers,
        )
        if self._full:
            slot = self._oldest
            self.snapshots[slot - len(self._config.players)] = decisions
            self.players[slot] = self._earlier(policy)
        else:
            self.snapshots.append(decisions)
            self.players.append(self._earlier(policy))

    def save(self) -> dict[str, Any]:
        """What a checkpoint keeps of the pool; the selves themselves lie in its folder."""
        return {"snapshots": self.snapshots}

    def restore(self, snapshots: Sequence[int]) -> None:
        """The pool as it was when it was saved, with earlier selves that were taken then.

        Raises:
            ValueError: they are more than the pool holds, or one is there twice.
            PolicyError: an earlier self is damaged, missing, or of another game.
        """
        if len(set(snapshots)) < len(snapshots) or len(snapshots) > self._config.pool_size + 1:
            raise ValueError(f"the pool holds {self._config.pool_size + 1} selves, not {snapshots}")
        for path in map(self._path, snapshots):
            if not path.is_file():
                raise PolicyError(
                    f"{path} is missing, an earlier self against which the run trains: put it "
                    "back (from a copy of the folder) to go on"
                )
        self.snapshots = list(snapshots)
        self.players[len(self._config.players) :] = [
            self._earlier(load_policy(self._path(taken), self._game)) for taken in self.snapshots
        ]

    def tidy(self) -> None:
        """Remove the selves that neither the pool nor the checkpoint just written needs."""
        kept = {self._path(taken) for taken in self.snapshots}
        for path in self._folder.glob("*.safetensors"):
            ours = path.stem.isdecimal() and path == self._path(int(path.stem))
            if ours and path not in kept:
                path.unlink()

    @property
    def _full(self) -> bool:
        return len(self.snapshots) > self._config.pool_size

    @property
    def _oldest(self) -> int:
        """The slot of the oldest self."""
        return len(self._config.players) + self.snapshots.index(min(self.snapshots))

    def _earlier(self, policy: NetworkPlayer) -> Player:
        return on_torch(policy, name=EARLIER, sample=True)

    def _path(self, taken: int) -> Path:
        return self._folder / f"{taken:012d}.safetensors"
