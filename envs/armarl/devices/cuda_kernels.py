"""GPU kernels: the bodies of `batch_loops.py` and the rules that they call, by `numba.cuda`.

What is of this file alone is a kernel that ranges over games, one that turns columns into rows, and
what numba-cuda is told so that NVIDIA's compiler makes quick code of them
(docs/environments/gpu.md).
"""

from __future__ import annotations

import importlib
import pickle
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import types

from armarl.compiler.kernel_cache import KernelCache, keep
from armarl.core import batch_loops
from armarl.core.binding import Binding
from armarl.core.verbs import Verbs

if TYPE_CHECKING:
    from armarl.compiler.work_sharing import Body
    from armarl.devices.device import Shape

try:
    from numba import cuda
except ImportError:
    cuda = None  # `armarl.devices.cuda_game.fault` says so

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
"""Whether kernels run in Numba's simulator."""

# Of one kernel: threads of a block, and most threads, among whom the games are dealt in turn. That
# is as many as the largest cards keep under way at once, and bounds the scratch, a row for each.
BLOCK, MOST_THREADS = (2, 4) if SIMULATED else (64, 2**18)
# Of a copy from columns to rows: numbers of a tile's side, and rows of it that are copied at once.
TILE, TILE_ROWS = (4, 2) if SIMULATED else (32, 8)
SIDE, TILE_SHAPE = np.uint64(TILE), (TILE, TILE + 1)  # one more, for the banks of the memory
MOST_IN_CONSTANT_MEMORY = 2048  # bytes of a table


def range_over_games(body: Body) -> Callable[[int, Any], None]:
    """The function of a GPU thread: the body for every game whose turn it is."""

    def play(games: int, batch: Any) -> None:
        thread = cuda.grid(1)
        i = thread
        while i < games:
            body(batch, i, thread)
            i += cuda.gridsize(1)

    return play


class CudaKernelCache(KernelCache):
    """The entries of a kernel for GPUs, with the machine code for one of them.

    Numba's own cache asks for the file of a kernel's source, and ours are put together.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with importlib.import_module("numba.cuda.utils").numba_target_override():
            return super().load_overload(sig, target_context)

    def _packed(self, data: Any) -> bytes:
        packed: bytes = importlib.import_module("numba.cuda.serialize").dumps(data._reduce_states())
        return packed

    def _unpacked(self, payload: bytes, target_context: Any) -> Any:
        rebuild = importlib.import_module("numba.cuda.dispatcher")._Kernel._rebuild
        return rebuild(**pickle.loads(payload))

    @property
    def _compiler(self) -> str:
        """Of numba-cuda, and of what it is told here."""
        return f"{importlib.import_module('numba_cuda').__version__}, {MOST_IN_CONSTANT_MEMORY}, 1"


def own_row(thread: int) -> int:
    """In the place of `batch_loops.own`: threads side by side have rows side by side."""
    return thread


def turn_over(source: Any, target: Any, rows: int, columns: int) -> None:
    """Copy what lies column by column, so that it lies row by row, a tile by a block of threads.

    Threads side by side read along a column, and write along a row. (All numbers are unsigned:
    Numba would look whether an index is negative.)
    """
    tile = cuda.shared.array(TILE_SHAPE, source.dtype)
    n, m = np.uint64(rows), np.uint64(columns)
    x, y = np.uint64(cuda.threadIdx.x), np.uint64(cuda.threadIdx.y)
    row, column = np.uint64(cuda.blockIdx.x) * SIDE, np.uint64(cuda.blockIdx.y) * SIDE
    for k in range(TILE // TILE_ROWS):
        at = y + np.uint64(k) * np.uint64(TILE_ROWS)
        if row + x < n and column + at < m:
            tile[at, x] = source[(column + at) * n + row + x]
    cuda.syncthreads()
    for k in range(TILE // TILE_ROWS):
        at = y + np.uint64(k) * np.uint64(TILE_ROWS)
        if row + at < n and column + x < m:
            target[(row + at) * m + column + x] = tile[x, at]


@cache
def keep_tables_in_memory() -> None:
    """Have large constant arrays read from memory, and only small ones from constant memory.

    That serves one address at a time to all threads of a warp, from a cache of 2 KiB: it is for
    tables that neighbours read at the same place, not for a row each. What is compiled does the
    same for all who use numba-cuda in this process.
    """
    nvvm: Any = importlib.import_module("numba.cuda.cudadrv.nvvm")
    context = importlib.import_module("numba.cuda.target").CUDATargetContext
    in_constant_memory, usual = context.make_constant_array, nvvm.ADDRSPACE_CONSTANT

    def make_constant_array(self: Any, builder: Any, kind: Any, array: Any) -> Any:
        try:
            if array.nbytes > MOST_IN_CONSTANT_MEMORY:
                nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_GLOBAL
            return in_constant_memory(self, builder, kind, array)
        finally:
            nvvm.ADDRSPACE_CONSTANT = usual

    context.make_constant_array = make_constant_array


@cache
def simplify_ranges() -> None:
    """Have loops over `range` counted in the way that NVIDIA's compiler knows as counting.

    numba-cuda asks before it counts on whether the end was reached, and hands over IR that is not
    optimised yet; each step of the loop then takes some ten instructions more, and indices are
    looked at for being negative. Counting on once more at the end does no harm: nobody looks again.
    What is compiled is the same for all who use numba-cuda in this process, but for its speed.
    """
    ranges = importlib.import_module("numba.cuda.cpython.rangeobj")
    lowering = importlib.import_module("numba.cuda.core.imputils")
    count_on = lowering.iternext_impl(lowering.RefType.BORROWED)(_count_on)
    for width in ("range_iter32", "range_iter64", "unsigned_range_iter64"):
        ranges.lower("iternext", getattr(types, f"{width}_type"))(count_on)


def _count_on(context: Any, builder: Any, signature: Any, arguments: Any, result: Any) -> None:
    """A step of a loop over `range`."""
    kind = signature.args[0]
    counter = cuda.cgutils.create_struct_proxy(kind)(context, builder, arguments[0])
    left, number = builder.load(counter.count), builder.load(counter.iter)
    zero, one = (context.get_constant(kind.yield_type, constant) for constant in (0, 1))
    result.set_valid(builder.icmp_signed(">", left, zero))
    result.yield_(number)
    builder.store(builder.sub(left, one, flags=["nsw"]), counter.count)
    builder.store(builder.add(number, counter.step, flags=["nsw"]), counter.iter)


def device_function(function: Any, *, merge: bool = False) -> Any:
    """What a kernel calls; it is for NVIDIA's compiler to merge it into its callers."""
    return cuda.jit(function, device=True)


