"""Registration of environments with Gymnasium and PettingZoo, and of games of other packages.

Importing `armarl` registers the games of this package. In Gymnasium these are the single-seat
environments. `Armadora-v0` and `Armada-v0` have default options and take every option as a keyword.
Other ids fix the options that their names contain: `Armadora-3p-v0`,
`Armada-cards-enrolment-2p-v0`. For each id, `gymnasium.make_vec` makes a batch that runs in
compiled loops. PettingZoo (1.27 or newer) has one id per game, which takes all options as keywords.
All ids are in the namespace `armarl/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import gymnasium
import pettingzoo

from armarl.common.messages import brief
from armarl.games import catalogue
from armarl.games.catalogue import GameEntry

NAMESPACE = "armarl"
_IN_AN_ID = re.compile(r"[\w.-]+")  # names of variants that Gymnasium accepts in an id
_SEAT_ENV = "armarl.environments.seat_env:SeatEnv"
_VECTOR_ENV = "armarl.environments.vector_env:SeatVectorEnv"
_AEC_ENV = "armarl.environments.aec:checked_env"


def gymnasium_variants(entry: GameEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over the Gymnasium ids of a game, with the keyword arguments of each."""
    title = f"{NAMESPACE}/{entry.title}"
    yield f"{title}-v0", {"game": entry.name}
    for name, options in entry.variants():
        yield f"{title}-{name}-v0", {"game": entry.name, **options}


def register_game(entry: GameEntry) -> None:
    """Register a game from outside this package, and environment ids for it.

    All environments, players, matches, searches and training of this process and its workers then
    accept the game's name. For other processes, such as the command `armarl`, an installed package
    can list its entry in the entry-point group `armarl.games`. ArmaRL reads this group when it
    first lists the games or looks up a name that it does not know. Registering the same entry again
    has no effect.

    Args:
        entry: the description of the game. Its package is not imported.

    Raises:
        TypeError: `entry` is not a `GameEntry`.
        ValueError: another game has this name or title, or a variant's name does not give a valid
            id, or two variants have the same id. In these cases nothing is registered.

    Example:
        >>> import gymnasium
        >>> import armarl
        >>> from armarl.games.catalogue import game_entry
        >>> armarl.register_game(game_entry("armadora"))  # registered before, so without effect
        >>> "armarl/Armadora-2p-v0" in gymnasium.registry
        True
    """
    if isinstance(entry, GameEntry):
        _check_ids(entry)
    catalogue.add(entry)
    _register(entry)


def _check_ids(entry: GameEntry) -> None:
    """Raise ValueError if a variant's name is not valid in an id, or two variants share an id."""
    seen: set[str] = set()
    for name, _ in entry.variants():
        if not isinstance(name, str) or not _IN_AN_ID.fullmatch(name):
            raise ValueError(
                f"{entry.name}: a variant's name must consist of letters, digits, hyphens, "
                f"underscores and dots, not {brief(repr(name))}"
            )
        if name in seen:
            raise ValueError(
                f"{entry.name}: two variants are called {brief(name)}; combinations of players and "
                "switches get their names automatically, so choose another name in `others`"
            )
        seen.add(name)


def register_all() -> None:
    """Register the games of this package. PettingZoo before 1.27 has no registry and is skipped."""
    for entry in catalogue.OURS:
        _register(entry)


def _register(entry: GameEntry) -> None:
    for name, kwargs in gymnasium_variants(entry):
        if name not in gymnasium.registry:
            gymnasium.register(
                name, entry_point=_SEAT_ENV, vector_entry_point=_VECTOR_ENV, kwargs=kwargs
            )
    name = f"{NAMESPACE}/{entry.name}-v0"
    if hasattr(pettingzoo, "register") and name not in _registered:
        pettingzoo.register("aec", name, entry_point=_AEC_ENV, kwargs={"name": entry.name})
        _registered.add(name)


_registered: set[str] = set()  # PettingZoo ids; a second registration would be an error

catalogue.on_installed = register_game
