"""Compile every GPU kernel of games and PPO without a GPU, and report its resources.

    python scripts/experiments/gpu_kernels.py
    python scripts/experiments/gpu_kernels.py --game armada --capability 9.0

The script prints a Markdown table: registers per thread, bytes of local memory, bytes spilt to
local memory, bytes of machine code, the number of contractions, and seconds to compile. A
contraction multiplies and adds floats with one rounding (FMA), but the CPU rounds twice. So in the
kernels of games, a contracted product must be exact. (In PPO it need not be, because the results of
PPO on CPU and GPU may differ.) The script needs the extras `cuda` and `train`. numba-cuda makes PTX
and NVIDIA's assembler makes machine code, without a GPU or its driver.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np

from armarl import SelfPlayBatch, make_game
from armarl.compiler.work_sharing import Body
from armarl.core.game import Game
from armarl.devices import cuda_game, cuda_kernels
from armarl.games.catalogue import OURS
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run.run import Run

CAPABILITIES = ((8, 0), (9, 0))
Capability = tuple[int, int]


@dataclass(frozen=True)
class Kernel:
    """A loop body that the GPU API runs, and the type of its batch.

    The kernel `turn_over`, which reorders an array, belongs to no game and does not loop over
    games. For this kernel, `batch` contains the types of all arguments instead.
    """

    game: str
    body: Body
    batch: Any

    @property
    def name(self) -> str:
        return getattr(self.body, "__name__", "")

    @property
    def entry(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """The function to compile, and the types of its arguments."""
        if self.body is cuda_kernels.turn_over:
            return self.body, self.batch
        game = make_game(self.game)
        binding = cuda_kernels.binding_of(game.name, game.verbs, game.fixed is not None)
        inner = binding.body(self.body)
        return cuda_kernels.range_over_games(inner), (numba.types.int64, self.batch)


@dataclass(frozen=True)
class Report:
    """The resources of a kernel, as reported by NVIDIA's assembler. Sizes are in bytes.

    Attributes:
        registers: number of registers per thread.
        local: local memory per thread.
        spilt: bytes spilt to local memory.
        code: size of the machine code.
        seconds: time to compile.
        contracted: number of contractions.
    """

    registers: int
    local: int
    spilt: int
    code: int
    seconds: float
    contracted: int


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", action="append", choices=[entry.name for entry in OURS])
    parser.add_argument(
        "--capability", action="append", help="compute capability (default: 8.0 and 9.0)"
    )
    parser.add_argument(
        "--kernel", action="append", help="only the kernel of this name, such as step or play_out"
    )
    arguments = parser.parse_args()
    wanted = [tuple(map(int, text.split("."))) for text in arguments.capability or ()]
    print("| game | kernel | for | registers | local | spilt | code | contracted | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    games = map(make_game, arguments.game or [entry.name for entry in OURS])
    for kernel in chain(turning_kernels(), chain.from_iterable(map(all_kernels_of, games))):
        if not arguments.kernel or kernel.name in arguments.kernel:
            for capability in wanted or CAPABILITIES:
                report = compiled(kernel, capability)
                print(
                    f"| {kernel.game} | `{kernel.name}` | sm_{capability[0]}{capability[1]} "
                    f"| {report.registers} | {report.local} | {report.spilt} "
                    f"| {report.code:,} | {report.contracted} | {report.seconds:.1f} |",
                    flush=True,
                )
    return 0


def turning_kernels() -> list[Kernel]:
    """Return the kernels of `turn_over`, one for each dtype that it reorders."""
    sizes = (numba.types.int8, numba.types.int16, numba.types.float32)
    lines = [numba.types.Array(size, 1, "C") for size in sizes]
    length = numba.types.int64
    return [
        Kernel(f"all, {line.dtype}", cuda_kernels.turn_over, (line, line, length, length))
        for line in lines
    ]


def all_kernels_of(game: Game) -> list[Kernel]:
    """Return the kernels of the GPU API and of PPO, without repetitions."""
    found = (*kernels_of(game), *learner_kernels_of(game))
    return list({kernel.body: kernel for kernel in found}.values())


def kernels_of(game: Game) -> list[Kernel]:
    """Return every kernel of the GPU API.

    The kernels are found by calling all methods, without a GPU and without playing games.
    """
    found: dict[Body, Kernel] = {}

    class Recorder(cuda_game.CudaGame):
        def run(self, body: Body, games: int, batch: Any) -> None:
            types = numba.typeof(self._seen_by(body, self._staged(batch)[0]))
            found.setdefault(body, Kernel(game.name, body, types))

    simulated, cuda_game.SIMULATED = cuda_game.SIMULATED, True
    face, cuda_game.CudaGame = cuda_game.CudaGame, Recorder  # type: ignore[misc]
    try:
        _use_all(game, Recorder(game))
    finally:
        cuda_game.SIMULATED, cuda_game.CudaGame = simulated, face  # type: ignore[misc]
    return list(found.values())


def learner_kernels_of(game: Game) -> list[Kernel]:
    """Return every kernel of PPO on a GPU. Running all features on the CPU finds the kernels."""
    found: dict[Body, Kernel] = {}

    def run(there: cuda_game.CudaGame, body: Body, games: int, batch: Any) -> None:
        seen = numba.typeof(there._seen_by(body, there._staged(batch)[0]))
        found.setdefault(body, Kernel(game.name, body, seen))
        there.game.run(body, games, there._seen(batch))

    simulated, cuda_game.SIMULATED = cuda_game.SIMULATED, True
    face, cuda_game.CudaGame.run = cuda_game.CudaGame.run, run  # type: ignore[method-assign]
    try:
        _learn(game)
    finally:
        cuda_game.SIMULATED, cuda_game.CudaGame.run = simulated, face  # type: ignore[method-assign]
    return list(found.values())


def _learn(game: Game) -> None:
    """Train two runs that together use all features of PPO.

    One run trains against opponents, which later include an earlier version of the policy. The
    other trains in self-play with lookahead.
    """
    ppo = {"rollout_length": 2, "magnet": 0.1, "precision": "bfloat16"}
    rivals = {"share": 1.0, "earlier": 0.2, "players": {"random": 0.4, "greedy": 0.4}}
    early = {"reward": game.rewards[-1]}
    with tempfile.TemporaryDirectory() as folder:
        run = _run(game, folder, ppo=ppo, opponents=rivals, early_reward=early)
        run.learner.iterate(0.0)
        run.pool.take(run.learner.policy(average=False), run.decisions)
        run.learner.iterate(0.1)
        alone = _run(game, folder, ppo=ppo | {"looks": 1}, opponents={"share": 0.0})
        alone.learner.iterate(0.0)


def _run(game: Game, folder: str, **settings: Any) -> Run:
    of_all = {
        **{"game": game.name, "options": dict(game.options), "device": "cuda"},
        **{"total_decisions": 1 << 20, "environments": 16},
        "network": {"widths": [8], "advisers": ["greedy"]},
    }
    return Run(TrainingConfig.model_validate(of_all | settings), Path(folder))


def _use_all(game: Game, there: cuda_game.CudaGame) -> None:
    batch = SelfPlayBatch(game, 2, device="cuda")
    batch.reset(seed=0)
    batch.reset()
    batch.step(there.put(np.zeros(2, np.int64)))
    seeds = there.put(np.arange(2))
    states, chance = there.new_states(seeds), there.new_chance(seeds)
    there.play(states, there.random_actions(there.legal_masks(states), chance))
    there.views(states, seeds)
    there.statuses(states)
    there.progress(states, seeds)
    there.scripted_actions(states, seeds, there.put(np.zeros(2)))
    there.playouts(there.determinised(there.concealed(states, seeds), seeds, seeds), seeds)


@cache
def compiled(kernel: Kernel, capability: Capability, source: Capability | None = None) -> Report:
    """Compile a kernel for a GPU capability and report its resources.

    `source` is the capability for which the PTX is made. By default it is `capability`.
    """
    began = time.monotonic()
    ptx = to_ptx(kernel, source or capability)
    with tempfile.TemporaryDirectory() as folder:
        said, code = assembled(ptx, capability, Path(folder))
    seconds = time.monotonic() - began
    entry = said[said.index("Compiling entry function") :]
    return Report(
        registers=int(re.findall(r"Used (\d+) registers", entry)[0]),
        local=sum(map(int, re.findall(r"(\d+) bytes stack frame", said))),
        spilt=sum(map(int, re.findall(r"(\d+) bytes spill stores", said))),
        code=code,
        seconds=seconds,
        contracted=sum(1 for _ in contractions(ptx)),
    )


@cache
def to_ptx(kernel: Kernel, capability: Capability) -> str:
    """Compile a kernel to the PTX for a GPU of a capability."""
    # For every function that a kernel calls, numba-cuda reads the current device's capability.
    device = SimpleNamespace(compute_capability=capability)
    import_module("numba.cuda.dispatcher").get_current_device = lambda: device
    function, types = kernel.entry
    ptx: str = import_module("numba.cuda").compile(
        function, types, device=False, abi="numba", cc=capability
    )[0]
    return ptx


def contractions(ptx: str) -> Iterator[str]:
    """Return the instructions that multiply and add floats with one rounding."""
    return (line for line in ptx.splitlines() if re.match(r"\s*(@\S+\s+)?fma\.", line))


def assembled(ptx: str, capability: Capability, folder: Path) -> tuple[str, int]:
    """Assemble PTX. Return the assembler's output and the size of the machine code in bytes.

    Raises:
        RuntimeError: the assembler is missing, or rejects the PTX.
    """
    source, machine_code = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(ptx)
    assembler = import_module("cuda.pathfinder").find_nvidia_binary_utility("ptxas")
    if not assembler:
        raise RuntimeError("ptxas is missing: install the extra `cuda`")
    architecture = "-arch=sm_{}{}".format(*capability)
    command = [assembler, "-v", architecture, str(source), "-o", str(machine_code)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout + done.stderr, machine_code.stat().st_size


if __name__ == "__main__":
    sys.exit(main())
