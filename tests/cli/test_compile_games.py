"""After `armarl compile`, no game and no player needs any compilation."""

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

# Print the kernels that a process requests from the cache. Compile the missing ones.
BEGIN = """
import armarl, atexit, sys
from armarl.compiler.kernel_cache import KernelCache
from kuhn_poker import ENTRY

asked, load = set(), KernelCache.load_overload

def noted(self, signature, context):
    asked.update(self._entries(signature, context.codegen().magic_tuple())[:1])
    return load(self, signature, context)

KernelCache.load_overload = noted
atexit.register(lambda: print("asked for:", *asked))
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


def python(code, *arguments):
    """Run a program with the cache of this process.

    Return the program's output, and the kernels that it requested.
    """
    paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training", "examples"))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    told, asked = done.stdout.split("asked for:")
    return told, set(asked.split())


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_nothing_is_compiled_afterwards(tmp_path):
    """`armarl compile` requests all kernels that games request from the cache."""
    told, ready = python(COMPILE)
    assert "kuhn_poker: PettingZoo's environment ready after" in told
    _told, wanted = python(PLAY, tmp_path / "records.jsonl")
    assert wanted
    assert wanted - ready == set()


def test_every_loop_is_compiled():
    game = KUHN_POKER[0].make()
    for _ in compile_game(game):
        pass
    bodies = {
        function
        for module in (batch_loops, seat_loops)
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if [*inspect.signature(function).parameters][-2:] == ["i", "thread"]
    }
    compiled = {**game._binding._functions, **game._binding._common._functions}
    assert bodies - {function for function, _merge in compiled} == set()


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_a_kernel_is_the_same_in_every_process(tmp_path):
    """The fingerprint does not depend on the order of sets, such as that of fast-math flags."""
    show = (
        "from armarl.compiler import kernel_cache; from armarl_training.networks import softmax; "
        "print(kernel_cache.fingerprint(softmax.highest))"
    )
    # Each process has its own random seed.
    found = {f"{kernel_cache.fingerprint(softmax.highest)}\n".encode()}
    for seed in "12":
        paths = os.pathsep.join(str(ROOT / name) for name in ("envs", "training"))
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        command = [sys.executable, "-c", show]
        found.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1
