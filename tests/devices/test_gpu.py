"""Games on a GPU (`CudaGame`, `SelfPlayBatch` on "cuda"), as far as they can be tested without one.

In Numba's CUDA simulator, games match the CPU's bytes (`simulated_gpu.py`), and PPO learns
(`simulated_gpu_learner.py`). The kernels are compiled for GPUs. `scripts/checks/check_gpu.py` and
`scripts/benchmark.py --only gpu` are for a machine with a GPU.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest
import torch

import gpu_kernels
import tiny
from armarl import SelfPlayBatch, make_game
from armarl.compiler import kernel_cache
from armarl.compiler.cache_folders import Folders
from armarl.core import batch_loops
from armarl.devices import cuda_game, cuda_kernels
from armarl.games.catalogue import OURS
from armarl_training.config.training_config import ConfigError, TrainingConfig, load_config
from armarl_training.run.run import start_run
from paths import HELPERS, ROOT


@pytest.mark.parametrize("jit", ["compiled rules", "plain Python"])
def test_the_face_plays_in_the_simulator_as_the_cpu_does(jit: str) -> None:
    if jit == "plain Python":  # a thousand times slower, so only the games
        in_the_simulator("simulated_gpu.py", "-k", "plays_to_the_same_bytes", NUMBA_DISABLE_JIT="1")
    else:
        in_the_simulator("simulated_gpu.py")


def test_ppo_learns_in_the_simulator_as_on_the_cpu() -> None:
    in_the_simulator("simulated_gpu_learner.py")


def in_the_simulator(tests: str, *arguments: str, **settings: str) -> None:
    """Run a file of tests in its own process."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": path, **settings}
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", str(HELPERS / tests), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "said"),
    [("numba_cuda", "numba-cuda is not installed"), ("torch", "torch is not installed")],
)
def test_a_missing_package_is_named(
    module: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_game, "find_spec", lambda name: None if name == module else object())
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
        cuda_game.CudaGame(make_game("armadora"), "cuda:1")


def test_a_numpy_that_the_compiler_was_not_made_for_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = importlib.import_module

    def without_row_stack(name: str) -> object:
        if name == "numba.cuda.np.arrayobj":
            raise AttributeError("module 'numpy' has no attribute 'row_stack'")
        return usual(name)

    monkeypatch.setattr(importlib, "import_module", without_row_stack)
    with pytest.raises(RuntimeError, match=r"does not run with NumPy .*row_stack.*older NumPy"):
        SelfPlayBatch("armadora", 2, device="cuda")


def test_a_name_in_place_of_a_game_is_refused() -> None:
    with pytest.raises(TypeError, match=r"game must be a Game, such as .* not 'armadora'"):
        cuda_game.CudaGame("armadora")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "mps", "CPU"])
def test_a_device_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
        SelfPlayBatch("armadora", 2, device=name)


def test_a_learner_says_what_is_missing_before_it_begins(tmp_path: Path) -> None:
    config = TrainingConfig(**tiny.settings(device="cuda"))
    if cuda_game.fault() is None:
        pytest.skip("nothing is missing here")
    with pytest.raises(ConfigError, match=r"device='cuda': "):
        start_run(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "mps", "CPU", "cuda:1000", 0])
def test_a_learner_s_device_that_there_is_not_is_refused(device: object, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"total_decisions: 1000\ndevice: {device!r}\n")
    with pytest.raises(ConfigError, match="device: "):
        load_config(path)


@pytest.mark.parametrize("setting", ["learner=td", "learner=maskable_ppo", "shards=2"])
def test_what_learns_on_the_cpu_alone_is_refused_elsewhere(setting: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("total_decisions: 1000\ndevice: cuda:0\n")
    assert load_config(path).device == "cuda:0"
    with pytest.raises(ConfigError, match="device: cuda:0 needs learner: ppo and shards: 1"):
        load_config(path, [setting])


def test_the_check_says_that_there_is_no_gpu_where_there_is_none() -> None:
    script = ROOT / "scripts" / "checks" / "check_gpu.py"
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=hidden)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("nothing was checked: ")


# --- the kernels, compiled ------------------------------------------------------------------------


@pytest.mark.parametrize("game", [entry.name for entry in OURS])
def test_the_kernels_that_the_face_runs_are_found(game: str) -> None:
    found = {kernel.name for kernel in gpu_kernels.kernels_of(make_game(game))}
    wanted = {"deal", "start", "take_turn", "view_mover", "apply", "read_mask", "view", "conceal"}
    others = {
        "determinise",
        "read_status",
        "read_progress",
        "play_out",
        "seed_stream",
        "pick_action",
        "choose_greedily",
    }
    assert found == wanted | others
    assert cuda_game.SIMULATED is False


@pytest.mark.parametrize("capability", gpu_kernels.CAPABILITIES, ids=str)
@pytest.mark.parametrize("game", [entry.name for entry in OURS])
def test_a_step_compiles_for_a_gpu(game: str, capability: gpu_kernels.Capability) -> None:
    """PTX is made only for the oldest GPU, because it is the same for all; see the next test.

    One thread per game plays an action, and another writes the observation and the mask.
    """
    oldest = gpu_kernels.CAPABILITIES[0]
    # The state and the mask are written in bytes, and the observation in floats.
    written = {batch_loops.take_turn: ("u8",), batch_loops.view_mover: ("u8", "f32")}
    for kernel in (k for k in gpu_kernels.kernels_of(make_game(game)) if k.body in written):
        ptx = gpu_kernels.to_ptx(kernel, oldest)
        assert ptx.count(".visible .entry") == 1
        assert set(written[kernel.body]) <= set(re.findall(r"\bst\.(?:global\.)?(\w+)", ptx))
        report = gpu_kernels.compiled(kernel, capability, oldest)
        assert report.code > 100_000  # it contains the rules
        assert 0 < report.registers <= 255
        assert report.spilt == 0


