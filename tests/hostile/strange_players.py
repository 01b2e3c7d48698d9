"""Players of users (`strange_players:NAME`) that lack parts of a player, or end the program."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from armarl.core.game import Game

NUMBER = 7


def nothing(game: Game) -> None:
    """Return None instead of a player."""


def number(game: Game) -> int:
    return 7


def a_class(game: Game) -> type:
    return Nameless


def leaves(game: Game) -> None:
    sys.exit(0)


class Speechless:
    """A class with only a name."""

    def __init__(self, game: Game) -> None:
        self.name = "speechless"


class Nameless:
    """A player without a name."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        return self.game.legal_masks(states).argmax(axis=1)


class Numbered(Nameless):
    """A player whose name is a number."""

    name = 7


class Fixed(Nameless):
    """A player whose name cannot be changed."""

    @property
    def name(self) -> str:
        return "fixed"


class Leaver(Nameless):
    """A player that ends the program instead of choosing an action."""

    name = "leaver"

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        sys.exit(0)

    def think(self, states: Any, seats: Any, draws: Any) -> Any:
        sys.exit(np.array(0))


class Exhausted(Nameless):
    """A player that raises StopIteration after some answers."""

    name = "exhausted"

    def __init__(self, game: Game, answers: int = 0) -> None:
        super().__init__(game)
        self.answers = iter(range(answers))

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        next(self.answers)
        return super().choose(states, seats, draws)


class TwoWordsError(Exception):
    """An error that cannot be unpickled, because its arguments do not fit its constructor."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


class Stranded(Nameless):
    """A player whose error cannot be passed between processes."""

    name = "stranded"

    def choose(self, states: Any, seats: Any, draws: Any) -> Any:
        raise TwoWordsError("no", "boat")


class SecretLeaver(Nameless):
    """A player that ends the program instead of returning the digest of its weights."""

    name = "secret leaver"

    def weights_digest(self) -> str:
        sys.exit(0)
