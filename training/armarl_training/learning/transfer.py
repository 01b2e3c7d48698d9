"""A saved policy of one table as one to begin with at another table of the same game.

Of plain layers the first has a column for each entry of the observation, and the last a row for
each action. Those that both tables have keep their weights; what only the new one has begins with
zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarl.core.game import Game
from armarl.core.observation_table import Board, ObservationTable
from armarl.networks.policy_network import has_board, layers
from armarl.policies.network_players import JudgingPlayer, NetworkPlayer


def at_table(policy: NetworkPlayer, game: Game) -> NetworkPlayer:
    """The policy at a table of its game: itself, if it is its own.

    Raises:
        ValueError: it is of another game or on another board, a judge of positions, or looks at
            cells.
    """
    before = policy.game
    if before.variant == game.variant:
        return policy
    if before.name != game.name:
        raise ValueError(f"the policy plays {before.name}, not {game.name}")
    if isinstance(policy, JudgingPlayer) or has_board(policy.tensors):
        raise ValueError(
            "only a policy of plain layers over the observation begins at another table, neither a "
            "judge of positions nor one that looks at cells"
        )
    if not _same_board(before.observation.board, game.observation.board):
        raise ValueError("the policy plays on another board, whose places are others")
    tensors = dict(policy.tensors)
    entries = shared_entries(before.observation, game.observation)
    for part in ("trunk",) if layers(tensors, "trunk") else ("policy", "value"):
        tensors[f"{part}.0.weight"] = _taken(tensors[f"{part}.0.weight"].T, entries).T.copy()
    if logits := layers(tensors, "policy"):  # a critic of scripted play has none
        places = {text: number for number, text in enumerate(before.actions.texts)}
        actions = np.array([places.get(text, -1) for text in game.actions.texts])
        for kind in ("weight", "bias"):
            name = f"policy.{logits - 1}.{kind}"
            tensors[name] = _taken(tensors[name], actions)
    advisers = policy.advice.advisers
    return type(policy)(game, tensors, policy.activation, advisers=advisers, name=policy.name)


def shared_entries(before: ObservationTable, after: ObservationTable) -> NDArray[np.int64]:
    """Of each entry of one table its place in another, -1 where that has none: (after.size,).

    Of a block that has a part for every seat, which are in the order of play from the own one on,
    those are shared that both tables have.
    """
    shared = np.full(after.size, -1)
    theirs, ours = _numbers(before), _numbers(after)
    for name in theirs.keys() & ours.keys():
        old, new = theirs[name], ours[name]
        if old.ndim == new.ndim:
            both = tuple(slice(min(sizes)) for sizes in zip(old.shape, new.shape, strict=True))
            shared[new[both]] = old[both]
    return shared


def _same_board(before: Board | None, after: Board | None) -> bool:
    """Whether a number stands for the same place on both."""
    if before is None or after is None:
        return before is after
    if before.shape != after.shape or before.constants.keys() != after.constants.keys():
        return False
    return all(map(np.array_equal, _fixed(before), _fixed(after)))


def _fixed(board: Board) -> list[NDArray[Any]]:
    """What tells its places apart."""
    constants = [board.constants[name] for name in sorted(board.constants)]
    return [*constants, *(a for a in (board.edges, board.edge_kinds) if a is not None)]


def _numbers(table: ObservationTable) -> dict[str, NDArray[np.int64]]:
    """By block the places of its entries, in its shape."""
    places = np.arange(table.size)
    return {b.name: places[table.slices[b.name]].reshape(b.shape) for b in table.blocks}


def _taken(rows: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
    """The rows at these places, zeros at -1."""
    taken = rows[places]
    taken[places < 0] = 0
    return taken
