"""The names by which players can be called."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from armarl.common.messages import brief
from armarl.core.game import Game
from armarl.players.player_specs import Spec
from armarl.players.protocol import Player
from armarl.players.simple_players import GreedyPlayer, HumanPlayer, PatientPlayer, RandomPlayer

Factory = Callable[..., Player]


PlayerLike = str | Path | Spec | Player


def _random(game: Game, patient: bool = False) -> Player:
    return PatientPlayer(game) if patient else RandomPlayer(game)


# Those given as text are imported when they are first called for.
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
    """Give a player a name, by which he can be called for wherever players are named.

    Args:
        name: small letters, digits and hyphens.
        factory: called with the game and the arguments of the specification, it returns a `Player`:
            `factory(game, 1000, seconds=2)` for `name:1000,seconds=2`. Its annotations (bool, int,
            float, str) are what is checked. For a match with several worker processes it is a
            function or a class that can be imported.
        around: the name is put around another player, as in `greedy+name:200`; the factory is
            called with the game, that player, and the arguments.
        replace: take the place of whoever has the name.

    Raises:
        TypeError: the factory cannot be called.
        ValueError: the name is no name, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"a player's name is of small letters, digits and hyphens, not {name!r}")
    if not callable(factory):
        raise TypeError(
            f"{name}: what makes a player is a class or a function, as `lambda game: player`, "
            f"not {brief(repr(factory), 60)}"
        )
    registry = _around if around else _players
    taken = registry.get(name, factory) is not factory or name in shipped_policies()
    if not replace and taken:
        raise ValueError(f"there is a player {name!r} already; replace=True takes his place")
    registry[name] = factory


def registered() -> list[tuple[str, Factory, bool]]:
    """What `register_player` was called with: for worker processes, which must call it too."""
    return [
        (name, factory, around)
        for registry, built_in, around in (
            (_players, BUILT_IN, False),
            (_around, BUILT_AROUND, True),
        )
        for name, factory in registry.items()
        if factory is not built_in.get(name) and not isinstance(factory, str)
    ]


def _named(registry: Mapping[str, Factory | str], name: str) -> Factory | None:
    """The factory of this name, if there is one."""
    found = registry.get(name)
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        factory: Factory = getattr(importlib.import_module(module), attribute)
        return factory
    return found


@cache
def shipped_policies() -> dict[str, Path]:
    """The policies that come with ArmaRL, by name."""
    folder = Path(__file__).parent.parent / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
