"""Make `.venv` in the repository with ArmaRL and the packages for a task.

This module uses only the standard library, so that it runs on a new machine. It reuses an existing
environment if pyproject.toml and constraints.txt have not changed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"


def set_up(extra: str) -> Path:
    """Install `armarl[extra]` in `.venv`, with tested versions of its dependencies.

    An installed environment is reused. Return the path of its Python.
    """
    if sys.version_info < (3, 11):  # noqa: UP036 - any version of Python may run this script
        sys.exit(f"ArmaRL needs Python 3.11 or newer; this is {sys.version.split()[0]}")
    python = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = VENV / f"{extra}.installed"
    wanted = _wanted()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"setting up {VENV.name} with armarl[{extra}] (once; torch is large) ...", flush=True)
    if not python.exists():
        venv.create(VENV, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}[{extra}]"], check=True
    )
    stamp.write_text(wanted)
    return python


def _wanted() -> str:
    files = (ROOT / "pyproject.toml", ROOT / "constraints.txt")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def run(python: Path, *arguments: str) -> None:
    """Run a module with the environment's Python in the repository's root. Exit if it fails."""
    status = subprocess.run([str(python), "-m", *arguments], cwd=ROOT).returncode
    if status:
        sys.exit(status)
