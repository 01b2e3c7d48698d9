"""How fast our AEC environments are, side by side with PettingZoo's connect_four_v3.

Both run the same loop (`last`, a random legal action, `step`) in turns within one process. Steps
are counted per second of CPU time, so that other programs on the machine hardly matter; given are
medians over the rounds, the ratio's being that of the rounds' ratios. Needs pygame-ce.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pettingzoo.classic.connect_four import connect_four  # the code of connect_four_v3

from armarl import armada_v0, armadora_v0

VARIANTS: list[tuple[Any, dict[str, Any]]] = [
    *((armadora_v0, {"players": players}) for players in (2, 3, 4)),
    *((armadora_v0, {"players": players, "advanced": True}) for players in (2, 3, 4)),
    *((armada_v0, {"players": players}) for players in (2, 3, 4)),
    (armada_v0, {"players": 2, "cards": True, "enrolment": True}),
]


def row_name(module: Any, options: dict[str, Any]) -> str:
    """For example `armadora_v0, 3 players, advanced`."""
    switches = [name for name in options if name != "players"]
    game = module.__name__.rpartition(".")[2]
    return ", ".join([game, f"{options['players']} players", *switches])


def steps_per_second(env: Any, steps: int, seed: int) -> float:
    """Random legal play of `steps` steps, games begun anew as they end."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    left = steps
    start = time.process_time()
    while left:
        observation, _reward, terminated, truncated, _info = env.last()
        if terminated or truncated:
            env.reset()
            continue
        legal = observation["action_mask"].nonzero()[0]
        env.step(legal[int(rng.random() * legal.size)])
        left -= 1
    return steps / (time.process_time() - start)


def compare(
    ours: dict[str, Callable[[], Any]], peer: Callable[[], Any], steps: int, rounds: int
) -> dict[str, tuple[float, float]]:
    """Per environment the median speed, and the median ratio of speeds to the peer's."""
    environments = {name: make() for name, make in ours.items()}
    for env in environments.values():
        steps_per_second(env, 100, seed=0)  # compiled before anything is timed
    speeds: dict[str, list[float]] = {name: [] for name in environments}
    peers = []
    for seed in range(rounds):
        peers.append(steps_per_second(peer(), steps // 5, seed))
        for name, env in environments.items():
            speeds[name].append(steps_per_second(env, steps, seed))
    result = {
        name: (
            statistics.median(own),
            statistics.median(a / b for a, b in zip(own, peers, strict=True)),
        )
        for name, own in speeds.items()
    }
    return {"connect_four_v3": (statistics.median(peers), 1.0), **result}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000, help="steps of each in one round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    results = {}
    for face, peer in (("env", connect_four.env), ("raw_env", connect_four.raw_env)):
        ours = {
            row_name(module, options): partial(getattr(module, face), **options)
            for module, options in VARIANTS
        }
        results[face] = compare(ours, peer, arguments.steps, arguments.rounds)
    if arguments.json:
        rows = [
            {"face": face, "environment": name, "steps_per_second": round(speed), "ratio": ratio}
            for face, table in results.items()
            for name, (speed, ratio) in table.items()
        ]
        print(json.dumps({"machine": platform.platform(), "results": rows}, indent=2))
        return
    for face, table in results.items():
        print(f"\n{face + '()':42}{'steps/s':>10}{'ratio':>8}")
        for name, (speed, ratio) in table.items():
            print(f"{name:42}{speed:>10,.0f}{ratio:>8.1f}")


if __name__ == "__main__":
    main()
