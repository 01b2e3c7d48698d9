"""Conditions under which incremental passes work and are faster than passes over all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from armarl_training.learners.ppo.incremental.changes import FEW, shares_of
from armarl_training.learners.ppo.incremental.decision_chains import chain_length

if TYPE_CHECKING:
    from armarl.core.game import Game
    from armarl_training.config.training_config import TrainingConfig


def few_legal(game: Game) -> bool:
    """Return whether so few actions are legal that skipping the others is faster even with AMX."""
    return shares_of(game).legal < FEW


def suit(config: TrainingConfig, game: Game) -> bool:
    """Return whether incremental passes work with the networks and settings, and are faster."""
    network = config.network
    plain = not network.channels and config.device == "cpu" and config.ppo.magnet == 0
    alike = len(network.critic_widths or network.widths) == len(network.widths)
    return config.learner == "ppo" and plain and alike and _changes_little(config, game)


def _changes_little(config: TrainingConfig, game: Game) -> bool:
    """Return whether few inputs change per decision of a chain, on average.

    The first decision of the chain is compared with zeros.
    """
    players, shares = game.players, shares_of(game)
    if players * game.observation.size > np.iinfo(np.uint16).max:
        return False  # too many inputs for the dtype of `InputChanges.columns`
    length = chain_length(config.ppo.minibatch, config.ppo.rollout_length, players) / players
    first = 1 / max(1.0, length)
    return first * shares.anew + (1 - first) * shares.after < FEW


def use_incremental(config: TrainingConfig, game: Game) -> bool:
    """Return whether a learner uses incremental passes, which need float32."""
    return config.ppo.precision == "float32" and suit(config, game)
