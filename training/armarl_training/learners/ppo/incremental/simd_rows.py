"""Sums of rows of a table, sixty-four numbers at a time, for the loops of passes by what changes.

Numba compiles loops over numbers, and LLVM does several of them at once, but keeps no row in
registers while others are added to it. So there are a few instructions for numbers side by side.
Rows and tables lie in one piece each, row by row.
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
    """So many of float32 side by side."""

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
    """Of so many numbers in a row, the first two arguments being the row and the first's place."""
    array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(array.data, [arguments[1]]), _lanes(width).as_pointer())


def _everywhere(builder: Any, number: Any, width: int) -> Any:
    """So many times the same number."""
    nothing, index = ir.Constant(_lanes(width), ir.Undefined), ir.IntType(32)
    first = builder.insert_element(nothing, number, ir.Constant(index, 0))
    places = ir.Constant(ir.VectorType(index, width), [0] * width)
    return builder.shuffle_vector(first, nothing, places)


def _instructions(width: int) -> tuple[Callable[..., Any], ...]:
    """To load so many numbers, to store them, and to add a multiple of some to others."""

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
    """Of `add_rows` and `add_to_rows`, so many units at a time from unit `k` on.

    They return the first unit that is left: what there is are fewer.
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


# Numbers side by side: as many as half of the registers hold, one register, and what is left.
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
        total: (units,) written.
        chosen: whole numbers; rows `chosen[first:last] - before` are added.
        factors: float32, beside them.
        apart: columns of the table that are passed over before those that are added.
    """
    k = _gather_many(0, total, table, chosen, factors, first, last, before, apart)
    k = _gather_some(k, total, table, chosen, factors, first, last, before, apart)
    _gather_one(k, total, table, chosen, factors, first, last, before, apart)


@inlined
def add_to_rows(row: Any, table: Any, chosen: Any, factors: Any, number: int) -> None:
    """Add multiples of a row of numbers to rows of a table, the first of the chosen.

    Args:
        table: written.
        factors: float32, beside `chosen`.
    """
    k = _scatter_many(0, row, table, chosen, factors, number)
    k = _scatter_some(k, row, table, chosen, factors, number)
    _scatter_one(k, row, table, chosen, factors, number)
