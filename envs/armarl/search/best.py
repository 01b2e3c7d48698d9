"""The best search method of each game."""

from __future__ import annotations

from armarl.core.game import Game, check_game
from armarl.games.catalogue import game_entry
from armarl.search.lookahead import RolloutPlayer
from armarl.search.player import FlatPlayer, IsmctsPlayer, SearchPlayer

METHODS = {one.method: one for one in (SearchPlayer, IsmctsPlayer, FlatPlayer, RolloutPlayer)}


def best_search(
    game: Game, simulations: int | None = None, *, milliseconds: float | None = None
) -> SearchPlayer | RolloutPlayer:
    """Create the search player that works best for a game.

    The game names the method (`BEST_SEARCH` in its `rivals` module). If it names none, the method
    is GRAVE.

    Args:
        game: the variant to play.
        simulations: number of simulations per decision. Default: the default of the method, unless
            you give `milliseconds`.
        milliseconds: time per decision on one thread, instead of a number of simulations. The
            actions then depend on the machine.

    Raises:
        TypeError: `game` is not a `Game`, `simulations` is not an integer, or `milliseconds` is not
            a number.
        ValueError: `simulations` and `milliseconds` are both given, or one is out of range.

    Example:
        >>> from armarl import make_game
        >>> from armarl.search import best_search
        >>> best_search(make_game("armadora", players=2), 300).name
        'grave:300'
        >>> best_search(make_game("armada", players=2), milliseconds=50).name
        'rollout:50ms'
    """
    rivals = game_entry(check_game(game).name).part("rivals")
    method = METHODS[getattr(rivals, "BEST_SEARCH", SearchPlayer.method)]
    return method(game, simulations, milliseconds=milliseconds)
