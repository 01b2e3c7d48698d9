"""Advice: the actions that scripted players, the advisers, would choose.

A network adds a learnt amount to the logit of each advised action. The amount depends on the
position and is the network's trust in the adviser. A network starts as strong as its advisers and
learns where to play differently (residual policy learning: Silver et al., 2018; Johannink et al.,
2018). An adviser sees only what its seat may see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.players.player_specs import _other, scripted
from armarl.players.simple_players import GreedyPlayer, RandomPlayer

if TYPE_CHECKING:
    from armarl.core.game import Game

MOST_ADVISERS = 16  # maximum number of advisers of a policy
_SAMPLE, _DEPTH = 64, 24  # number of games in the digest, and number of random actions in a game


class Advice:
    """Scripted players that recommend an action at every decision.

    Attributes:
        advisers: specifications of the players, `greedy` or `greedy:style=NAME`.
        players: the players themselves.
    """

    def __init__(self, game: Game, advisers: Sequence[str]) -> None:
        """Make the advisers for a game.

        Raises:
            ValueError: a specification names another player, or a style that the game lacks.
        """
        self.advisers = tuple(advisers)
        self._game = game
        self.players = [_adviser(adviser, game) for adviser in advisers]

    def __len__(self) -> int:
        return len(self.players)

    def actions(self, states: States, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the action of each adviser in each state, int64, shape (n, advisers).

        Args:
            states: states, shape (n,). They may contain hidden information: the advisers get
                concealed states.
            seats: the seat to move in each state, int64, shape (n,).
        """
        found = np.empty((states.size, len(self)), np.int64)
        if len(self):
            seen, same = self._game.concealed(states, seats), np.zeros(states.size)
            for k, player in enumerate(self.players):
                found[:, k] = player.choose(seen, seats, same)
        return found

    def digest(self) -> str:
        """Return a hash of the advisers' actions in fixed positions, to notice changed advisers."""
        return _digest(self._game, self.advisers)


@lru_cache(maxsize=64)
def _digest(game: Game, advisers: tuple[str, ...]) -> str:
    """Return the hash that `Advice.digest` describes.

    Results can be cached because scripted players do not change while a program runs.
    """
    advice, rng = Advice(game, advisers), np.random.default_rng(0)
    states, chance = game.new_states(np.arange(_SAMPLE)), RandomPlayer(game)
    found = hashlib.sha256()
    for _ in range(_DEPTH):
        statuses, seats = game.statuses(states)
        playing = np.flatnonzero(statuses == 0)
        positions, movers = game.taken(states, playing), seats[playing]
        found.update(advice.actions(positions, movers).tobytes())
        chosen = chance.choose(positions, movers, rng.random(playing.size))
        game.apply(states, playing, chosen)
    return found.hexdigest()[:16]


def _adviser(adviser: str, game: Game) -> GreedyPlayer:
    """Make the adviser that a specification names. The specification may come from a file.

    Raises:
        ValueError: the specification names another player, or a style that the game does not have.
    """
    base = scripted(adviser).base
    style = [*base.arguments, *(value for _, value in base.settings)]
    if len(style) > 1 or not all(isinstance(one, str) for one in style):
        raise _other(adviser)
    return GreedyPlayer(game, *map(str, style))
