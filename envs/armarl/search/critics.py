"""Search with a critic, a value network that improves a scripted player.

A critic player already tries actions by rollouts. The search is this player with another number
of deals (`simulations`) and other lengths of rollouts (`rounds`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.common.numbers import whole_number
from armarl.compiler.types import States
from armarl.core.game import Game, check_game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.policies.critic_lookahead import FIRST_DEALS, with_players
from armarl.policies.network_players import CriticPlayer
from armarl.search.settings import MOST, check


class CriticSearchPlayer:
    """A critic player with a chosen number of deals and length of rollouts.

    By default, it tries actions in up to 50 deals, and its rollouts last two rounds. (A critic
    player without search uses up to 32 deals and one round.)

    `armarl.policies.critic_lookahead` explains how the player decides. The same position always
    gives the same action, on any number of threads.

    Attributes:
        name: name in tables and records.
        game: the variant that it plays.
        player: the critic player, with the deals and rounds of the search.

    Example:
        >>> from armarl import make_game, make_player
        >>> game = make_game("armada", players=2)
        >>> player = make_player("armada-2p+search:100", game)
        >>> type(player).__name__, player.name
        ('CriticSearchPlayer', 'armada-2p+search:100')
    """

    def __init__(
        self, game: Game, player: CriticPlayer, simulations: int = 200, *, rounds: int = 2
    ) -> None:
        """Create a search player around a critic player.

        Args:
            game: the variant to play.
            player: the critic player.
            simulations: approximate number of rollouts per decision. Rollouts of actions that are
                dropped early do not count.
            rounds: number of rounds that each rollout plays before the critic evaluates the
                position. A round has one turn per seat.

        Raises:
            TypeError: `game` is not a `Game`, or a number is not an integer.
            ValueError: a value is out of range, or the player has no critic.
        """
        check_game(game)
        check(
            isinstance(player, CriticPlayer),
            f"this search needs a critic, got {player.name}",
        )
        whole_number("simulations", simulations, 1, MOST)
        whole_number("rounds", rounds, 1, MOST)
        self.game, self.name = game, f"{player.name}+search:{simulations}"
        self.player = CriticPlayer(
            game,
            player.tensors,
            advisers=player.advice.advisers,
            name=player.name,
            deals=max(simulations // 4, with_players(game.players, FIRST_DEALS) + 1),
            rounds=rounds,
        )

    def choose(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """See `armarl.Player`."""
        states, seats, draws = protocol.check_question(self.game, states, seats, draws)
        return self.player.choose(states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """Return the probabilities and values of the critic player."""
        return self.player.think(states, seats, draws)
