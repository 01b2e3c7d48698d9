"""Players as users may write them, with annotations for a type checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tiny

if TYPE_CHECKING:
    from armarl.core.game import Game


class Typed(tiny.Backwards):
    """A player annotated with names that exist only for a type checker."""

    def __init__(self, game: Game, rank: int = 1) -> None:
        super().__init__(game, rank)


class Open(tiny.Backwards):
    """A player that accepts any named argument."""

    def __init__(self, game: Game, *others: object, **settings: object) -> None:
        super().__init__(game)
        assert not others
        self.settings = settings


class Loud(tiny.Backwards):
    """A player with its own argument `noise`."""

    def __init__(self, game: Game, noise: float = 0.0) -> None:
        super().__init__(game)
        self.noise = noise


class Broken(tiny.Backwards):
    """A player that fails when it is made."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        raise OSError("no such weights")


def needs_more(game: Game, rank: int) -> tiny.Backwards:
    """Return a player that needs an argument `rank`."""
    return tiny.Backwards(game, rank)
