"""The command line: what each command prints and writes, and its errors."""

import errno
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import armarl
import tiny
from armarl.arena.policy_card import read_card
from armarl.arena.policy_card_text import card_text
from armarl.cli.__main__ import main
from armarl.games.catalogue import game_entry
from armarl.games.make_game import make_game
from armarl.matches.records import read_records
from armarl.players.human import _listed
from armarl.players.simple_players import RandomPlayer
from armarl.policies.saved_policy import read_policy_metadata
from processes import started

TWO, THREE = make_game("armadora"), make_game("armadora", players=3)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder; return its status, output and error output."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse exits this way
            status = stop.code
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        lines = shown.err.splitlines(keepends=True)
        told = "".join(line for line in lines if "compiling" not in line and "compiled" not in line)
        return status, shown.out, told

    return run


# --- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("train",),
        ("exploit",),
        ("evaluate",),
        ("arena",),
        ("play",),
        ("watch",),
        ("replay",),
        ("draw",),
        ("info",),
    ],
)
def test_help(run, command):
    status, out, _ = run(*command, "--help")
    assert status == 0
    assert out.startswith("usage: armarl")
    for named in command or ("train", "evaluate", "play", "info"):
        assert named in out


def test_version(run):
    assert run("--version") == (0, f"armarl {armarl.__version__}\n", "")


def test_without_a_command(run):
    status, _, err = run()
    assert status == 2
    assert "usage: armarl" in err


def test_a_wrong_command(run):
    status, _, err = run("fly")
    assert status == 2
    assert "invalid choice: 'fly'" in err


# --- evaluate ------------------------------------------------------------------------------------


def test_evaluate(run, tmp_path):
    arguments = ("evaluate", "greedy", "random", "--games", 20, "--workers", 1, "--seed", 3)
    status, out, err = run(*arguments, "--json", "result.json")
    assert (status, err) == (0, "")
    head, columns, greedy, random = out.strip().split("\n")
    assert head.startswith("armadora, 2 players, advanced=False, peek=True; seed 3: 20 games, 10")
    for named in (
        "player",
        "win rate",
        "95 % interval",
        "fair",
        "won",
        "shared",
        "lost",
        "cut short",
    ):
        assert named in columns
    (match,) = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert match["variant"] == TWO.variant
    assert (match["games"], match["deals"], match["seed"]) == (20, 10, 3)
    for line, standing in zip((greedy, random), match["standings"], strict=True):
        name, *numbers = line.replace("%", "").replace(" - ", " ").split()
        rate, low, high, fair, *counts = numbers
        assert name == standing["player"]
        assert float(rate) == pytest.approx(100 * standing["win_rate"], abs=0.051)
        assert float(low) == pytest.approx(100 * standing["low"], abs=0.051)
        assert float(high) == pytest.approx(100 * standing["high"], abs=0.051)
        assert float(fair) == 50
        assert [int(count) for count in counts] == [
            standing[key] for key in ("wins", "shared", "losses", "cut_short")
        ]
    assert run(*arguments)[1] == out  # the seed makes it repeatable
    assert run(*arguments[:-1], 4)[1] != out


def test_evaluate_every_pair_of_more_players_than_seats(run, tmp_path):
    names = [tiny.policy(tmp_path, TWO, seed, f"{seed}.safetensors") for seed in range(2)]
    status, out, _ = run(
        "evaluate", *names, "random", "--games", 4, "--workers", 1, "--json", "all.json"
    )
    assert status == 0
    matches = json.loads((tmp_path / "all.json").read_text("utf-8"))
    players = [[standing["player"] for standing in match["standings"]] for match in matches]
    assert players == [["0", "1"], ["0", "random"], ["1", "random"]]
    assert out.count("armadora, 2 players") == 3


def test_nothing_is_played_before_all_players_are_known(run, tmp_path):
    files = ("--json", "all.json", "--records", "games.txt")
    status, out, err = run("evaluate", "greedy", "random", "nobody", "--games", 2, *files)
    assert (status, out) == (1, "")
    assert "unknown player 'nobody'" in err
    assert not (tmp_path / "games.txt").exists()


