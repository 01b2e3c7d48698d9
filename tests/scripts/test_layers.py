"""The packages have layers: no import cycles, and a folder imports only lower ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_layers


def test_the_packages_keep_their_layers() -> None:
    assert list(check_layers.faults()) == []


def test_an_import_cycle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert check_layers.circles(graph) == [["a", "b", "c"]]
    assert check_layers.circles({"a": {"b"}, "b": set()}) == []


def test_the_longest_chain_is_found() -> None:
    graph = {"a": {"b", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}
    assert check_layers.longest_path(graph) == ["a", "b", "c", "d"]


def test_imports_in_functions_count_and_imports_for_types_do_not(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import typed\n"
        "def function():\n    from package import inner, name\n",
        "utf-8",
    )
    known = dict.fromkeys(["typed", "package", "package.inner"], path)
    assert sorted(check_layers._imports(path, known)) == ["package", "package.inner"]


@pytest.mark.parametrize(
    ("module", "room"),
    [
        ("armarl", "armarl"),
        ("armarl.armadora_v0", "armarl"),
        ("armarl.core.game", "armarl.core"),
        ("armarl.games.catalogue", "armarl.games"),
        ("armarl.games.armada.rules.turns", "armarl.games.armada"),
        ("armarl_training.learners.ppo.update.losses", "armarl_training.learners"),
    ],
)
def test_a_module_belongs_to_its_folder(module: str, room: str) -> None:
    assert check_layers.room_of(module) == room
