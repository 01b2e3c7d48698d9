"""Make a game by its name and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from armarl.core.game import Game
from armarl.games.catalogue import game_entry


def make_game(name: str, **options: Any) -> Game:
    """Make a game by name: `make_game("armadora", players=3, advanced=True)`.

    Raises:
        ValueError: an unknown game, or a value out of range.
        TypeError: an option that the game does not have.
    """
    check_options(name, options)
    return game_entry(name).load().make(**options)


def restore_game(name: str, options: Mapping[str, Any]) -> Game:
    """The game that a file names: as `make_game`, but no option is taken as another file's path.

    Raises:
        ValueError, TypeError: as `make_game`; or an option that would have a file opened.
    """
    check_options(name, options)
    module = game_entry(name).load()
    make = getattr(module, "restore", module.make)
    game: Game = make(**options)
    return game


def check_options(name: str, options: Iterable[str], besides: str = "") -> None:
    """Check that a game has options of these names; `besides` is said to be possible as well.

    Raises:
        ValueError: an unknown game.
        TypeError: an option that the game does not have.
    """
    known = inspect.signature(game_entry(name).load().make).parameters
    for option in options:
        if option not in known:
            # Python's own words: by them TorchRL's GymEnv sees that there is no `frameskip`.
            raise TypeError(
                f"unexpected keyword argument {option!r}: {name} has no option {option!r}; "
                f"its options are {', '.join(known)}{besides}"
            )
