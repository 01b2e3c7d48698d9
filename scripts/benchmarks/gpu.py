"""Measurements of games and of Pgx on a GPU. Without a GPU, they are listed as not measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import peers, start
from benchmarks.frame import Measurement
from benchmarks.ours import STEPPED, WITH, WITHOUT, Variant, title
from benchmarks.peers import CHUNK, LOOP, PGX_GAMES

BATCHES = (1024, 16_384, 131_072, 1_048_576)
LEARNERS = (1024, 8192, 65_536)  # games; 32 decisions in each of 65,536 games of Armada need 6 GB
PLAYOUTS, GRAPH = "playouts", f"in a CUDA graph of {CHUNK} steps"
LEARNER = "PPO, 64-64 network, 32 decisions a game and iteration, 4 epochs, all seats"
MEMORY = "memory of a game: states, masks, a turn"
_STEP = """
from armarl import SelfPlayBatch
batch = SelfPlayBatch("{game}", 1024, device="cuda", **{options})
batch.step(batch.reset(seed=0).masks.argmax(1)).seats.cpu()
"""
_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")
JAX_PLUGIN = next(filter(find_spec, _PLUGINS), _PLUGINS[0])


def groups() -> Iterator[list[Measurement]]:
    """Yield groups of games and of PPO by batch size, and a group of start-up times and memory."""
    for batch in BATCHES:
        yield [
            *(_row(variant, PLAYOUTS, "playouts", batch, "actions/s") for variant in STEPPED),
            *(
                _row(variant, f"{WITH}, {how}", "steps", batch, graph=graph)
                for variant in STEPPED
                for how, graph in (("a call per step", False), (GRAPH, True))
            ),
            *(_row(variant, f"{WITHOUT}, {GRAPH}", "blind_steps", batch) for variant in STEPPED),
            *(_pgx(game, batch) for game in PGX_GAMES),
        ]
    for games in LEARNERS:
        yield [_row(variant, LEARNER, "learner", games, "decisions/s") for variant in STEPPED]
    yield [
        *(
            _row(variant, how, "first_step", None, "s", cold=cold)
            for variant in STEPPED
            for how, cold in ((start.BATCH_FIRST_USE, True), (start.BATCH_LATER, False))
        ),
        *(_row(variant, MEMORY, "memory", None, "bytes") for variant in STEPPED),
    ]


def _row(
    variant: Variant, how: str, probe: str, batch: int | None, unit: str = "steps/s", **more: Any
) -> Measurement:
    from armarl.devices.cuda_game import fault

    options = {"variant": variant, **({"batch": batch} if batch else {}), **more}
    return Measurement(
        "gpu",
        title(variant),
        how,
        f"gpu.{probe}",
        options,
        batch,
        unit,
        lacking=fault() or "",
        most=None if batch else 1,
    )


def _pgx(game: str, batch: int) -> Measurement:
    from armarl.devices.cuda_game import fault

    options = {"game": game, "batch": batch}
    return Measurement(
        "gpu",
        f"Pgx {game}",
        LOOP,
        "gpu.pgx",
        options,
        batch,
        package=JAX_PLUGIN,
        lacking=fault() or "",
    )


def playouts(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that deals games, plays them at random to the end and counts the actions."""
    game = _game(variant)
    seeds = game.put(np.arange(batch))

    def chunk() -> int:
        seeds.add_(batch)
        # The conversion to int waits for the GPU.
        return int(game.playouts(game.new_states(seeds), seeds)[1].sum())

    chunk()
    return chunk


def steps(variant: Variant, batch: int, graph: bool) -> Callable[[], int]:
    """Return a chunk that calls `SelfPlayBatch.step`. A kernel picks random legal actions."""
    from armarl import SelfPlayBatch

    game = _game(variant)
    games = SelfPlayBatch(game.game, batch, device="cuda")
    turn = games.reset(seed=0)
    chance = game.new_chance(game.put(np.arange(batch)))
    actions = game.random_actions(turn.masks, chance)

    def step() -> None:
        game.random_actions(turn.masks, chance, out=actions)
        games.step(actions, out=turn)

    return _chunk(step, batch, graph)


def blind_steps(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that makes the same steps as `steps`, but computes no observations."""
    from armarl.core import batch_loops

    game = _game(variant)
    seeds = game.put(np.arange(batch))
    states, chance = game.new_states(seeds), game.new_chance(seeds)
    masks = game.legal_masks(states)
    actions = game.zeros((batch,), np.int64)
    over, ends = game.zeros((2, batch), np.int8)
    rewards = game.zeros((batch, game.game.players), np.float64)
    finals = states.clone()
    legal = game.interleaved((batch, batch_loops.packed_size(len(game.game.actions))), np.int32)
    legal[:] = -1
    plays = batch_loops.Plays(states, actions, 0, True, over, legal, ends, rewards, finals)

    def step() -> None:
        game.random_actions(masks, chance, out=actions)
        game.run(batch_loops.take_turn, batch, plays)
        game.run(batch_loops.read_mask, batch, batch_loops.Masks(states, masks))

    return _chunk(step, batch, graph=True)


def first_step(variant: Variant, cold: bool) -> Callable[[], float]:
    """Return a function that times a new process up to its first step. See `start.first_use`."""
    name, options = variant
    return start.first_use(_STEP.format(game=name, options=options), cold)


def learner(variant: Variant, batch: int) -> Callable[[], int]:
    """Return a chunk that runs an iteration of PPO on the GPU and counts the decisions."""
    from benchmarks import learners

    return learners.ppo(
        variant, ["device=cuda", f"environments={batch}", f"ppo.minibatch={4 * batch}"]
    )


def memory(variant: Variant) -> Callable[[], float]:
    """Return a function that returns the bytes of GPU memory per game for a batch and a `Turn`."""
    import torch

    from armarl import SelfPlayBatch

    game, batch = _game(variant), 65_536

    def per_game() -> float:
        before = torch.cuda.memory_allocated()
        games = SelfPlayBatch(game.game, batch, device="cuda")
        turn = games.new_turn()
        assert turn
        return (torch.cuda.memory_allocated() - before) / batch

    return per_game


def pgx(game: str, batch: int) -> Callable[[], int]:
    """Return a chunk that runs Pgx in its fastest form on the GPU and counts the steps."""
    os.environ["JAX_PLATFORMS"] = "cuda"
    return peers.pgx(game, batch, scan=True, devices=1)


def _game(variant: Variant) -> Any:
    from armarl import make_game
    from armarl.devices.cuda_game import CudaGame

    name, options = variant
    return CudaGame(make_game(name, **options))


def _chunk(step: Callable[[], None], batch: int, graph: bool) -> Callable[[], int]:
    """Return a chunk that calls `step` CHUNK times, or replays a CUDA graph of these calls."""
    import torch

    def many() -> None:
        for _ in range(CHUNK):
            step()

    run = many
    if graph:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):  # compile the kernels before the capture
            step()
        stream.synchronize()
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            many()
        run = captured.replay

    def chunk() -> int:
        run()
        _wait()
        return CHUNK * batch

    chunk()
    return chunk


def _wait() -> None:
    import torch

    from armarl.devices.cuda_game import SIMULATED

    if not SIMULATED:
        torch.cuda.synchronize()
