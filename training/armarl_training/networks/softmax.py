"""The softmax over legal actions, several of them at a time.

`exp` is written out: LLVM has none that it could use on many numbers at once.
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
# exp(x) = 2^k exp(r), k whole and |r| at most half of log 2, which is taken off in two parts; the
# polynomial is Cephes' (Moshier), exact to two units of the last place.
_SMALLEST = np.float32(-87.0)  # of which exp is still a normal number
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
    """Rows to work on, one for each of `scratch_rows`, as wide as there are actions at most."""

    legal: Any  # int64, the ids of the legal actions
    logits: Any  # float32, theirs
    magnets: Any  # float32, likewise
    weights: Any  # float32, likewise
    bits: Any  # int32, powers of two, bit by bit
    numbers: Any  # float32, the same memory


def make_softmax_scratch(device: LearnerDevice, decisions: int, actions: int) -> SoftmaxScratch:
    """For batches of so many decisions."""
    shape = device.scratch_rows(decisions), 8 * -(-actions // 8)
    logits, magnets, weights = (device.interleaved(shape, np.float32) for _ in range(3))
    bits = device.interleaved(shape, np.int32)
    legal = device.interleaved(shape, np.int64)
    return SoftmaxScratch(legal, logits, magnets, weights, bits, device.as_float32(bits))


@inlined
def find_legal(mask: NDArray[np.uint8], legal: Any) -> Any:
    """Write the ids of the actions whose bits are set; returns how many they are."""
    number = 0
    for byte in range(mask.size):
        if mask[byte]:
            for bit in range(8):  # what is illegal will be written over
                legal[number] = 8 * byte + bit
                number += (mask[byte] >> (7 - bit)) & 1
    return number


@inlined
def pick(logits: Any, legal: Any, number: int, is_bfloat16: bool, out: Any) -> None:
    """The logits of the legal actions beside each other; for `is_bfloat16` see `bfloat16.read`."""
    for j in range(number):
        out[j] = read(logits, legal[j], is_bfloat16)


@inlined
def place_of(action: int, legal: Any, number: int) -> Any:
    """Where among so many legal actions, in ascending order, one of them stands."""
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
    """The highest of so many logits."""
    most = _LOWEST
    for j in range(number):
        most = logits[j] if logits[j] > most else most
    return most


@summed
def weigh(logits: Any, number: int, most: Any, bits: Any, numbers: Any, weights: Any) -> Any:
    """Write exp(logit - most) of so many logits.

    Returns their sum, and the sum of each times logit - most, in float64.
    """
    for j in range(number):
        x = max(logits[j] - most, _SMALLEST)
        k = np.int32(x * _PER_LOG2 - np.float32(0.5))  # towards 0, and x is at most 0
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
