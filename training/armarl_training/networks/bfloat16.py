"""bfloat16 in loops: the first half of a float32, of which NumPy knows no type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from armarl.compiler.decorators import inlined

if TYPE_CHECKING:
    from armarl_training.networks.learner_devices import Array, LearnerDevice


@inlined
def read(numbers: Any, k: int, is_bfloat16: bool) -> Any:
    """Number `k` in float32.

    `is_bfloat16`, a constant, is whether numbers are the bits of bfloat16.
    """
    if is_bfloat16:
        return np.uint32(np.uint32(numbers[k]) << np.uint32(16)).view(np.float32)
    return np.float32(numbers[k])


@inlined
def write(number: Any, numbers: Any, k: int, is_bfloat16: bool) -> None:
    """Write a float32 as number `k`; of bfloat16 the nearest one, even at ties."""
    if is_bfloat16:
        bits = np.float32(number).view(np.uint32)
        odd = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
        rounded = np.uint32(np.uint32(bits + np.uint32(0x7FFF)) + odd)
        numbers[k] = np.uint16(rounded >> np.uint32(16))
    else:
        numbers[k] = number


def bits_of(device: LearnerDevice, tensor: torch.Tensor) -> Array:
    """A tensor as an array in the same memory; of bfloat16, int16 with its bits."""
    plain = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return device.array(plain)
