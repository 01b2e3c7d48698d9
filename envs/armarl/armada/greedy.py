"""A scripted player of Armada."""

from __future__ import annotations

from armarl.armada.rules import legal
from armarl.compiled import kernel


@kernel
def greedy(s, draw, mask, scratch):
    """The action chosen by the player to move in a state concealed for him; `draw` breaks ties."""
    legal(s, mask)
    for action in range(mask.size):
        if mask[action]:
            return action
    return 0
