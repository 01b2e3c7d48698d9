"""The interface between a run and its learner.

A *run* owns its folder, the clock, the configuration and the checkpoint file. The *pool* owns the
opponents. The *learner* owns its networks, its optimiser, its games in play and their random number
generators. Each saves what it owns; `saving` has the code they share for this.

A learner is one module and one line in `learners`. `ppo`, `td` and `critic` are ours, and
`maskable` wraps sb3-contrib. A learner of your own is named as `module:Class`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armarl.game import Game
from armarl.network_players import NetworkPlayer
from armarl.own_code import import_own
from armarl.players.protocol import no_exit
from armarl.words import brief
from armarl_training.config import ConfigError, TrainingConfig
from armarl_training.learners import is_from_outside, kind_of
from armarl_training.lessons import Lessons
from armarl_training.opponents import OpponentPool
from armarl_training.saving import Saved

# Gradients longer than this are scaled down, for judges, critics and MaskablePPO's head start.
LONGEST_GRADIENT = 1.0


def minibatches(rows: int, minibatch: int) -> int:
    """Return the number of parts into which to split rows, each about one minibatch long."""
    return max(1, round(rows / minibatch))


class Learner(Protocol):
    """The methods that a run needs from a learner.

    Attributes:
        decisions: total number of decisions that the learner has learned from.
    """

    @property
    def decisions(self) -> int: ...

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout and learn from it.

        Args:
            done: the fraction of the training that is over, in [0, 1]; rates fall with it.

        Returns:
            Statistics to plot, numbers by name. A name must not be a column of the run's own, such
            as `decisions`, see `progress`.
        """
        ...

    def imitate(self, lessons: Lessons, rate: float) -> float:
        """Learn from imitation data in one pass.

        Args:
            lessons: the imitation data.
            rate: the learning rate.

        Returns:
            The fraction of the teacher's choices that the policy predicted.
        """
        ...

    def recent(self) -> dict[str, float]:
        """Return the mean return in the last games against each opponent, by opponent name."""
        ...

    def in_play(self) -> NDArray[np.int64]:
        """Return the pool's slots that play in running games, in any order; LEARNER may appear."""
        ...

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the current policy, or of its average, which plays better."""
        ...

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Load the weights of a saved policy.

        Raises:
            ValueError: the policy's network has another shape.
        """
        ...

    def save(self) -> Saved:
        """Return the full state of the learner."""
        ...

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore the state that `save` returned.

        Raises:
            ValueError: it was saved with another network or another number of games.
        """
        ...


def annealed(start: float, end: float, done: float) -> float:
    """Interpolate linearly from `start` to `end`; `done` in [0, 1] is the fraction of the way."""
    return start + done * (end - start)


Maker = Callable[[TrainingConfig, Game, OpponentPool], Learner]


def find_maker(learner: str, *, code: bool) -> Maker:
    """Return the class or function that creates the learner with this name.

    Args:
        learner: name of the learner.
        code: whether the name may be `module:Class`, which is imported.

    Raises:
        ConfigError: there is no such learner, or importing it is not allowed.
    """
    if is_from_outside(learner) and not code:
        raise ConfigError(
            f"learner: {brief(learner)}: a learner module:Class is user code; train with --code, "
            "or code=True, to import it"
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
    """Check that an object has the methods of a learner, and return it.

    Raises:
        ConfigError: it lacks methods. The message lists them.
    """
    asked = [member for member in vars(Learner) if not member.startswith("_")]
    if lacking := [member for member in asked if not hasattr(found, member)]:
        raise ConfigError(
            f"learner: {brief(name)}: it creates an object of type {type(found).__name__}, which "
            f"lacks {', '.join(lacking)} of a learner (armarl_training.learner.Learner)"
        )
    learner: Learner = found
    return learner


if TYPE_CHECKING:  # lets the type checker verify that these are learners
    from armarl_training.critic.learner import CriticLearner
    from armarl_training.maskable import MaskablePPOLearner
    from armarl_training.ppo.learner import PPO
    from armarl_training.td.learner import TD

    _MAKERS: tuple[Maker, ...] = (PPO, TD, CriticLearner, MaskablePPOLearner)
