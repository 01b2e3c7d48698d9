"""Games at the terminal: one person against players, or players alone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from armarl.cli.replaying import write_page
from armarl.common.files import check_writable
from armarl.common.messages import relation, tell
from armarl.common.numbers import MOST_SEED, whole_number
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.catalogue import game_entry
from armarl.matches.records import Recorder, append_records, prepare_records, read_record
from armarl.players.protocol import Player, Thinker, Thoughts, ask_thoughts, choose_legally
from armarl.players.simple_players import HumanPlayer
from armarl.roster.make_player import make_player

_LIKELIEST = 4  # number of actions whose probabilities are shown


def play_at_terminal(
    game: Game,
    opponents: Sequence[str | Player],
    seat: int = 0,
    seed: int = 0,
    record: str | Path | None = None,
    think: bool = False,
    html: Path | None = None,
) -> None:
    """Play one game as a person against players.

    Args:
        game: the game to play.
        opponents: players clockwise from `seat`; the last one fills all seats left.
        seat: the person's seat.
        seed: seed of the deal and of the players' random numbers.
        record: a file to which the game's record is appended, even if the game is stopped.
        think: show what the opponents consider and expect, for players that can tell. Hidden
            parts of their actions stay hidden, but the expected value uses all they know.
        html: a file to which a replay of the game is written, with what the players thought.

    Raises:
        ValueError: the seat or the seed is out of range, there are too many opponents, or the
            record file holds something else.
        OSError: the record may not be written.
    """
    if not 0 <= seat < game.players:
        raise ValueError(f"seat must be in 0 to {game.players - 1}, not {seat}")
    if not 1 <= len(opponents) < game.players:
        larger = [n for n in game_entry(game.name).players if n > len(opponents) > 0]
        raise ValueError(
            f"{game.players} players leave 1 to {game.players - 1} opponents, not {len(opponents)}"
            + (f" (so many fit at a table of -o players={larger[0]})" if larger else "")
        )
    players: list[Player] = [HumanPlayer(game)] * game.players
    for k in range(1, game.players):
        opponent = make_player(opponents[min(k, len(opponents)) - 1], game)
        players[(seat + k) % game.players] = opponent
    _show(game, players, seat, seed, record, think, html)


def watch_at_terminal(
    game: Game,
    players: Sequence[str | Player],
    seed: int = 0,
    record: str | Path | None = None,
    think: bool = False,
    html: Path | None = None,
) -> None:
    """Let players play one game, and draw the whole board after every action.

    Args:
        game: the game to play.
        players: players from seat 0 on; the last one fills all seats left.
        seed: seed of the deal and of the players' random numbers.
        record: a file to which the game's record is appended, even if the game is stopped.
        think: show what the players consider and expect, for players that can tell.
        html: a file to which a replay of the game is written, with what the players thought.

    Raises:
        ValueError: the seed is out of range, there are too many players, or the record file
            holds something else.
        OSError: the record may not be written.
    """
    if not 1 <= len(players) <= game.players:
        raise ValueError(
            f"{game.players} seats take 1 to {game.players} players, not {len(players)}"
        )
    seated = [*players, *[players[-1]] * (game.players - len(players))]
    made = [make_player(player, game) for player in seated]
    _show(game, made, None, seed, record, think, html)


def _show(
    game: Game,
    players: list[Player],
    seat: int | None,
    seed: int,
    record: str | Path | None,
    think: bool,
    html: Path | None,
) -> None:
    """Play a game and show it as `seat` sees it, or everything if `seat` is None."""
    whole_number("seed", seed, 0, MOST_SEED)
    if record is not None:
        prepare_records(record)
    if html is not None:
        check_writable(html)
    if seat is not None:
        tell(f"You play in notation. {game_entry(game.name).notation}")
    for number, player in enumerate(players):
        name = "you" if number == seat else player.name
        yours = "" if seat in (None, number) else relation(game.sides, seat, number)
        tell(f"player {number}{yours}: {name}")
    tell(f"deal {seed}: play the same deal again with --seed {seed}")
    recorder = Recorder(game, [[player.name for player in players]], np.array([seed]))
    states = game.new_states(seed)
    recorder.dealt(states)
    thoughts: list[Thoughts | None] = []
    with _signals_do(signal.default_int_handler):
        try:
            _play(game, states, players, seat, seed, recorder, think, html is not None, thoughts)
        finally:
            with _signals_do(signal.SIG_IGN):
                recorder.ended(states)
                if record is not None:
                    append_records(record, recorder.texts())
                if html is not None:
                    game_record = read_record(recorder.texts()[0])
                    write_page(html, [game_record], None, [thoughts[: len(game_record.actions)]])
    if seat is not None:
        tell(f"\n{game.draw(states[0], seat)}")
        if game.describe(states[0], seat) != game.describe(states[0]):
            tell(f"\nwith all hidden information shown:\n\n{game.draw(states[0])}")


def _play(
    game: Game,
    states: States,
    players: list[Player],
    seat: int | None,
    seed: int,
    recorder: Recorder,
    think: bool,
    keep: bool,
    thoughts: list[Thoughts | None],
) -> None:
    """Play the game to its end.

    Args:
        keep: whether to ask for thoughts even if they are not shown.
        thoughts: what the player thought before each action; appended to.
    """
    only = np.zeros(1, np.int64)  # index of the only game
    chance = game.new_chance(np.array([seed]))
    if seat is None:
        tell(f"\n{game.draw(states[0])}")
    while not game.statuses(states)[0][0]:
        questions = game.questions(states, only, chance)
        mover = int(questions[1][0])
        player = players[mover]
        texts = game.actions.texts if seat in (None, mover) else game.actions.public_texts
        thoughts.append(None)
        if (think or keep) and isinstance(player, Thinker):
            thoughts[-1] = thought = ask_thoughts(player, game, *questions)
            if think:
                tell(f"player {mover} thinks: {_thoughts(thought, texts)}")
        action = choose_legally(player, game, *questions)
        game.play(states, only, action)
        recorder.played(states, only, questions[1], action)
        tell(f"player {mover}: {texts[action[0]]}")
        if seat is None:
            tell(f"\n{game.draw(states[0])}")


@contextmanager
def _signals_do(handler: Any) -> Iterator[None]:
    """Set a handler for SIGHUP and SIGTERM, and restore the previous handlers at the end.

    With Ctrl-C's handler, a closed terminal or a request to terminate ends the game as Ctrl-C
    does, so the record is still written. Signals that were ignored stay ignored. Outside the main
    thread this does nothing, as only the main thread receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    before = {n: old for n, old in before.items() if old not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _thoughts(thoughts: Thoughts, texts: Sequence[str]) -> str:
    """Format the likeliest actions and the expected value; actions with the same text add up."""
    words = []
    if thoughts.probabilities is not None:
        chances: dict[str, float] = {}
        for text, chance in zip(texts, thoughts.probabilities[0].tolist(), strict=True):
            if chance:
                chances[text] = chances.get(text, 0.0) + chance
        best = sorted(chances, key=lambda text: -chances[text])[:_LIKELIEST]
        shown = [text for text in best if chances[text] >= 0.005] or best[:1]
        words += [f"{text} {100 * chances[text]:.0f} %" for text in shown]
    if thoughts.value is not None:
        words.append(f"expects {thoughts.value[0]:+z.2f}")
    return ", ".join(words)
