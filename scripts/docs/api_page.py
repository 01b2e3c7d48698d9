"""The docs page of the Python interface, made from the stubs that list the public names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUBS = {
    "armarl": ROOT / "envs" / "armarl" / "__init__.pyi",
    "armarl_training": ROOT / "training" / "armarl_training" / "__init__.pyi",
}
IN_PARTS = ("Game",)  # public classes that inherit public methods from private base classes
MARK = "# --- "  # the start of a section's heading in a stub
HEAD = """# Python

`scripts/docs/make_docs.py` makes this page from `envs/armarl/__init__.pyi` and
`training/armarl_training/__init__.pyi`, which list the public names. Import a name from the
package: `from armarl import make_game`, `from armarl_training import start_run`. The packages load
a name's module when the name is first used.

On the documentation site (`mkdocs serve`) each name is followed by its docstring. In a checkout,
`help(armarl.make_game)` shows the same text. Names that are not listed here may change without
notice.

The modules `armarl.armadora_v0` and `armarl.armada_v0` have the functions `env` and `raw_env`,
which make PettingZoo environments. Gymnasium makes environments by their ids
([the environments](../environments/environments.md#making-an-environment)).
"""
TAIL = """
## Games of your own

A game outside this package imports everything that it needs from one module
([adding a game](../development/adding-a-game.md)).

::: armarl.games.authoring

## Modules to import by name

::: armarl.environments.open_spiel.register
::: armarl.environments.open_spiel.Resampler
::: armarl_training.sb3.save_policy
::: armarl_training.rllib
"""


def public_names(package: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the sections of a package's stub: the heading, and the names with their modules."""
    text = STUBS[package].read_text(encoding="utf-8")
    for section in text.split(f"\n{MARK}")[1:]:
        heading, _, body = section.partition("\n")
        names = [
            (alias.name, f"{package}.{node.module}" if node.module else package)
            for node in ast.parse(body).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        yield heading, names


def api_page() -> str:
    """Return the page as Markdown. The site replaces each line with `:::` by the docstring."""
    lines = [HEAD]
    for package in STUBS:
        for heading, names in public_names(package):
            lines += [f"## {heading}", ""]
            for name, module in names:
                lines.append(f"::: {module}.{name}")
                if name in IN_PARTS:
                    lines += ["    options:", "      inherited_members: true"]
            lines.append("")
    return "\n".join(lines) + TAIL
