"""The GPU API in Numba's simulator; `test_gpu.py` runs this file in its own process."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import check_gpu
import patient_simulator
from armarl import SelfPlayBatch, make_game
from armarl.compiler.decorators import PLAIN_PYTHON
from armarl.devices import cuda_game, cuda_kernels
from armarl.devices.cuda_game import CudaGame
from paths import ROOT
from variants import BASIC, RICH, VARIANTS, Variant, every_game, every_rich_game

# Interpreted rules are a thousand times slower, so there are fewer games and fewer variants.
PLAYED, GAMES, PLIES = ([*BASIC, *RICH], 2, 60) if PLAIN_PYTHON else (VARIANTS, 10, 600)

PAGE = ROOT / "docs" / "environments" / "gpu.md"
FOUND = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
EXAMPLES = [text for text in FOUND if "torch.cuda" not in text]  # torch.cuda needs a real GPU


def test_this_is_the_simulator():
    assert cuda_game.SIMULATED
    assert cuda_game.fault() is None


@pytest.mark.parametrize("variant", PLAYED, ids=lambda variant: f"{variant.game}-{variant.options}")
def test_every_variant_plays_to_the_same_bytes_as_on_the_cpu(variant: Variant):
    assert check_gpu.check(variant.make(), PLIES, GAMES, seed=7) >= PLIES


@every_rich_game
def test_threads_that_run_at_once_do_not_disturb_each_other(variant: Variant):
    with patient_simulator.at_once():
        assert check_gpu.check(variant.make(), PLIES, GAMES, seed=8) >= PLIES


def test_a_difference_is_found():
    game = make_game("armadora")
    here, away = SelfPlayBatch(game, 4), SelfPlayBatch(game, 4, device="cuda")
    turn, its_turn = here.reset(seed=1), away.reset(seed=1)
    its_turn.seats[3] += 1
    with pytest.raises(check_gpu.DifferenceError, match="seats: 1 of 4 rows differ, first row 3"):
        check_gpu._compare_turns("here", CudaGame(game), turn, its_turn)


@pytest.mark.parametrize("shape", [(1, 1), (3, 9), (cuda_kernels.TILE, cuda_kernels.TILE), (11, 2)])
@pytest.mark.parametrize("dtype", [torch.int8, torch.float32, torch.int16])
def test_columns_become_rows(shape: tuple[int, int], dtype: torch.dtype):
    columns = torch.arange(shape[0] * shape[1], dtype=dtype).reshape(shape[1], shape[0])
    rows = torch.full(shape, -1, dtype=dtype)
    blocks = tuple(-(-length // cuda_kernels.TILE) for length in shape)
    flat = columns.reshape(-1).numpy(), rows.reshape(-1).numpy()
    cuda_kernels.turning_kernel()[blocks, (cuda_kernels.TILE, cuda_kernels.TILE_ROWS)](
        *flat, *shape
    )
    assert torch.equal(rows, columns.t())


@every_game
def test_more_games_than_threads_are_all_played(variant: Variant):
    game = variant.make()
    size = 2 * cuda_kernels.MOST_THREADS + 1
    assert cuda_kernels.threads_for(1) == cuda_kernels.BLOCK
    assert cuda_kernels.threads_for(size) == cuda_kernels.MOST_THREADS
    there = CudaGame(game)
    states = there.fetch(there.new_states(there.put(np.arange(size))))
    assert states.tobytes() == game.new_states(np.arange(size)).tobytes()
    assert there.fetch(there.new_states(there.put(np.arange(0)))).shape == (0,)


@every_game
def test_what_is_given_is_written_into_and_no_copy_is_made(variant: Variant):
    batch = SelfPlayBatch(variant.make(), 4, device="cuda")
    out = batch.new_turn()
    assert all(isinstance(column, torch.Tensor) for column in vars(out).values())
    assert batch.reset(seed=0, out=out) is out
    before = out.observations.clone()
    actions = out.masks.argmax(dim=1)
    assert batch.step(actions, out=out) is out
    assert not torch.equal(before, out.observations)
    assert batch.states.data_ptr() == CudaGame(batch.game)._seen(batch.states).ctypes.data


@every_game
def test_a_batch_moves_both_ways_with_all_that_it_has(variant: Variant):
    here = SelfPlayBatch(variant.make(), 4, autoreset_mode="disabled")
    turn = here.reset(seed=2)
    for _ in range(3):
        turn = here.step(np.full(4, -1) if turn.ends.any() else turn.masks.argmax(axis=1))
        if turn.ends.any():
            turn = here.reset()
    away = here.to("cuda")
    back = away.to("cpu")
    assert (here.device, away.device, back.device) == ("cpu", "cuda", "cpu")
    assert back.states.tobytes() == here.states.tobytes()
    assert back.autoreset_mode is here.autoreset_mode
    assert back.states is not here.states
    loaded = SelfPlayBatch(here.game, 4, device="cuda").load_states(away.states)
    assert np.array_equal(loaded.seats.numpy(), turn.seats)
    assert np.array_equal(loaded.masks.numpy(), turn.masks)


def test_what_is_no_such_tensor_is_refused_with_what_would_be_right():
    game = make_game("armadora")
    there, batch = CudaGame(game), SelfPlayBatch(game, 2, device="cuda")
    batch.reset(seed=0)
    with pytest.raises(TypeError, match="must be a torch tensor on cpu, not ndarray"):
        batch.step(np.zeros(2, np.int64))
    with pytest.raises(TypeError, match=r"must be integers, not torch\.float32"):
        batch.step(torch.zeros(2))
    with pytest.raises(ValueError, match=r"shape \(2,\), not \(3,\)"):
        batch.step(torch.zeros(3, dtype=torch.int64))
    wrong = batch.new_turn()
    wrong.seats.resize_(3)
    with pytest.raises(ValueError, match=r"out\.seats must be"):
        batch.step(torch.zeros(2, dtype=torch.int64), out=wrong)
    seeds = there.put(np.arange(2))
    with pytest.raises(TypeError, match=r"states must be .* of uint8, of shape \(2, "):
        there.legal_masks(seeds)
    with pytest.raises(TypeError, match=r"seats must be .* of int64, of shape \(2,\), .*int32"):
        there.views(batch.states, seeds.to(torch.int32))
    with pytest.raises(TypeError, match=r"of uint64, .* not ndarray"):
        there.random_actions(batch.new_turn().masks, np.zeros(2, np.uint64))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_the_examples_of_the_page_run(example: str):
    exec(compile(example, str(PAGE), "exec"), {})


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 2
