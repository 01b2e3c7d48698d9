"""After `armarl compile` nothing has to be compiled any more, for any game or player."""

import inspect
import os
import subprocess
import sys

import pytest

from armarl.cli.compile_games import compile_game
from armarl.compiler import kernel_cache
from armarl.core import batch_loops
from armarl.environments import seat_loops
from armarl_training.networks import softmax
from paths import ROOT
from variants import KUHN_POKER

BEGIN = """
import armarl, sys
from kuhn_poker import ENTRY

armarl.register_game(ENTRY)
"""
COMPILE = BEGIN + "from armarl.cli.__main__ import main; sys.exit(main(['compile', 'kuhn_poker']))"
PLAY = (
    BEGIN
    + """
import gymnasium
from armarl.matches.records import read_records
from armarl import play_match
from pathlib import Path


game = armarl.make_game("kuhn_poker", players=3)
play_match(game, ["greedy", "random", "grave:3"], 6, records=Path(sys.argv[1]))
assert len(list(read_records(sys.argv[1]))) == 6
for mode in ("NEXT_STEP", "SAME_STEP"):
    envs = gymnasium.make_vec("armarl/KuhnPoker-v0", 4, players=4, autoreset_mode=mode)
    _, info = envs.reset(seed=0)
    for _ in range(5):
        *_, info = envs.step(info["action_mask"].argmax(axis=1))
armarl.SelfPlayBatch("kuhn_poker", 4).reset()
"""
)


def python(code, cache, *arguments):
    paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training", "examples"))
    environment = {**os.environ, "ARMARL_CACHE_DIR": str(cache), "PYTHONPATH": paths}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_nothing_is_compiled_afterwards(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    told = python(COMPILE, cache).stdout
    assert "kuhn_poker: PettingZoo's environment ready after" in told
    ready = sorted(path.name for path in cache.rglob("*") if path.is_file())
    assert ready
    python(PLAY, cache, tmp_path / "records.jsonl")
    assert sorted(path.name for path in cache.rglob("*") if path.is_file()) == ready


def test_every_loop_is_among_them():
    game = KUHN_POKER[0].make()
    for _ in compile_game(game):
        pass
    bodies = {
        function
        for module in (batch_loops, seat_loops)
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if [*inspect.signature(function).parameters][-2:] == ["i", "thread"]
    }
    assert bodies - {function for function, _merge in game._binding._functions} == set()


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_a_kernel_is_the_same_in_every_process(tmp_path):
    """It does not depend on the order of sets, such as the fast-math flags of sums."""
    show = (
        "from armarl.compiler import kernel_cache; from armarl_training.networks import softmax; "
        "print(kernel_cache.fingerprint(softmax.highest))"
    )
    found = {f"{kernel_cache.fingerprint(softmax.highest)}\n".encode()}  # with a seed at random
    for seed in "12":
        paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training"))
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        command = [sys.executable, "-c", show]
        found.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1
