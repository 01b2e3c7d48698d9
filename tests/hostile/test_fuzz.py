"""Some cases of every fuzzer; a case that dies, hangs or raises anything else is a failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz.py")


@pytest.mark.parametrize("door", ["arrays", "states", "charts", "cache"])
def test_some_cases(door: str) -> None:
    command = [sys.executable, str(FUZZ), "--door", door, "--cases", "150"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "150 cases" in done.stdout
    assert " 0 failed" in done.stdout
