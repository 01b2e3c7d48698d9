"""The data of a minibatch of PPO, and the loss's gradient with respect to the outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from armarl_training.learners.ppo.update.losses import (
    Decisions,
    LossScratch,
    LossWeights,
    Samples,
    ppo_gradient,
    ppo_gradient_bfloat16,
)
from armarl_training.networks.bfloat16 import bits_of

if TYPE_CHECKING:
    from armarl_training.learners.ppo.update.buffers import Workspace
    from armarl_training.networks.learner_devices import Array, LearnerDevice


class InputRows(NamedTuple):
    """The network inputs of all rows of some samples; see `Rollout`."""

    features: Array  # (rows, size)
    secrets: Array  # (rows, secrets)
    advice: Array  # int64 (rows, advisers)
    entries: InputChanges | None  # for incremental passes, which do not read features and secrets


class Batch(NamedTuple):
    """A rollout's decisions, ready to learn from."""

    seen: InputRows
    samples: Samples
    # A function of the number of minibatches and the number of parts of a minibatch. It yields the
    # parts of each minibatch. A part contains rows of the samples, int64 (n,).
    deal: Callable[[int, int], Iterator[Sequence[Array]]]


class MinibatchPart(NamedTuple):
    """A part of a minibatch, for one thread."""

    rows: Array  # int64 (n,), indices into the samples
    number: int  # number of rows in the whole minibatch
    seen: InputRows
    samples: Samples
    loss_weights: LossWeights
    scratch: LossScratch  # only this part uses the scratch and the workspace
    workspace: Workspace


def gradient_of_outputs(
    device: LearnerDevice,
    run: Callable[..., None],
    outputs: torch.Tensor,
    part: MinibatchPart,
    magnets: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the gradient of all losses with respect to the outputs, (n, actions + 1 + players).

    Args:
        device: device of the arrays.
        run: one of the device's run functions.
        outputs: the network's outputs for the rows of the part.
        part: the part of the minibatch.
        magnets: the magnet's outputs. None if the magnet is not used.
    """
    rows, columns = outputs.shape
    gradient = part.workspace.take("gradient", rows, columns, outputs.dtype)
    held_back = torch.empty(0, 0, device=device.place) if magnets is None else magnets
    decisions = Decisions(
        rows=part.rows,
        samples=part.samples,
        number=part.number,
        outputs=bits_of(device, outputs),
        magnets=device.array(held_back),
        loss_weights=part.loss_weights,
        gradients=bits_of(device, gradient),
        scratch=part.scratch,
    )
    is_bfloat16 = outputs.dtype == torch.bfloat16
    run(ppo_gradient_bfloat16 if is_bfloat16 else ppo_gradient, rows, decisions)
    return gradient


class InputChanges(NamedTuple):
    """Sparse inputs of rows: the entries of row i are at `starts[i]` to `starts[i + 1]`.

    An entry is an input's change from row i - 1 to row i, or from 0 where `anew`. For an input that
    is `alike` (see `alike_inputs`), the entry is the difference between its change and the change
    of the input before it.
    """

    starts: NDArray[np.int64]  # (rows + 1,)
    columns: NDArray[np.uint16]  # (k,), the entries' inputs; secrets come after the observation
    changes: NDArray[np.float32]  # (k,), the values of the entries
    anew: NDArray[np.bool_]  # (rows,), whether a chain begins at the row
