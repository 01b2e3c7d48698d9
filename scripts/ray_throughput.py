"""Throughput of the arena on Ray by the number of workers, and what a killed one costs.

    python scripts/ray_throughput.py --workers 1 2 --deals 400

Every number of workers is a cluster of its own on this machine, of so many nodes of one core beside
a head that plays nothing; at last a worker is killed, and later a node lost, in the middle of the
same tournament. Beside them stand as many processes without Ray. All must play the same games.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.cluster_utils import Cluster

from armarl.arena.tournament import Tournament, play_tournament
from armarl.game import make_game
from armarl.ray_cluster import RayCluster
from armarl.workers import Workers

Progress = Callable[[int, int], None]


def timed(
    players: list[str], deals: int, workers: Workers, progress: Progress | None = None
) -> tuple[float, Tournament]:
    """Games a second, without the workers' start: they have done some jobs before."""
    game = make_game("armadora")
    play_tournament(game, players, 64, seed=9, workers=workers)
    begun = time.perf_counter()
    found = play_tournament(game, players, deals, seed=1, workers=workers, progress=progress)
    return len(found.games) / (time.perf_counter() - begun), found


def on_nodes(number: int, players: list[str], deals: int, deadly: bool) -> tuple[float, Tournament]:
    """The same on a cluster of so many nodes; whether a worker and a node die."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(number)]
    ray.init(cluster.address, log_to_driver=False)
    crew = RayCluster()
    try:
        return timed(players, deals, crew, deaths(cluster, nodes[0], crew) if deadly else None)
    finally:
        ray.shutdown()
        cluster.shutdown()


def deaths(cluster: Cluster, node: Any, crew: RayCluster) -> Progress:
    """Kill the busiest worker after a quarter of the games, and a node after half of them."""

    def kill() -> None:
        busiest = max(crew.shares, key=lambda name: crew.shares[name].jobs)
        os.kill(int(busiest.split("/")[1]), signal.SIGKILL)

    def lose() -> None:
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=1)

    left = [(0.25, kill), (0.5, lose)]

    def progress(done: int, games: int) -> None:
        if left and done > left[0][0] * games:
            left.pop(0)[1]()

    return progress


def main() -> None:
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - as the processes beside them
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("players", nargs="*", default=["armadora-2p", "greedy"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--deals", type=int, default=400)
    options = parser.parse_args()
    players, deals = options.players, options.deals
    rows, played = [], []
    for number in options.workers:
        for name, (rate, found) in (
            (f"{number} without Ray", timed(players, deals, number)),
            (f"{number} on Ray, a node each", on_nodes(number, players, deals, deadly=False)),
        ):
            rows.append((name, rate))
            played.append(found)
    last = options.workers[-1]
    rate, found = on_nodes(last, players, deals, deadly=True)
    rows.append((f"{last} on Ray, a worker and a node killed", rate))
    if any(other != found for other in played):
        raise SystemExit("they did not play the same games")
    print(f"{' - '.join(players)}, {len(found.games)} games, all alike\n")
    print("| workers | games a second |\n| --- | --: |")
    for name, rate in rows:
        print(f"| {name} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
