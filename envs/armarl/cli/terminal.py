"""Games at the terminal: one person against players, or only players."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.cli.board import Board, told
from armarl.cli.keys import Keys, keyboard
from armarl.cli.shared_options import write_page
from armarl.common.messages import relation, tell
from armarl.common.numbers import MOST_SEED, whole_number
from armarl.compiler.types import States
from armarl.core.game import Game
from armarl.games.catalogue import game_entry
from armarl.matches.recording import Recorder, append_records, prepare_records
from armarl.matches.records import read_record
from armarl.matches.undo import can_be_undone
from armarl.players.human import HumanPlayer, UndoError
from armarl.players.protocol import Player, Thinker, Thoughts, ask_thoughts, choose_legally
from armarl.roster.make_player import make_player

_LIKELIEST = 4  # number of actions whose probabilities are shown
_ONLY = np.zeros(1, np.int64)  # index of the only game


def play_at_terminal(
    game: Game,
    opponents: Sequence[str | Player],
    seat: int = 0,
    seed: int = 0,
    record: str | Path | None = None,
    think: bool = False,
    html: Path | None = None,
) -> None:
    """Play one game between a person at the terminal and players.

    Args:
        game: the game to play.
        opponents: players clockwise from `seat`; the last one takes all remaining seats.
        seat: the person's seat.
        seed: seed of the deal and of the players' random numbers.
        record: a file to which the game's record is appended, even if the game is stopped.
        think: whether to show the actions that the opponents consider and the result that they
            expect, if they report thoughts. Hidden parts of their actions stay hidden, but the
            expected result uses everything that the opponents know.
        html: a file to which a replay of the game is written, with the players' thoughts.

    Raises:
        EOFError: the person typed `quit`, or the input ended.
        ValueError: the seat or the seed is out of range, there are no or too many opponents, or the
            record file contains something other than records.
        OSError: the record may not be written.
    """
    if not 0 <= seat < game.players:
        raise ValueError(f"seat must be from 0 to {game.players - 1}, not {seat}")
    if not 1 <= len(opponents) < game.players:
        larger = [n for n in game_entry(game.name).players if n > len(opponents) > 0]
        room = "1 opponent" if game.players == 2 else f"1 to {game.players - 1} opponents"
        raise ValueError(
            f"a game of {game.players} players takes {room}, not {len(opponents)}"
            + (f"; use -o players={larger[0]} for more" if larger else "")
        )
    person = HumanPlayer(game)
    players: list[Player] = [person] * game.players
    for k in range(1, game.players):
        opponent = make_player(opponents[min(k, len(opponents)) - 1], game)
        players[(seat + k) % game.players] = opponent
    _show(game, players, seat, seed, record, think, 0, html)


def watch_at_terminal(
    game: Game,
    players: Sequence[str | Player],
    seed: int = 0,
    record: str | Path | None = None,
    think: bool = False,
    pace: float = 0,
    html: Path | None = None,
) -> None:
    """Let players play one game, and draw the whole board.

    The board is drawn after every action, or once per turn if it is tall. Any key pauses the game
    until the next key, and q ends the game.

    Args:
        game: the game to play.
        players: players from seat 0 on; the last one takes all remaining seats.
        seed: seed of the deal and of the players' random numbers.
        record: a file to which the game's record is appended, even if the game is stopped.
        think: whether to show the actions that the players consider and the result that they
            expect, if they report thoughts.
        pace: seconds between two actions.
        html: a file to which a replay of the game is written, with the players' thoughts.

    Raises:
        EOFError: q was pressed.
        ValueError: the seed is out of range, there are no or too many players, or the record file
            contains something other than records.
        OSError: the record may not be written.
    """
    if not 1 <= len(players) <= game.players:
        raise ValueError(
            f"{game.players} seats take 1 to {game.players} players, not {len(players)}"
        )
    seated = [*players, *[players[-1]] * (game.players - len(players))]
    made = [make_player(player, game) for player in seated]
    _show(game, made, None, seed, record, think, pace, html)


def _show(
    game: Game,
    players: list[Player],
    seat: int | None,
    seed: int,
    record: str | Path | None,
    think: bool,
    pace: float,
    html: Path | None,
) -> None:
    """Play a game and show it as the seat `seat` sees it, or everything if `seat` is None."""
    whole_number("seed", seed, 0, MOST_SEED)
    if record is not None:
        prepare_records(record)
    if seat is not None:
        tell(f"Type actions in the game's notation. {game_entry(game.name).notation}")
        tell("Type help for the list of commands, such as undo.")
    for number, player in enumerate(players):
        name = "you" if number == seat else player.name
        yours = "" if seat in (None, number) else relation(game.sides, seat, number)
        tell(f"player {number}{yours}: {name}")
    tell(f"deal {seed}: play the same deal again with --seed {seed}")
    table = _Table(game, players, seat, seed)
    keep = html is not None
    with _signals_do(signal.default_int_handler):
        try:
            if seat is None:
                with keyboard() as keys:
                    table.play(think, keep, pace, keys)
            else:
                table.play(think, keep)
        finally:
            with _signals_do(signal.SIG_IGN):
                if record is not None:
                    append_records(record, table.record())
                if html is not None:
                    thoughts = {"the players": table.thoughts}
                    write_page(html, [read_record(table.record()[0])], None, [thoughts])
    state = table.states[0]
    if seat is not None:
        tell(f"\n{game.draw(state, seat)}")
        if game.describe(state, seat) != game.describe(state):
            tell(f"\nwith all hidden information shown:\n\n{game.draw(state)}")


class _Move(NamedTuple):
    """An action that was played, with the state and the random number generators before it."""

    seat: int
    action: int
    states: States  # before the action
    chance: NDArray[np.uint64]
    thoughts: Thoughts | None


class _Table:
    """A game at the terminal."""

    def __init__(self, game: Game, players: list[Player], seat: int | None, seed: int) -> None:
        self.game, self.players, self.seat, self.seed = game, players, seat, seed
        self.states = game.new_states(seed)
        self._chance = game.new_chance(np.array([seed]))
        self._moves: list[_Move] = []
        self._kept = 0  # number of moves at the beginning that cannot be taken back

    def record(self) -> list[str]:
        """Return the record of the game so far, as a list with one text."""
        names = [player.name for player in self.players]
        recorder = Recorder(self.game, [names], np.array([self.seed]))
        later = [*(move.states for move in self._moves), self.states]
        recorder.dealt(later[0])
        for move, states in zip(self._moves, later[1:], strict=True):
            recorder.played(states, _ONLY, np.array([move.seat]), np.array([move.action]))
        recorder.ended(self.states)
        return recorder.texts()

    @property
    def thoughts(self) -> list[Thoughts | None]:
        """The players' thoughts before each action of the record."""
        return [move.thoughts for move in self._moves]

    def play(
        self, think: bool, keep: bool = False, pace: float = 0, keys: Keys | None = None
    ) -> None:
        """Play the game to its end.

        Args:
            think: whether to show the players' thoughts.
            keep: whether to store the players' thoughts even if they are not shown.
            pace: seconds between two actions.
            keys: the keyboard whose keys pause or end the game, or None.
        """
        game, states, board = self.game, self.states, Board(self.game, self.seat)
        if self.seat is None:
            tell(board.drawn(states))
        while not game.statuses(states)[0][0]:
            before, chance = states.copy(), self._chance.copy()
            questions = game.questions(states, _ONLY, self._chance)
            mover = int(questions[1][0])
            player, known = self.players[mover], self.seat in (None, mover)
            texts = game.actions.texts if known else game.actions.public_texts
            thoughts: Thoughts | None = None
            if (think or keep) and isinstance(player, Thinker):
                thoughts = ask_thoughts(player, game, *questions)
                if think:
                    tell(f"player {mover} thinks: {_thoughts(thoughts, texts)}")
            if isinstance(player, HumanPlayer):
                player.may_undo = len(self._moves) > self._kept
                shown = board.drawn(states), _question(game, states)
                player.heading = "\n".join(text for text in shown if text)
            try:
                action = choose_legally(player, game, *questions)
            except UndoError:
                self._undo(texts)
                continue
            game.play(states, _ONLY, action)
            board.follow(states)
            number = int(action[0])
            self._moves.append(_Move(mover, number, before, chance, thoughts))
            own = mover == self.seat
            if not (own and can_be_undone(game, before[0], number, states[0])):
                self._kept = len(self._moves)
            what = game.tell(states[0], (mover, number), self.seat, before=before[0])
            tell(told(mover, texts[number], what.words))
            if self.seat is None:
                if (drawing := board.drawn(states)) is not None:
                    tell(drawing)
                if keys is not None:
                    keys.pause(pace)

    def _undo(self, texts: Sequence[str]) -> None:
        """Take back the person's last action."""
        move = self._moves.pop()
        self.states[:], self._chance[:] = move.states, move.chance
        tell(f"taken back: {texts[move.action]}")


def _question(game: Game, states: States) -> str:
    """Return the game's question to the seat to move, such as where to place a piece.

    The question is empty if the game has no module `guide`.
    """
    guide = game_entry(game.name).part("guide")
    return guide.question(game, states[0])[0] if guide else ""


@contextmanager
def _signals_do(handler: Any) -> Iterator[None]:
    """Set a handler for SIGHUP and SIGTERM, and restore the previous handlers at the end.

    If `handler` is the handler of Ctrl-C, a closed terminal or a request to terminate ends the game
    as Ctrl-C does, so the record is still written. Signals that were ignored stay ignored. Outside
    the main thread this function does nothing, because only the main thread receives signals.
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
    """Format the likeliest actions and the expected return.

    The probabilities of actions with the same text are added.
    """
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
