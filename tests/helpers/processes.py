"""Processes that end together with the test that started them, even if it fails."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: list[Any], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a process as `subprocess.Popen` does. Kill it at the end if it still runs."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(come: Callable[[], bool], process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a condition on a process is true.

    Raises:
        AssertionError: the process has ended, or `seconds` have passed, and the condition is false.
    """
    patience = time.monotonic() + seconds
    while not come():
        assert process.poll() is None, f"it ended with {process.returncode}: {_error(process)}"
        assert time.monotonic() < patience, f"nothing after {seconds} seconds"
        time.sleep(0.02)


def _error(process: subprocess.Popen[str]) -> str:
    return process.communicate()[1] or "" if process.stderr else ""
