"""Make a game by its name and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from armarl.common.messages import did_you_mean
from armarl.games.catalogue import game_entry

if TYPE_CHECKING:
    from armarl.core.game import Game


def make_game(name: str, **options: Any) -> Game:
    """Make a game by name.

    Args:
        name: the name of a game: "armadora", "armada" or a registered one.
        options: the game's options, such as `players`. Omitted options have their defaults.

    Raises:
        ValueError: the game is unknown, or the value of an option is wrong.
        TypeError: `name` is not a string, or the game does not have one of the options.
        OSError: a file that an option names, such as `chart`, cannot be read.

    Example:
        >>> import armarl
        >>> game = armarl.make_game("armadora", players=3, advanced=True)
        >>> game.players, len(game.actions), game.observation.size, game.rewards
        (3, 552, 938, ('win', 'gold'))
    """
    check_options(name, options)
    return game_entry(name).load().make(**options)


def restore_game(name: str, options: Mapping[str, Any]) -> Game:
    """Make a game from a name and options that were read from a file, without opening other files.

    Raises:
        ValueError, TypeError: as in `make_game`, or an option is the path of a file.
    """
    check_options(name, options)
    module = game_entry(name).load()
    make = getattr(module, "restore", module.make)
    game: Game = make(**options)
    return game


def check_options(
    name: str, options: Iterable[str], besides: str = "", near: Iterable[str] = ()
) -> None:
    """Check that a game has options with these names.

    Args:
        name: the name of a game.
        options: the names to check.
        besides: text that follows the list of the game's options in the error message.
        near: names of other options, which the error message may suggest.

    Raises:
        ValueError: the game is unknown.
        TypeError: the game does not have one of the options.
    """
    known = inspect.signature(game_entry(name).load().make).parameters
    for option in options:
        if option not in known:
            # The message begins with Python's own words: TorchRL's GymEnv searches for them, and
            # then calls again without `frameskip`.
            raise TypeError(
                f"unexpected keyword argument {option!r}: {name} has no option {option!r}"
                f"{did_you_mean(option, [*known, *near])}; "
                f"its options are {', '.join(known)}{besides}"
            )
