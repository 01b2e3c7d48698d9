"""The interface between a run and its learner.

A *run* owns its folder, the clock, the configuration and the checkpoint file. The *pool* owns the
opponents. The *learner* owns its networks, its optimiser, its running games and all their random
generators. Run, pool and learner each save their own state, with the functions of `saving`. A
learner is a class with an entry in `config.learner_kinds`: `ppo`, `td` and `critic` are implemented
in this package, and `maskable_ppo` uses sb3-contrib. The configuration names a learner in user code
as `module:Class`.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.common.user_code import import_own
from armarl.players.protocol import no_exit, place_of
from armarl_training.config.learner_kinds import is_from_outside, kind_of
from armarl_training.config.training_config import ConfigError, TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from armarl.core.game import Game
    from armarl.policies.network_players import NetworkPlayer
    from armarl_training.learning.imitation import ImitationData
    from armarl_training.learning.opponent_pool import OpponentPool
    from armarl_training.learning.saving import Saved


class Learner(Protocol):
    """The attributes and methods that a run needs from a learner.

    Attributes:
        decisions: total number of decisions that the learner has learned from.
    """

    @property
    def decisions(self) -> int: ...

    def iterate(self, done: float) -> dict[str, float]:
        """Play one rollout and learn from it.

        Args:
            done: the fraction of the training that is over, in [0, 1]. Rates change with it.

        Returns:
            Statistics to plot, as numbers by name. A name must not be that of a column that the run
            itself writes, such as `decisions`; see `progress`.
        """
        ...

    def imitate(self, data: ImitationData, rate: float) -> float:
        """Learn a teacher's choices in one pass over its games.

        Returns:
            The fraction of positions where the learner predicts the teacher's choice.
        """
        ...

    def recent(self) -> dict[str, float]:
        """Return the learner's mean return in the latest games against each opponent, by name."""
        ...

    def in_play(self) -> NDArray[np.int64]:
        """Return the pool slots of all players in running games. LEARNER may be among them."""
        ...

    def policy(self, *, average: bool) -> NetworkPlayer:
        """Return a copy of the current policy, or of the policy with averaged weights."""
        ...

    def begin_with(self, policy: NetworkPlayer) -> None:
        """Load the weights of a saved policy.

        Raises:
            ValueError: the policy's network has another shape.
        """
        ...

    def save(self) -> Saved:
        """Return everything that the rest of the training depends on: arrays, and JSON values."""
        ...

    def restore(self, tensors: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Restore a saved state.

        Raises:
            ValueError: the state was saved with another network or another number of games.
        """
        ...


Maker: TypeAlias = "Callable[[TrainingConfig, Game, OpponentPool], Learner]"
_GIVEN = ("config", "game", "pool")  # names of a maker's arguments, for messages


def find_maker(learner: str, *, code: bool) -> Maker:
    """Return the function or class that makes a learner.

    Args:
        learner: the learner's name in the configuration.
        code: whether to allow `module:Class`, which imports user code.

    Raises:
        ConfigError: the learner does not exist, importing user code is not allowed, or the user's
            function or class cannot be called with the three arguments of a `Maker`.
    """
    if is_from_outside(learner) and not code:
        raise ConfigError(
            f"learner: {brief(learner)}: to import user code, train with --code (in Python "
            "code=True)"
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
    if own:
        _check_maker(make, learner)
    return make


def _check_maker(make: Any, learner: str) -> None:
    """Refuse a user's function or class that does not take a configuration, a game and a pool."""
    try:
        signature = inspect.signature(make)
    except ValueError:  # Python knows no signature of some classes written in C
        return
    except TypeError as error:
        raise ConfigError(f"learner: {brief(learner)} is not a class or function") from error
    try:
        signature.bind(*_GIVEN)
    except TypeError as error:
        name = brief(learner.split(":")[-1])
        function = "__init__(self, " if inspect.isclass(make) else f"{name}("
        raise ConfigError(
            f"learner: {brief(learner)} is called with the configuration, the game and the pool; "
            f"write def {function}{', '.join(_GIVEN)})"
        ) from error


def make_learner(make: Maker, config: TrainingConfig, game: Game, pool: OpponentPool) -> Learner:
    """Make a run's learner, and check it with `check_learner`.

    Args:
        make: the learner's function or class, from `find_maker`.
        config: the configuration of the run.
        game: the game.
        pool: the opponents.

    Raises:
        ConfigError: the object that was made is not a learner.
        RuntimeError: the user's code tried to end the program.
        Exception: an error of the user's code. A note names the learner and the line.
    """
    with no_exit(f"learner: {brief(config.learner)}"):
        try:
            made = make(config, game, pool)
        except Exception as error:
            if where := place_of(error, getattr(make, "__module__", "")):
                error.add_note(f"(while making the learner {brief(config.learner)}{where})")
            raise
    return check_learner(made, config.learner)


def check_learner(found: Any, name: str) -> Learner:
    """Check that an object is a learner, and return the object.

    Args:
        found: the object that the learner's function or class has made.
        name: the learner's name in the configuration.

    Raises:
        ConfigError: the object is not a learner. The message names the missing members.
    """
    asked = [member for member in vars(Learner) if not member.startswith("_")]
    if lacking := [member for member in asked if not hasattr(found, member)]:
        raise ConfigError(
            f"learner: {brief(name)} made an object of type {type(found).__name__}, which lacks "
            f"{', '.join(lacking)}; a learner must have all members of "
            "armarl_training.learning.learner.Learner"
        )
    learner: Learner = found
    return learner


if TYPE_CHECKING:  # so that the type checker checks that these classes are learners
    from armarl_training.learners.critic.critic_learner import CriticLearner
    from armarl_training.learners.maskable import MaskablePPOLearner
    from armarl_training.learners.ppo.ppo_learner import PPO
    from armarl_training.learners.td.td_learner import TD

    _MAKERS: tuple[Maker, ...] = (PPO, TD, CriticLearner, MaskablePPOLearner)
