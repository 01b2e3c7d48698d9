"""What the faces that play one game at a time have in common: PettingZoo's and Gymnasium's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.games.make_game import check_options, make_game

RENDER_MODES = ("ansi",)


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
