"""The place of action masks in observations or infos, and a warning if masks are ignored."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief
from armarl.core.game import Game
from armarl.environments.base import observation_box


class MaskPlace(NamedTuple):
    """The place and the keys of an environment's action masks.

    Attributes:
        mask: "observation" for a Dict of the observation and the mask, or "info" for a flat
            observation with the mask in the infos.
        observation_key: the key of the observation in that Dict.
        mask_key: the key of the mask in that Dict or in the infos.
    """

    mask: str
    observation_key: str = "observation"
    mask_key: str = "action_mask"

    @property
    def in_info(self) -> bool:
        """Whether the mask is in the infos."""
        return self.mask == "info"

    def space(self, game: Game) -> Any:
        """Return the observation space."""
        observation = observation_box(game)
        if self.in_info:
            return observation
        mask = gymnasium.spaces.Box(0, 1, (len(game.actions),), np.int8)
        return gymnasium.spaces.Dict({self.observation_key: observation, self.mask_key: mask})

    def observed(self, observation: NDArray[Any], mask: NDArray[Any]) -> Any:
        """Return the observation in the form of `space`, for one game or a batch."""
        if self.in_info:
            return observation
        return {self.observation_key: observation, self.mask_key: mask}


def mask_place(
    mask: str, observation_key: str, mask_key: str, *, taken: tuple[str, ...] = ()
) -> MaskPlace:
    """Check the options for the action mask and return its place.

    Args:
        mask: "observation" or "info".
        observation_key: the key of the observation in the Dict.
        mask_key: the key of the mask.
        taken: keys of the infos that have another meaning.

    Raises:
        TypeError: a key is not a string.
        ValueError: `mask` is neither "observation" nor "info", or `mask_key` is taken or reserved.
    """
    for name, key in (("observation_key", observation_key), ("mask_key", mask_key)):
        if not isinstance(key, str):
            raise TypeError(f"{name} must be text, not {brief(repr(key), 60)}")
    if mask not in ("info", "observation"):
        raise ValueError(f"mask must be 'info' or 'observation', not {mask!r}")
    others = taken if mask == "info" else (observation_key,)
    reserved = mask == "info" and mask_key.startswith(_VECTORS_OWN)
    if mask_key in others or reserved:
        raise ValueError(
            f"mask_key {mask_key!r} is the name of another key or reserved by Gymnasium; choose a "
            "different name"
        )
    return MaskPlace(mask, observation_key, mask_key)


MASK_OPTIONS = (
    "Use the options `mask` ('info' or 'observation'), `mask_key` and `observation_key` of the "
    "environment to put the mask where your library looks for it"
)


_VECTORS_OWN = ("_", "final_")  # prefixes of keys that Gymnasium's vector environments add to infos


# `Endings` warns after this number of consecutive episodes that ended with an illegal action. A
# learner that reads masks never causes the warning.
MANY_ILLEGAL = 50


class Endings:
    """Counts of ended episodes, with one warning if many in a row ended with an illegal action.

    Attributes:
        episodes: the number of episodes that have ended.
        illegal: the number of episodes that have ended with an illegal action.
    """

    def __init__(self, remedy: str = MASK_OPTIONS) -> None:
        """Start both counts at 0.

        Args:
            remedy: the advice at the end of the warning.
        """
        self._remedy = remedy
        self.episodes = self.illegal = 0
        self._length = 0

    def note(self, ended: int, illegal: int) -> None:
        """Count `ended` more episodes, of which `illegal` ended with an illegal action."""
        self.episodes += ended
        self.illegal += illegal
        before = self._length
        self._length = before + illegal if illegal == ended else 0
        if before < MANY_ILLEGAL <= self._length:
            # The text is constant, so that Python shows the warning once per process.
            warnings.warn(
                f"{MANY_ILLEGAL} episodes in a row ended with an illegal action: the learner seems "
                f"to ignore the action mask. {self._remedy}",
                stacklevel=3,
            )
