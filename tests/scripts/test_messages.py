"""Messages and help never mention the folder `docs`, which an installed package lacks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from paths import ROOT

MODULES = sorted((ROOT / "envs").rglob("*.py")) + sorted((ROOT / "training").rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_message_mentions_the_repository(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    about = ast.get_docstring(tree, clean=False)
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    for text in texts:
        assert not (isinstance(text, str) and text != about and "docs/" in text), text
