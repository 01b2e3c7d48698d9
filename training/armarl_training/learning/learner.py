"""The seam between a run and what learns in it.

A *run* owns its folder, the clock, the configuration and the checkpoint file; the *pool* owns the
opponents; the *learner* owns its networks, its optimiser, its games in play and all their chance.
Each saves what it owns (`saving` has what they share of that). A learner is one module, and a line
in `config.learner_kinds`: `ppo`, `td` and `critic` are ours, `maskable` is sb3-contrib's. One from
outside is named as `module:Class`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.user_code import import_own
from armarl.players.protocol import no_exit
from armarl_training.config.learner_kinds import is_from_outside, kind_of
from armarl_training.config.training_config import ConfigError, TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from armarl.core.game import Game
    from armarl.policies.network_players import NetworkPlayer
    from armarl_training.learning.imitation import Lessons
    from armarl_training.learning.opponent_pool import OpponentPool
    from armarl_training.learning.saving import Saved


class Learner(Protocol):
    """What a run asks of a learner.

    Attributes:
        decisions: that it has learned from, in all.
    """

    @property
    def decisions(self) -> int: ...

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout and learn from it.

        Args:
            done: the part of the training that is over, by which rates fall, in [0, 1].

        Returns:
            Statistics to plot, numbers by name; no name is a column of the run's own, such as
            `decisions`, see `progress`.
        """
        ...

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """One pass over a teacher's choices; returns the part of them that was guessed right."""
        ...

    def recent(self) -> dict[str, float]:
        """Its mean return in the last games against each opponent, by the opponent's name."""
        ...

    def in_play(self) -> NDArray[np.int64]:
        """The pool's slots of who sits in games under way, any number; LEARNER is among them."""
        ...

    def policy(self, *, average: bool) -> NetworkPlayer:
        """A copy of the policy as it is now, or of its average, which plays better."""
        ...

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Take over the weights of a saved policy.

        Raises:
            ValueError: its network has another shape.
        """
        ...

    def save(self) -> Saved:
        """All that its future depends on."""
        ...

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Be as it was when it was saved.

        Raises:
            ValueError: it was saved with another network or another number of games.
        """
        ...


Maker: TypeAlias = "Callable[[TrainingConfig, Game, OpponentPool], Learner]"


def find_maker(learner: str, *, code: bool) -> Maker:
    """What makes the learner of a name.

    Args:
        code: whether it may be `module:Class`, which is imported.

    Raises:
        ConfigError: there is none, or it may not be imported.
    """
    if is_from_outside(learner) and not code:
        raise ConfigError(
            f"learner: {brief(learner)}: a learner of one's own, module:Class, is code: train "
            "with --code, or code=True, to import it"
        )
    module, name = kind_of(learner).made_by.split(":")
    try:
        with no_exit(f"the module {module}"):
            own = is_from_outside(learner)
            make: Maker = getattr(import_own(module) if own else import_module(module), name)
    except (ModuleNotFoundError, AttributeError) as error:
        if not is_from_outside(learner):
            raise
        raise ConfigError(f"learner: {brief(learner)}: {brief(error)}") from error
    return make


def check_learner(found: Any, name: str) -> Learner:
    """What a learner's name has made, if it is one.

    Raises:
        ConfigError: it is none; the message says what it lacks.
    """
    asked = [member for member in vars(Learner) if not member.startswith("_")]
    if lacking := [member for member in asked if not hasattr(found, member)]:
        raise ConfigError(
            f"learner: {brief(name)}: what it makes, of type {type(found).__name__}, lacks "
            f"{', '.join(lacking)} of a learner (armarl_training.learning.learner.Learner)"
        )
    learner: Learner = found
    return learner


if TYPE_CHECKING:  # the type checker sees here that they are learners
    from armarl_training.learners.critic.critic_learner import CriticLearner
    from armarl_training.learners.maskable import MaskablePPOLearner
    from armarl_training.learners.ppo.ppo_learner import PPO
    from armarl_training.learners.td.td_learner import TD

    _MAKERS: tuple[Maker, ...] = (PPO, TD, CriticLearner, MaskablePPOLearner)
