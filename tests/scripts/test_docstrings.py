"""Every public name has an example in its docstring, and the examples run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from api_page import STUBS, public_names
from check_layers import modules

PUBLIC = [
    (name, module)
    for package in STUBS
    for _, names in public_names(package)
    for name, module in names
]
WITH_EXAMPLES = [name for name, path in modules().items() if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_docstrings_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize(("name", "module"), PUBLIC)
def test_every_public_name_has_an_example(name: str, module: str) -> None:
    found = getattr(import_module(module), name)
    assert ">>> " in (found.__doc__ or ""), f"{module}.{name} has no example in its docstring"