def test_a_player_who_fails_later_loses_no_result(run, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "class Failing:\n"
        "    def __init__(self, game):\n        self.name = 'failing'\n"
        "    def choose(self, states, seats, draws):\n        raise ValueError('mine')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    command = ("evaluate", "random", "greedy", "mine:Failing", "--games", 2, "--workers", 1)
    status, out, err = run(*command, "--json", "all.json")
    assert (status, out.count("seed 0: 2 games"), "mine" in err) == (1, 1, True)
    (kept,) = json.loads((tmp_path / "all.json").read_text("utf-8"))
    assert [standing["player"] for standing in kept["standings"]] == ["random", "greedy"]


def test_a_result_takes_the_place_of_a_result_alone(run, tmp_path, monkeypatch):
    policy = tiny.policy(tmp_path, TWO, name="mine.safetensors")
    command = ("evaluate", "random", "greedy", "--games", 2, "--workers", 1, "--json")
    before = policy.read_bytes()
    status, out, err = run(*command, policy)
    assert (status, out, "does not hold JSON" in err) == (1, "", True)
    assert policy.read_bytes() == before
    kept = tmp_path / "all.json"
    assert run(*command, kept)[0] == 0
    first = kept.read_text("utf-8")

    def full(_number):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("armarl.common.files.os.fsync", full)
    assert run(*command, kept, "--seed", 1)[0] == 1
    assert kept.read_text("utf-8") == first


def test_a_game_is_no_player(run):
    status, _, err = run("play", "armada")
    assert status == 1
    assert "armada is a game, not a player" in err
    assert "--game armada" in err
    assert "armada-2p" in err


def test_a_style_is_no_player(run):
    status, _, err = run("evaluate", "armada-2p", "admiral")
    assert status == 1
    assert "admiral is a style of the greedy player; name it as greedy:style=admiral" in err


def test_options_of_a_training_are_settings(run):
    status, _, err = run("train", "armadora-quick", "-o", "players=3")
    assert status == 2
    assert "this command takes game options as settings, such as options.players=3" in err
    status, _, err = run("train", "armadora-quick", "--seed", "3")
    assert status == 2
    assert "--seed 3; settings are written without hyphens, such as seed=3" in err


def test_game_options_are_written_with_o(run):
    status, _, err = run("evaluate", "greedy", "random", "--players", "3")
    assert status == 2
    assert "--players 3; game options are written with -o, such as -o players=3" in err


def test_evaluate_takes_the_game_of_the_policy(run, tmp_path):
    path = tiny.policy(tmp_path, THREE)
    status, out, _ = run("evaluate", path, "--games", 3, "--workers", 1)
    assert status == 0
    assert out.startswith("armadora, 3 players")
    assert "against the panel, 3 games with each" in out  # a single player meets the panel


def test_evaluate_with_options(run):
    status, out, _ = run(
        *("evaluate", "random", "greedy", "--games", 2, "--workers", 1),
        *("-o", "players=4", "--option", "advanced=TRUE", "-o", "peek=false"),
    )
    assert status == 0
    assert out.startswith("armadora, 4 players, advanced=True, peek=False;")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("gredy",), "unknown player 'gredy' (did you mean greedy?); choose from random, greedy,"),
        (("random", "-o", "players=5"), "2, 3 or 4 players, not 5"),
        (("random", "-o", "players=two"), "2, 3 or 4 players, not 'two'"),
        (("random", "-o", "colour=red"), "no option 'colour'; its options are players, advanced"),
        (("random", "-o", "advanced"), "option 'advanced' should be written name=value"),
        (("random", "-o", "advanced=maybe"), "advanced must be True or False, not 'maybe'"),
        (("random", "--game", "chess"), "unknown game 'chess'; choose from armadora"),
        (("random", "--game", "Armada"), "unknown game 'Armada' (did you mean armada?); choose"),
        (("random", "-o", "players=²"), "2, 3 or 4 players, not '²'"),
        (("random", "-o", "players=--2"), "2, 3 or 4 players, not '--2'"),
        (("random", "--games", "0"), "games must be in 1 to 100000000, not 0"),
        (("random", "--games", "-3"), "games must be in 1 to 100000000, not -3"),
        (("random", "--games", "1" + 23 * "0"), "games must be in 1 to 100000000, not 1000"),
        (("random", "--seed", "-1"), "seed must be in 0 to 9223372036854775796, not -1"),
        (("random", "--workers", "0"), "workers must be at least 1, not 0"),
        (("random", "--json", "."), ". is a folder; name a file to write"),
        (("random", "--json", "no/where.json"), "there is no folder no to write where.json to"),
        (("random", "--records", "."), ". is a folder; name a file to write"),
    ],
)
def test_evaluate_refuses(run, arguments, named):
    status, out, err = run("evaluate", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("armarl evaluate: ")
    assert named in err


@pytest.mark.parametrize("lead", ["inf", "nan", "1e6", "0", "-20", "many"])
def test_a_lead_that_no_match_could_tell(run, lead):
    """All deals were once played, and the likelihood ratio was NaN."""
    status, out, err = run("arena", "random", "greedy", f"--stronger={lead}")
    assert (status, out) == (2, "")
    assert f"a lead in Elo points must be above 0 and at most 2000, not {lead}" in err


def test_arena_refuses_a_single_deal_before_it_plays(run, tmp_path):
    status, out, err = run("arena", "random", "random", "--deals", 1, "--folder", "games")
    assert (status, out) == (1, "")
    assert "ratings need at least 2 deals to estimate how much deals differ; --deals is 1" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("random", "--games", "many"), (), ("random", "--colour")])
