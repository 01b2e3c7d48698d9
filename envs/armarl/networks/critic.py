"""Critics of positions, by which a scripted player is improved; see `critic_lookahead`.

A critic is a trunk and a value, dense layers from the flat observation on with relu between them:
the hyperbolic tangent of half its output is the return that the seat may expect. Beside it a policy
of this kind has advisers: the scripted player that it improves, and besides him those for whom
others are taken in turn.
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
    """Whether weights are those of a critic alone: they say what is expected, and play nothing."""
    return layers(tensors, "value") > 0 and layers(tensors, "policy") == 0


def check_critic(game: Game, tensors: Tensors, activation: object, advisers: int) -> None:
    """Refuse weights that do not fit each other or the game.

    Raises:
        NetworkError: they do not, or there is no adviser.
    """
    if activation != "relu" or advisers < 1:
        raise NetworkError(
            f"a critic's activation is relu, and it has advisers: not {activation!r} and {advisers}"
        )
    width = check_layers(tensors, "trunk", game.observation.size)
    outputs = check_layers(tensors, "value", width)
    if outputs != 1:
        raise NetworkError(f"the value network has {outputs} outputs instead of 1")
    check_tensors(tensors, PARTS)
