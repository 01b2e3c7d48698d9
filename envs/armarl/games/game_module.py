"""What a game's package must offer."""

from __future__ import annotations

from typing import Any, Protocol

from armarl.core.game import Game


class GameModule(Protocol):
    """What a game's package offers; `register_game` names it.

    One whose `make` opens files that its options name has a function `restore` besides, which takes
    the same options from a file that somebody else may have written, and opens none.
    """

    def make(self, **options: Any) -> Game:
        """The variant with these options, `players` among them; the same object each time.

        Every option has a default.

        Raises:
            ValueError: a value out of range.
        """
        ...
