"""A person's game at the terminal: accepted commands, undo, events, and speed."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armarl.cli import keys
from armarl.cli.__main__ import main
from armarl.games.make_game import make_game
from armarl.matches.records import read_records
from armarl.players.human import action_meant

GAME = make_game("armadora")


@pytest.fixture
def run(capsys: Any, monkeypatch: Any, tmp_path: Path) -> Any:
    """Return a function that runs a command in an empty folder and returns status and output."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, typed: str = "") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        status = main([str(argument) for argument in arguments])
        return status, capsys.readouterr().out

    return run


def armada(*more: str) -> tuple[str, ...]:
    return ("play", "greedy", "--game", "armada", "-o", "players=2", "--seed", "2", *more)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["w3 c4", "W3 C4", "  W3   c4 "])
def test_letters_may_be_of_either_case(typed: str) -> None:
    mask = np.ones(len(GAME.actions), np.int8)
    assert action_meant(GAME, mask, typed) == GAME.actions.id("W3 c4")


def test_a_number_is_understood_as_a_count(run: Any) -> None:
    """`5` means `count 5` if a number of bands is needed, and nothing otherwise."""
    out = run(*armada(), typed="ship g4\nship g5\n3\nquit\n")[1]
    assert "player 0: ship G4\n" in out
    assert "player 0: count 3\n" in out
    mask = np.ones(len(GAME.actions), np.int8)
    with pytest.raises(ValueError, match="unknown action '5'"):
        action_meant(GAME, mask, "5")


def test_help_names_every_word(run: Any) -> None:
    out = run("play", "random", "--seed", 1, typed="help\nquit\n")[1]
    for word in ("?", "help", "board", "undo", "quit"):
        assert re.search(rf"\n  {re.escape(word)} +[a-z]", out)


def test_a_turn_says_what_is_to_be_decided(run: Any) -> None:
    out = run("play", "greedy", "--seed", "1", typed="W3 b2\nP a3-b3\nhelp\nquit\n")[1]
    first, second = out.split("player 0: P a3-b3\n")
    assert "\nPlace a Warrior on a square, or one or two palisades on lines, or pass " in first
    assert "'b2' is not one of a1, b1, " in first
    assert "on a square with no mine and no Warrior (ARM-11)" in first
    assert "\nPlace a second palisade on a line, or stop (ARM-13).\n" in second
    assert "`armarl rules armadora`" in second


def test_the_board_can_be_drawn_again(run: Any) -> None:
    out = run("play", "random", "--seed", 1, typed="board\nquit\n")[1]
    assert out.count("a      b      c") == 2


# --- undo -----------------------------------------------------------------------------------------


def test_undo_takes_back_an_action_that_revealed_nothing(run: Any) -> None:
    moves = "ship g4\nship g5\n3\nundo\nundo\nship g7\n4\nquit\n"
    out = run(*armada("--record", "game.txt"), typed=moves)[1]
    assert "taken back: count 3\n" in out
    assert "taken back: ship G5\n" in out
    (record,) = read_records("game.txt")
    texts = [record.game.actions.text(action) for action in record.actions]
    assert texts[:3] == ["ship G4", "ship G7", "count 4"]


def test_nothing_can_be_undone_after_the_others_have_moved(run: Any) -> None:
    out = run("play", "random", "--seed", 1, typed="undo\nW1 a1\nundo\nquit\n")[1]
    assert out.count("nothing can be undone") == 2
    assert "taken back: " not in out


def test_undo_changes_no_later_random_number(run: Any) -> None:
    """After an undo, the opponents draw the same numbers as without it."""
    start = "ship g4\nship g5\n"
    plain = run(*armada("--record", "a.txt"), typed=start + "18\nquit\n")
    again = run(*armada("--record", "b.txt"), typed=start + "3\nundo\n18\nquit\n")
    assert plain[0] == again[0] == 130
    assert Path("a.txt").read_text("utf-8") == Path("b.txt").read_text("utf-8")


# --- the board and events -------------------------------------------------------------------------


def test_armada_is_drawn_once_a_turn_within_80_columns(run: Any) -> None:
    watched = ("watch", "greedy", "--game", "armada", "-o", "max_turns=12", "--seed", "2")
    out = run(*watched, "--record", "game.txt")[1]
    (record,) = read_records("game.txt")
    turns = record.game.turns_of(record.states)
    changes = 1 + int((turns[1:] != turns[:-1]).sum())
    assert changes <= out.count("CENTRAL") <= changes + 1
    assert out.count("CENTRAL") < len(record.actions) / 2
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"\n    Dice: ((\d|no) hits?|\d loss(es)?)\.\n", out)
    assert re.search(r"\n    Dice: gold \d, tribes \d\.\n", out)
    assert re.search(r"\n    player \d moves .* to ", out)
    replayed = run("replay", "game.txt", "--draw")[1]
    told = [line for line in out.splitlines() if line.startswith("    ")]
    assert [line for line in replayed.splitlines() if line.startswith("    ")] == told


def test_a_person_sees_the_board_once_a_turn_and_what_others_do(run: Any) -> None:
    two_colours = "ship g4\nship g5\n18\nship b4\nship b5\n18\n"
    out = run(*armada(), typed=two_colours + "end\n" * 5)[1]
    assert re.search(r"\nplayer 1: count .*\n    player 1 (puts|moves) ", out)
    ends = out.count("player 0: end\n")
    assert ends >= 4
    assert ends <= out.count("CENTRAL") <= ends + 3  # up to three more, at set-up and at the end
    assert out.count("quit ends): ") > out.count("CENTRAL")
    assert "\nPut ship 2 of 2 on a green city (ADA-13).\n" in out


# --- the speed of a game that is watched ----------------------------------------------------------


def test_a_key_pauses_and_q_ends_a_game(capsys: Any) -> None:
    given = iter(["", "x", "x", "x", "q", "Q"])
    asked = []

    def read(seconds: float | None) -> str:
        asked.append(seconds)
        return next(given)

    keyboard = keys.Keys(read)
    keyboard.pause(0.5)
    assert capsys.readouterr().out == ""
    keyboard.pause(0.5)  # the first x pauses, the second continues
    assert "paused: any key continues the game, q ends it" in capsys.readouterr().out
    with pytest.raises(EOFError):
        keyboard.pause(0.5)
    assert asked == [0.5, 0.5, None, 0.5, None]
    with pytest.raises(EOFError):
        keyboard.pause(0.5)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_keys_are_read_from_a_terminal(monkeypatch: Any) -> None:
    import pty
    import termios

    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        before = termios.tcgetattr(terminal)
        with keys.keyboard() as keyboard:
            keyboard.pause(0)
            os.write(ours, b"q")
            with pytest.raises(EOFError):
                keyboard.pause(5)
        assert termios.tcgetattr(terminal) == before
    os.close(ours)


@pytest.mark.parametrize("pace", ["-1", "nan", "soon", "1e9"])
def test_invalid_paces_are_refused(run: Any, capsys: Any, pace: str) -> None:
    with pytest.raises(SystemExit):
        run("watch", "greedy", "--pace", pace)
    assert "a pace must be 0 to 3600 seconds" in capsys.readouterr().err