def test_evaluate_is_called_wrongly(run, arguments):
    status, _, err = run("evaluate", *arguments)
    assert status == 2
    assert "usage: armarl" in err


def test_evaluate_a_policy_of_another_variant(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    status, _, err = run("evaluate", path, "-o", "players=3")
    assert status == 1
    assert "was made for players 2, this game has players 3" in err
    status, _, err = run("evaluate", path, "-o", "advanced=true")
    assert status == 1
    assert "was made for options" in err


def test_a_damaged_policy(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    path.write_bytes(path.read_bytes()[:-1])
    for command in ("evaluate", "play", "info"):
        status, _, err = run(command, path)
        assert status == 1
        assert f"armarl {command}: {path} is damaged" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "best.zip", "random"),
        ("arena", "best.zip", "random"),
        ("play", "best.zip"),
        ("info", "best.zip"),
        ("info", "best.zip", "--json"),
    ],
    ids=" ".join,
)
def test_a_model_of_sb3(run, tmp_path, arguments):
    (tmp_path / "best.zip").write_bytes(b"PK\x03\x04 and what SB3 writes")
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert "best.zip is not an ArmaRL policy" in err
    assert "save_policy('best.safetensors', MaskablePPO.load('best.zip'), game)" in err


# --- info ----------------------------------------------------------------------------------------


def test_info_of_a_game(run):
    status, out, _ = run("info", "armadora", "-o", "players=3", "-o", "advanced=true")
    assert status == 0
    game = make_game("armadora", players=3, advanced=True)
    assert out.startswith("# armadora, version")
    assert game.actions.markdown() in out
    assert game.observation.markdown() in out


def test_info_of_a_policy(run, tmp_path):
    path = tiny.policy(tmp_path, TWO)
    status, out, _ = run("info", path)
    assert (status, out) == (0, card_text(read_card(path)) + "\n")
    status, out, _ = run("info", path, "--json")
    assert (status, json.loads(out)) == (0, read_policy_metadata(path))


def test_info_of_a_game_is_no_metadata(run):
    status, out, err = run("info", "armadora", "--json")
    assert (status, out) == (1, "")
    assert "--json is for saved policies, and armadora is a game" in err


def test_info_of_nothing(run):
    status, out, err = run("info", "armadoro")
    assert (status, out) == (1, "")
    assert "'armadoro' is neither a game (armadora, armada" in err


# --- play ----------------------------------------------------------------------------------------


