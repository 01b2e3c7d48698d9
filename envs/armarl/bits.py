"""Sets as bits of a word: how many are set, and which is the first; and words of eight bytes.

LLVM knows these idioms, and makes one instruction of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armarl.compiled import inlined
from armarl.verbs import Int

_1, _2, _4, _56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_EIGHTS, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inlined
def count(bits: Int) -> Int:
    """The number of ones in a word (int64 or uint64), as an int64."""
    sums = np.uint64(bits)
    sums -= (sums >> _1) & _PAIRS
    sums = (sums & _FOURS) + ((sums >> _2) & _FOURS)
    sums = (sums + (sums >> _4)) & _EIGHTS
    return np.int64((sums * _ONES) >> _56)


@inlined
def lowest(bits: Int) -> Int:
    """The number of the lowest one in a word (int64) that is not 0."""
    return count(~bits & (bits - 1))


@inlined
def eight_bytes(numbers: Any, first: Int) -> Int:
    """Eight numbers of one byte, from `first` on, as a word (uint64), which LLVM loads at once."""
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(np.uint8(numbers[first + i])) << np.uint64(8 * i)
    return word
