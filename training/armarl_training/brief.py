"""bfloat16 in loops: the first half of a float32, of which NumPy knows no type."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from armarl.compiled import inlined
from armarl_training.devices import Array, LearnerDevice


@inlined
def widen(halves: Any, bits: Any) -> None:
    """Write the bits of float32 of some bfloat16."""
    for k in range(halves.size):
        bits[k] = np.uint32(halves[k]) << np.uint32(16)


@inlined
def round_off(bits: Any, halves: Any) -> None:
    """Write the nearest bfloat16 of float32, even ones at ties, by their bits."""
    for k in range(halves.size):
        odd = np.uint32(np.uint32(bits[k] >> np.uint32(16)) & np.uint32(1))
        rounded = np.uint32(np.uint32(bits[k] + np.uint32(0x7FFF)) + odd)
        halves[k] = np.uint16(rounded >> np.uint32(16))


def bits_of(device: LearnerDevice, tensor: torch.Tensor) -> Array:
    """A tensor as an array in the same memory; of bfloat16, int16 with its bits."""
    plain = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return device.array(plain)
