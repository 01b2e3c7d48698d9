"""Games on a GPU, as far as that can be shown without one: `CudaGame`, `SelfPlayBatch` on "cuda".

The face plays in Numba's simulator of CUDA to the bytes of the CPU (`simulated_gpu.py`), and its
kernels are compiled for GPUs. `scripts/check_gpu.py` and `scripts/benchmark.py --only gpu` are for
a machine that has one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import gpu_kernels
from armarl import SelfPlayBatch, cuda, loops, make_game
from armarl.catalogue import OURS

TESTS = Path(__file__).parent


@pytest.mark.parametrize("jit", ["compiled rules", "plain Python"])
def test_the_face_plays_in_the_simulator_as_the_cpu_does(jit: str) -> None:
    path = os.pathsep.join(filter(None, sys.path))
    settings = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", str(TESTS / "simulated_gpu.py")]
    if jit == "plain Python":  # a thousand times as slow: the games alone
        settings["NUMBA_DISABLE_JIT"] = "1"
        command += ["-k", "plays_to_the_same_bytes"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "said"),
    [("numba_cuda", "numba-cuda is not installed"), ("torch", "torch is not installed")],
)
def test_a_missing_package_is_named(
    module: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "find_spec", lambda name: None if name == module else object())
    with pytest.raises(RuntimeError, match=f"device='cuda': {said}: install torch built for CUDA"):
        SelfPlayBatch("armadora", 2, device="cuda")


def test_a_torch_without_cuda_and_a_machine_without_a_gpu_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(RuntimeError, match=r"torch .* is not built for CUDA: install"):
        SelfPlayBatch("armadora", 2, device="cuda")
    monkeypatch.setattr(torch.version, "cuda", "12.6")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="torch finds no GPU"):
        cuda.CudaGame(make_game("armadora"), "cuda:1")


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "mps", "CPU"])
def test_a_device_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
        SelfPlayBatch("armadora", 2, device=name)


def test_the_check_says_that_there_is_no_gpu_where_there_is_none() -> None:
    script = TESTS.parent / "scripts" / "check_gpu.py"
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=hidden)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("nothing was checked: ")


# --- the kernels, compiled ------------------------------------------------------------------------


@pytest.mark.parametrize("game", [entry.name for entry in OURS])
def test_the_kernels_that_the_face_runs_are_found(game: str) -> None:
    found = {kernel.name for kernel in gpu_kernels.kernels_of(make_game(game))}
    wanted = {"deal", "start", "step", "apply", "read_mask", "view", "conceal", "determinise"}
    assert found == wanted | {"read_status", "play_out", "seed_stream", "pick_action"}
    assert cuda.SIMULATED is False


@pytest.mark.parametrize("capability", gpu_kernels.CAPABILITIES, ids=str)
@pytest.mark.parametrize("game", [entry.name for entry in OURS])
def test_a_step_compiles_for_a_gpu(game: str, capability: gpu_kernels.Capability) -> None:
    (step,) = (k for k in gpu_kernels.kernels_of(make_game(game)) if k.body is loops.step)
    report = gpu_kernels.compiled(step, capability)
    assert report.code > 100_000  # the rules are in it
    assert 0 < report.registers <= 255


def test_a_contracted_product_is_seen() -> None:
    ptx = "mul.f64 %fd1;\n  fma.rn.f64 \t%fd3, %fd1;\n  @%p1 fma.rn.f32 %f1;\nmad.lo.s64 %rd1;"
    assert sum(1 for _ in gpu_kernels.contractions(ptx)) == 2
