"""SIMD sums of table rows, 64 numbers at a time, for the loops of incremental passes.

LLVM vectorises the loops that Numba compiles, but it does not keep a row in registers while other
rows are added to it. So this module defines a few vector instructions. Rows and tables must be
C-contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from armarl.compiler.decorators import PLAIN_PYTHON, inlined

_ANY_ORDER = ("reassoc", "nsz", "contract")  # as in `armarl.compiler.decorators.summed`


class _Numbers(types.Type):
    """A vector of `width` float32 numbers."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Numbers({width})")


@register_model(_Numbers)
class _NumbersModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numbers: _Numbers) -> None:
        super().__init__(manager, numbers, ir.VectorType(ir.FloatType(), numbers.width))


def _lanes(width: int) -> Any:
    return ir.VectorType(ir.FloatType(), width)


def _place(context: Any, builder: Any, signature: Any, arguments: Any, width: int) -> Any:
    """Return a pointer to `width` numbers of an array.

    The first two arguments are the array and the index of the first number.
    """
    array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), _lanes(width).as_pointer())


def _everywhere(builder: Any, number: Any, width: int) -> Any:
    """Return a vector with the same number in every lane."""
    nothing, index = ir.Constant(_lanes(width), ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, number, ir.Constant(index, 0))
    places = ir.Constant(ir.VectorType(index, width), [0] * width)
    return builder.shuffle_vector(first, nothing, places)


def _instructions(width: int) -> tuple[Callable[..., Any], ...]:
    """Return the vector instructions load, store, and add (a multiple of a vector to another)."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context: Any, row: Any, k: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(_place(context, builder, signature, arguments, width), align=4)

        return _Numbers(width)(row, types.intp), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def store(typing_context: Any, row: Any, k: Any, stored: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = _place(context, builder, signature, arguments, width)
            builder.store(arguments[2], pointer, align=4)
            return context.get_dummy_value()

        return types.void(row, types.intp, _Numbers(width)), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def add(typing_context: Any, total: Any, factor: Any, added: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            total, factor, added = arguments
            product = builder.fmul(_everywhere(builder, factor, width), added, flags=_ANY_ORDER)
            return builder.fadd(total, product, flags=_ANY_ORDER)

        numbers = _Numbers(width)
        return numbers(numbers, types.float32, numbers), generate

    if not PLAIN_PYTHON:
        return load, store, add

    def store_plainly(row: Any, k: int, stored: Any) -> None:
        row[k : k + width] = stored

    return (
        lambda row, k: row[k : k + width].copy(),
        store_plainly,
        lambda total, factor, added: total + np.float32(factor) * added,
    )


def _loops(width: int) -> tuple[Callable[..., Any], ...]:
    """Return the loops of `add_rows` and `add_to_rows`, over `width` units at a time from `k` on.

    Each loop returns the first unit that is left over. Fewer than `width` units remain from there.
    """
    load, store, add = _instructions(width)

    @inlined
    def gather(
        k: int,
        total: Any,
        table: Any,
        chosen: Any,
        factors: Any,
        first: int,
        last: int,
        before: int,
        apart: int,
    ) -> Any:
        while k + width <= total.size:
            some = load(total, k)
            for j in range(first, last):
                some = add(some, factors[j], load(table[chosen[j] - before], apart + k))
            store(total, k, some)
            k += width
        return k

    @inlined
    def scatter(k: int, row: Any, table: Any, chosen: Any, factors: Any, number: int) -> Any:
        while k + width <= row.size:
            some = load(row, k)
            for j in range(number):
                total = table[chosen[j]]
                store(total, k, add(load(total, k), factors[j], some))
            k += width
        return k

    return gather, scatter


# Vector widths: half of all registers, and one register. The rest is added number by number.
MANY, SOME = 64, 8
_gather_many, _scatter_many = _loops(MANY)
_gather_some, _scatter_some = _loops(SOME)
_gather_one, _scatter_one = _loops(1)


@inlined
def add_rows(
    total: Any,
    table: Any,
    chosen: Any,
    factors: Any,
    first: int,
    last: int,
    before: int,
    apart: int,
) -> None:
    """Add multiples of rows of a table to a row of numbers.

    Args:
        total: the row of numbers, float32, shape (units,), updated.
        table: the table, float32.
        chosen: integers. Rows `chosen[first:last] - before` of the table are added.
        factors: the factor of each chosen row, float32, parallel to `chosen`.
        first: index in `chosen` of the first row.
        last: index in `chosen` after the last row.
        before: number that is subtracted from each index in `chosen`.
        apart: number of columns of the table to skip.
    """
    k = _gather_many(0, total, table, chosen, factors, first, last, before, apart)
    k = _gather_some(k, total, table, chosen, factors, first, last, before, apart)
    _gather_one(k, total, table, chosen, factors, first, last, before, apart)


@inlined
def add_to_rows(row: Any, table: Any, chosen: Any, factors: Any, number: int) -> None:
    """Add multiples of a row of numbers to rows of a table.

    Args:
        row: the row of numbers, float32, shape (units,).
        table: the table, float32, updated.
        chosen: integers. The first `number` of them are the rows to add to.
        factors: the factor for each chosen row, float32, parallel to `chosen`.
        number: number of rows to add to.
    """
    k = _scatter_many(0, row, table, chosen, factors, number)
    k = _scatter_some(k, row, table, chosen, factors, number)
    _scatter_one(k, row, table, chosen, factors, number)
