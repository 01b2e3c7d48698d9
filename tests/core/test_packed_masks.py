"""Masks as bits, with 32 actions in each integer, for any number of actions."""

from __future__ import annotations

import numpy as np
import pytest

from armarl import make_game
from armarl.core import batch_loops


@pytest.mark.parametrize("name", ["pack", "pack_singly"])
@pytest.mark.parametrize("actions", [1, 7, 31, 32, 33, 63, 64, 65, 96, 231, 500])
def test_a_packed_mask_has_the_actions_of_the_mask(name: str, actions: int) -> None:
    game = make_game("armadora")
    pack = game.compiled(getattr(batch_loops, name))
    is_packed = game.compiled(batch_loops.is_packed)
    rng = np.random.default_rng(actions)
    for share in (0.0, 0.2, 0.9, 1.0):
        mask = (rng.random(actions) < share).astype(np.int8)
        packed = np.full(batch_loops.packed_size(actions), 0x5A5A5A5A, np.int32)
        pack(mask, packed)
        found = [is_packed(packed, action) for action in range(-3, 32 * packed.size + 3)]
        assert found == [False] * 3 + mask.astype(bool).tolist() + [False] * (
            32 * packed.size - actions + 3
        )
