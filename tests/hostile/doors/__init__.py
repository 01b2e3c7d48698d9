"""The doors: for each a function that prepares a process, and one that makes and runs a case.

A case takes a generator of random numbers, makes something bad by it, and hands it over. It returns
"refused" where the door says so in the words it promises, and "accepted" where what was taken has
been looked at, used and found lawful. It raises whatever else comes.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache as once  # a door is called cache
from importlib import import_module
from pathlib import Path

import numpy as np

Case = Callable[[np.random.Generator], str]

DOORS = {  # modules here, of which only the one that is needed is imported
    "arrays": "games",
    "states": "games",
    "saves": "games",
    "players": "players",
    "charts": "charts",
    "cache": "cache",
    "policies": "files",
    "records": "files",
    "configs": "training",
    "checkpoints": "training",
    "runs": "training",
}


@once
def folder() -> Path:
    """Where the cases of this process keep files: removed at its end, unless that was a crash."""
    made = tempfile.mkdtemp(prefix="armarl-fuzz-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def refused(error: Exception, most: int = 3000) -> str:
    """The outcome of a case that our own error refused, in no more words than one reads, and none
    that a terminal would obey."""
    if len(str(error)) > most:
        raise AssertionError("a word too many") from error
    if not all(line.isprintable() for line in str(error).split("\n")):
        raise AssertionError(f"it cannot be printed: {str(error)!r}") from error
    return "refused"


def load(door: str) -> tuple[Callable[[], object], Case]:
    """What prepares a process for a door, and its cases."""
    module = import_module(f"{__name__}.{DOORS[door]}")
    return getattr(module, f"prepare_{door}", lambda: None), getattr(module, door)
