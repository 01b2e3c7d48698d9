"""bfloat16 numbers in compiled loops, as 16-bit integers with the same bits.

NumPy has no type bfloat16. The bits of a bfloat16 are the upper half of a float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from armarl.compiler.decorators import inlined

if TYPE_CHECKING:
    from armarl_training.networks.learner_devices import Array, LearnerDevice


@inlined
def read(numbers: Any, k: int, is_bfloat16: bool) -> Any:
    """Return number `k` as float32.

    `is_bfloat16` must be a compile-time constant. If True, `numbers` has the bits of bfloat16.
    """
    if is_bfloat16:
        return np.uint32(np.uint32(numbers[k]) << np.uint32(16)).view(np.float32)
    return np.float32(numbers[k])


@inlined
def write(number: Any, numbers: Any, k: int, is_bfloat16: bool) -> None:
    """Write a float32 as number `k`. For bfloat16, round to nearest, ties to even."""
    if is_bfloat16:
        bits = np.float32(number).view(np.uint32)
        odd = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
        rounded = np.uint32(np.uint32(bits + np.uint32(0x7FFF)) + odd)
        numbers[k] = np.uint16(rounded >> np.uint32(16))
    else:
        numbers[k] = number


def bits_of(device: LearnerDevice, tensor: torch.Tensor) -> Array:
    """Return an array in the tensor's memory. bfloat16 becomes int16 with the same bits."""
    plain = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return device.array(plain)
