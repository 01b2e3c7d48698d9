"""The command line of the leak checks.

These checks compare games of every variant with games that differ only in hidden information.
"""

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
    """Check the variants that the command line names. Return the exit code, which is 1 for a leak.

    Args:
        described: the program's docstring.
        games: default number of games per variant.
        things: a plural noun for the compared objects, such as "replays".
        check: function that takes a game, a number of games and a seed. It returns the number of
            compared objects, and how often the hidden information differed. It raises an
            AssertionError if there is a leak.
    """
    parser = argparse.ArgumentParser(description=described.splitlines()[0])
    parser.add_argument("--games", type=int, default=games, help=f"games per variant ({games})")
    parser.add_argument("--variant", nargs="+", help="names such as armada-3p-cards (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    known = {str(variant): variant for variant in VARIANTS}
    if unknown := set(options.variant or ()) - known.keys():
        parser.error(
            f"unknown variants: {', '.join(sorted(unknown))}; choose from {', '.join(known)}"
        )
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
            f"{name}: {compared} {things} are equal, hidden information differed {other} times, "
            f"{seconds:.0f} s",
            flush=True,
        )
    print(f"{failed} variants leak" if failed else "no leak")
    return min(failed, 1)
