"""Code of users' own, which they name as `module:Class`, and where it is looked for."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

_folders: list[str] = []


def look_in(folder: Path) -> None:
    """Let modules of one's own lie in a folder, too; last, so that none takes another's place.

    Python looks there only once somebody names such a module. Until then nothing in it runs:
    libraries look for others that need not be installed (`coverage`, `cffi`), and would import
    whatever lies there by such a name, beside a policy of a stranger's for instance.
    """
    _folders.append(str(folder))


def import_own(module: str) -> ModuleType:
    """Import a module that somebody has named."""
    sys.path.extend(folder for folder in _folders if folder not in sys.path)
    return import_module(module)
