"""How long a first use takes: compiling in a fresh installation, and starting up afterwards.

Runs new Python processes with an empty cache folder: in the first, `reset()` compiles; the later
ones are timed from before `import armarl` until after the first step.
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
begin = time.perf_counter()
from armarl import armadora_v0
env = armadora_v0.env()
before = time.perf_counter()
env.reset(seed=0)
after = time.perf_counter()
env.step(int(env.last()[0]["action_mask"].nonzero()[0][0]))
end = time.perf_counter()
print(json.dumps({"reset": after - before, "import to first step": end - begin}))
"""


def use(cache: str) -> tuple[dict[str, float], str]:
    """Times in seconds of one new process, and what it said on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "ARMARL_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="later processes to time")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        first, said = use(cache)
        later = [use(cache)[0]["import to first step"] for _ in range(arguments.repeats)]
    result = {
        "first reset": first["reset"],
        "import to first step, later": statistics.median(later),
    }
    if arguments.json:
        print(json.dumps({**result, "announced": said.strip()}, indent=2))
        return
    print(f"said: {said.strip()}")
    for name, seconds in result.items():
        print(f"{name}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
