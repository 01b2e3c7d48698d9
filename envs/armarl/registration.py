"""The names under which Gymnasium and PettingZoo make the environments of this package.

Importing `armarl` registers them. Gymnasium's are the single-seat environments: `Armadora-v0` and
`Armada-v0`, the basic games for two, take every option as a keyword; the others have some of them
in their name: `Armadora-3p-v0`, `Armadora-advanced-4p-v0`, `Armada-cards-enrolment-2p-v0`.
`gymnasium.make_vec` makes batches of them that compiled loops play.
PettingZoo (from 1.27 on) has one per game, with all options. All are in the namespace `armarl/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import gymnasium
import pettingzoo

NAMESPACE = "armarl"
_SEAT_ENV = "armarl.seat_env:SeatEnv"
_VECTOR_ENV = "armarl.vector_env:SeatVectorEnv"
# Per game the options that are switched on by being named in an id.
_SWITCHES = {"armadora": ("advanced",), "armada": ("cards", "enrolment")}


def gymnasium_variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Gymnasium id of the package, with its keyword arguments."""
    for game, switches in _SWITCHES.items():
        title = f"{NAMESPACE}/{game.capitalize()}"
        yield f"{title}-v0", {"game": game}
        for choice in product((False, True), repeat=len(switches)):
            on = [switch for switch, chosen in zip(switches, choice, strict=True) if chosen]
            for players in (2, 3, 4):
                name = "-".join([title, *on, f"{players}p", "v0"])
                yield name, {"game": game, "players": players, **dict.fromkeys(on, True)}


def register_all() -> None:
    """Register every environment; PettingZoo before 1.27 has no registry and is left out."""
    for name, kwargs in gymnasium_variants():
        gymnasium.register(
            name, entry_point=_SEAT_ENV, vector_entry_point=_VECTOR_ENV, kwargs=kwargs
        )
    if hasattr(pettingzoo, "register"):
        for game in _SWITCHES:
            entry_point = f"armarl.{game}_v0:env"
            pettingzoo.register("aec", f"{NAMESPACE}/{game}-v0", entry_point=entry_point)
