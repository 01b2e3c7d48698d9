"""Counting of bits, for all types of integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from armarl.compiler.bits import count, lowest

WORDS = [1 << bit for bit in range(63)] + [random.Random(63).getrandbits(63) for _ in range(500)]


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_bits_are_counted(kind):
    assert count(kind(0)) == 0
    assert [count(kind(word)) for word in WORDS] == [word.bit_count() for word in WORDS]


def test_the_bits_of_a_full_word_are_counted():
    assert count(np.int64(-1)) == count(np.uint64(2**64 - 1)) == 64


def test_the_lowest_bit_is_found():
    for word in WORDS:
        assert lowest(word) == (word & -word).bit_length() - 1
    assert lowest(np.int64(-(2**63))) == 63
