"""Bit operations on 64-bit words: count ones, find the lowest one, load eight bytes.

Each takes one or a few processor instructions, also on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from armarl.compiler.decorators import PLAIN_PYTHON, inlined
from armarl.compiler.types import Int


@inlined
def count(bits: Int) -> Int:
    """Return the number of ones in a word (int64 or uint64), as an int64."""
    return _ones(bits)


@inlined
def lowest(bits: Int) -> Int:
    """Return the index of the lowest one in a word (int64). The word must not be 0."""
    return _zeros_below(bits)


@inlined
def eight_bytes(numbers: Any, first: Int) -> Int:
    """Return the eight one-byte numbers from `first` on as one word (uint64): a single load."""
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(np.uint8(numbers[first + i])) << np.uint64(8 * i)
    return word


# --- the LLVM instructions -----------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def _ones(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.ctpop(words[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _zeros_below(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.cttz(words[0], ir.Constant(ir.IntType(1), 1))  # 1: the word is not 0

    return types.int64(types.uint64), generate


def _ones_in_python(bits: Any) -> Any:
    return np.int64((int(bits) & (1 << 64) - 1).bit_count())


def _zeros_below_in_python(bits: Any) -> Any:
    return np.int64((int(bits) & -int(bits)).bit_length() - 1)


if PLAIN_PYTHON:
    _ones, _zeros_below = _ones_in_python, _zeros_below_in_python
