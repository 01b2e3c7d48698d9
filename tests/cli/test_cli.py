"""The command line: help, streams, interruptions, and text that could control a terminal."""

import os
import shlex
import subprocess
import sys

import pytest
import yaml

import armarl
import tiny
from armarl.cli.__main__ import main
from armarl.games.make_game import make_game
from armarl.players.simple_players import RandomPlayer

TWO = make_game("armadora")


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
def test_every_command_has_help(run, command):
    status, out, _ = run(*command, "--help")
    assert status == 0
    assert out.startswith("usage: armarl")
    for named in command or ("train", "evaluate", "play", "info"):
        assert named in out


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"armarl {armarl.__version__}\n", "")


def test_python_can_run_the_package(tmp_path):
    """Regression: only `python -m armarl.cli` worked."""
    told = [
        subprocess.run(
            [sys.executable, "-m", module, *("replay", "none.txt")],
            **{"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}},
            **{"capture_output": True, "text": True},
        )
        for module in ("armarl", "armarl.cli")
    ]
    assert told[0].stderr.startswith("armarl replay: ")
    assert [done.returncode for done in told] == [1, 1]
    assert told[0].stderr == told[1].stderr


def test_a_call_without_a_command_is_refused(run):
    status, _, err = run()
    assert status == 2
    assert "usage: armarl" in err


def test_an_unknown_command_is_refused(run):
    status, _, err = run("fly")
    assert status == 2
    assert "invalid choice: 'fly'" in err


def test_no_code_beside_a_policy_is_run(tmp_path):
    """Regression: libraries imported optional packages, even from the current folder."""
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


def test_names_of_files_cannot_control_the_terminal(run, tmp_path):
    """File names in errors, tables and games send no terminal escapes."""
    name = "j\x1b[31mX.safetensors"
    (tmp_path / name).write_text("junk", "utf-8")
    status, _, err = run("info", name)
    assert (status, "\x1b" in err, "j?[31mX" in err) == (1, False, True)
    tiny.policy(tmp_path, TWO, name=name)
    status, out, _ = run("evaluate", name, "random", "--games", 2, "--workers", 1)
    assert (status, "\x1b" in out, "j?[31mX" in out) == (0, False, True)
    status, out, _ = run("play", name, typed="quit\n")
    assert (status, "\x1b" in out, "player 1: j?[31mX" in out) == (130, False, True)


def test_names_of_folders_cannot_control_the_terminal(run, tmp_path):
    """Regression: `train` and `arena` printed the names unchanged."""
    name, shown = "j\x1b[31mX", "j?[31mX"
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(tiny.settings()), "utf-8")
    status, out, err = run("train", "small.yaml", "--run", name)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)
    status, out, err = run("train", "--resume", name)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)
    arena = ("arena", "random", "greedy", "--deals", 4, "--workers", 1, "--folder", f"{name}/arena")
    status, out, err = run(*arena)
    assert (status, "\x1b" in out + err, shown in out) == (0, False, True)


def test_a_ray_address_cannot_control_the_terminal(run, tmp_path):
    """Regression: the setting `ray` of a stranger's configuration was printed unchanged."""
    pytest.importorskip("ray")
    small = tiny.settings(ray="\x1b[31mX", shards=2)
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small), "utf-8")
    status, out, err = run("train", "small.yaml", "--run", "runs")
    assert (status, "\x1b" in out + err, "?[31mX" in err) == (1, False, True)


def test_arguments_cannot_control_the_terminal(run):
    status, out, err = run("evaluate", "\x1b[31mX", "--\x1b[2J")
    assert (status, "\x1b" in out + err) == (2, False)


def test_a_traceback_cannot_control_the_terminal(capsys, tmp_path, monkeypatch):
    """Regression: Python printed the error text of a player's class unchanged."""
    error = "class OddError(Exception): pass\n"
    made = f"{error}def Odd(game): raise OddError('\\x1b[2J\\u202e')\n"
    (tmp_path / "odd_traceback.py").write_text(made)
    monkeypatch.syspath_prepend(tmp_path)
    status = main(["evaluate", "odd_traceback:Odd", "random", "--game", "armadora"])
    out, err = capsys.readouterr()
    assert (status, "\x1b" in out + err, "\u202e" in out + err) == (1, False, False)
    assert "Traceback" in err
    assert "OddError: ?[2J?" in err


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
def test_unusual_streams_give_clear_errors(shell, typed, status, told):
    """Streams are closed, bytes cannot be decoded, or characters cannot be written."""
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


def test_a_closed_pipe_ends_a_command_without_an_error(tmp_path):
    """Regression: `armarl info armada | head` reported an error."""
    code = "import sys; from armarl.cli.__main__ import main; sys.exit(main(['info', 'armadora']))"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as told:
        told.stdout.close()
        error = told.stderr.read()
    assert (told.returncode, error) == (141, b"")


def test_an_interrupt_ends_a_command(run, monkeypatch):
    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(RandomPlayer, "choose", interrupt)
    status, _, err = run("evaluate", "random", "--games", "2", "--workers", "1")
    assert (status, err) == (130, "\nstopped\n")


def test_a_call_without_arguments_lists_the_commands(run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "train a policy from a configuration" in err
