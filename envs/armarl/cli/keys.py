"""The pauses between the actions of a game on the terminal, and the keys that pause or end it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from armarl.common.messages import tell

_LEAST = 0.05  # seconds between checks for a key on Windows, where Python cannot wait for one


class Keys:
    """The keyboard while a game is watched."""

    def __init__(self, read: Any) -> None:
        self._read = read

    def pause(self, seconds: float) -> None:
        """Wait for `seconds`. Any key pauses the game until the next key, and q ends the game.

        Raises:
            EOFError: q was pressed.
        """
        key = self._read(seconds)
        if key and key not in "qQ":
            tell("paused: any key continues the game, q ends it")
            key = self._read(None)
        if key and key in "qQ":
            raise EOFError


@contextmanager
def keyboard() -> Iterator[Keys]:
    """Yield the keyboard, and restore the terminal at the end.

    Without a terminal there are no keys, and `pause` only waits.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield Keys(lambda seconds: time.sleep(seconds or 0))
        return
    try:
        import termios
        import tty
    except ImportError:  # Windows
        yield Keys(_read_on_windows)
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    tty.setcbreak(number)
    try:
        yield Keys(_read_elsewhere)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _read_elsewhere(seconds: float | None) -> str:
    """Return the next key, or an empty string after `seconds`. None waits without a limit."""
    import os
    import select

    ready = select.select([sys.stdin], [], [], seconds)[0]
    return os.read(sys.stdin.fileno(), 1).decode(errors="replace") if ready else ""


def _read_on_windows(seconds: float | None) -> str:
    import msvcrt  # type: ignore[import-not-found, unused-ignore]

    end = None if seconds is None else time.monotonic() + seconds
    while not msvcrt.kbhit():  # type: ignore[attr-defined, unused-ignore]
        if end is not None and time.monotonic() >= end:
            return ""
        time.sleep(_LEAST)
    return str(msvcrt.getwch())  # type: ignore[attr-defined, unused-ignore]
