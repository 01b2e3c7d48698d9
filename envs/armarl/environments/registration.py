"""The names under which Gymnasium and PettingZoo make the environments, and games from outside.

Importing `armarl` registers our games. Gymnasium's are the single-seat environments: `Armadora-v0`
and `Armada-v0`, the games with their default options, take every option as a keyword; the others
have some of them in their name: `Armadora-3p-v0`, `Armada-cards-enrolment-2p-v0`.
`gymnasium.make_vec` makes batches of them that compiled loops play. PettingZoo (from 1.27 on) has
one per game, with all options. All are in the namespace `armarl/`.
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
_IN_AN_ID = re.compile(r"[\w.-]+")  # a variant's name, as Gymnasium takes it
_SEAT_ENV = "armarl.environments.seat_env:SeatEnv"
_VECTOR_ENV = "armarl.environments.vector_env:SeatVectorEnv"
_AEC_ENV = "armarl.environments.aec:checked_env"


def gymnasium_variants(entry: GameEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Gymnasium id of a game, with its keyword arguments."""
    title = f"{NAMESPACE}/{entry.title}"
    yield f"{title}-v0", {"game": entry.name}
    for name, options in entry.variants():
        yield f"{title}-{name}-v0", {"game": entry.name, **options}


def register_game(entry: GameEntry) -> None:
    """Add a game that is not of this package: it then has every face, and ids of its own.

    Players, matches, search, training and the command line know it by its name. An installed
    package may name its entry in the entry-point group `armarl.games` instead, and is found when a
    game is first looked for. The same entry again changes nothing.

    Raises:
        TypeError: it is no entry.
        ValueError: another game has that name or title, or a variant's name gives no id, or the id
            of another variant; nothing is registered.
    """
    if isinstance(entry, GameEntry):
        _check_ids(entry)
    catalogue.add(entry)
    _register(entry)


def _check_ids(entry: GameEntry) -> None:
    """Raise ValueError where a variant has a name that is none, or two have one id."""
    seen: set[str] = set()
    for name, _ in entry.variants():
        if not isinstance(name, str) or not _IN_AN_ID.fullmatch(name):
            raise ValueError(
                f"{entry.name}: a variant's name is of letters, digits, hyphens, underscores and "
                f"dots, not {brief(repr(name))}"
            )
        if name in seen:
            raise ValueError(
                f"{entry.name}: two variants are called {brief(name)}: those of numbers of players "
                "and switches need not be named, so give the others other names"
            )
        seen.add(name)


def register_all() -> None:
    """Register our games; PettingZoo before 1.27 has no registry and is left out."""
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


_registered: set[str] = set()  # of PettingZoo's names: registering one twice is an error there

catalogue.on_installed = register_game
