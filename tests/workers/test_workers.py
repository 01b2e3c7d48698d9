"""Worker processes, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Ctrl-C reaches all processes of a terminal's command, even those that are still importing modules.
STOPPED_AT_THE_START = """
import os, signal, threading, time
from armarl.workers.spread import spread

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests ignore it
    threading.Timer(0.4, os.killpg, (os.getpgrp(), signal.SIGINT)).start()
    try:
        list(spread(time.sleep, [60, 60], 2))
    except KeyboardInterrupt:
        print("stopped")
"""


# The stop reaches only this process, while its workers do a job that never ends.
WITH_ENDLESS_JOBS = """
import os, signal, threading
from armarl.workers.spread import spread
from endless import forever

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    done = spread(forever, [0, 1, 1], 2)
    next(done)
    if {stop!r} == "Ctrl-C":
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            next(done)
        except KeyboardInterrupt:
            print("stopped")
    else:
        done.close()
        print("stopped")
"""
ENDLESS = """
def forever(job):
    while job:
        pass
"""


@pytest.mark.skipif(os.name != "posix", reason="the signal needs POSIX")
@pytest.mark.parametrize("stop", ["Ctrl-C", "enough"])
def test_jobs_that_never_end_are_stopped_with_their_match(tmp_path: Path, stop: str) -> None:
    """Regression: the command waited for the jobs, and therefore never ended."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    script = tmp_path / "script.py"
    script.write_text(WITH_ENDLESS_JOBS.format(stop=stop))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=100, check=True
    )
    assert (done.stdout, done.stderr) == ("stopped\n", "")


# Like a notebook, this program is not in a file, so workers cannot import its classes.
WITHOUT_A_FILE = """
from armarl.players.simple_players import RandomPlayer
from armarl import make_game, play_match

class Mine(RandomPlayer):
    pass

{extra}
game = make_game("armadora")
try:
    play_match(game, [Mine(game), "random"], games=4, seed=0, workers=2)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("extra", ["", "Mine.__module__ = 'gone'"])
def test_a_class_of_a_notebook_is_refused_with_what_would_be_right(extra: str) -> None:
    program = WITHOUT_A_FILE.format(extra=extra)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200
    )
    assert "define them in a module, or use workers=1" in done.stdout, done.stderr
    assert "__main__" not in done.stdout.replace("__main__.Mine", "")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this is about groups of POSIX processes")
def test_workers_that_are_stopped_at_their_start_print_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(STOPPED_AT_THE_START)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=50,  # in seconds; the jobs take longer
        check=True,
    )
    assert (done.stdout, done.stderr) == ("stopped\n", "")
