"""Checks of a configuration before a run creates or writes anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armarl.common.messages import brief
from armarl.core.game import Game
from armarl.games.make_game import make_game
from armarl.players.advice import Advice
from armarl.policies.network_players import NetworkPlayer
from armarl.policies.saved_policy import load_policy
from armarl.workers.spread import reach
from armarl_training.common.hardware import multiplies_matrices, quicker_precision
from armarl_training.common.kept_policies import as_kept
from armarl_training.config.learner_kinds import is_from_outside
from armarl_training.config.training_config import ConfigError, TrainingConfig
from armarl_training.learners.ppo.incremental.suitability import few_legal, suit
from armarl_training.learning.opponent_pool import OpponentPool, training_player
from armarl_training.learning.rewards import check_reward
from armarl_training.learning.transfer import at_table


def check_players(
    config: TrainingConfig, folder: Path, *, code: bool = False
) -> tuple[Game, OpponentPool]:
    """Create the game and the opponents of a configuration, and check its other players.

    Args:
        config: the configuration.
        folder: folder with copies of the policies that are named by path, if the copies exist.
        code: whether to allow players, a learner and a reward of the form `module:name`,
            which are imported.

    Raises:
        ConfigError: the game, the reward or a player does not exist.
    """
    game = _game_of(config)
    try:
        check_reward(game, config.reward, code=code)
    except ValueError as error:
        raise ConfigError(f"reward: {brief(error, 1000)}") from error
    try:
        game.reward_kind(config.early_reward.reward or game.rewards[0])
    except ValueError as error:
        raise ConfigError(f"early_reward.reward: {brief(error, 1000)}") from error
    try:
        Advice(game, config.network.advisers)
    except ValueError as error:
        raise ConfigError(f"network.advisers: {brief(error, 1000)}") from error
    for setting, names in measures_and_teachers(config).items():
        for name in names:
            try:
                training_player(as_kept(folder, name), game, code=code)
            except (ValueError, FileNotFoundError) as error:
                raise ConfigError(f"{setting}: {brief(error, 1000)}") from error
    return game, OpponentPool(game, config.opponents, folder, code=code)


def measures_and_teachers(config: TrainingConfig) -> dict[str, tuple[str, ...]]:
    """Return the names of the anchors and the teacher, by the setting that names them."""
    named = {"evaluation.opponents": config.evaluation.opponents}
    if config.imitation.games:
        named["imitation.teacher"] = (config.imitation.teacher,)
    return named


def first_policy(config: TrainingConfig, game: Game) -> NetworkPlayer | None:
    """Load the policy of `start_from`, and transfer it to the game's options (see `transfer`).

    Returns:
        The policy, or None if `start_from` is not set.

    Raises:
        ConfigError: there is no such policy, or it is for another game.
    """
    if config.start_from is None:
        return None
    try:
        return at_table(load_policy(config.start_from), game)
    except (ValueError, FileNotFoundError) as error:
        raise ConfigError(f"start_from: {error}") from error


def _game_of(config: TrainingConfig) -> Game:
    try:
        game = make_game(config.game, **config.options)
    except (TypeError, ValueError, OSError) as error:  # OSError: no chart of that path, ...
        raise ConfigError(f"game or options: {brief(error, 1000)}") from error
    return game


def resolve_precision(config: TrainingConfig) -> TrainingConfig:
    """Return a configuration with the faster precision on this machine instead of `auto`.

    A run saves the result in its folder. Configurations of learners that do not read
    `ppo.precision` are returned unchanged.

    Raises:
        ConfigError: there is no such game.
    """
    reads = config.learner == "ppo" or is_from_outside(config.learner)
    if not reads or config.ppo.precision != "auto":
        return config
    game = _game_of(config)
    sparse = suit(config, game) and (few_legal(game) or not multiplies_matrices())
    return config.with_precision("float32" if sparse else quicker_precision(config.device))


def reach_cluster(config: TrainingConfig) -> None:
    """Connect to the cluster of a configuration, if it has one, before anything is written.

    With one shard, only the matches at the end of the training need the cluster. Without this
    function, nobody would notice a missing cluster before these matches.

    Raises:
        ImportError: Ray is not installed.
        ClusterError: the cluster cannot be reached.
    """
    if config.ray is not None:
        reach(config.ray)


@contextmanager
def enough_memory() -> Iterator[None]:
    """Turn a MemoryError into a ConfigError that names the settings that need memory."""
    try:
        yield
    except MemoryError as error:
        raise ConfigError(
            "environments, rollout_length and network need more memory than there is: "
            f"{brief(error)}"
        ) from error
