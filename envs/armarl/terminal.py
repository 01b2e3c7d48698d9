"""A game at the terminal: a person in one seat, players in the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armarl.catalogue import game_entry
from armarl.game import Game
from armarl.players import HumanPlayer, Player, choose_legally, make_player


def play_at_terminal(
    game: Game, opponents: Sequence[str | Player], seat: int = 0, seed: int = 0
) -> None:
    """Play one game; `opponents` sit clockwise from `seat`, the last one in all seats left.

    Raises:
        ValueError: no such seat, or too many opponents.
    """
    if not 0 <= seat < game.players:
        raise ValueError(f"seat must be in 0 to {game.players - 1}, not {seat}")
    if not 1 <= len(opponents) < game.players:
        raise ValueError(
            f"{game.players} players leave 1 to {game.players - 1} opponents, not {len(opponents)}"
        )
    players: list[Player] = [HumanPlayer(game)] * game.players
    for k in range(1, game.players):
        opponent = make_player(opponents[min(k, len(opponents)) - 1], game)
        players[(seat + k) % game.players] = opponent
    print(f"You play in notation. {game_entry(game.name).notation}")
    for number, player in enumerate(players):
        print(f"player {number}: {'you' if number == seat else player.name}")
    _play(game, players, seat, seed)


def _play(game: Game, players: list[Player], seat: int, seed: int) -> None:
    states = game.new_states(seed)
    only = np.zeros(1, np.int64)  # the number of the only game
    chance = game.new_chance(np.array([seed]))
    while True:
        statuses, movers = game.statuses(states)
        if statuses[0]:
            break
        mover = int(movers[0])
        action = choose_legally(players[mover], game, *game.questions(states, only, chance))
        game.apply(states, only, action)
        texts = game.actions.texts if mover == seat else game.actions.public_texts
        print(f"player {mover}: {texts[action[0]]}")
    print(f"\n{game.draw(states[0])}")