def test_a_game_at_the_terminal(run):
    """Place one Warrior, then pass, with a beginner's mistakes."""
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
    assert "B?" not in end  # all Warriors are turned over (ARM-36),
    assert "with all hidden information shown" not in out  # so there is no more to show
    assert run("play", "random", "--seed", 1, typed=typed)[1] == out


def test_what_stays_hidden_is_shown_after_the_game(run):
    """Armada's hands stay hidden at the end (ADA-37)."""
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
def test_every_seat_at_a_table_of_three(run, seat):
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


def test_the_last_opponent_takes_the_seats_left(run):
    _, out, _ = run("play", "random", "-o", "players=4", typed="pass\n")
    assert "player 1: random\nplayer 2 (your partner): random\nplayer 3: random\n" in out
    assert "A = player 0 (you): " in out
    assert "C = player 2 (your partner): " in out
    assert "; won by players " in out


def test_against_a_saved_policy(run, tmp_path):
    path = tiny.policy(tmp_path, THREE, name="rival.safetensors")
    status, out, _ = run("play", path, typed="pass\n")
    assert status == 0
    assert "player 0: you\nplayer 1: rival\nplayer 2: rival\n" in out


def test_the_end_of_the_input_ends_the_game_politely(run):
    status, out, err = run("play", "random", typed="W1 a1\n")
    assert status == 130
    assert "player 0: W1 a1" in out
    assert err == "\nstopped\n"


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_the_prompt_says_how_to_leave(run, word):
    status, out, err = run("play", "random", "--record", "game.txt", typed=f"W1 a1\n{word}\npass\n")
    assert (status, err) == (130, "\nstopped\n")
    assert "player 0, your action (? lists them, quit ends): " in out
    assert out.count("player 0: ") == 2  # the player's name, and W1 a1
    (record,) = read_records("game.txt")
    assert record.ending == "stopped"


def test_lists_at_the_prompt_part_no_action(run):
    """Lines were once broken at hyphens, and long actions ran into their descriptions."""
    table = ("--game", "armada", "-o", "players=2", "-o", "cards=true", "--seed", "1")
    told = run("play", "random", *table, typed="help\n")[1].split("quit ends): ")[1]
    assert re.search(r"\n  play gold-mine G1 +put 3 gold on a territory \(ADA-32\)\n", told)
    assert re.search(r"\n  play shipyard G4 +put a ship from the box on a city", told)
    game = make_game("armada", cards=True)
    listed = _listed(game, np.ones(len(game.actions), np.int8))
    assert re.split(r"  +|\n *", listed) == list(game.actions.texts)


def test_help_at_the_prompt(run):
    out = run("play", "random", typed="help\n")[1]
    told = out.split("quit ends): ")[1]
    assert "W1 a1  W1 b1" in told
    assert game_entry("armadora").notation in told
    assert "place a palisade (ARM-12)" in told


def test_every_game_is_another_one_unless_it_is_asked_for_again(run):
    typed = "pass\n"
    games = [run("play", "greedy", typed=typed)[1] for _ in range(3)]
    assert len(set(games)) > 1
    (seed,) = re.findall(r"again with --seed ([0-9]+)", games[0])
    assert run("play", "greedy", "--seed", seed, typed=typed)[1] == games[0]


def test_what_opponents_think_shows_no_more_than_they_play(run):
    """It once told the value of a Warrior that was then placed face down."""
    seen = run("play", "armadora-2p", "--think", "--seat", 1, "--seed", 3, typed="quit\n")[1]
    assert re.search(r"player 0 thinks: W\? [a-h][1-5] [0-9]+ %", seen)
    assert not re.search(r"thinks: .*W[1-5] ", seen)
    shown = run("watch", "armadora-2p", "--think", "--seed", 3)[1]
    assert re.search(r"player 0 thinks: W[1-5] [a-h][1-5] [0-9]+ %", shown)


def test_watch(run):
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


