"""Base class of ArmaRL's own learners, with networks, an optimiser, shards and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from armarl.core.game import Game
from armarl.policies.network_players import NetworkPlayer
from armarl_training.common.random_streams import Stream, generator
from armarl_training.config.training_config import TrainingConfig
from armarl_training.learning.rates import LONGEST_GRADIENT, minibatches
from armarl_training.learning.saving import (
    AVERAGE,
    Saved,
    check_alike,
    count_of,
    restore_networks,
    restore_optimiser,
    saved_networks,
    saved_optimiser,
)
from armarl_training.learning.shards import Shards
from armarl_training.networks.layers import PolicyNetwork, move_average


class ShardedLearner:
    """Base class of a learner whose games are played in shards; see `learner.Learner`.

    Attributes:
        networks: the networks, by their names in checkpoints. The network `AVERAGE` has the
            averaged weights of the network that plays.
        shards: the games.
        decisions: total number of decisions that the learner has learned from.
    """

    def __init__(
        self,
        config: TrainingConfig,
        game: Game,
        playing: PolicyNetwork,
        networks: Mapping[str, nn.Module],
        shards: Shards,
    ) -> None:
        """Create a learner. `networks` must include `playing` and be on their device already."""
        self._config, self._game, self._playing = config, game, playing
        self.networks, self.shards = networks, shards
        learning = (network for name, network in networks.items() if name != AVERAGE)
        self._parameters = [weights for network in learning for weights in network.parameters()]
        self._optimiser = torch.optim.Adam(self._parameters, eps=1e-5, fused=True)
        self._rng = generator(config.seed, Stream.UPDATES)
        self.decisions = 0

    def _minibatches(self, size: int, minibatch: int, epochs: int) -> Iterator[NDArray[np.int64]]:
        """Yield random minibatches of the rows 0 to `size` - 1, shuffled again in every epoch.

        If `size` is 0, yield nothing.
        """
        for _ in range(epochs):
            order = self._rng.permutation(size)
            for some in np.array_split(order, minibatches(size, minibatch)):
                if some.size:
                    yield some

    def _descend(
        self, loss: torch.Tensor, network: nn.Module, average: nn.Module, averaging: float
    ) -> float:
        """Take an optimiser step for a network, and update its averaged weights.

        Returns:
            The norm of the gradient.
        """
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        length = nn.utils.clip_grad_norm_(network.parameters(), LONGEST_GRADIENT)
        self._optimiser.step()
        move_average(average, network, self._optimiser, averaging)
        return float(length)

    def _set_rate(self, rate: float) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = rate

    def recent(self) -> dict[str, float]:
        """Return the mean return of the latest games against each opponent."""
        return self.shards.recent()

    def in_play(self) -> NDArray[np.int64]:
        """See `learner.Learner`."""
        return self.shards.in_play()

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Load the weights of a saved policy. Other networks keep their initial weights."""
        check_alike(policy, self._config)
        self._playing.take_over(policy.tensors)
        self.networks[AVERAGE].load_state_dict(self._playing.state_dict())

    def save(self) -> Saved:
        """Return networks, optimiser, games and random state."""
        games, values = self.shards.save()
        tensors = saved_networks(self.networks) | saved_optimiser(self._optimiser) | games
        chance = self._rng.bit_generator.state
        return tensors, {"decisions": self.decisions, "chance": chance, "games": values}

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore the state that `save` returned.

        Raises:
            TypeError: a saved value has the wrong type.
            ValueError: the state was saved with another network or other games.
        """
        self.shards.restore(tensors, values["games"])
        restore_networks(self.networks, tensors)
        restore_optimiser(self._optimiser, tensors)
        self._rng.bit_generator.state = values["chance"]
        self.decisions = count_of(values["decisions"])
