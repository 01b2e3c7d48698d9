"""Search around a critic of scripted play: more deals, and more turns before he is asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.players import protocol
from armarl.players.protocol import Thoughts
from armarl.policies.critic_lookahead import FIRST_DEALS, with_players
from armarl.policies.network_players import CriticPlayer
from armarl.search.settings import MOST, check


class CriticSearchPlayer:
    """Plays as a critic's player does who takes more time (see `armarl.turns`).

    The same position gives the same action, on any number of threads.

    Attributes:
        name: in tables and records.
        game: the variant that it plays.
        player: the critic's, with the deals and rounds of the search.
    """

    def __init__(
        self, game: Game, player: CriticPlayer, simulations: int = 200, *, rounds: int = 2
    ) -> None:
        """A player of `game` around a critic's.

        Args:
            simulations: for each decision, about: lines of play from those of the actions that are
                not left out early.
            rounds: of turns, one for each seat, in each before the critic is asked.

        Raises:
            ValueError: a value out of range, or a player without a critic.
        """
        check(isinstance(player, CriticPlayer), f"this search needs a critic, not {player.name}")
        check(1 <= simulations <= MOST, f"simulations must be in 1 to {MOST}, not {simulations}")
        check(1 <= rounds <= MOST, f"rounds must be in 1 to {MOST}, not {rounds}")
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
        """See `armarl.players.Player`."""
        protocol.check_question(self.game, states, seats, draws)
        return self.player.choose(states, seats, draws)

    def think(
        self, states: States, seats: NDArray[np.int64], draws: NDArray[np.float64]
    ) -> Thoughts:
        """What is found, as a critic's player tells it."""
        return self.player.think(states, seats, draws)
