"""Worker processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Ctrl-C reaches all processes of a terminal's command, even those that are still importing.
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


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this is about groups of POSIX processes")
def test_workers_that_are_stopped_while_they_start_say_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(STOPPED_AT_THE_START)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=50,  # seconds; the jobs take longer
        check=True,
    )
    assert (done.stdout, done.stderr) == ("stopped\n", "")
