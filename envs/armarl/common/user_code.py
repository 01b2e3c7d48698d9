"""Import of modules of user code, which the user names as `module:Class`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

_folders: list[str] = []


def look_in(folder: Path) -> None:
    """Add a folder to search for user modules. It is searched last, so its modules hide no others.

    Python searches the folder only after the user names a module of their own. Until then no code
    in the folder runs. Otherwise a library that tries to import an optional package, such as
    `coverage` or `cffi`, could import a file of that name from the folder, for example a file next
    to a downloaded policy.
    """
    _folders.append(str(folder))


def import_own(module: str) -> ModuleType:
    """Import a module that the user has named.

    Raises:
        ModuleNotFoundError: there is no such module. The message says where its folder must be.
    """
    sys.path.extend(folder for folder in _folders if folder not in sys.path)
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if module.partition(".")[0] == error.name:
            places = "the current folder or one on PYTHONPATH" if _folders else "one on PYTHONPATH"
            error.msg += f" (its folder must be {places})"
        raise
