"""How long a first use takes: compiling in a fresh installation, and starting up afterwards.

Runs new Python processes with an empty cache folder: in the first, `reset()` compiles; the later
ones are timed from before `import armarl` until after the first step. Given are seconds by the
clock, and seconds of CPU time, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

USE = """
import json, time
begin, begin_cpu = time.perf_counter(), time.process_time()
from armarl import {game}_v0
env = {game}_v0.env()
before, before_cpu = time.perf_counter(), time.process_time()
env.reset(seed=0)
after, after_cpu = time.perf_counter(), time.process_time()
env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
end, end_cpu = time.perf_counter(), time.process_time()
print(json.dumps({{
    "reset": [after - before, after_cpu - before_cpu],
    "import to first step": [end - begin, end_cpu - begin_cpu],
}}))
"""

Times = dict[str, list[float]]  # by the clock, and of CPU


def use(game: str, cache: str) -> tuple[Times, str]:
    """Times in seconds of one new process, and what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", USE.format(game=game)],
        env={**os.environ, "ARMARL_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=["armadora", "armada"], default="armadora")
    parser.add_argument("--repeats", type=int, default=3, help="later processes to time")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        first, said = use(arguments.game, cache)
        later = [
            use(arguments.game, cache)[0]["import to first step"] for _ in range(arguments.repeats)
        ]
    result = {
        "first reset": first["reset"],
        "import to first step, later": [
            statistics.median(times) for times in zip(*later, strict=True)
        ],
    }
    if arguments.json:
        times = {name: {"wall": wall, "cpu": cpu} for name, (wall, cpu) in result.items()}
        print(json.dumps({"game": arguments.game, **times, "announced": said.strip()}, indent=2))
        return
    print(f"said: {said.strip()}")
    for name, (wall, cpu) in result.items():
        print(f"{name}: {wall:.2f} s, {cpu:.2f} s of CPU")


if __name__ == "__main__":
    main()
