"""What the faces that play one game at a time have in common: PettingZoo's and Gymnasium's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from armarl.core.array_checks import whole_number
from armarl.core.game import Game, States, check_game, check_options, make_game

RENDER_MODES = ("ansi",)
_VECTORS_OWN = ("_", "final_")  # so begin what Gymnasium's vectors add to infos
MANY_ILLEGAL = 50  # episodes in a row that end by an illegal action: no learner that reads masks


class _UntilReset:
    """Stands for an attribute until `reset` sets it; costs nothing from then on."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name} cannot be accessed before reset")


def until_reset() -> Any:
    """Declare an attribute that cannot be accessed before `reset` sets it."""
    return _UntilReset()


class GameFace:
    """One game in play and the tables of its variant, under the names that every face offers.

    What a game has besides (`Game.attributes`, such as a `chart`) is an attribute as well.

    Attributes:
        game: the variant that is played.
        render_mode: None, or "ansi" for pictures of text.
    """

    game: Game
    render_mode: str | None
    _states: States = until_reset()  # the game in play, an array of one record

    def __init__(
        self, game: Game, render_mode: str | None, modes: tuple[str, ...] = RENDER_MODES
    ) -> None:
        check_render_mode(render_mode, modes)
        self.game, self.render_mode = game, render_mode
        self.__dict__.update(game.attributes)

    def describe(self, seat: int | None = None) -> dict[str, Any]:
        """The game as plain JSON types, whole or, with a seat, as far as that seat may know it."""
        return self.game.describe(self._states[0], seat)

    def action_text(self, action: int) -> str:
        """Notation of an action id; ValueError if there is no such id."""
        return self.game.actions.text(action)

    def action_id(self, text: str) -> int:
        """Action id of a notation; ValueError if no action is written so."""
        return self.game.actions.id(text)

    def _draw(self, seat: int | None) -> str | None:
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render mode: make it with render_mode='ansi'")
            return None
        return self.game.draw(self._states[0], seat)


def check_render_mode(render_mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> None:
    """Raise TypeError if there is no such render mode.

    A TypeError, since SB3 asks every id for "rgb_array", and after that error does without.
    """
    if render_mode is not None and render_mode not in modes:
        known = " or ".join(map(repr, modes))
        raise TypeError(f"render_mode must be None or {known}, not {render_mode!r}")


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
                f"to ignore the action mask. {self._remedy}: see docs/frameworks.md",
                stacklevel=3,
            )


def face_game(game: str | Game, options: Mapping[str, Any], own: str) -> Game:
    """The game of a face that has options of its `own` besides those of the game.

    Raises:
        TypeError: an option that neither of them has (the message names those that there are), or
            options beside a `Game`; or it is no game.
    """
    if not isinstance(game, str):
        check_game(game, or_name=True)
        if options:
            raise TypeError(f"a Game has its options already; got {', '.join(options)} beside it")
        return game
    check_options(game, options, besides=f", those of the environment {own}")
    return make_game(game, **options)


def observation_box(game: Game) -> Any:
    """The `Box` of a game's flat observation, float32 of shape (size,)."""
    return short_box(*game.observation.bounds())


def short_box(low: NDArray[Any], high: NDArray[Any]) -> Any:
    """A `Box` of float32 whose text does not list all its bounds."""
    box = gymnasium.spaces.Box(low, high, dtype=np.float32)
    box.low_repr, box.high_repr = _range(low), _range(high)
    return box


def batched(space: Any, games: int) -> Any:
    """The space of so many of a face's observations; its text is as short as that of one."""
    many: Any = gymnasium.vector.utils.batch_space(space, games)
    pairs = zip(many.values(), space.values(), strict=True) if isinstance(many, Mapping) else ()
    for batch, one in pairs or [(many, space)]:
        batch.low_repr, batch.high_repr = one.low_repr, one.high_repr
    return many


def _range(bounds: NDArray[Any]) -> str:
    """The least and the greatest of them, or the one that there is."""
    return "..".join(f"{bound:g}" for bound in sorted({bounds.min(), bounds.max()}))


def deal_number(seed: Any) -> int:
    """A seed as the int64 that a deal takes.

    Raises:
        TypeError: it is no integer.
        ValueError: it is not one.
    """
    return whole_number("seed", seed, -(2**63), 2**63 - 1)
