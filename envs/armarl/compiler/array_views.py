"""A window on an array: some of its entries, without what a slice looks after."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON


def _window_in_python(numbers: NDArray[Any], first: int, size: int) -> NDArray[Any]:
    """The same in plain Python."""
    return numbers[first : first + size]


def _address(context: Any, builder: Any, whole: Any, first: Any) -> Any:
    """Of an entry; entries need not lie side by side."""
    if whole._fe_type.layout == "C":  # LLVM then sees that they do
        return builder.gep(whole.data, [first])
    (stride,) = cgutils.unpack_tuple(builder, whole.strides, 1)
    return cgutils.pointer_add(builder, whole.data, builder.mul(first, stride))


@intrinsic  # type: ignore[untyped-decorator]
def window(typing_context: Any, numbers: Any, first: Any, size: Any) -> Any:
    """`numbers[first : first + size]` of a flat array, with `first` in [0, its size].

    A slice looks whether its bounds are negative or too large; that takes about as long as a short
    loop over it. Here the end alone is looked after, and for another reason: LLVM makes vector
    instructions of a loop over the window because it does not know its size. Of a loop of so many
    steps as a board has squares, if it knew the number, it would make one step after the other.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, first, size = arguments
        whole = context.make_array(signature.args[0])(context, builder, array)
        room = builder.sub(whole.nitems, first)
        size = builder.select(builder.icmp_signed("<", room, size), room, size)
        some = context.make_array(signature.args[0])(context, builder)
        some.meminfo, some.parent, some.itemsize = whole.meminfo, whole.parent, whole.itemsize
        some.data, some.strides = _address(context, builder, whole, first), whole.strides
        some.nitems, some.shape = size, cgutils.pack_array(builder, [size])
        return some._getvalue()

    return numbers(numbers, types.intp, types.intp), generate


if PLAIN_PYTHON:
    window = _window_in_python
