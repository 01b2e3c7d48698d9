"""Critics, which are value networks that improve a scripted player. See `critic_lookahead`.

A critic has a trunk and a value head: dense layers over the flat observation with relu between
them. The hyperbolic tangent of half the output is the expected return of the observing seat. A
policy with a critic also has advisers, which are scripted players. The policy improves the first
adviser. In each simulation, all other seats play like one adviser. This adviser changes from deal
to deal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarl.networks.policy_network import (
    NetworkError,
    Tensors,
    check_layers,
    check_tensors,
    layers,
)

if TYPE_CHECKING:
    from armarl.core.game import Game

PARTS = ("trunk", "value")


def is_critic(tensors: Tensors) -> bool:
    """Return True if the weights are those of a critic: a value head and no policy head."""
    return layers(tensors, "value") > 0 and layers(tensors, "policy") == 0


def check_critic(game: Game, tensors: Tensors, activation: object, advisers: int) -> None:
    """Refuse weights that do not fit each other or the game.

    Raises:
        NetworkError: the weights do not fit, the activation is not relu, or there is no adviser.
    """
    if activation != "relu" or advisers < 1:
        raise NetworkError(
            f"a critic uses relu and at least 1 adviser, not {activation!r} and {advisers} advisers"
        )
    width = check_layers(tensors, "trunk", game.observation.size)
    outputs = check_layers(tensors, "value", width)
    if outputs != 1:
        raise NetworkError(f"the value network has {outputs} outputs instead of 1")
    check_tensors(tensors, PARTS)
