"""Bit operations on 64-bit words: count the 1 bits, find the lowest 1 bit, load eight bytes.

Each operation takes one or a few processor instructions, even on a GPU. `thirty_two_bits` works
only on a CPU.
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
    """Return the number of 1 bits in a word (int64 or uint64), as an int64."""
    return _ones(bits)


@inlined
def lowest(bits: Int) -> Int:
    """Return the index of the lowest 1 bit in a word (int64). The word must not be 0."""
    return _zeros_below(bits)


@inlined
def eight_bytes(numbers: Any, first: Int) -> Int:
    """Return the eight one-byte numbers from `first` on as one word (uint64), in a single load."""
    word = np.uint64(0)
    for i in range(8):
        word |= np.uint64(np.uint8(numbers[first + i])) << np.uint64(8 * i)
    return word


@inlined
def thirty_two_bits(numbers: Any, first: Int) -> Int:
    """Return the lowest bit of each of the 32 one-byte numbers from `first` on, as an int64.

    The number at index `first + i` gives bit `i`. The array must be contiguous.
    """
    return _lowest_bits(numbers, first)


# --- the LLVM instructions -----------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def _ones(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.ctpop(words[0])

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _zeros_below(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.cttz(words[0], ir.Constant(ir.IntType(1), 1))  # 1: the word is never 0

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _lowest_bits(typing_context: Any, numbers: Any, first: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        bytes_32 = ir.VectorType(ir.IntType(8), 32)
        at = builder.bitcast(builder.gep(array.data, [arguments[1]]), bytes_32.as_pointer())
        lowest_bits = builder.trunc(builder.load(at, align=1), ir.VectorType(ir.IntType(1), 32))
        word = builder.bitcast(lowest_bits, ir.IntType(32))  # one instruction on x86
        return builder.zext(word, ir.IntType(64))

    return types.int64(numbers, types.intp), generate


def _ones_in_python(bits: Any) -> Any:
    return np.int64((int(bits) & (1 << 64) - 1).bit_count())


def _zeros_below_in_python(bits: Any) -> Any:
    return np.int64((int(bits) & -int(bits)).bit_length() - 1)


def _lowest_bits_in_python(numbers: Any, first: Any) -> Any:
    return np.int64(sum((int(numbers[first + i]) & 1) << i for i in range(32)))


if PLAIN_PYTHON:
    _lowest_bits = _lowest_bits_in_python
    _ones, _zeros_below = _ones_in_python, _zeros_below_in_python
