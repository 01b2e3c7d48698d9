"""What a minibatch of PPO is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from armarl_training.bfloat16 import bits_of
from armarl_training.devices import Array, LearnerDevice
from armarl_training.entries import Entries
from armarl_training.losses import (
    Decisions,
    Lot,
    Room,
    Weights,
    ppo_gradient,
    ppo_gradient_bfloat16,
)
from armarl_training.workspace import Workspace


class Seen(NamedTuple):
    """What is known of all rows of a lot, see `Rollout`."""

    quantities: Array  # (rows, size)
    secrets: Array  # (rows, secrets)
    advice: Array  # int64 (rows, advisers)
    entries: Entries | None  # where passes are sparse; quantities and secrets are not read then


class Part(NamedTuple):
    """A part of a minibatch, for one of the crew."""

    rows: Array  # int64 (n,), of the lot
    number: int  # of rows in the whole minibatch
    seen: Seen
    lot: Lot
    weights: Weights
    room: Room  # of this part alone, as the workspace
    workspace: Workspace


def gradient_of_outputs(
    device: LearnerDevice,
    run: Callable[..., None],
    outputs: torch.Tensor,
    part: Part,
    magnets: torch.Tensor | None = None,
) -> torch.Tensor:
    """Of all losses, by what actor and critic put out, (n, actions + 1 + players).

    Args:
        run: one of the device's.
        magnets: what the magnet puts out; None if it does not count.
    """
    rows, columns = outputs.shape
    gradient = part.workspace.take("gradient", rows, columns, outputs.dtype)
    held_back = torch.empty(0, 0, device=device.place) if magnets is None else magnets
    decisions = Decisions(
        *(part.rows, part.lot, part.number, bits_of(device, outputs), device.array(held_back)),
        *(part.weights, bits_of(device, gradient), part.room),
    )
    is_bfloat16 = outputs.dtype == torch.bfloat16
    run(ppo_gradient_bfloat16 if is_bfloat16 else ppo_gradient, rows, decisions)
    return gradient
