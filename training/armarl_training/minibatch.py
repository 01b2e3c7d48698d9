"""What a minibatch of PPO is made of."""

from __future__ import annotations

from typing import NamedTuple

from armarl_training.devices import Array
from armarl_training.entries import Entries
from armarl_training.losses import Lot, Room, Weights
from armarl_training.workspace import Workspace


class Seen(NamedTuple):
    """What is known of all rows of a rollout, see `Rollout`."""

    quantities: Array  # (rows, size)
    secrets: Array  # (rows, secrets)
    advice: Array  # int64 (rows, advisers)
    entries: Entries | None  # of both, where passes are sparse


class Part(NamedTuple):
    """A part of a minibatch, for one of the crew."""

    rows: Array  # int64 (n,), of the rollout
    number: int  # of rows in the whole minibatch
    seen: Seen
    lot: Lot
    weights: Weights
    room: Room  # of this part alone, as the workspace
    workspace: Workspace
