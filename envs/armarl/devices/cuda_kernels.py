"""GPU kernels: the bodies of `batch_loops.py` and the verbs that they call, for `numba.cuda`.

A body is a function that does the work for one game, and verbs are the compiled functions of a
game. This file adds a kernel that loops over games, a kernel that turns columns into rows, and
changes to numba-cuda that let NVIDIA's compiler generate faster code (docs/environments/gpu.md).
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
    cuda = None  # `armarl.devices.cuda_game.fault` reports that numba-cuda is missing

SIMULATED = bool(numba.config.ENABLE_CUDASIM)
"""True if kernels run in Numba's simulator."""

# Number of threads per block, and maximum number of threads of a kernel. If there are more games
# than threads, a thread plays several games one after another. The maximum is the number of threads
# that the largest GPUs run at the same time. It also limits the scratch memory, which has a row
# per thread.
BLOCK, MOST_THREADS = (2, 4) if SIMULATED else (64, 2**18)
# Side of a tile in a copy from columns to rows, and number of the tile's rows that are copied at
# the same time.
TILE, TILE_ROWS = (4, 2) if SIMULATED else (32, 8)
SIDE, TILE_SHAPE = np.uint64(TILE), (TILE, TILE + 1)  # + 1 avoids memory bank conflicts
MOST_IN_CONSTANT_MEMORY = 2048  # maximum size of a table in constant memory, in bytes


def range_over_games(body: Body) -> Callable[[int, Any], None]:
    """Return the function of a GPU thread, which runs the body for the thread's share of games."""

    def play(games: int, batch: Any) -> None:
        thread = cuda.grid(1)
        i = thread
        while i < games:
            body(batch, i, thread)
            i += cuda.gridsize(1)

    return play


class CudaKernelCache(KernelCache):
    """The cache entries of a GPU kernel, with machine code for one kind of GPU.

    Numba's own cache needs a kernel's source file, but these kernels are created at run time.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with importlib.import_module("numba.cuda.utils").numba_target_override():
            return super().load_overload(sig, target_context)

    def _targets(self, target: Any) -> list[Any]:
        return [target]

    def _packed(self, data: Any) -> bytes:
        packed: bytes = importlib.import_module("numba.cuda.serialize").dumps(data._reduce_states())
        return packed

    def _unpacked(self, payload: bytes, target_context: Any) -> Any:
        rebuild = importlib.import_module("numba.cuda.dispatcher")._Kernel._rebuild
        return rebuild(**pickle.loads(payload))

    @property
    def _compiler(self) -> str:
        """The version of numba-cuda and of the changes made here."""
        return f"{importlib.import_module('numba_cuda').__version__}, {MOST_IN_CONSTANT_MEMORY}, 1"


def own_row(thread: int) -> int:
    """Return the scratch row of a GPU thread, like `batch_loops.own`, but without unused rows."""
    return thread


def turn_over(source: Any, target: Any, rows: int, columns: int) -> None:
    """Copy column-major data to row-major order, one tile per block of threads.

    Neighbouring threads read along a column and write along a row. All numbers are unsigned,
    because Numba would otherwise check for negative indices.
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
    """Make numba-cuda keep large constant arrays in global memory instead of constant memory.

    Constant memory serves one address at a time to all threads of a warp, from a cache of 2 KiB.
    It suits a table that neighbouring threads read at the same index, but not a table in which each
    thread reads a different row. The change affects all users of numba-cuda in this process, but
    not their results.
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
    """Make loops over `range` count in the form that NVIDIA's compiler recognises.

    Without this change, numba-cuda checks for the end before it increments the counter, and gives
    NVIDIA's compiler unoptimised IR. Each iteration then takes about ten more instructions, and
    checks whether indices are negative. With the change, the counter is incremented an extra time
    at the end. This is harmless, because the counter is not read again. The change affects all
    users of numba-cuda in this process, but only the speed of their code.
    """
    ranges = importlib.import_module("numba.cuda.cpython.rangeobj")
    lowering = importlib.import_module("numba.cuda.core.imputils")
    count_on = lowering.iternext_impl(lowering.RefType.BORROWED)(_count_on)
    for width in ("range_iter32", "range_iter64", "unsigned_range_iter64"):
        ranges.lower("iternext", getattr(types, f"{width}_type"))(count_on)


def _count_on(context: Any, builder: Any, signature: Any, arguments: Any, result: Any) -> None:
    """Generate one step of a loop over `range`."""
    kind = signature.args[0]
    counter = cuda.cgutils.create_struct_proxy(kind)(context, builder, arguments[0])
    left, number = builder.load(counter.count), builder.load(counter.iter)
    zero, one = (context.get_constant(kind.yield_type, constant) for constant in (0, 1))
    result.set_valid(builder.icmp_signed(">", left, zero))
    result.yield_(number)
    builder.store(builder.sub(left, one, flags=["nsw"]), counter.count)
    builder.store(builder.add(number, counter.step, flags=["nsw"]), counter.iter)


def device_function(function: Any, *, merge: bool = False) -> Any:
    """Compile a function that kernels call. NVIDIA's compiler may inline it into its callers."""
    return cuda.jit(function, device=True)


