"""The command line of checks that compare games of every variant with games of other secrets."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.extend(
    str(Path(__file__).resolve().parents[2] / part)
    for part in ("tests", "tests/helpers", "examples")
)

from armarl.core.game import Game
from variants import VARIANTS


def check_variants(
    described: str, games: int, things: str, check: Callable[[Game, int, int], tuple[int, int]]
) -> int:
    """Check the variants that the command line asks for, and return the exit code: 1 for a leak.

    Args:
        described: the program's docstring.
        games: games of each variant, unless the command line says.
        things: what is compared, in the plural.
        check: takes a game, a number of games and a seed. Returns how many things it compared, and
            how often the other game differed from it. A leak is an AssertionError.
    """
    parser = argparse.ArgumentParser(description=described.splitlines()[0])
    parser.add_argument("--games", type=int, default=games, help=f"games of each variant ({games})")
    parser.add_argument("--variant", nargs="+", help="names such as armada-3p-cards (all)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    known = {str(variant): variant for variant in VARIANTS}
    if unknown := set(options.variant or ()) - known.keys():
        parser.error(f"unknown {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    failed = 0
    for name in options.variant or known:
        started = time.monotonic()
        try:
            compared, other = check(known[name].make(), options.games, options.seed)
        except AssertionError as error:
            failed += 1
            print(f"{name}: LEAKS: {str(error)[:2000]}", flush=True)
            continue
        seconds = time.monotonic() - started
        print(
            f"{name}: {compared} {things} the same, {other} of other games, {seconds:.0f} s",
            flush=True,
        )
    print(f"{failed} variants leak" if failed else "no leak")
    return min(failed, 1)
