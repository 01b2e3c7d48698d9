"""The registry of player names: built-in players, and players that users register."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from armarl.common.messages import brief
from armarl.players.human import HumanPlayer
from armarl.players.player_specs import Spec
from armarl.players.protocol import Player
from armarl.players.simple_players import GreedyPlayer, PatientPlayer, RandomPlayer

if TYPE_CHECKING:
    from armarl.core.game import Game

Factory = Callable[..., Player]


PlayerLike = str | Path | Spec | Player


def _random(game: Game, patient: bool = False) -> Player:
    return PatientPlayer(game) if patient else RandomPlayer(game)


# A factory that is given as a string is imported when it is first needed.
BUILT_IN: Mapping[str, Factory | str] = {
    "random": _random,
    "greedy": GreedyPlayer,
    "human": HumanPlayer,
    "grave": "armarl.search:SearchPlayer",
    "ismcts": "armarl.search:IsmctsPlayer",
    "flat": "armarl.search:FlatPlayer",
    "rollout": "armarl.search:RolloutPlayer",
    "search": "armarl.search:best_search",
    "onnx": "armarl.policies.onnx_player:OnnxPlayer",
}


BUILT_AROUND: Mapping[str, Factory | str] = {"search": "armarl.search:PolicySearchPlayer"}


_players: dict[str, Factory | str] = dict(BUILT_IN)


_around: dict[str, Factory | str] = dict(BUILT_AROUND)


def register_player(
    name: str, factory: Factory, *, around: bool = False, replace: bool = False
) -> None:
    """Register a player under a name, for use in specifications.

    Args:
        name: the new name: a lowercase letter, then lowercase letters, digits and hyphens.
        factory: a function or class that returns a new `Player` at each call. It is called with the
            game and the arguments of the specification: `factory(game, 1000, seconds=2)` for
            `name:1000,seconds=2`. Arguments are checked against the factory's annotations (bool,
            int, float, str). For matches with several worker processes, the factory must be
            importable.
        around: whether the player wraps another player, as in `greedy+name:200`. The factory then
            gets the game, the wrapped player and the arguments.
        replace: whether to replace a player that already has this name.

    Raises:
        TypeError: the name is not a string, or the factory is not callable.
        ValueError: the name is malformed, or another player has it.

    Example:
        >>> from armarl import make_game, make_player, register_player
        >>> from armarl.players.simple_players import RandomPlayer
        >>> register_player("dice", RandomPlayer)
        >>> make_player("dice", make_game("armadora")).name
        'dice'
    """
    if not isinstance(name, str):
        raise TypeError(
            f"a player's name must be text, not {brief(repr(name), 60)}; "
            "the name is the first argument"
        )
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(
            "a player's name must be a lowercase letter, then lowercase letters, digits and "
            f"hyphens, not {name!r}"
        )
    if not callable(factory):
        raise TypeError(
            f"{name}: the factory must be a class or function such as `lambda game: player`, "
            f"not {brief(repr(factory), 60)}"
        )
    registry = _around if around else _players
    taken = registry.get(name, factory) is not factory or name in shipped_policies()
    if not replace and taken:
        raise ValueError(
            f"another player has the name {name!r}; use another name, or replace=True to replace "
            "that player"
        )
    registry[name] = factory


def registered() -> list[tuple[str, Factory, bool]]:
    """Return the arguments of all `register_player` calls. Worker processes repeat the calls.

    Each item is a name, a factory, and whether the player wraps another one.
    """
    return [
        (name, factory, around)
        for registry, built_in, around in (
            (_players, BUILT_IN, False),
            (_around, BUILT_AROUND, True),
        )
        for name, factory in registry.items()
        if factory is not built_in.get(name) and not isinstance(factory, str)
    ]


def is_player(name: str) -> bool:
    """Return whether a built-in or registered player has this name."""
    return name in _players


def is_built_in(name: str, *, around: bool = False) -> bool:
    """Return whether a built-in player or wrapper has this name and was not replaced."""
    registry, built_in = (_around, BUILT_AROUND) if around else (_players, BUILT_IN)
    return name in built_in and registry[name] is built_in[name]


def player_names() -> list[str]:
    """Return the names of all built-in players, registered players and shipped policies."""
    return [*_players, *shipped_policies()]


def wrapper_names() -> list[str]:
    """Return the names of all wrappers, such as `search` in `greedy+search:200`."""
    return list(_around)


def find_player(name: str) -> Factory | None:
    """Return the factory of a player, or None if no player has this name."""
    return _imported(_players.get(name))


def find_wrapper(name: str, own: Mapping[str, Factory | str]) -> Factory | None:
    """Return the factory of a wrapper, or None if no wrapper has this name.

    Args:
        name: the name.
        own: the factories that the wrapped player itself provides, by name. They take precedence.
    """
    return _imported({**_around, **own}.get(name))


def _imported(found: Factory | str | None) -> Factory | None:
    """Return a factory. If it is given as a string, such as `module:name`, import it."""
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        factory: Factory = getattr(importlib.import_module(module), attribute)
        return factory
    return found


@cache
def shipped_policies() -> dict[str, Path]:
    """Return the file of every policy that comes with ArmaRL, by name."""
    folder = Path(__file__).parent.parent / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
