"""What a game's package must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from armarl.core.verbs import Verbs

if TYPE_CHECKING:
    from armarl.core.game import Game


class GameModule(Protocol):
    """What a game's package offers; `register_game` names it.

    One whose `make` opens files that its options name has a function `restore` besides, which takes
    the same options from a file that somebody else may have written, and opens none.
    """

    VERSION: int  # raised whenever the rules, the actions or the observation change
    VERBS: Verbs

    def make(self, **options: Any) -> Game:
        """The variant with these options, `players` among them; the same object each time.

        Every option has a default.

        Raises:
            ValueError: a value out of range.
        """
        ...


def as_verbs(module: Any) -> Verbs:
    """The verbs of a game's package.

    Raises:
        TypeError: it has none.
    """
    found = getattr(module, "VERBS", None)
    if not isinstance(found, Verbs):
        raise TypeError(f"{module.__name__} has no VERBS of type armarl.core.verbs.Verbs")
    return found
