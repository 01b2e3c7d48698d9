"""Messages during compilation: a warning at its start, and the number of compiled kernels.

Each process logs the warning once, with the logger `armarl`. Python prints it to stderr unless a
program redirects the logger. On a terminal, a second line counts the kernels. That line is erased
when the compilation ends.
"""

from __future__ import annotations

import logging
import sys
import time
from functools import cache
from typing import Any

from numba.core import event

_ERASE = "\r\x1b[K"  # go to the start of the line, and clear it
_MOST_COLUMNS = 78  # a longer line could wrap, and then could not be erased


_logger = logging.getLogger("armarl")


def say(line: str) -> None:
    """Log a line, with `?` in place of unprintable characters, which could control a terminal."""
    _counter.erase()
    _logger.warning("%s", "".join(letter if letter.isprintable() else "?" for letter in line))


@cache
def say_once(line: str) -> None:
    """Log a line, unless this process has logged it before."""
    say(line)


class _Counter(event.Listener):  # type: ignore[misc]
    """A counter of compiled kernels. While Numba compiles a kernel, it also compiles the callees.

    Numba has a lock that lets only one thread compile at a time, so the counter needs no lock.
    """

    def __init__(self) -> None:
        self._depth, self._compiled, self._total = 0, 0, 0
        self._begun = 0.0
        self._is_shown = False

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"]
        module = kernel.py_func.__module__ or ""  # None if made by `exec`
        if not self._depth:
            if not module.startswith("armarl"):  # a function of the user
                return
            self._total = self._compiled + _count_uncompiled(kernel, set())
        self._depth += 1
        if not self._begun:
            self._begun = time.monotonic()
            say(
                "ArmaRL is compiling kernels for their first use on this machine (10 to 30 "
                "seconds; `armarl compile` compiles all of them in advance) ..."
            )
        self._show(kernel.py_func.__name__)

    def on_end(self, event: Any) -> None:
        if self._depth:
            self._depth -= 1
            self._compiled += 1
            if not self._depth:
                self.erase()

    def _show(self, name: str) -> None:
        """Overwrite the counting line, if stderr is a terminal."""
        if sys.stderr is None or not sys.stderr.isatty():
            return
        if not _logger.isEnabledFor(logging.WARNING):
            return
        total = max(self._total, self._compiled + self._depth)  # a kernel may have many signatures
        seconds = time.monotonic() - self._begun
        line = f"ArmaRL: {self._compiled} of about {total} kernels, {seconds:.0f} s: {name}"
        print(f"{_ERASE}{line[:_MOST_COLUMNS]}", end="", file=sys.stderr, flush=True)  # noqa: T201
        self._is_shown = True

    def erase(self) -> None:
        """Erase the counting line, if it is shown."""
        if self._is_shown:
            self._is_shown = False
            print(_ERASE, end="", file=sys.stderr, flush=True)  # noqa: T201


def _count_uncompiled(kernel: Any, seen: set[int]) -> int:
    """Count a kernel and the kernels that it calls, without those that are already compiled.

    Kernels that are attributes of a NamedTuple, as in `verbs.apply`, are found too.
    """
    if id(kernel) in seen or kernel.overloads:
        return 0
    seen.add(id(kernel))
    function = kernel.py_func
    names = function.__code__.co_names
    values = [function.__globals__.get(name) for name in names]
    values += [getattr(value, name, None) for value in values for name in names if _holds(value)]
    is_merged = kernel.targetoptions.get("inline") == "always"  # compiled together with its caller
    callees = (getattr(value, "part", value) for value in values if hasattr(value, "overloads"))
    return (not is_merged) + sum(_count_uncompiled(callee, seen) for callee in callees)


def _holds(value: Any) -> bool:
    """Return whether a value is a NamedTuple, whose attributes may be kernels."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


_counter = _Counter()
event.register("numba:compile", _counter)
