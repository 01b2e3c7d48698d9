"""Objects that all games of a variant share cannot be changed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from armarl import make_game
from armarl.core.game import Game
from variants import Variant, every_game


def tables_of(game: Game) -> list[Any]:
    """Return the index tables: the places of actions, and of features in an observation."""
    if game.observation.board is None:
        return [*game.actions.places]
    return [*game.actions.places, game.observation.cell_index, game.observation.other_index]


@every_game
def test_returned_tables_are_copies(variant: Variant) -> None:
    game = variant.make()
    before = tables_of(game)
    for table in tables_of(game):
        table[:] = 0
    for table, as_before in zip(tables_of(variant.make()), before, strict=True):
        assert np.array_equal(table, as_before)


@pytest.mark.parametrize("name", ["armadora", "armada"])
def test_a_board_is_read_only(name: str) -> None:
    board = make_game(name).observation.board
    assert board is not None
    tables = [t for along in board.along.values() for t in along.values()]
    tables += [*board.derived.values(), *board.constants.values()]
    tables += [t for t in (board.edges, board.edge_kinds) if t is not None]
    for table in tables:
        with pytest.raises(ValueError, match="read-only"):
            table[:] = 0


@pytest.mark.parametrize(
    "mapping",
    [
        lambda game: game.options,
        lambda game: game.attributes,
        lambda game: game.actions.first,
        lambda game: game.observation.slices,
    ],
)
@every_game
def test_mappings_cannot_be_changed(variant: Variant, mapping: Callable[[Game], Any]) -> None:
    game = variant.make()
    told = json.dumps(game.variant)
    with pytest.raises(TypeError, match="does not support item assignment"):
        mapping(game)["more"] = 1
    assert json.dumps(pickle.loads(pickle.dumps(game)).variant) == told