def test_draw(run):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "a.jpg"), "--out must end in .svg or .png, not 'a.jpg'"),
        (("-o", "no/a.svg"), "no folder no"),
        (("-o", "a.svg", "--move", 10**6), "the move must be in 0 to"),
        (("-o", "a.svg", "--seat", 2), "seat must be in 0 to 1, not 2"),
        (("-o", "a.svg", "--game", 2), "game.txt has no game 2"),
        (("-o", "a.svg", "--game", 10**30), f"game.txt has no game {10**30}"),
        (("-o", "a.svg", "--game", 0), "--game must be 1 or more, not 0"),
        (("-o", "a.svg", "--theme", "pink"), "theme must be"),
        (("-o", "a.png", "--width", 3), "width of a picture must be in 16 to 4096"),
    ],
)
def test_what_cannot_be_drawn(run, arguments, message):
    run("watch", "greedy", "random", "--seed", 5, "--record", "game.txt")
    status, out, err = run("draw", "game.txt", *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert not list(Path().glob("a.*"))


@pytest.mark.skipif(os.name != "posix", reason="these signals are POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_closed_terminal_loses_no_record(tmp_path, name):
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


def test_nothing_beside_a_policy_is_run(tmp_path):
    """Libraries look for optional others, and once found them in the current folder."""
    tiny.policy(tmp_path, TWO, name="friend.safetensors")
    for name in ("coverage", "colorama", "cython", "cffi"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted code runs')")
    code = "import sys; from armarl.cli.__main__ import main; sys.exit(main(sys.argv[1:]))"
    path = os.pathsep.join(filter(None, sys.path))
    train = ["train", "armadora-quick", "total_decisions=8", "environments=2", "imitation.games=0"]
    train += ["evaluation.games=2", "evaluation.progress_games=2"]
    evaluate = ["evaluate", "friend.safetensors", "random"]
    for command in (["info", "friend.safetensors"], evaluate, train):
        games = ["--games", "2", "--workers", "1"] if command[0] == "evaluate" else []
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *command, *games],
            **{"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": path}},
            **{"capture_output": True, "text": True},
        )
        assert (done.returncode, "planted" in done.stderr) == (0, False), done.stderr


def test_names_of_files_move_no_terminal(run, tmp_path):
    """File names cannot send terminal escapes: in errors, in tables, and in a game."""
    name = "j\x1b[31mX.safetensors"
    (tmp_path / name).write_text("junk", "utf-8")
    status, _, err = run("info", name)
    assert (status, "\x1b" in err, "j?[31mX" in err) == (1, False, True)
    tiny.policy(tmp_path, TWO, name=name)
    status, out, _ = run("evaluate", name, "random", "--games", 2, "--workers", 1)
    assert (status, "\x1b" in out, "j?[31mX" in out) == (0, False, True)
    status, out, _ = run("play", name, typed="quit\n")
    assert (status, "\x1b" in out, "player 1: j?[31mX" in out) == (130, False, True)


def test_names_of_folders_move_no_terminal(run, tmp_path):
    """Regression: `train` and `arena` printed them as they are."""
    name, shown = "j\x1b[31mX", "j?[31mX"
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(tiny.settings()), "utf-8")
    status, out, err = run("train", "small.yaml", "--run", name)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)
    status, out, err = run("train", "--resume", name)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)
    arena = ("arena", "random", "greedy", "--deals", 4, "--workers", 1, "--folder", f"{name}/arena")
    status, out, err = run(*arena)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)


def test_a_ray_address_moves_no_terminal(run, tmp_path):
    """Regression: the setting `ray` of a stranger's configuration was printed as it is."""
    pytest.importorskip("ray")
    small = tiny.settings(ray="\x1b[31mX", shards=2)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small), "utf-8")
    status, out, err = run("train", "small.yaml", "--run", "runs")
    assert (status, "\x1b" in out + err, "?[31mX" in err) == (1, False, True)


def test_words_of_the_command_line_move_no_terminal(run):
    status, out, err = run("evaluate", "\x1b[31mX", "--\x1b[2J")
    assert (status, "\x1b" in out + err) == (2, False)


