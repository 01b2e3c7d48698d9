"""Check that no byte that the pages of `armarl play --web` send depends on what a seat cannot know.

    python scripts/checks/check_page_leaks.py --games 10
    python scripts/checks/check_page_leaks.py --games 3 --variant armada-3p-cards

Everything is asked over HTTP twice at some moment of every game, for every seat and an onlooker: in
the game as it is, and in one that differs only in secrets. The exit code is 1 if an answer differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / part)
    for part in ("tests", "tests/helpers", "examples")
)

from page_leaks import compare
from variants import VARIANTS

LONGEST = {"armadora": 60, "armada": 300, "kuhn_poker": 3}  # decisions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10, help="games of each variant (10)")
    parser.add_argument("--variant", nargs="+", help="names such as armada-3p-cards (all)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    known = {str(variant): variant for variant in VARIANTS}
    if unknown := set(options.variant or ()) - known.keys():
        parser.error(f"unknown {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    failed = 0
    for name in options.variant or known:
        rng, started, variant = np.random.default_rng(options.seed), time.monotonic(), known[name]
        compared = differed = 0
        try:
            for number in range(options.games):
                with tempfile.TemporaryDirectory() as folder:
                    decisions = int(rng.integers(1, LONGEST[variant.game] + 1))
                    found = compare(variant.make(), Path(folder), decisions, options.seed + number)
                compared, differed = compared + found[0], differed + found[1]
        except AssertionError as error:
            failed += 1
            print(f"{name}: LEAKS: game {options.seed + number}: {str(error)[:2000]}", flush=True)
            continue
        print(
            f"{name}: {compared} answers the same, {differed} positions of other games, "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )
    print(f"{failed} variants leak" if failed else "no leak")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
