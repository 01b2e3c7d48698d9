"""Where an environment puts the action mask."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from armarl.core.game import Game
from armarl.environments.base import observation_box


class MaskPlace(NamedTuple):
    """Where an environment puts its action masks, and what it calls them.

    Attributes:
        mask: "observation", in a Dict of the observation and the mask, or "info", beside a flat
            observation.
        observation_key: the observation's name in that Dict.
        mask_key: the mask's name, there or in the infos.
    """

    mask: str
    observation_key: str = "observation"
    mask_key: str = "action_mask"

    @property
    def in_info(self) -> bool:
        """Whether it is in the infos."""
        return self.mask == "info"

    def space(self, game: Game) -> Any:
        """The space of what is observed."""
        observation = observation_box(game)
        if self.in_info:
            return observation
        mask = gymnasium.spaces.Box(0, 1, (len(game.actions),), np.int8)
        return gymnasium.spaces.Dict({self.observation_key: observation, self.mask_key: mask})

    def observed(self, observation: NDArray[Any], mask: NDArray[Any]) -> Any:
        """What is observed, of one game or of a batch."""
        if self.in_info:
            return observation
        return {self.observation_key: observation, self.mask_key: mask}


def mask_place(
    mask: str, observation_key: str, mask_key: str, *, taken: tuple[str, ...] = ()
) -> MaskPlace:
    """Where masks go, checked; `taken` are keys of infos that have another meaning.

    Raises:
        ValueError: no such place, or a name that stands for something else.
    """
    if mask not in ("info", "observation"):
        raise ValueError(f"mask must be 'info' or 'observation', not {mask!r}")
    others = taken if mask == "info" else (observation_key,)
    reserved = mask == "info" and mask_key.startswith(_VECTORS_OWN)
    if mask_key in others or reserved:
        raise ValueError(f"mask_key {mask_key!r} is another key's name: choose another one")
    return MaskPlace(mask, observation_key, mask_key)


MASK_OPTIONS = (
    "The options `mask`, `mask_key` and `observation_key` put it where a library looks for it"
)


_VECTORS_OWN = ("_", "final_")  # so begin what Gymnasium's vectors add to infos


MANY_ILLEGAL = 50  # episodes in a row that end by an illegal action: no learner that reads masks


class Endings:
    """How the episodes of an environment ended; warns once of many illegal actions in a row.

    Attributes:
        episodes: how many have ended so far.
        illegal: how many of them by an illegal action.
    """

    def __init__(self, remedy: str = MASK_OPTIONS) -> None:
        """Nothing has ended yet; `remedy` is what a learner without masks is told to do."""
        self._remedy = remedy
        self.episodes = self.illegal = 0
        self._length = 0

    def note(self, ended: int, illegal: int) -> None:
        """Take note of so many episodes that ended, and so many of them by an illegal action."""
        self.episodes += ended
        self.illegal += illegal
        before = self._length
        self._length = before + illegal if illegal == ended else 0
        if before < MANY_ILLEGAL <= self._length:
            # Always in the same words, so that Python tells a whole process once.
            warnings.warn(
                f"{MANY_ILLEGAL} episodes in a row ended by an illegal action: the learner seems "
                f"to ignore the action mask. {self._remedy}: see docs/environments/frameworks.md",
                stacklevel=3,
            )
