"""The names under which Gymnasium and PettingZoo make the environments of this package.

Importing `armarl` registers them. Gymnasium's are the single-seat environments: `Armadora-v0`, the
base game for two, takes every option as a keyword; the others have some of them in their name:
`Armadora-3p-v0`, `Armadora-advanced-4p-v0`. PettingZoo (from 1.27 on) has one, with all options.
All are in the namespace `armarl/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import pettingzoo

NAMESPACE = "armarl"
_SEAT_ENV = "armarl.seat_env:SeatEnv"


def gymnasium_variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Gymnasium id of the package, with its keyword arguments."""
    yield f"{NAMESPACE}/Armadora-v0", {"game": "armadora"}
    for kind, options in (("", {}), ("advanced-", {"advanced": True})):
        for players in (2, 3, 4):
            name = f"{NAMESPACE}/Armadora-{kind}{players}p-v0"
            yield name, {"game": "armadora", "players": players, **options}


def register_all() -> None:
    """Register every environment; PettingZoo before 1.27 has no registry and is left out."""
    for name, kwargs in gymnasium_variants():
        gymnasium.register(name, entry_point=_SEAT_ENV, kwargs=kwargs)
    if hasattr(pettingzoo, "register"):
        name, entry_point = f"{NAMESPACE}/armadora-v0", "armarl.armadora_v0:env"
        pettingzoo.register("aec", name, entry_point=entry_point)
