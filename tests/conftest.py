"""Settings and fixtures for all tests: order, threads, memory, readable assertion failures."""

import gc
import os
from pathlib import Path

import pytest

from armarl.core import threads

# The slowest files. They run first, so that no process still runs one of them at the end. Each of
# the first two compiles most kernels of one game, so two processes rarely compile the same kernel.
LONGEST = (
    "games/armada/test_random_games.py",
    "games/armadora/test_random_games.py",
    "devices/test_gpu.py",
    "devices/test_cuda.py",
    "training/test_runs.py",
    "web/test_browser.py",
    "environments/test_self_play.py",
    "networks/test_critics.py",
    "workers/test_ray.py",
    "cli/test_cli.py",
    "hostile/test_fuzz.py",
    "hostile/test_sister_games.py",
    "replays/test_browser.py",
    "cli/test_compile_games.py",
    "policies/test_policies.py",
    "scripts/test_docs.py",
    "environments/test_rendering.py",
    "compiler/test_plain_python.py",
    "search/test_search.py",
    "scripts/test_benchmark.py",
    "arena/test_arena.py",
    "compiler/test_cache_folders.py",
)

# As in `armarl train`, torch's threads sleep while they wait, so they take no time from others.
# OpenMP reads this variable when torch is imported, even in the processes that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
pytest.register_assert_rewrite("reference")
gc.disable()  # until `pytest_collection_finish`, because imports and collected tests stay


@pytest.fixture
def small_shares(monkeypatch):
    """Split even small batches among several threads."""
    for least in ("LEAST_GAMES", "LEAST_GAMES_OF_LIGHT_LOOPS", "LEAST_SHARE"):
        monkeypatch.setattr(threads, least, 1)


def pytest_collection_finish():
    """Let the garbage collector check only the objects that tests create, and not too often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(items):
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the two files that compile for GPUs in one process, which compiles the rules once."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).replace("test_cuda.py", "test_gpu.py")

    return ByFile(config, log)
