"""Common parts of the PettingZoo and Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from armarl.common.messages import brief, tell
from armarl.common.numbers import MOST_SEED, is_whole, whole_number
from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.core.pictures.picture import Picture
from armarl.core.pictures.sheet import WIDTH
from armarl.environments.one_thread import AtWork, alone
from armarl.environments.pickling import WritableArrays
from armarl.games.make_game import check_options, make_game

RENDER_MODES = ("human", "ansi", "rgb_array")
RENDER_FPS = 4  # slow enough to follow; Gymnasium's checker requires a rate even for text


class _UntilReset:
    """A placeholder for an attribute until `reset` sets it. Later accesses take no extra time."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name} cannot be accessed before reset")


def until_reset() -> Any:
    """Declare an attribute that cannot be accessed before `reset` has set it."""
    return _UntilReset()


class GameFace(WritableArrays):
    """Base class of the environments that play one game, with their common methods.

    Only one thread at a time may use an environment. A call during another thread's call raises
    RuntimeError.

    The entries of `Game.attributes`, such as the board of Armada (`chart`), are also attributes of
    the environment.

    Attributes:
        game: the variant that is played.
        render_mode: None, or "ansi" for text, "rgb_array" for pixels, or "human" for a window.
    """

    game: Game
    render_mode: str | None
    _states: States = until_reset()  # the game in play, an array with one record
    # Only environments that draw pictures set the next two attributes.
    _before: States | None = None  # the state before the last step, an array with one record
    _last: tuple[int, int] | None = None  # the last action, and the seat that played it

    def __init__(self, game: Game, render_mode: str | None, render_width: int = WIDTH) -> None:
        check_render_mode(render_mode, modes_of(check_game(game)))
        self.game, self.render_mode = game, render_mode
        self._at_work = AtWork()
        self._render_width = check_render_width(render_width)
        self._draws = game.has_picture and render_mode in ("human", "rgb_array")
        self.__dict__.update(game.attributes)

    @alone
    def describe(self, seat: int | None = None) -> dict[str, Any]:
        """Return the whole game as JSON types or, with a seat, only what that seat knows.

        Raises:
            TypeError, ValueError: the seat is not an integer, or does not exist.
            AttributeError: `reset` has not been called.
        """
        return self.game.describe(self._states[0], seat)

    def action_text(self, action: int) -> str:
        """Return the notation of an action id.

        Raises:
            TypeError: the id is not an integer.
            ValueError: the id does not exist.
        """
        return self.game.actions.text(action)

    def action_id(self, text: str) -> int:
        """Return the action id of a notation.

        Raises:
            TypeError: the notation is not a string.
            ValueError: no action has this notation.
        """
        return self.game.actions.id(text)

    @alone
    def picture(self, seat: int | None = None) -> Picture:
        """Return a drawing of the whole game or, with a seat, of what that seat sees.

        The picture is available as SVG, PNG or pixels. With render mode "rgb_array" or "human" it
        marks the changes of the last step.

        Raises:
            TypeError: the seat is not an integer.
            ValueError: the game has no drawing, or the seat does not exist.
            AttributeError: `reset` has not been called.
        """
        before = None if self._before is None else self._before[0]
        return self.game.picture(self._states[0], seat, before=before, last=self._last)

    def _render(self, seat: int | None) -> Any:
        """Return text or pixels. With render mode "human", show them and return None."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() needs an environment that was made with render_mode='ansi', 'rgb_array' "
                "or 'human'"
            )
            return None
        if self._draws:
            picture = self.picture(seat)
            pixels = picture.pixels(self._render_width)
            if self.render_mode == "rgb_array":
                return pixels
            from armarl.core.pictures import window

            window.show(pixels, picture.title, RENDER_FPS)
            return None
        text = self.game.draw(self._states[0], seat)
        if self.render_mode == "ansi":
            return text
        tell(text)
        return None

    def _close_window(self) -> None:
        if self._draws and self.render_mode == "human":
            from armarl.core.pictures import window

            window.close()

    def _notebook(self, seat: int | None) -> str | None:
        """Return the picture for a notebook as SVG, or None if there is no picture."""
        if "_states" not in self.__dict__ or not self.game.has_picture:
            return None
        return self.picture(seat).svg()


def modes_of(game: Game) -> tuple[str, ...]:
    """Return the render modes of a game. A game without a drawing has no "rgb_array"."""
    return RENDER_MODES if game.has_picture else RENDER_MODES[:2]


def check_render_width(width: int) -> int:
    """Return the width of frames, in pixels. Raise TypeError or ValueError if it is invalid."""
    return whole_number("render_width", width, 16, 4096)


def reset_options(options: Any) -> dict[str, Any]:
    """Return the options of `reset`, or an empty dictionary for None.

    Raises:
        TypeError: the options are not a dictionary.
    """
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise TypeError(f"options must be a dictionary or None, not {brief(repr(options), 60)}")
    return options


def check_render_mode(render_mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> None:
    """Raise TypeError if the render mode does not exist.

    The error is a TypeError because Stable-Baselines3 tries "rgb_array" with every environment id
    and handles only this error.
    """
    if render_mode is not None and render_mode not in modes:
        known = " or ".join(map(repr, modes))
        raise TypeError(f"render_mode must be None or {known}, not {render_mode!r}")


def face_game(game: str | Game, options: Mapping[str, Any], own: str) -> Game:
    """Return the `Game` for a new environment. If `game` is a name, make it with the options.

    Args:
        game: a game or its name.
        options: the game's options, for a game given by name.
        own: the names of the environment's own options, for the error text.

    Raises:
        TypeError: an option belongs neither to the game nor to the environment (the message lists
            all options), options are given together with a `Game`, or `game` is neither a `Game`
            nor a name.
    """
    if not isinstance(game, str):
        check_game(game, or_name=True)
        if options:
            raise TypeError(
                f"options are only for a game given by its name; a Game contains its options "
                f"already, so remove {', '.join(options)}"
            )
        return game
    also = f"; the environment's options are {own}"
    check_options(game, options, besides=also, near=own.split(", "))
    return make_game(game, **options)


def observation_box(game: Game) -> Any:
    """Return the `Box` of a game's flat observation, float32 of shape (size,)."""
    return short_box(*game.observation.bounds())


