"""Play random games with the compiled rules and with the slow reference, and compare all results.

The test suite makes the same checks on a few games. This script makes them on any number of games:

    python scripts/checks/verify_games.py --games 10000 --variant all --processes 2
    python scripts/checks/verify_games.py --game armada --games 100

The exit code is 0 if no game failed, otherwise 1. Each failure is printed with the data needed to
repeat the game.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from reference.armada import checks as armada_checks
from reference.armadora import checks as armadora_checks

CHECKS = {"armadora": armadora_checks, "armada": armada_checks}
VARIANTS = {
    game: {module.variant_name(variant): variant for variant in module.VARIANTS}
    for game, module in CHECKS.items()
}
CHUNK = {"armadora": 50, "armada": 10}  # games between two progress reports
Job = tuple[str, str, range, float]  # game, variant, seeds, fraction of states for slow checks


def main() -> int:
    arguments = parse()
    game, last = arguments.game, arguments.seed + arguments.games
    jobs = [
        (game, name, range(first, min(first + CHUNK[game], last)), arguments.sample)
        for name in arguments.variant
        for first in range(arguments.seed, last, CHUNK[game])
    ]
    occurred: Counter[str] = Counter()
    failures: list[str] = []
    started = time.monotonic()
    for number, (found, failure) in enumerate(results(jobs, arguments.processes), 1):
        occurred += found
        if failure:
            failures.append(failure)
            print(f"\nFAILED: {failure}", flush=True)
        report(number, len(jobs), occurred, len(failures), time.monotonic() - started)
    print("\n")
    for name in sorted(occurred):
        print(f"{occurred[name]:>12,}  {name}")
    print(f"{len(failures)} failures" if failures else "no failure")
    return 1 if failures else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="armadora", choices=CHECKS)
    parser.add_argument("--games", type=int, default=100, help="games per variant")
    parser.add_argument(
        "--variant",
        nargs="+",
        default=["all"],
        metavar="NAME",
        help="all, or one or more of: "
        + "; ".join(f"{game}: {', '.join(names)}" for game, names in VARIANTS.items()),
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the first game")
    parser.add_argument(
        "--sample", type=float, default=0.005, help="share of states for the slow checks, 0 to 1"
    )
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.games < 1 or arguments.processes < 1 or not 0 <= arguments.sample <= 1:
        parser.error("--games and --processes must be at least 1, and --sample from 0 to 1")
    names = list(VARIANTS[arguments.game])
    if "all" in arguments.variant:
        arguments.variant = names
    if unknown := set(arguments.variant).difference(names):
        parser.error(
            f"{arguments.game} has no variant {', '.join(sorted(unknown))}; "
            f"choose from {', '.join(names)}"
        )
    return arguments


def results(jobs: list[Job], processes: int) -> Iterator[tuple[Counter[str], str]]:
    """Yield the counts of each job and its error message, which is empty if no game failed."""
    if processes == 1:
        yield from map(run, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        for future in as_completed([pool.submit(run, job) for job in jobs]):
            yield future.result()


def run(job: Job) -> tuple[Counter[str], str]:
    """Check the games of a job up to the first failure. Return counts and an error message."""
    game, name, seeds, sample = job
    try:
        return CHECKS[game].check_random_games(VARIANTS[game][name], seeds, sample), ""
    except AssertionError as error:
        return Counter(), f"{game} {name}: {error}"


def report(done: int, jobs: int, occurred: Counter[str], failures: int, seconds: float) -> None:
    left = seconds / done * (jobs - done) / 60
    line = (
        f"\r{done / jobs:6.1%}  {occurred['games']:,} games, {occurred['states']:,} states, "
        f"{failures} failures, {seconds / 60:.1f} min, {left:.1f} min left "
    )
    print(line, end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
