"""A game at the terminal: a person in one seat, players in the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from armarl.arena.records import Recorder, append_records, prepare_records
from armarl.catalogue import game_entry
from armarl.game import Game, States
from armarl.guards import whole_number
from armarl.matches import MOST_SEED
from armarl.players import (
    HumanPlayer,
    Player,
    Thinker,
    Thoughts,
    ask_thoughts,
    choose_legally,
    make_player,
)

_LIKELIEST = 4  # actions of which is told how likely they are


def play_at_terminal(
    game: Game,
    opponents: Sequence[str | Player],
    seat: int = 0,
    seed: int = 0,
    record: str | Path | None = None,
    think: bool = False,
) -> None:
    """Play one game; `opponents` sit clockwise from `seat`, the last one in all seats left.

    Args:
        record: a file to which the game's record is added, if it is stopped as well.
        think: tell what the opponents think, those who can.

    Raises:
        ValueError: no such seat or seed, too many opponents, or no file of records.
        OSError: the record may not be written.
    """
    whole_number("seed", seed, 0, MOST_SEED)
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
    if record is not None:
        prepare_records(record)
    print(f"You play in notation. {game_entry(game.name).notation}")
    for number, player in enumerate(players):
        print(f"player {number}: {'you' if number == seat else player.name}")
    recorder = Recorder(game, [[player.name for player in players]], np.array([seed]))
    states = game.new_states(seed)
    recorder.dealt(states)
    try:
        _play(game, states, players, seat, seed, recorder, think)
    finally:
        if record is not None:
            recorder.ended(states)
            append_records(record, recorder.texts())
    print(f"\n{game.draw(states[0])}")


def _play(
    game: Game,
    states: States,
    players: list[Player],
    seat: int,
    seed: int,
    recorder: Recorder,
    think: bool,
) -> None:
    only = np.zeros(1, np.int64)  # the number of the only game
    chance = game.new_chance(np.array([seed]))
    while not game.statuses(states)[0][0]:
        questions = game.questions(states, only, chance)
        mover = int(questions[1][0])
        player = players[mover]
        if think and isinstance(player, Thinker):
            thoughts = ask_thoughts(player, game, *questions)
            print(f"player {mover} thinks: {_thoughts(game, thoughts)}")
        action = choose_legally(player, game, *questions)
        game.play(states, only, action)
        recorder.played(states, only, questions[1], action)
        texts = game.actions.texts if mover == seat else game.actions.public_texts
        print(f"player {mover}: {texts[action[0]]}")


def _thoughts(game: Game, thoughts: Thoughts) -> str:
    """The likeliest actions, and what the player expects."""
    words = []
    if thoughts.probabilities is not None:
        best = np.argsort(-thoughts.probabilities[0], kind="stable")[:_LIKELIEST]
        chances = [(action, thoughts.probabilities[0, action]) for action in best]
        words += [f"{game.actions.text(a)} {100 * p:.0f} %" for a, p in chances if p >= 0.005]
    if thoughts.value is not None:
        words.append(f"expects {thoughts.value[0]:+z.2f}")
    return ", ".join(words)