def test_rules_have_the_same_instructions_on_every_gpu() -> None:
    """The test compares PTX. Only the machine code that is assembled from it differs by GPU."""
    found = gpu_kernels.kernels_of(make_game("armadora"))
    (kernel,) = (k for k in found if k.body is batch_loops.view_mover)
    listed = {
        tuple(re.findall(r"^\t+(?:@\S+ +)?([a-z][\w.]+)", gpu_kernels.to_ptx(kernel, one), re.M))
        for one in gpu_kernels.CAPABILITIES
    }
    assert len(listed) == 1
    assert len(*listed) > 1000


def test_the_copy_from_columns_to_rows_compiles_for_a_gpu() -> None:
    for kernel in gpu_kernels.turning_kernels():
        report = gpu_kernels.compiled(kernel, gpu_kernels.CAPABILITIES[-1])
        assert report.code > 1000
        assert report.local == report.spilt == 0


def test_the_kernels_of_the_learner_are_found_and_compile_for_a_gpu() -> None:
    found = {
        kernel.name: kernel for kernel in gpu_kernels.learner_kernels_of(make_game("armadora"))
    }
    rivals = {"choose_greedily", "conceal", "pick_drawn", "change_seats"}
    step = {"deal", "take_turn", "view_mover"}
    rollout = {"keep_secrets", "draw", "look", "value_positions", "mix_early_rewards"}
    assert set(found) == rivals | step | rollout | {"look_back", "ppo_gradient_bfloat16"}
    for name in ("change_seats", "draw", "look_back", "ppo_gradient_bfloat16"):
        for capability in gpu_kernels.CAPABILITIES:
            source = capability if name.startswith("ppo") else gpu_kernels.CAPABILITIES[0]
            report = gpu_kernels.compiled(found[name], capability, source)
            assert report.code > 10_000
            assert report.spilt == 0


def test_the_scripted_player_of_armada_compiles_for_a_gpu() -> None:
    """All styles are in the GPU's constant memory, which has 64 KiB."""
    found = gpu_kernels.kernels_of(make_game("armada"))
    (scripted,) = (kernel for kernel in found if kernel.name == "choose_greedily")
    report = gpu_kernels.compiled(scripted, gpu_kernels.CAPABILITIES[-1])
    assert report.code > 100_000
    assert report.spilt == 0


def test_a_kernel_is_kept_for_the_next_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a GPU, this tests that one process finds what another has compiled."""
    dispatcher, codegen = (
        import_module(f"numba.cuda.{name}") for name in ("dispatcher", "codegen")
    )
    device = SimpleNamespace(compute_capability=(9, 0), id=0)
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    monkeypatch.setattr(codegen.devices, "get_context", lambda: SimpleNamespace(device=device))
    monkeypatch.setattr(codegen.runtime.runtime, "get_version", lambda: (12, 6))
    monkeypatch.setattr(kernel_cache, "FOLDERS", Folders((tmp_path,), tmp_path))
    game = make_game("armadora")
    (read,) = (k for k in gpu_kernels.kernels_of(game) if k.name == "read_status")
    signature = (numba.types.int64, read.batch)

    def another() -> Any:
        """Make the kernel as another process would."""
        cuda_kernels.kernel_of.cache_clear()
        return cuda_kernels.kernel_of(game.name, game.verbs, False, read.body)

    kernel = another()
    assert kernel._cache.load_overload(signature, kernel.targetctx) is None
    made = dispatcher._Kernel(kernel.py_func, signature, **kernel.targetoptions)
    made.library._cubin_cache[9, 0, "a"] = b"machine code"
    kernel._cache.save_overload(signature, made)
    again = another()
    found = again._cache.load_overload(signature, again.targetctx)
    assert found.entry_name == made.entry_name
    assert found.library.get_cubin((9, 0, "a")) == b"machine code"
    assert found.library.get_asm_strs() == made.library.get_asm_strs()

    made.library._linking_files.add("of another language")  # Numba cannot pickle this
    kernel._cache.save_overload(signature, made)
    assert len(list(tmp_path.iterdir())) == 1

    device.compute_capability = (8, 0)  # the kernel was not compiled for this architecture
    assert again._cache.load_overload(signature, again.targetctx) is None
    device.compute_capability = (9, 0)
    (entry,) = tmp_path.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert again._cache.load_overload(signature, again.targetctx) is None
    cuda_kernels.kernel_of.cache_clear()


def test_a_contracted_product_is_seen() -> None:
    ptx = "mul.f64 %fd1;\n  fma.rn.f64 \t%fd3, %fd1;\n  @%p1 fma.rn.f32 %f1;\nmad.lo.s64 %rd1;"
    assert sum(1 for _ in gpu_kernels.contractions(ptx)) == 2
