"""Kill a training run many times: `python tests/hostile/kills.py --kills 20`.

Each SIGKILL comes at a random moment during a random update or the checkpoint after it. Then the
run is resumed. At its end, the run must be equal byte by byte to an undisturbed run: weights,
optimiser, games, random number generators, pool, policies and table. Times are not compared.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "helpers"))  # for `tiny`

import tiny
from armarl.policies.safetensors_file import FORMAT, read_tensors
from armarl_training.config.training_config import TrainingConfig
from armarl_training.run import checkpoint
from armarl_training.run.run import resume_run, start_run

MOST_LINES = 2  # maximum number of lines that a run prints before it is killed
TIMES = ("minutes", "decisions_per_second")  # columns of the table
# The checkpoint may be newer than the last printed line by this much training.
AFTER = ("nothing", "an update")


def settings(learner: str, game: str, updates: int) -> dict[str, Any]:
    """Return the settings of a tiny run with a checkpoint and an evaluation after every update."""
    # Maximum number of decisions; a critic plays whole games.
    rollout = 1200 if learner == "critic" else 256
    return tiny.settings(
        learner=learner,
        game=game,
        total_decisions=rollout * updates,
        checkpoint_every_minutes=1e-9,
        opponents={"snapshot_every": 3 * rollout},
        evaluation={"progress_games": 4, "opponents": ["random"]},
    )


# --- the process that is killed ------------------------------------------------------------------


def work(learner: str, game: str, updates: int, folder: Path) -> None:
    """Train to the end, and print the number of decisions at each report."""
    if (folder / "config.yaml").exists():
        run = resume_run(folder)
    else:
        run = start_run(TrainingConfig(**settings(learner, game, updates)), folder)
    run.train(lambda report: print(report.decisions, flush=True))


def kill_within(learner: str, game: str, updates: int, folder: Path, rng: random.Random) -> int:
    """Start or resume a run, kill it during an update, and return the decisions last printed.

    Raises:
        RuntimeError: the run ended in another way.
    """
    process = _process(learner, game, updates, folder)
    assert process.stdout is not None
    lines, last, longest = rng.randrange(MOST_LINES + 1), 0.0, 0.0
    said = process.stdout.readline()
    for _ in range(lines):
        last = time.monotonic()
        said = process.stdout.readline()
        longest = max(longest, time.monotonic() - last)
    time.sleep(rng.uniform(0, longest or 0.5))
    process.kill()
    _, error = process.communicate()
    if process.returncode != -signal.SIGKILL or not said:
        raise RuntimeError(f"the run ended by itself ({process.returncode}):\n{error}")
    return int(said)


def _process(learner: str, game: str, updates: int, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--work", learner, game, str(updates), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)


# --- the process that kills ----------------------------------------------------------------------


def contents(folder: Path) -> dict[str, Any]:
    """Return the contents of a run's folder, without times."""
    found: dict[str, Any] = {"config.yaml": (folder / "config.yaml").read_bytes()}
    found |= _saved(folder / checkpoint.FILE, checkpoint.FORMAT)
    policies = [folder / "policy.safetensors", folder / "best.safetensors"]
    for path in [*policies, *sorted((folder / "pool").iterdir())]:
        found |= _saved(path, FORMAT)
    with (folder / "progress.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found["progress.csv"] = [{k: v for k, v in row.items() if k not in TIMES} for row in rows]
    return found


def _saved(path: Path, format: str) -> dict[str, Any]:
    tensors, values = read_tensors(path, format)
    for part, timed in (("run", "seconds"), ("training", "minutes")):
        if part in values:
            del values[part][timed]
    for row in values.get("training", {}).get("curve", []):
        del row["minutes"]
    found: dict[str, Any] = {f"{path.name}/{name}": t.tobytes() for name, t in tensors.items()}
    return {**found, path.name: values}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of the entries that differ."""
    names = sorted({*one, *other})
    return [name for name in names if one.get(name, ...) != other.get(name, ...)]


def torture(learner: str, game: str, kills: int, seed: int, parent: Path) -> list[str]:
    """Kill a run `kills` times, let it end, and return its differences from an undisturbed run."""
    # Several short updates can pass before a kill, so plan more updates than kills.
    updates = 3 * (MOST_LINES + 1) * kills + 4
    rng, lost = random.Random(seed), Counter[str]()
    for number in range(kills):
        said = kill_within(learner, game, updates, parent / "killed", rng)
        path = parent / "killed" / checkpoint.FILE
        kept = 0
        if path.exists():
            kept = read_tensors(path, checkpoint.FORMAT)[1]["learner"]["decisions"]
        lost[AFTER[kept > said]] += 1
        print(f"kill {number + 1}: after {said} decisions; the checkpoint has {kept}", flush=True)
    for name in ("killed", "whole"):
        process = _process(learner, game, updates, parent / name)
        _, error = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the run failed:\n{error}")
    told = ", ".join(f"{times} with {what} more" for what, times in sorted(lost.items()))
    print(f"{learner}, {game}: {kills} kills in {updates} updates; checkpoints had: {told}")
    return differences(*(contents(parent / name) for name in ("killed", "whole")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learner", choices=["ppo", "td", "critic", "maskable_ppo"], default="ppo")
    parser.add_argument("--game", choices=["armadora", "armada"], default="armadora")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="seed of the random moments")
    parser.add_argument("--work", nargs=4, help="train in this process (internal)")
    chosen = parser.parse_args()
    if chosen.work:
        learner, game, updates, folder = chosen.work
        work(learner, game, int(updates), Path(folder))
        return 0
    with tempfile.TemporaryDirectory(prefix="armarl-kills-") as parent:
        found = torture(chosen.learner, chosen.game, chosen.kills, chosen.seed, Path(parent))
    print(f"different: {', '.join(found)}" if found else "the same bytes as an undisturbed run")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