def test_a_traceback_moves_no_terminal(capsys, tmp_path, monkeypatch):
    """Regression: Python printed the error text of a player's class as it is."""
    error = "class OddError(Exception): pass\n"
    made = f"{error}def Odd(game): raise OddError('\\x1b[2J\\u202e')\n"
    (tmp_path / "odd_traceback.py").write_text(made)
    monkeypatch.syspath_prepend(tmp_path)
    status = main(["evaluate", "odd_traceback:Odd", "random", "--game", "armadora"])
    out, err = capsys.readouterr()
    assert (status, "\x1b" in out + err, "\u202e" in out + err) == (1, False, False)
    assert "Traceback" in err
    assert "OddError: ?[2J?" in err


def test_options_beside_a_saved_policy_are_of_its_game(run):
    """They were once those of the first registered game."""
    status, out, err = run("play", "armada-2p", "-o", "max_turns=400", typed="quit\n")
    assert (status, "the names of the chart" in out, err) == (130, True, "\nstopped\n")
    status, _, err = run("play", "armada-2p", "-o", "cards=true", typed="quit\n")
    assert status == 1
    assert "armada-2p was made for options cards=false, this game has options cards=true" in err
    assert "policies that play it: armada-2p-cards, armada-2p-cards-ppo\n" in err


OWN_DICE = """combat = [3, 0, 1, -1, -3, -3]
gold = [5, 0, 12, 1, 0, 4]
tribes = [0, 1, 6, 12, 0, 3]
"""


def test_an_owner_s_dice(run, tmp_path):
    """They come from a file into the options of a match and its records, and policies know them."""
    (tmp_path / "mine.toml").write_text(OWN_DICE)
    faces = "dice={'combat': [3, 0, 1, -1, -3, -3], 'gold': [5, 0, 12, 1, 0, 4], 'tribes': [0, 1, 6"
    options = ("--game", "armada", "-o", "dice=mine.toml", "-o", "max_turns=6")
    match = ("--games", 2, "--workers", 1, "--records", "games.txt")
    status, out, err = run("evaluate", "greedy", "greedy", *options, *match)
    assert (status, err) == (0, "")
    assert faces in out
    game = make_game("armada", dice=tmp_path / "mine.toml", max_turns=6)
    (tmp_path / "mine.toml").unlink()
    assert [record.game for record in read_records(tmp_path / "games.txt")] == [game, game]
    assert run("replay", "games.txt")[::2] == (0, "")
    path = tiny.policy(tmp_path, game)
    status, out, err = run("evaluate", path, "greedy", "--games", 2, "--workers", 1)
    assert (status, err) == (0, "")
    assert faces in out
    (tmp_path / "other.toml").write_text(OWN_DICE.replace("12", "2"))
    for other in ("none", "other.toml"):
        status, _, err = run("evaluate", path, "greedy", "-o", f"dice={other}", "--games", 2)
        assert status == 1
        assert "was made for options" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN_DICE.replace("-3, -3", "-3"), "mine.toml: the combat die must list 6 faces"),
        (OWN_DICE.replace("12", "13"), "must be a whole number from 0 to 12, not 13"),
        ("faces\n", "mine.toml: the dice are not valid TOML"),
        (None, "there is no file mine.toml; dice must be the path of a TOML file"),
    ],
)
def test_dice_that_are_refused(run, tmp_path, text, said):
    if text is not None:
        (tmp_path / "mine.toml").write_text(text)
    status, _, err = run("info", "armada", "-o", "dice=mine.toml")
    assert status == 1
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("armada-2p", "-o", "players=3"), "-o players=3: options belong to a game"),
        (("armada-2p", "--game", "armada"), "info takes no --game"),
        (("armada", "--game", "armadora"), "info takes no --game"),
    ],
)
def test_info_takes_nothing_in_vain(run, arguments, said):
    status, out, err = run("info", *arguments)
    assert (status, out) == (1, "")
    assert said in err


def test_a_file_without_games(run, tmp_path):
    (tmp_path / "empty.txt").touch()
    assert run("replay", "empty.txt") == (0, "no games in empty.txt\n", "")


