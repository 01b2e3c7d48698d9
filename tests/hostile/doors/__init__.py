"""The entry points to fuzz (*doors*). Each has a function to prepare a process, and one for a case.

A case takes a random number generator, makes a bad input with it, and passes the input to the entry
point. It returns "refused" if the entry point raises one of its documented errors, and "accepted"
if the input was accepted, used and found valid. All other errors pass through.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache as once  # `cache` is the name of an entry point
from importlib import import_module
from pathlib import Path

import numpy as np

Case = Callable[[np.random.Generator], str]

DOORS = {  # the module of each entry point; only the needed one is imported
    "arrays": "games",
    "states": "games",
    "saves": "games",
    "players": "players",
    "charts": "charts",
    "cache": "cache",
    "policies": "files",
    "metadata": "files",
    "records": "files",
    "configs": "training",
    "checkpoints": "training",
    "runs": "training",
    "side_files": "training",
    "threads": "threads",
}


@once
def folder() -> Path:
    """The folder for files of this process. It is removed at exit, except after a crash."""
    made = tempfile.mkdtemp(prefix="armarl-fuzz-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def refused(error: Exception, most: int = 3000) -> str:
    """Check the error text of a refused case: short, and without terminal control codes."""
    if len(str(error)) > most:
        raise AssertionError("the error text is too long") from error
    if not all(line.isprintable() for line in str(error).split("\n")):
        raise AssertionError(f"the error text is not printable: {str(error)!r}") from error
    return "refused"


def load(door: str) -> tuple[Callable[[], object], Case]:
    """Return the function that prepares a process for an entry point, and the one for a case."""
    module = import_module(f"{__name__}.{DOORS[door]}")
    return getattr(module, f"prepare_{door}", lambda: None), getattr(module, door)
