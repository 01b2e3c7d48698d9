"""The commands `play`, `watch`, `replay` and `draw`: games at the terminal and their pictures."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tiny
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game
from armarl.matches.records import read_records
from armarl.players.human import _listed
from processes import started

THREE = make_game("armadora", players=3)


def test_a_game_is_not_a_player(run):
    status, _, err = run("play", "armada")
    assert status == 1
    assert "armada is a game, not a player" in err
    assert "--game armada" in err
    assert "armada-2p" in err


@pytest.mark.parametrize(
    "given", [("--record", "new"), ("--html", "new"), ("--think",), ("--seat", "0"), ("--seed", 1)]
)
def test_options_of_the_terminal_are_not_ignored_in_a_browser(run, tmp_path, given):
    status, out, err = run("play", "random", "--web", *given)
    assert (status, out) == (1, "")
    assert f"leave out {given[0]} with --web: " in err
    assert list(tmp_path.iterdir()) == []


def test_a_person_can_play_at_the_terminal(run):
    """The person places one Warrior and passes, with mistakes that beginners make."""
    typed = "?\nW5 a9\nstop\nW5 a1\n" + "pass\n"
    status, out, err = run("play", "random", "--seed", 1, typed=typed)
    assert (status, err) == (0, "")
    assert "player 0: you\nplayer 1: random\n" in out
    assert "W1 a1  W1 b1" in out
    assert "unknown action 'W5 a9'; 'a9' is not one of a1, b1, c1, e1, … h5: place a W" in out
    assert "`stop` is illegal" in out
    assert "player 0: W5 a1\n" in out
    assert out.count("player 0: pass") == 1
    assert "player 1: W? " in out  # its values are hidden (ARM-32)
    assert out.rstrip().count("\n") > 20
    end = out[out.rindex("\n1 |") :]
    assert "over: gold" in end
    assert "B1" in end
    assert "B?" not in end  # all Warriors are face up (ARM-36),
    assert "with all hidden information shown" not in out  # so there is nothing more to show
    assert run("play", "random", "--seed", 1, typed=typed)[1] == out


def test_hidden_information_is_shown_after_the_game(run):
    """In Armada, hands stay hidden even at the end (ADA-37)."""
    game = make_game("armada", players=2)
    ships = [text for text in game.actions.texts if text.startswith("ship ")]
    lairs = ([text for text in ships if text[5] == letter] for letter in "RO")
    typed = "".join(f"{first}\n{second}\ncount 18\n" for first, second, _ in lairs)
    options = ("-o", "players=2", "-o", "cards=true", "-o", "max_turns=1")
    status, out, err = run(
        *("play", "random", "--game", "armada", *options, "--seat", 1, "--seed", 2), typed=typed
    )
    assert (status, err) == (0, "")
    assert out.count("with all hidden information shown:") == 1


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_person_can_have_every_seat_at_a_table_of_three(run, seat):
    status, out, _ = run(
        *("play", "random", "greedy", "-o", "players=3", "--seat", seat), typed="pass\n"
    )
    assert status == 0
    names = {
        0: ["you", "random", "greedy"],
        1: ["greedy", "you", "random"],
        2: ["random", "greedy", "you"],
    }[seat]
    listed = "".join(f"player {number}: {name}\n" for number, name in enumerate(names))
    assert listed in out
    assert f"player {seat}: pass" in out


def test_the_last_opponent_gets_the_remaining_seats(run):
    _, out, _ = run("play", "random", "-o", "players=4", typed="pass\n")
    assert "player 1: random\nplayer 2 (your partner): random\nplayer 3: random\n" in out
    assert "A = player 0 (you): " in out
    assert "C = player 2 (your partner): " in out
    assert "; won by players " in out


def test_a_person_can_play_against_a_saved_policy(run, tmp_path):
    path = tiny.policy(tmp_path, THREE, name="rival.safetensors")
    status, out, _ = run("play", path, typed="pass\n")
    assert status == 0
    assert "player 0: you\nplayer 1: rival\nplayer 2: rival\n" in out


def test_the_end_of_the_input_ends_the_game_without_an_error(run):
    status, out, err = run("play", "random", typed="W1 a1\n")
    assert status == 130
    assert "player 0: W1 a1" in out
    assert err == "\nstopped\n"


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_the_prompt_says_how_to_leave(run, word):
    status, out, err = run("play", "random", "--record", "game.txt", typed=f"W1 a1\n{word}\npass\n")
    assert (status, err) == (130, "\nstopped\n")
    assert "player 0, your action (? lists them, quit ends): " in out
    assert out.count("player 0: ") == 2  # the name of player 0, and its action W1 a1
    (record,) = read_records("game.txt")
    assert record.ending == "stopped"


def test_lists_at_the_prompt_do_not_break_actions(run):
    """Regression: lines were broken at hyphens, and long actions touched their descriptions."""
    table = ("--game", "armada", "-o", "players=2", "-o", "cards=true", "--seed", "1")
    told = run("play", "random", *table, typed="help\n")[1].split("quit ends): ")[1]
    assert re.search(r"\n  play gold-mine G1 +put 3 gold on a territory \(ADA-32\)\n", told)
    assert re.search(r"\n  play shipyard G4 +put a ship from the box on a city", told)
    game = make_game("armada", cards=True)
    listed = _listed(game, np.ones(len(game.actions), np.int8))
    assert re.split(r"  +|\n *", listed) == list(game.actions.texts)


def test_help_can_be_read_at_the_prompt(run):
    out = run("play", "random", typed="help\n")[1]
    told = out.split("quit ends): ")[1]
    assert "W1 a1  W1 b1" in told
    assert game_entry("armadora").notation in told
    assert "place a palisade (ARM-12)" in told


def test_every_game_has_a_new_deal_unless_a_seed_is_given(run):
    typed = "pass\n"
    games = [run("play", "greedy", typed=typed)[1] for _ in range(3)]
    assert len(set(games)) > 1
    (seed,) = re.findall(r"again with --seed ([0-9]+)", games[0])
    assert run("play", "greedy", "--seed", seed, typed=typed)[1] == games[0]


def test_thoughts_of_opponents_do_not_reveal_hidden_values(run):
    """Regression: the thoughts showed the value of a Warrior that was then placed face down."""
    seen = run("play", "armadora-2p", "--think", "--seat", 1, "--seed", 3, typed="quit\n")[1]
    assert re.search(r"player 0 thinks: W\? [a-h][1-5] [0-9]+ %", seen)
    assert not re.search(r"thinks: .*W[1-5] ", seen)
    shown = run("watch", "armadora-2p", "--think", "--seed", 3)[1]
    assert re.search(r"player 0 thinks: W[1-5] [a-h][1-5] [0-9]+ %", shown)


def test_watch_shows_a_game_of_players(run):
    status, out, err = run("watch", "greedy", "random", "--seed", 5, "--record", "game.txt")
    assert (status, err) == (0, "")
    assert "player 0: greedy\nplayer 1: random\ndeal 5: " in out
    (record,) = read_records("game.txt")
    assert record.ending == "end"
    boards = [record.game.draw(state) for state in record.states]
    assert all(board in out for board in boards)
    status, replayed, _ = run("replay", "game.txt", "--draw")
    assert all(board in replayed for board in boards)
    assert "player 0: greedy\nplayer 1: random\n" in replayed


def test_draw_writes_pictures(run):
    run("watch", "greedy", "random", "--seed", 5, "--record", "game.txt")
    (record,) = read_records("game.txt")
    assert run("draw", "game.txt", "-o", "end.svg") == (0, "", "")
    end = Path("end.svg").read_text("utf-8")
    assert end == record.picture().svg("light")
    assert 'data-text="greedy"' in end
    status = run("draw", "game.txt", "--move", 3, "--seat", 1, "--theme", "auto", "-o", "3.svg")
    assert status == (0, "", "")
    drawn = Path("3.svg").read_text("utf-8")
    assert drawn == record.game.draw_svg(
        record.states[3],
        1,
        before=record.states[2],
        last=(record.seats[2], record.actions[2]),
        names=record.players,
    )
    pytest.importorskip("resvg_py")
    assert run("draw", "game.txt", "--width", 200, "-o", "0.png", "--move", 0) == (0, "", "")
    assert Path("0.png").read_bytes() == record.picture(0).png(200)


def test_a_picture_replaces_only_a_picture_of_its_kind(run):
    run("watch", "greedy", "random", "--seed", 5, "--record", "game.txt")
    run("draw", "game.txt", "-o", "a.svg")
    picture = Path("a.svg").read_bytes()
    for name, content in (("notes.svg", b"my notes"), ("b.png", picture)):
        Path(name).write_bytes(content)
        status, out, err = run("draw", "game.txt", "-o", name)
        assert (status, out) == (1, "")
        kind = name[-3:].upper()
        assert f"{name} exists and does not begin like {kind}, so nothing replaces it" in err
        assert Path(name).read_bytes() == content
    assert run("draw", "game.txt", "--move", 0, "-o", "a.svg") == (0, "", "")
    assert Path("a.svg").read_bytes() != picture


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "a.jpg"), "--out must end in .svg or .png, not 'a.jpg'"),
        (("-o", "no/a.svg"), "no folder no"),
        (("-o", "a.svg", "--move", 10**6), "the move must be from 0 to"),
        (("-o", "a.svg", "--seat", 2), "seat must be from 0 to 1, not 2"),
        (("-o", "a.svg", "--game", 2), "game.txt has no game 2"),
        (("-o", "a.svg", "--game", 10**30), f"game.txt has no game {10**30}"),
        (("-o", "a.svg", "--game", 0), "--game must be 1 or more, not 0"),
        (("-o", "a.svg", "--theme", "pink"), "theme must be"),
        (("-o", "a.png", "--width", 3), "width of a picture must be from 16 to 4096"),
        (("-o", "a.svg", "--width", 300), "--width is for PNG"),
    ],
)
def test_wrong_arguments_of_draw_are_refused(run, arguments, message):
    run("watch", "greedy", "random", "--seed", 5, "--record", "game.txt")
    status, out, err = run("draw", "game.txt", *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert not list(Path().glob("a.*"))


@pytest.mark.skipif(os.name != "posix", reason="these signals are POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_closed_terminal_keeps_the_record(tmp_path, name):
    number = getattr(signal, name)
    code = (
        f"import signal; signal.signal({number:d}, signal.SIG_DFL); "
        "from armarl.cli import __main__ as cli; "
    )
    play = ["play", "random", "--record", "game.txt"]
    command = [sys.executable, "-u", "-c", f"{code}raise SystemExit(cli.main({play}))"]
    path = os.pathsep.join(sys.path)
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": path}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started(command, **options, **pipes) as process:
        process.stdin.write("W1 a1\n")
        process.stdin.flush()
        while not re.match("player 1: [WP]", process.stdout.readline()):
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(20) == 130
    (record,) = read_records(tmp_path / "game.txt")
    assert record.ending == "stopped"
    assert len(record.actions) >= 2


def test_a_file_without_games_is_refused(run, tmp_path):
    (tmp_path / "empty.txt").touch()
    assert run("replay", "empty.txt") == (0, "no games in empty.txt\n", "")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--seat", "2"), "seat must be from 0 to 1, not 2"),
        (("--seat", "-1"), "seat must be from 0 to 1, not -1"),
        (
            ("random", "random"),
            "a game of 2 players takes 1 opponent, not 2; use -o players=3 for more",
        ),
        (("nobody",), "unknown player 'nobody'"),
        (("-o", "players=5"), "2, 3 or 4 players, not 5"),
        (("--seed", "9" * 20), "seed must be from 0 to 9223372036854775807, not 999"),
        (("--seed", "-5"), "seed must be from 0 to 9223372036854775807, not -5"),
        (("--record", "."), ". is a folder; name a file to write"),
        (("--record", "no/where.txt"), "there is no folder no to write where.txt to"),
    ],
)
def test_play_refuses_wrong_arguments(run, arguments, named):
    status, out, err = run("play", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("armarl play: ")
    assert named in err
