"""The search that serves a game best."""

from __future__ import annotations

from armarl.core.game import Game
from armarl.games.catalogue import game_entry
from armarl.search.lookahead import RolloutPlayer
from armarl.search.player import FlatPlayer, IsmctsPlayer, SearchPlayer

METHODS = {one.method: one for one in (SearchPlayer, IsmctsPlayer, FlatPlayer, RolloutPlayer)}


def best_search(
    game: Game, simulations: int | None = None, *, milliseconds: float | None = None
) -> SearchPlayer | RolloutPlayer:
    """A player by the method that the game names (`BEST_SEARCH` in its `rivals`), else GRAVE.

    Args:
        simulations: for each decision; if neither budget is given, as many as the method has.
        milliseconds: instead of these, time for each decision on one thread.

    Raises:
        ValueError: both budgets are given, or one is out of range.
    """
    rivals = game_entry(game.name).part("rivals")
    method = METHODS[getattr(rivals, "BEST_SEARCH", SearchPlayer.method)]
    return method(game, simulations, milliseconds=milliseconds)
