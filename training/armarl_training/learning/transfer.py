"""Transfer of a saved policy to another variant of its game, so that a run can start from it.

A variant is a game with its options and its number of players. Only plain networks (without
layers over board cells) can be transferred. Their first layer has a column for each entry of the
observation, and their last layer has a row for each action. Entries and actions of both variants
keep their weights. Entries and actions that only the new variant has start with zero weights.
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
    """Transfer a policy to another variant of its game.

    Returns:
        The transferred policy, or the same policy if it was trained for this variant.

    Raises:
        ValueError: the policy is for another game or board, is a judge (a value network trained by
            TD), or has layers over board cells.
    """
    before = policy.game
    if before.variant == game.variant:
        return policy
    if before.name != game.name:
        raise ValueError(f"the policy plays {before.name}, not {game.name}")
    if isinstance(policy, JudgingPlayer) or has_board(policy.tensors):
        raise ValueError(
            "only a policy of plain layers over the observation can start a run for another "
            "variant (with other options), not a judge of positions or a policy with layers over "
            "board cells"
        )
    if not _same_board(before.observation.board, game.observation.board):
        raise ValueError("the policy plays on another board, whose places differ from this game's")
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
    """Return the index in `before` of each entry of `after`, or -1: int64 (after.size,).

    A block of the observation may have one part per seat, in the order of play from the observing
    seat. If one table has fewer seats, only the parts of its seats are shared.
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
    """Return whether each place index means the same place on both boards."""
    if before is None or after is None:
        return before is after
    if before.shape != after.shape or before.constants.keys() != after.constants.keys():
        return False
    return all(map(np.array_equal, _fixed(before), _fixed(after)))


def _fixed(board: Board) -> list[NDArray[Any]]:
    """Return the arrays that differ if two boards have different places."""
    constants = [board.constants[name] for name in sorted(board.constants)]
    return [*constants, *(a for a in (board.edges, board.edge_kinds) if a is not None)]


def _numbers(table: ObservationTable) -> dict[str, NDArray[np.int64]]:
    """Return the observation indices of each block's entries, in the shape of the block."""
    places = np.arange(table.size)
    return {b.name: places[table.slices[b.name]].reshape(b.shape) for b in table.blocks}


def _taken(rows: NDArray[np.float32], places: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return copies of the rows at some indices, with zeros where the index is -1."""
    taken = rows[places]
    taken[places < 0] = 0
    return taken
