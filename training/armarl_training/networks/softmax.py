"""The softmax over legal actions, in compiled loops with SIMD instructions.

`exp` is written out as a polynomial because LLVM has no vectorised version of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armarl.compiler.decorators import compared, inlined, summed
from armarl_training.networks.bfloat16 import read

if TYPE_CHECKING:
    from armarl_training.networks.learner_devices import LearnerDevice

_LOWEST = np.float32(-3e38)
# exp(x) = 2^k exp(r) with k an integer and |r| at most half of log 2. For accuracy, k log 2 is
# subtracted in two parts. The polynomial is Cephes' (Moshier), exact to two units in the last
# place.
_SMALLEST = np.float32(-87.0)  # exp(-87) is still a normal float32
_PER_LOG2 = np.float32(1.44269504)
_LOG2, _LOG2_REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
_P5, _P4, _P3 = (
    np.float32(1.9875691500e-4),
    np.float32(1.3981999507e-3),
    np.float32(8.3334519073e-3),
)
_P2, _P1, _P0 = (
    np.float32(4.1665795894e-2),
    np.float32(1.6666665459e-1),
    np.float32(5.0000001201e-1),
)


class SoftmaxScratch(NamedTuple):
    """Scratch arrays with `scratch_rows` rows, each row wide enough for all actions."""

    legal: Any  # int64, the ids of the legal actions
    logits: Any  # float32, logits of the legal actions
    magnets: Any  # float32, logits of the legal actions by the averaged policy (the magnet)
    weights: Any  # float32, softmax weights of the legal actions, before normalisation
    bits: Any  # int32, the bits of powers of two
    numbers: Any  # float32, the same memory as `bits`


def make_softmax_scratch(device: LearnerDevice, decisions: int, actions: int) -> SoftmaxScratch:
    """Allocate scratch arrays for batches with this number of decisions."""
    shape = device.scratch_rows(decisions), 8 * -(-actions // 8)
    logits, magnets, weights = (device.interleaved(shape, np.float32) for _ in range(3))
    bits = device.interleaved(shape, np.int32)
    legal = device.interleaved(shape, np.int64)
    return SoftmaxScratch(legal, logits, magnets, weights, bits, device.as_float32(bits))


@inlined
def find_legal(mask: NDArray[np.uint8], legal: Any) -> Any:
    """Write the ids of the actions whose bits are set. Return their number."""
    number = 0
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):  # the id of an illegal action is overwritten by the next id
                legal[number] = 8 * byte + bit
                number += (mask[byte] >> (7 - bit)) & 1
    return number


@inlined
def pick(logits: Any, legal: Any, number: int, is_bfloat16: bool, out: Any) -> None:
    """Gather the logits of the legal actions. See `bfloat16.read` for `is_bfloat16`."""
    for j in range(number):
        out[j] = read(logits, legal[j], is_bfloat16)


@inlined
def place_of(action: int, legal: Any, number: int) -> Any:
    """Return the index of an action among the legal actions, which are in ascending order."""
    first, last = 0, number - 1
    while first < last:
        middle = (first + last) // 2
        if legal[middle] < action:
            first = middle + 1
        else:
            last = middle
    return first


@compared
def highest(logits: Any, number: int) -> Any:
    """Return the highest of the first `number` logits."""
    most = _LOWEST
    for j in range(number):
        most = logits[j] if logits[j] > most else most
    return most


@summed
def weigh(logits: Any, number: int, most: Any, bits: Any, numbers: Any, weights: Any) -> Any:
    """Write exp(logit - most) for the first `number` logits.

    Return the sum of these weights, and the sum of weight * (logit - most), as float64.
    """
    for j in range(number):
        x = max(logits[j] - most, _SMALLEST)
        k = np.int32(x * _PER_LOG2 - np.float32(0.5))  # rounds towards 0; x is at most 0
        n = np.float32(k)
        r = (x - n * _LOG2) - n * _LOG2_REST
        y = (((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _P0) * r * r + r
        weights[j] = y + np.float32(1)
        bits[j] = np.int32(np.int32(k + np.int32(127)) << np.int32(23))
    total, mean = np.float32(0), np.float32(0)
    for j in range(number):
        weight = weights[j] * numbers[j]
        weights[j] = weight
        total += weight
        mean += weight * (logits[j] - most)
    return np.float64(total), np.float64(mean)
