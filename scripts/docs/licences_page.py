"""Write docs/reference/licences.md: the licences of the packages that each extra installs.

    python scripts/docs/licences_page.py

The script reads the metadata of installed packages. Run it where all extras are installed.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "licences.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("", "play", "train", "sweep", "ray", "onnx", "render", "web", "tools", "cuda")
INTRODUCTION = """# Licences

ArmaRL is under the MIT licence; [NOTICE.md](../../NOTICE.md) has the details. These are the
licences of the packages that it installs, as the packages state them. Each extra lists only the
packages that the tables above it do not have. `python scripts/docs/licences_page.py` makes this
page from installed packages ({system})."""


def required(name: str, extra: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the direct requirements of a package with an extra, and the extras that they need."""
    if name == "armarl":
        texts = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    else:
        texts = metadata.requires(name) or ()
    for text in texts:
        found = Requirement(text)
        if found.marker is None or found.marker.evaluate({"extra": extra}):
            yield canonicalize_name(found.name), frozenset(found.extras)


def closure(extra: str) -> set[str]:
    """Return all installed packages that `armarl[extra]` needs, directly or indirectly."""
    seen: set[tuple[str, str]] = set()
    todo = [("armarl", extra), ("armarl", "")]
    while todo:
        name, part = todo.pop()
        if (name, part) in seen:
            continue
        seen.add((name, part))
        for other, extras in required(name, part):
            if other == "armarl":
                todo += [("armarl", one) for one in extras]
            elif is_installed(other):  # a missing package is for another platform
                todo += [(other, one) for one in ("", *extras)]
    return {name for name, _ in seen} - {"armarl"}


def is_installed(name: str) -> bool:
    """Return whether a package is installed."""
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def licence(name: str) -> str:
    """Return the licence that a package states: SPDX expression, classifier or text."""
    about = metadata.metadata(name)
    if expression := about.get("License-Expression"):
        return str(expression)
    classifiers = about.get_all("Classifier") or []
    named = [c.split(" :: ")[-1] for c in classifiers if c.startswith("License :: ")]
    named = [one for one in named if one != "OSI Approved"]
    text = (about.get("License") or "").strip()
    short = text if text and "\n" not in text and len(text) <= 60 else ""
    return ", ".join(named) or short or "see its own files"


def page() -> str:
    """Return the page's text."""
    known: set[str] = set()
    system = f"{sys.platform}, Python {sys.version_info[0]}.{sys.version_info[1]}"
    lines = [INTRODUCTION.format(system=system)]
    for extra in EXTRAS:
        new = sorted(closure(extra) - known)
        known.update(new)
        lines += ["", f"## `armarl[{extra}]`" if extra else "## `armarl`", ""]
        if new:
            lines += ["| package | version | licence |", "| --- | --- | --- |"]
            lines += [f"| {n} | {metadata.version(n)} | {licence(n)} |" for n in new]
        else:
            lines.append("This extra needs no further packages.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
