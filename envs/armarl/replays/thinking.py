"""`think_over`, which returns a player's thoughts on a recorded game.

The function has its own module, so that `replay` does not import every kind of player.
"""

from __future__ import annotations

from collections.abc import Callable

from armarl.matches.records import Record, check_record
from armarl.players.protocol import Thoughts
from armarl.players.registry import PlayerLike
from armarl.replays.thoughts import thoughts_of
from armarl.roster.make_player import make_player


def think_over(
    record: Record, player: PlayerLike, progress: Callable[[int, int], None] | None = None
) -> list[Thoughts | None]:
    """Return a player's thoughts before each action of a recorded game, for the seat to move.

    If the record has no actions, it is a single position. The player then thinks about it.

    Args:
        record: the game.
        player: the player, or its name or path as in `make_player`. It gets only the information
            of the seat to move.
        progress: a function that is called from time to time with the number of finished positions
            and of all positions. It may raise an exception to stop.

    Returns:
        One entry for each action, or one entry for a single position whose game is not over. An
        entry is the player's thoughts, as a batch of one, or None if the player reports no
        thoughts.

    Raises:
        TypeError: `record` is not a record, `player` is neither a player nor a name or path, or its
            thoughts are not `Thoughts`.
        ValueError: the player is unknown, was made for another variant, or its thoughts have a
            wrong shape.

    Example:
        >>> import os, tempfile
        >>> import armarl
        >>> game = armarl.make_game("armadora", board="mini")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "games.txt")
        ...     _ = armarl.play_match(game, ["random", "random"], games=1, records=path)
        ...     record = next(armarl.read_records(path))
        >>> armarl.think_over(record, "random")[0].probabilities.shape
        (1, 229)
    """
    return thoughts_of(record, make_player(player, check_record(record).game), progress)