def device_binding(name: str, verbs: Verbs) -> Binding:
    """The functions that are written once for every game, compiled for a GPU with these verbs."""
    simplify_ranges()
    keep_tables_in_memory()
    kernels: tuple[Any, ...] = verbs
    on_device = Verbs(*(device_function(verb.py_func) for verb in kernels))
    return Binding(name, on_device, device_function, OWN)


def simulated_binding(name: str, verbs: Verbs) -> Binding:
    """The same for the simulator: plain Python, which calls the CPU's verbs."""
    return Binding(name, verbs, lambda function, merge=False: function, OWN)


OWN = {batch_loops.own: own_row}


@cache
def _binding(name: str, verbs: Verbs) -> Binding:
    return simulated_binding(name, verbs) if SIMULATED else device_binding(name, verbs)


@cache
def kernel_of(name: str, verbs: Verbs, body: Callable[..., None]) -> Any:
    """A body as a kernel with the verbs of the game of this name; its first call compiles it."""
    play = range_over_games(_binding(name, verbs).function(body))
    play.__qualname__ = f"{name}_{body.__name__}"  # by which its entries on disk are called
    return cuda.jit(play) if SIMULATED else keep(cuda.jit(play), CudaKernelCache)


@cache
def turning_kernel() -> Any:
    """`turn_over` as a kernel; compiled by its first call for each type of number."""
    return cuda.jit(turn_over) if SIMULATED else keep(cuda.jit(turn_over), CudaKernelCache)


@lru_cache(maxsize=1024)
def launcher(kernel: Any, blocks: Any, threads: Any, stream: int) -> Any:
    """What starts a kernel on one of torch's streams; its 0, the default stream, has no name."""
    with warnings.catch_warnings():  # Numba warns of every batch that does not fill the card
        warnings.simplefilter("ignore")
        return kernel[blocks, threads, cuda.external_stream(stream) if stream else 0]


@lru_cache(maxsize=4096)
def array_at(address: int, shape: Shape, steps: Shape | None, kind: Any, record: Any) -> Any:
    """Numba's array where a tensor is; it does not keep the memory, which the caller holds.

    To make one takes Numba longer than to start a kernel with it.
    """
    dtype = np.dtype(str(kind).removeprefix("torch."))
    described = {
        **{"typestr": dtype.str, "shape": tuple(shape), "data": (address, False), "version": 2},
        "strides": steps and tuple(dtype.itemsize * step for step in steps),
    }
    array = cuda.from_cuda_array_interface(described, owner=None, sync=False)
    return array if record is None else array.view(record).reshape(tuple(shape[:-1]))


def threads_for(games: int) -> int:
    """The threads that play so many games, whole blocks of them."""
    return min(-(-games // BLOCK) * BLOCK, MOST_THREADS)
