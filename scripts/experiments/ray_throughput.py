"""Measure the throughput of arena and training on Ray, and the cost of killed workers.

    python scripts/experiments/ray_throughput.py --workers 1 2 --deals 400
    python scripts/experiments/ray_throughput.py --workers 1 2 --train armadora-2p shards=4

For each number of workers, this machine runs a cluster with that many one-core nodes and a head
node without work. In the last run, a worker is killed and later a node is removed during the same
tournament or training. For comparison, a tournament also runs in the same number of processes
without Ray, and training also runs in one process. All runs must play the same games, or learn the
same weights.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from armarl.arena.play_tournament import play_tournament
from armarl.arena.tournament import Tournament
from armarl.games.make_game import make_game
from armarl.workers.jobs import Workers
from armarl.workers.ray_cluster import RayCluster
from armarl_training.config.training_config import TrainingConfig, load_config
from armarl_training.run.run import start_run

Progress = Callable[[int, int], None]


def timed(
    players: list[str], deals: int, workers: Workers, progress: Progress | None = None
) -> tuple[float, Tournament]:
    """Play some games as a warm-up, then a tournament. Return its games per second and results."""
    game = make_game("armadora")
    play_tournament(game, players, 64, seed=9, workers=workers)
    begun = time.perf_counter()
    found = play_tournament(game, players, deals, seed=1, workers=workers, progress=progress)
    return len(found.games) / (time.perf_counter() - begun), found


def trained(
    config: TrainingConfig, updates: int, progress: Progress | None = None
) -> tuple[float, bytes]:
    """Train. Return the decisions per second after the first update, and the digest of the weights.

    The digest is SHA-256 of all weights, 32 bytes.
    """
    with tempfile.TemporaryDirectory() as folder, start_run(config, Path(folder) / "run") as run:
        run.learner.iterate(0.0)
        begun, before = time.perf_counter(), run.decisions
        for k in range(updates):
            run.learner.iterate(0.0)
            if progress:
                progress(k + 1, updates)
        rate = (run.decisions - before) / (time.perf_counter() - begun)
        weights = run.learner.policy(average=False).tensors
        return rate, sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).digest()


@contextmanager
def nodes_of(number: int) -> Iterator[tuple[Cluster, Any]]:
    """Start a cluster with a number of nodes. Yield the cluster and its first node."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(number)]
    ray.init(cluster.address, log_to_driver=False)
    try:
        yield cluster, nodes[0]
    finally:
        ray.shutdown()
        cluster.shutdown()


def kill_at_work() -> None:
    """Wait until a worker runs a job, and kill the worker. This needs /proc (Linux)."""
    while True:
        for told in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # the process has ended
                if told.read_bytes().startswith(b"ray::_do"):
                    os.kill(int(told.parent.name), signal.SIGKILL)
                    return


def deaths(cluster: Cluster, node: Any) -> Progress:
    """Return a callback that kills a worker after a quarter of the work and a node after half.

    A new node replaces the killed node.
    """

    def kill() -> None:
        threading.Thread(target=kill_at_work).start()

    def lose() -> None:
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=1)

    left = [(0.25, kill), (0.5, lose)]

    def progress(done: int, games: int) -> None:
        if left and done > left[0][0] * games:
            left.pop(0)[1]()

    return progress


def main() -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - as in processes without Ray
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("players", nargs="*", default=["armadora-2p", "greedy"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--train", nargs="+", metavar=("CONFIG", "key=value"))
    parser.add_argument("--updates", type=int, default=8, help="number of training updates")
    options = parser.parse_args()
    (arena if options.train is None else training)(options)


def arena(options: argparse.Namespace) -> None:
    """Run the tournaments and print a table."""
    players, deals = options.players, options.deals
    rows = []
    for number in options.workers:
        rows.append((f"{number} without Ray", timed(players, deals, number)))
        with nodes_of(number):
            rows.append((f"{number} on Ray, a node each", timed(players, deals, RayCluster())))
    last = options.workers[-1]
    with nodes_of(last) as (cluster, node):
        found = timed(players, deals, RayCluster(), deaths(cluster, node))
    rows.append((f"{last} on Ray, a worker and a node killed", found))
    played = [tournament for _, (_, tournament) in rows]
    if any(other != played[0] for other in played):
        raise SystemExit("the runs played different games, but all must play the same games")
    print(f"{' - '.join(players)}, {len(played[0].games)} games, equal in all runs\n")
    show("games", rows)


def training(options: argparse.Namespace) -> None:
    """Run the training and print a table."""
    name, *settings = options.train
    config = load_config(name, settings)
    clustered = config.changed(["ray=auto"])
    rows = [("this process alone", trained(config, options.updates))]
    for number in options.workers:
        with nodes_of(number):
            found = trained(clustered, options.updates)
        rows.append((f"{number} on Ray, a node each", found))
    last = options.workers[-1]
    with nodes_of(last) as (cluster, node):
        found = trained(clustered, options.updates, deaths(cluster, node))
    rows.append((f"{last} on Ray, a worker and a node killed", found))
    if len({weights for _, (_, weights) in rows}) > 1:
        raise SystemExit("the runs learned different weights, but all must learn the same weights")
    print(f"{name}, {config.shards} shards, {options.updates} updates, equal weights in all runs\n")
    show("decisions", rows)


def show(unit: str, rows: list[tuple[str, tuple[float, Any]]]) -> None:
    """Print a table of rates."""
    print(f"| workers | {unit} a second |\n| --- | --: |")
    for name, (rate, _) in rows:
        print(f"| {name} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
