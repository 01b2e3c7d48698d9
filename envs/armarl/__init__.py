"""ArmaRL: the board games Armadora and Armada as reinforcement-learning environments.

Importing it registers the environments with Gymnasium and PettingZoo; the rest is imported when
it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from armarl.environments.registration import register_all, register_game
from armarl.games.catalogue import GameEntry

if TYPE_CHECKING:
    from armarl.analysis.leaks import assert_no_leak
    from armarl.core.threads import set_threads
    from armarl.environments.self_play_batch import SelfPlayBatch
    from armarl.games.make_game import make_game
    from armarl.players.registry import register_player
    from armarl.roster.make_player import make_player

__all__ = [
    "GameEntry",
    "SelfPlayBatch",
    "__version__",
    "assert_no_leak",
    "make_game",
    "make_player",
    "register_game",
    "register_player",
    "set_threads",
]

__version__ = version("armarl")

_HOMES = {
    "SelfPlayBatch": "armarl.environments.self_play_batch",
    "assert_no_leak": "armarl.analysis.leaks",
    "make_game": "armarl.core.game",
    "make_player": "armarl.players",
    "register_player": "armarl.players",
    "set_threads": "armarl.core.threads",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use what takes Numba with it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'armarl' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


register_all()
