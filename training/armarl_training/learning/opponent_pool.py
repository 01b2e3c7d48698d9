"""The pool of opponents. In each game with opponents, they play all sides but the learner's.

A running game stores the slots of its opponents (their indices in the pool). A slot therefore keeps
its player while a game uses the slot. The first slots contain the players of the configuration, in
their order. Then come earlier versions of the policy, which have `pool_size` + 1 slots. In a full
pool, the oldest version gets no new games. When its last game has ended, the next version takes its
slot.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.environments.seat_loops import LEARNER
from armarl.players.player_specs import Spec, as_spec
from armarl.policies.safetensors_file import PolicyError
from armarl.policies.saved_policy import load_policy, save_policy
from armarl.roster.make_player import make_player
from armarl_training.common.kept_policies import as_kept
from armarl_training.config.sections import OpponentConfig
from armarl_training.config.training_config import ConfigError
from armarl_training.learning.rates import RECENT_GAMES
from armarl_training.networks.torch_players import on_torch

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl.players.protocol import Player
    from armarl.policies.network_players import NetworkPlayer

EARLIER = "earlier"  # player name of all earlier versions of the policy


def training_player(name: str | Spec, game: Game, *, code: bool) -> Player:
    """Create a player by specification, for use in training.

    Args:
        name: the player specification.
        game: the game.
        code: whether to allow `module:Class`, which is imported.

    Raises:
        ValueError: the player does not exist, or it is a person, who cannot answer thousands of
            times a second.
        FileNotFoundError: the file of a policy does not exist.
    """
    if as_spec(name).base.name == "human":
        raise ValueError("a person cannot be asked in training; choose a player other than 'human'")
    return make_player(name, game, code=code)


def _refuse_namesakes(names: Sequence[str]) -> None:
    """Raise ConfigError if two players have the same name, because tables and curves show names."""
    for name, number in Counter(names).items():
        if number > 1:
            raise ConfigError(
                f"opponents.players: two players have the name {brief(name)}; a policy is named "
                "after its file or its run's folder, so rename one"
                + (
                    f" (earlier versions of the policy are named {EARLIER})"
                    if name == EARLIER
                    else ""
                )
            )


class OpponentPool:
    """The players of the configuration, and earlier versions of the policy, saved in a folder.

    Attributes:
        players: the player of each slot.
        snapshots: for each earlier version, in the order of the slots, the number of decisions
            that the learner had learned from when the version was saved.
    """

    def __init__(
        self, game: Game, config: OpponentConfig, folder: Path, *, code: bool = False
    ) -> None:
        """Create a pool without earlier versions.

        Args:
            game: the game.
            config: the settings of the opponents.
            folder: folder of the earlier versions.
            code: whether to allow players of the form `module:Class`, which are imported.

        Raises:
            ConfigError: a player does not exist, or two players have the same name.
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
        """Whether players of the pool ever play."""
        return self._config.share > 0

    @property
    def weights(self) -> list[float]:
        """The weight of each slot in the draw. Earlier versions share `earlier` equally."""
        weights = list(self._config.players.values())
        met = sorted(self.snapshots)[-self._config.pool_size :]
        share = self._config.earlier / max(len(met), 1)
        return weights + [share * (taken in met) for taken in self.snapshots]

    def draw(self, rng: np.random.Generator, games: int, sides: int) -> NDArray[np.int64]:
        """Draw the slot for each side but the learner's in new games, clockwise.

        Returns:
            The slots, shape (games, sides - 1). If the learner plays against itself in a game, all
            entries of the game's row are LEARNER.
        """
        theirs = rng.random(games) < self._config.share
        weights = np.array(self.weights)
        if weights.sum() == 0:  # no earlier version yet, and no other player
            return np.full((games, sides - 1), LEARNER)
        slots = rng.choice(weights.size, size=(games, sides - 1), p=weights / weights.sum())
        return np.where(theirs[:, None], slots, LEARNER)

    def lineups(self, rng: np.random.Generator, games: int) -> NDArray[np.int64]:
        """Draw the slot for each seat of new games, or LEARNER: shape (games, players).

        The learner plays at least one side, which is drawn at random.
        """
        if self._config.share == 0:
            return np.full((games, self._game.players), LEARNER)
        sides = np.array(self._game.sides)
        number = int(sides.max()) + 1
        own = rng.integers(number, size=games)
        # Column k is the side that is k places clockwise from the learner's side.
        held = np.full((games, number), LEARNER)
        held[:, 1:] = self.draw(rng, games, number)
        return np.take_along_axis(held, (sides - own[:, None]) % number, axis=1)

    def note(
        self,
        recent: dict[str, deque[float]],
        lineups: NDArray[np.int64],
        rewards: NDArray[np.floating[Any]],
    ) -> None:
        """Record the learner's returns in games that have ended, if it had opponents.

        Args:
            recent: the learner's latest returns, by opponent; updated.
            lineups: the slot in each seat, or LEARNER, shape (games, players).
            rewards: the return of each seat, shape (games, players).
        """
        for i in np.flatnonzero((lineups != LEARNER).any(axis=1)).tolist():
            seat = int(np.argmin(lineups[i]))  # LEARNER is less than any slot
            for name in {self.players[slot].name for slot in lineups[i] if slot != LEARNER}:
                returns = recent.setdefault(name, deque(maxlen=RECENT_GAMES))
                returns.append(float(rewards[i, seat]))

    def due(self, decisions: int, in_play: Callable[[], NDArray[np.int64]]) -> bool:
        """Return whether to add the policy to the pool now: it is time, and a slot is free.

        Args:
            decisions: number of decisions so far.
            in_play: function that returns the slots of all players in running games.
        """
        if not (self._config.share > 0 and self._config.earlier > 0):
            return False
        if decisions - max(self.snapshots, default=0) < self._config.snapshot_every:
            return False
        return not self._full or self._oldest not in in_play()

    def take(self, policy: NetworkPlayer, decisions: int) -> None:
        """Add the current policy to the pool. In a full pool it replaces the oldest version.

        Raises:
            OSError: the file of the policy could not be written. The pool is unchanged.
        """
        earlier = self._earlier(policy)
        self._write(earlier, decisions)
        if self._full:
            slot = self._oldest
            self.snapshots[slot - len(self._config.players)] = decisions
            self.players[slot] = earlier
        else:
            self.snapshots.append(decisions)
            self.players.append(earlier)

    def _write(self, earlier: NetworkPlayer, taken: int) -> None:
        save_policy(
            self._path(taken),
            self._game,
            earlier.tensors,
            earlier.activation,
            earlier.advice.advisers,
        )

    def save(self) -> dict[str, Any]:
        """Return the values for a checkpoint. The earlier versions are files in the folder.

        If the file of an earlier version has been removed, it is written again.

        Raises:
            OSError: a file could not be written.
        """
        for earlier, taken in zip(
            self.players[len(self._config.players) :], self.snapshots, strict=True
        ):
            if not self._path(taken).is_file():
                self._write(cast("NetworkPlayer", earlier), taken)
        return {"snapshots": self.snapshots}

    def restore(self, snapshots: Sequence[int]) -> None:
        """Restore the pool with the earlier versions that a checkpoint lists.

        Raises:
            ValueError: there are too many versions for the pool, or a version is listed twice.
            PolicyError: an earlier version is damaged, missing, or for another game.
        """
        if len(set(snapshots)) < len(snapshots) or len(snapshots) > self._config.pool_size + 1:
            raise ValueError(
                f"the pool must have at most {self._config.pool_size + 1} earlier versions, none "
                f"of them twice, got {snapshots}"
            )
        for path in map(self._path, snapshots):
            if not path.is_file():
                raise PolicyError(
                    f"{path} is missing; the run trains against this earlier version, so restore "
                    "the file from a copy of the folder to continue"
                )
        self.snapshots = list(snapshots)
        self.players[len(self._config.players) :] = [
            self._earlier(load_policy(self._path(taken), self._game)) for taken in self.snapshots
        ]

    def tidy(self) -> None:
        """Remove the files that neither the pool nor the newest checkpoint needs."""
        kept = {self._path(taken) for taken in self.snapshots}
        for path in self._folder.glob("*.safetensors"):
            ours = path.stem.isdecimal() and path == self._path(int(path.stem))
            if ours and path not in kept:
                with suppress(OSError):  # `path` is a folder, or the pool's folder is not writable
                    path.unlink()

    @property
    def _full(self) -> bool:
        return len(self.snapshots) > self._config.pool_size

    @property
    def _oldest(self) -> int:
        """The slot of the oldest version of the policy."""
        return len(self._config.players) + self.snapshots.index(min(self.snapshots))

    def _earlier(self, policy: NetworkPlayer) -> NetworkPlayer:
        return on_torch(policy, name=EARLIER, sample=True)

    def _path(self, taken: int) -> Path:
        return self._folder / f"{taken:012d}.safetensors"
