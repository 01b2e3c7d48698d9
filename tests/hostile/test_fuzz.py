"""Some cases of every fuzzer.

A case fails if it kills or hangs its process, or raises an unexpected error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz.py")
DOORS = ["arrays", "states", "saves", "players", "charts", "cache"]
DOORS += ["policies", "metadata", "records", "configs", "checkpoints", "runs"]
DOORS += ["side_files", "threads"]


@pytest.mark.parametrize("door", DOORS)
def test_some_cases_pass(door: str) -> None:
    done = fuzz("--door", door, "--cases", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 cases" in done.stdout
    assert " 0 failed" in done.stdout


def test_a_case_that_kills_hangs_or_raises_is_reported(tmp_path: Path) -> None:
    """One case raises an error, one kills its process, one hangs. The other two still run."""
    (tmp_path / "doors.py").write_text(textwrap.dedent(BAD_DOOR))
    shutil.copy(FUZZ, tmp_path)
    command = [sys.executable, str(tmp_path / FUZZ.name), "--door", "bad", "--cases", "5"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "{'accepted': 1, 'refused': 1}, 3 failed" in done.stdout
    for said in ("case 1 FAILS", "case 2 DIES (-11)", "case 3 HANGS", "--door bad --work 2 3"):
        assert said in done.stdout


BAD_DOOR = """
    import os, signal
    DOORS = ["bad"]

    def bad(rng):
        number = int(rng.integers(2**32))
        known = [int(__import__("numpy").random.default_rng(k).integers(2**32)) for k in range(5)]
        case = known.index(number)
        if case == 1:
            raise KeyError("x")
        if case == 2:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == 3:
            signal.setitimer(signal.ITIMER_PROF, 0.1)
            while True:
                pass
        return "accepted" if case == 0 else "refused"

    def load(door):
        return (lambda: None), bad
"""


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ), *arguments]
    return subprocess.run(command, capture_output=True, text=True)