def test_one_file_for_two_things(run, tmp_path):
    """The result once overwrote the records."""
    arguments = ("--games", 2, "--workers", 1, "--json", "x", "--records", tmp_path / "x")
    status, _, err = run("evaluate", "greedy", "random", *arguments)
    assert (status, "--json and --records name the same file" in err) == (1, True)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("shell", "typed", "status", "told"),
    [
        ("{} info armadora-2p >&-", b"", 0, b""),
        ("{} evaluate random random:patient --games 2 --workers 1 2>&-", b"", 0, b"win rate"),
        ("{} play random", b"caf\xe9\nW1 a1\nquit\n", 130, b"unknown action"),
        ("PYTHONIOENCODING=ascii {} info armada", b"", 0, b"## Observation"),
    ],
    ids=["no output", "no errors", "no text", "few letters"],
)
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_streams_of_all_kinds(shell, typed, status, told):
    """Closed streams, bytes that do not decode, and characters that cannot be written."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"}
    if "ascii" in shell:
        del environment["PYTHONUTF8"]
    command = shell.format(f"{shlex.quote(sys.executable)} -m armarl.cli")
    done = subprocess.run(
        command, shell=True, input=typed, capture_output=True, env=environment, timeout=300
    )
    assert done.returncode == status, done.stderr.decode()
    assert told in done.stdout
    assert b"Traceback" not in done.stderr


def test_who_reads_has_read_enough(tmp_path):
    """A closed pipe was once reported as an error: `armarl info armada | head`."""
    code = "import sys; from armarl.cli.__main__ import main; sys.exit(main(['info', 'armadora']))"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as told:
        told.stdout.close()
        error = told.stderr.read()
    assert (told.returncode, error) == (141, b"")


def test_interrupted(run, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(RandomPlayer, "choose", interrupt)
    status, _, err = run("evaluate", "random", "--games", "2", "--workers", "1")
    assert (status, err) == (130, "\nstopped\n")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--seat", "2"), "seat must be in 0 to 1, not 2"),
        (("--seat", "-1"), "seat must be in 0 to 1, not -1"),
        (
            ("random", "random"),
            "a game of 2 players has room for 1 opponent, not 2; -o players=3 makes room",
        ),
        (("nobody",), "unknown player 'nobody'"),
        (("-o", "players=5"), "2, 3 or 4 players, not 5"),
        (("--seed", "9" * 20), "seed must be in 0 to 9223372036854775807, not 999"),
        (("--seed", "-5"), "seed must be in 0 to 9223372036854775807, not -5"),
        (("--record", "."), ". is a folder; name a file to write"),
        (("--record", "no/where.txt"), "there is no folder no to write where.txt to"),
    ],
)
def test_play_refuses(run, arguments, named):
    status, out, err = run("play", *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("armarl play: ")
    assert named in err


# --- train ---------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(tiny.settings(total_decisions=512)), "utf-8")
    return path


def test_train_against_one_player(run, config):
    """A trained best response: all games are against one fixed player, and measure it."""
    rival = "greedy:style=hoarder"
    train = ("train", config, "--run", "best", "--code", "--against", rival)
    status, out, err = run(*train, "ppo.epochs=1")
    assert (status, err) == (0, "")
    assert "continue with `armarl train --resume best --code`" in out
    assert f"against {rival}: won " in out
    settings = json.loads(run("info", "best", "--json")[1])["training"]["config"]
    opponents = settings["opponents"]
    assert opponents["players"] == {rival: 1}
    assert (opponents["share"], opponents["earlier"]) == (1, 0)
    status, _, err = run("train", "--resume", "best", "--against", "random")
    assert status == 1
    assert "a resumed run keeps its opponents: leave out --against" in err


def test_train(run, config, tmp_path):
    """From a configuration to a saved and measured policy that can play."""
    status, out, err = run("train", config, "--run", "one", "reward=gold", "ppo.epochs=1")
    assert (status, err) == (0, "")
    assert "training armadora (2 players) in one: 512 decisions" in out
    assert "continue with `armarl train --resume one`" in out
    for opponent in ("random", "greedy"):
        assert f"against {opponent}: won " in out
    metadata = json.loads(run("info", "one", "--json")[1])
    assert metadata["variant"] == TWO.variant
    assert metadata["training"]["decisions"] >= 512
    assert metadata["training"]["config"]["ppo"]["epochs"] == 1
    assert metadata["training"]["config"]["reward"] == "gold"
    assert [match["standings"][1]["player"] for match in metadata["strength"]] == [
        "random",
        "greedy",
    ]
    assert run("evaluate", "one/policy.safetensors", "--games", 2, "--workers", 1)[0] == 0

    status, _, err = run("train", config, "--run", "one")
    assert status == 1
    assert "one already holds a run; resume it with --resume" in err
    status, out, _ = run("train", "--resume", "one")  # nothing is left to do
    assert status == 0
    assert "against random" in out


def test_train_tells_of_games_cut_short(run, config):
    """Nobody wins them, so a win rate of 0 % does not mean that games were lost."""
    armada = ("game=armada", "options={max_turns: 10}", "opponents.players={random: 1}")
    status, out, _ = run("train", config, "--run", "one", *armada)
    assert status == 0
    games = json.loads(run("info", "one", "--json")[1])["strength"]
    assert {match["standings"][0]["cut_short"] for match in games} == {20}
    for opponent in ("random", "greedy"):
        assert f"against {opponent}: won 0.0 % of 20 games" in out
    assert out.count("would be even; 20 cut short)") == 2


def test_a_refused_configuration_leaves_no_folder(run, config, tmp_path):
    for wrong, named in [
        ("options.players=7", "2, 3 or 4 players, not 7"),
        ("options.colour=1", "armadora has no option 'colour'"),
        ("game=chess", "unknown game 'chess'"),
        ("reward=fame", "reward must be 'win' or 'gold', not 'fame'"),
        ("evaluation.opponents=[gredy]", "evaluation.opponents: unknown player 'gredy'"),
        ("ppo.epoch=1", "ppo.epoch: unknown setting (did you mean epochs?); choose from rollout_l"),
    ]:
        status, _, err = run("train", config, wrong, "--run", "one")
        assert status == 1
        assert err.startswith("armarl train: ")
        assert named in err
        assert not (tmp_path / "one").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "give a configuration"),
        (("none.yaml",), "none.yaml"),
        (("small.yaml", "epochs"), "'epochs' must be written key=value"),
        (("--resume", "nowhere"), "nowhere holds no run"),
        (("small.yaml", "--resume", "nowhere"), "give --resume FOLDER alone"),
        (("small.yaml", "--run", "small.yaml"), "small.yaml is a file, but must be a folder"),
        (("small.yaml", "--run", "small.yaml/one"), "small.yaml is a file, but must be"),
        (("small.yaml", "--run", "."), "tensorboard is a file, but must be a folder"),
    ],
)
def test_train_refuses(run, config, arguments, named):
    config.with_name("tensorboard").touch()
    status, _, err = run("train", *arguments)
    assert status == 1
    assert err.startswith("armarl train: ")
    assert named in err


def test_no_command_at_all_lists_the_commands(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "train a policy from a configuration" in err


def test_train_is_called_wrongly(run, config):
    status, _, err = run("train", config, "--colour", "x=1")
    assert status == 2
    assert "unrecognized arguments: --colour x=1" in err


@pytest.mark.parametrize("option", ["--run", "--resume"])
def test_an_empty_name_is_not_the_current_folder(run, config, option):
    status, _, err = run("train", config, option, "")
    assert status == 2
    assert f"argument {option}: a folder needs a name" in err


def test_the_first_change_of_a_resumed_run_stays_as_it_is_written(run, monkeypatch):
    from armarl_training.run import command

    def resumed(folder, changes, *, code):
        raise ValueError(f"asked for {changes}")

    monkeypatch.setattr(command, "resume_run", resumed)
    _, _, err = run("train", "--resume", "one", "ray=ray://host:10001", "threads=1")
    assert "asked for ['ray=ray://host:10001', 'threads=1']" in err


def test_training_without_its_packages(config):
    """The message names the extra to install; the other commands work without it."""
    program = f"""
import sys
sys.modules["torch"] = None
from armarl.cli.__main__ import main
print(main(["train", {str(config)!r}]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert "pip install 'armarl[train]'" in done.stderr
