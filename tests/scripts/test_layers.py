"""The layers of the packages: no circle, and no folder imports one that is not below it."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_layers


def test_the_packages_keep_their_layers() -> None:
    assert list(check_layers.faults()) == []


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert check_layers.circles(graph) == [["a", "b", "c"]]
    assert check_layers.circles({"a": {"b"}, "b": set()}) == []


def test_the_longest_chain_is_found() -> None:
    graph = {"a": {"b", "d"}, "b": {"c"}, "c": {"d"}, "d": set()}
    assert check_layers.longest_path(graph) == ["a", "b", "c", "d"]


def test_imports_inside_functions_count_and_those_for_types_do_not(tmp_path: Path) -> None:
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
def test_the_folder_of_a_module(module: str, room: str) -> None:
    assert check_layers.room_of(module) == room