def device_binding(name: str, verbs: Verbs, fixed: bool) -> Binding:
    """Bind the functions that all games share to a game's verbs, for a GPU."""
    simplify_ranges()
    keep_tables_in_memory()
    kernels: tuple[Any, ...] = verbs
    on_device = Verbs(*(device_function(verb.py_func) for verb in kernels))
    return Binding(name, on_device, device_function, OWN, fixed=fixed)


def simulated_binding(name: str, verbs: Verbs, fixed: bool) -> Binding:
    """Bind the functions for the simulator: plain Python that calls the CPU versions of verbs."""
    return Binding(name, verbs, lambda function, merge=False: function, OWN, fixed=fixed)


OWN: dict[Callable[..., Any], Callable[..., Any]] = {
    batch_loops.own: own_row,
    batch_loops.pack: batch_loops.pack_singly,
}


@cache
def binding_of(name: str, verbs: Verbs, fixed: bool) -> Binding:
    """Return the binding to a game's verbs, for a GPU or for the simulator.

    `fixed` is whether the game has a record `fixed`; see `Binding.body`.
    """
    bound = simulated_binding if SIMULATED else device_binding
    return bound(name, verbs, fixed)


@cache
def kernel_of(name: str, verbs: Verbs, fixed: bool, body: Callable[..., None]) -> Any:
    """Return a body as a kernel for a game. The first call compiles the kernel."""
    play = range_over_games(binding_of(name, verbs, fixed).body(body))
    play.__qualname__ = f"{name}_{body.__name__}"  # the name of the cache entries on disk
    return cuda.jit(play) if SIMULATED else keep(cuda.jit(play), CudaKernelCache)


@cache
def turning_kernel() -> Any:
    """Return `turn_over` as a kernel. The first call for each number type compiles it."""
    return cuda.jit(turn_over) if SIMULATED else keep(cuda.jit(turn_over), CudaKernelCache)


@lru_cache(maxsize=1024)
def launcher(kernel: Any, blocks: Any, threads: Any, stream: int) -> Any:
    """Return a launcher for a kernel on a torch stream. Stream 0 is torch's default stream."""
    with warnings.catch_warnings():  # ignore Numba's warning about batches that do not fill the GPU
        warnings.simplefilter("ignore")
        return kernel[blocks, threads, cuda.external_stream(stream) if stream else 0]


@lru_cache(maxsize=4096)
def array_at(address: int, shape: Shape, steps: Shape | None, kind: Any, record: Any) -> Any:
    """Return a Numba array of a tensor's memory, which the caller must keep alive.

    The arrays are cached, because Numba takes longer to make one than to start a kernel.
    """
    dtype = np.dtype(str(kind).removeprefix("torch."))
    described = {
        **{"typestr": dtype.str, "shape": tuple(shape), "data": (address, False), "version": 2},
        "strides": steps and tuple(dtype.itemsize * step for step in steps),
    }
    array = cuda.from_cuda_array_interface(described, owner=None, sync=False)
    return array if record is None else array.view(record).reshape(tuple(shape[:-1]))


def threads_for(games: int) -> int:
    """Return the number of threads for a number of games, a multiple of BLOCK."""
    return min(-(-games // BLOCK) * BLOCK, MOST_THREADS)
