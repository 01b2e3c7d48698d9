"""Array views in kernels, without the bounds checks of a slice."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from armarl.compiler.decorators import PLAIN_PYTHON


def _window_in_python(numbers: NDArray[Any], first: int, size: int) -> NDArray[Any]:
    """Return the view that `window` returns, in plain Python."""
    return numbers[first : first + size]


def _address(context: Any, builder: Any, whole: Any, first: Any) -> Any:
    """Return the address of entry `first` of an array, which need not be contiguous."""
    if whole._fe_type.layout == "C":  # LLVM then sees that the array is contiguous
        return builder.gep(whole.data, [first])
    (stride,) = cgutils.unpack_tuple(builder, whole.strides, 1)
    return cgutils.pointer_add(builder, whole.data, builder.mul(first, stride))


@intrinsic  # type: ignore[untyped-decorator]
def window(typing_context: Any, numbers: Any, first: Any, size: Any) -> Any:
    """Return the view `numbers[first : first + size]` of a flat array.

    `first` must be from 0 to the size of the array.

    A slice checks whether its bounds are negative or too large. These checks take about as long as
    a short loop over the slice. `window` checks only the end. Its check hides the size of the view
    from LLVM, so LLVM vectorises a loop over the view. If LLVM knew that the loop has as many steps
    as a board has squares, it would unroll the loop into scalar steps instead.
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