def short_box(low: NDArray[Any], high: NDArray[Any]) -> Any:
    """Return a float32 `Box` whose repr does not list all its bounds."""
    box = gymnasium.spaces.Box(low, high, dtype=np.float32)
    box.low_repr, box.high_repr = _range(low), _range(high)
    return box


def batched(space: Any, games: int) -> Any:
    """Return the space of a batch of observations. Its repr is as short as that of `space`."""
    many: Any = gymnasium.vector.utils.batch_space(space, games)
    pairs = zip(many.values(), space.values(), strict=True) if isinstance(many, Mapping) else ()
    for batch, one in pairs or [(many, space)]:
        batch.low_repr, batch.high_repr = one.low_repr, one.high_repr
    return many


def _range(bounds: NDArray[Any]) -> str:
    """Return the smallest and the largest bound as text, or one number if they are equal."""
    return "..".join(f"{bound:g}" for bound in sorted({bounds.min(), bounds.max()}))


def deal_number(seed: Any) -> int:
    """Convert a seed from the user to the int64 that seeds the game.

    This number is the seed itself, or a hash of the seed if the seed is 2**63 or more.

    Raises:
        TypeError: the seed is not an integer.
        ValueError: the seed is below -2**63.
    """
    if not is_whole(seed):
        raise TypeError(f"seed must be an integer, not {seed!r}")
    if seed < -(2**63):
        raise ValueError("seed must be -2**63 or more")
    if seed > MOST_SEED:
        seed = np.random.SeedSequence(int(seed)).generate_state(1, np.uint64).view(np.int64)[0]
    return int(seed)


def np_random_seed(seed: Any) -> int | None:
    """Return the seed for Gymnasium's generator, an int of 0 or more.

    The result is None if `seed` is None or several seeds.
    """
    if not is_whole(seed):
        return None
    return int(seed) if seed >= 0 else int(seed) % 2**64
