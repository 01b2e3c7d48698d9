"""The kinds of weights in saved policies, with functions that detect, check and play each kind.

A network has a policy: logits for all actions. A judge is a value network over the game's survey. A
critic is a value network over the observation, and improves a scripted player. To add a kind, add
an entry to `WEIGHT_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from armarl.core.game import Game
from armarl.networks import critic, judge, policy_network
from armarl.networks.policy_network import Tensors
from armarl.policies.network_players import CriticPlayer, JudgingPlayer, NetworkPlayer


class WeightKind(NamedTuple):
    """One kind of weights.

    Attributes:
        name: short name: "network", "judge" or "critic".
        title: name of the kind in messages.
        parts: the network parts whose layer widths are listed in the metadata.
        detect: function that returns True if tensors are of this kind.
        check: function that raises `NetworkError` if tensors do not fit each other, the game, the
            activation or the number of advisers.
        describe: function that describes in words how a policy with given advisers chooses.
        reads_survey: True if the network reads the game's survey instead of its observation.
        player: class of the players that use such weights.
    """

    name: str
    title: str
    parts: tuple[str, ...]
    detect: Callable[[Tensors], bool]
    check: Callable[[Game, Tensors, Any, int], None]
    describe: Callable[[Sequence[str]], str]
    reads_survey: bool
    player: type[NetworkPlayer]


def _describe_judge(advisers: Sequence[str]) -> str:
    return (
        "a judge of positions: it tries every legal action one step ahead and takes the one that "
        "leads to the best position"
    )


def _describe_critic(advisers: Sequence[str]) -> str:
    scripted = advisers[0] if advisers else "the scripted player"
    return (
        f"a critic of scripted play: it tries every legal action, lets {scripted} continue for a "
        f"round of turns, and replaces the choice of {scripted} only by an action that is clearly "
        "better"
    )


def _describe_network(advisers: Sequence[str]) -> str:
    advice = f", weighing the advice of {', '.join(advisers)}" if advisers else ""
    return f"a network over the observation: it takes the likeliest legal action{advice}"


WEIGHT_KINDS = (
    WeightKind(
        name="judge",
        title="a judge of positions",
        parts=judge.PARTS,
        detect=judge.is_judge,
        check=judge.check_judge,
        describe=_describe_judge,
        reads_survey=True,
        player=JudgingPlayer,
    ),
    WeightKind(
        name="critic",
        title="a critic of scripted play",
        parts=policy_network.PARTS,
        detect=critic.is_critic,
        check=critic.check_critic,
        describe=_describe_critic,
        reads_survey=False,
        player=CriticPlayer,
    ),
    WeightKind(
        name="network",
        title="a network of logits",
        parts=policy_network.PARTS,
        detect=lambda tensors: True,  # for weights of no other kind; `check` refuses wrong weights
        check=policy_network.check_network,
        describe=_describe_network,
        reads_survey=False,
        player=NetworkPlayer,
    ),
)


def weight_kind(tensors: Tensors) -> WeightKind:
    """Return the kind of the weights: the first entry of `WEIGHT_KINDS` that detects them."""
    return next(kind for kind in WEIGHT_KINDS if kind.detect(tensors))
