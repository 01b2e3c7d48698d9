"""ArmaRL: the board games Armadora and Armada as reinforcement-learning environments.

Importing the package registers the environments with Gymnasium and PettingZoo. All other modules
are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from armarl.catalogue import GameEntry
from armarl.registration import register_all, register_game

if TYPE_CHECKING:
    from armarl.game import make_game
    from armarl.leaks import assert_no_leak
    from armarl.players import make_player, register_player
    from armarl.self_play_batch import SelfPlayBatch
    from armarl.threads import set_threads

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
    "SelfPlayBatch": "armarl.self_play_batch",
    "assert_no_leak": "armarl.leaks",
    "make_game": "armarl.game",
    "make_player": "armarl.players",
    "register_player": "armarl.players",
    "set_threads": "armarl.threads",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import names that need Numba on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'armarl' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


register_all()
